"""Names that the user's text cannot hold: `skip@2` is the second new variable, `g@0` the global.

The part before the mark is what a reader sees.
"""

from __future__ import annotations

import re
from itertools import count

from pycparser import c_ast

from loopxform.frontend.syntax.tree import below, every

_MARK = "@"
_GLOBAL = "@0"
_STATIC = "@static"
OFFSET = "_offset"


class Fresh:
    """New names of one function, with numbers from `first` on."""

    def __init__(self, first: int = 1) -> None:
        self._count = count(first)

    def name(self, wanted: str) -> str:
        return f"{shown(wanted)}{_MARK}{next(self._count)}"


def shown(name: str) -> str:
    """A name as the user wrote it."""
    return name.partition(_MARK)[0]


def written(name: str) -> str:
    """The word of the user's text that a name was made from."""
    plain = shown(name)
    for suffix in (OFFSET, "_start") if _MARK in name else ():
        plain = plain.removesuffix(suffix)
    return plain


def of_file(name: str) -> str:
    """The name of an object of the file, whatever the function declares under the same name."""
    return name if name.endswith(_GLOBAL) or _STATIC in name else name + _GLOBAL


def static(name: str, function: str, number: int) -> str:
    """The name at file scope of a variable that a function keeps from call to call."""
    return f"{name}{_STATIC} {number} of {function}"


def is_static(name: str) -> bool:
    """Whether it is such a name."""
    return _STATIC in name


def is_of_file(name: str) -> bool:
    return name.endswith(_GLOBAL)


def declared(node: c_ast.Node) -> frozenset[str]:
    """Every name that a function or a statement declares for itself."""
    kinds = (c_ast.Decl, c_ast.Typedef, c_ast.Enumerator)
    return frozenset(n.name for n in every(node) if isinstance(n, kinds) and n.name)


def mentioned(node: c_ast.Node) -> frozenset[str]:
    """Every name that an expression or a statement refers to."""
    return frozenset(n.name for n in every(node) if isinstance(n, c_ast.ID))


class Mentions:
    """Where the names of a body stand. A node may be part of several others."""

    def __init__(self, body: c_ast.Node) -> None:
        self.body = body
        self.above: dict[int, list[c_ast.Node]] = {}
        self.places: dict[str, list[c_ast.Node]] = {}
        for n in every(body):
            if isinstance(n, c_ast.ID):
                self.places.setdefault(n.name, []).append(n)
            else:
                for child in below(n):
                    self.above.setdefault(id(child), []).append(n)

    def holders(self, name: str) -> dict[int, c_ast.Node]:
        """The nodes that refer to a name or hold one that does, by their identity."""
        found: dict[int, c_ast.Node] = {}
        waiting = list(self.places.get(name, ()))
        while waiting:
            n = waiting.pop()
            if id(n) not in found:
                found[id(n)] = n
                waiting += self.above.get(id(n), ())
        return found


def governed(node: c_ast.Node) -> frozenset[str]:
    """Every word in a pragma: what it says of a variable must stay true."""
    found = (n.string for n in every(node) if isinstance(n, c_ast.Pragma))
    texts = (text if isinstance(text, str) else str(text.value) for text in found)
    return frozenset(word for text in texts for word in re.findall(r"\w+", text))


def changed(node: c_ast.Node) -> frozenset[str]:
    """Every variable that is assigned or stepped, or whose address is taken."""
    out = set()
    for n in every(node):
        target = None
        if isinstance(n, c_ast.Assignment):
            target = n.lvalue
        elif isinstance(n, c_ast.UnaryOp) and n.op in ("++", "--", "p++", "p--", "&"):
            target = n.expr
        if isinstance(target, c_ast.ID):
            out.add(target.name)
    return frozenset(out)


def exposed(node: c_ast.Node) -> frozenset[str]:
    """The variables whose address is taken."""
    found = (n.expr for n in every(node) if isinstance(n, c_ast.UnaryOp) and n.op == "&")
    return frozenset(e.name for e in found if isinstance(e, c_ast.ID))
