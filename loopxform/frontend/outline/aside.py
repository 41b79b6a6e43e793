"""What annotations say of a function as it is written: the statements that stay on the host, and
what is said of the whole.

Data directives are the host's: what holds one stays there, but for what is inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from pycparser import c_ast

from loopxform.errors import InputError
from loopxform.frontend.pragmas.annotated import LOOPS, OF_NAMES, read
from loopxform.frontend.pragmas.data_regions import is_directive
from loopxform.frontend.syntax.places import Places
from loopxform.frontend.syntax.tree import every


def asides(body: c_ast.Node, places: Places) -> Mapping[int, InputError]:
    """The statements after an `ignore`, with all in them, and, where there is a `scop`, the loops
    and other statements outside of all; by the ids of their nodes, each with the reason."""
    nodes = [n for n in every(body) if n is not body]
    has_scop = any("scop" in _verbs(n, places) for n in nodes)
    items = _items(body, places) if has_scop else frozenset[int]()
    out: dict[int, InputError] = {}
    inside = ignored = False
    for n in nodes:
        verbs = _verbs(n, places)
        inside = (inside or "scop" in verbs) and "endscop" not in verbs
        if is_directive(n):
            loc = places.loc(n.coord, "#")
            message = "a data directive stands here, which the host does"
            out[id(n)] = InputError(message, loc=loc, code="LX257")
        if isinstance(n, c_ast.Pragma):
            ignored = ignored or "ignore" in verbs
            continue
        if ignored:
            why = _left(n, places, "is annotated ignore")
            out.update((id(x), why) for x in every(n))
        elif has_scop and not inside and (isinstance(n, LOOPS) or id(n) in items):
            why = _left(n, places, "is outside of the scop")
            for x in every(n) if id(n) in items else (n,):
                out.setdefault(id(x), why)
        ignored = False
    return out


def _items(body: c_ast.Node, places: Places) -> frozenset[int]:
    """The ids of statements of blocks without a `scop` in them."""
    blocks = (b for b in every(body) if isinstance(b, c_ast.Compound))
    items = (x for b in blocks for x in b.block_items or ())
    plain = (x for x in items if not any("scop" in _verbs(y, places) for y in every(x)))
    return frozenset(map(id, plain))


def of_function(body: c_ast.Node, places: Places) -> Iterator[c_ast.Pragma]:
    """What pragmas inside a function say of the whole, for the functions made of its parts."""
    for n in every(body):
        for w in read(n, places) if isinstance(n, c_ast.Pragma) else ():
            if w.verb in OF_NAMES:
                yield _pragma(f"loopxform {w.text}", n)


def _pragma(text: str, at: c_ast.Node) -> c_ast.Pragma:
    return cast(c_ast.Pragma, cast(Any, c_ast.Pragma)(text, coord=at.coord))


def _verbs(node: c_ast.Node, places: Places) -> tuple[str, ...]:
    found = read(node, places) if isinstance(node, c_ast.Pragma) else ()
    return tuple(w.verb for w in found)


def _left(node: c_ast.Node, places: Places, why: str) -> InputError:
    what = "the loop" if isinstance(node, LOOPS) else "the statement"
    return InputError(f"{what} {why}", loc=places.node(node), code="LX067")
