"""Members that lie in unions, and in structs without a name.

    struct { union { struct { float d, m; }; short s[4]; }; int n; }

Members of a union overlap, so they are arrays of their own only where the file mentions no others:
`d` and `m` if it does not mention `s`. Numbers of one type in a union are one member under several
names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pycparser import c_ast

from loopxform.frontend.names.ctype import Lookup, ctype
from loopxform.frontend.syntax.tree import every


def mentioned_members(nodes: Iterable[c_ast.Node]) -> frozenset[str]:
    """The names of members that a file mentions."""
    return frozenset(name for node in nodes for x in every(node) for name in _mentioned(x))


def _mentioned(x: c_ast.Node) -> Iterator[str]:
    match x:
        case c_ast.StructRef():
            yield x.field.name
        case c_ast.NamedInitializer():
            yield from (n.name for n in x.name if isinstance(n, c_ast.ID))


def direct_members(
    node: c_ast.Struct | c_ast.Union, mentioned: frozenset[str], typedef: Lookup
) -> Iterator[tuple[c_ast.Decl, bool]]:
    """The members that a name alone leads to, without those that a union may hold under another
    name as well; for each whether it lies in a union."""
    if isinstance(node, c_ast.Union):
        kept = _mentioned_alternatives(node, mentioned)
        if len(kept) > 1:
            kept = kept[:1] if _are_one(kept, typedef) else []
    else:
        kept = [d for d in node.decls or () if isinstance(d, c_ast.Decl)]
    for d in kept:
        if d.name:
            yield d, isinstance(node, c_ast.Union)
        elif isinstance(d.type, c_ast.Struct | c_ast.Union) and d.bitsize is None:
            inner = direct_members(d.type, mentioned, typedef)
            yield from ((x, united or isinstance(node, c_ast.Union)) for x, united in inner)


def other_names(
    node: c_ast.Struct | c_ast.Union, mentioned: frozenset[str], typedef: Lookup
) -> Mapping[str, str]:
    """The further names of numbers that unions hold under several, each with the first."""
    names: dict[str, str] = {}
    for x in _unnamed(node):
        kept = _mentioned_alternatives(x, mentioned) if isinstance(x, c_ast.Union) else []
        if len(kept) > 1 and _are_one(kept, typedef):
            names |= {d.name: kept[0].name for d in kept[1:]}
    return names


def _mentioned_alternatives(node: c_ast.Union, mentioned: frozenset[str]) -> list[c_ast.Decl]:
    found = (d for d in node.decls or () if isinstance(d, c_ast.Decl))
    return [d for d in found if mentioned & set(_names(d))]


def _names(d: c_ast.Decl) -> Iterator[str]:
    """The names by which a member, or what lies in one without a name, is reached."""
    if d.name:
        yield d.name
    elif isinstance(d.type, c_ast.Struct | c_ast.Union):
        for x in d.type.decls or ():
            if isinstance(x, c_ast.Decl):
                yield from _names(x)


def _unnamed(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """A struct or a union, and those without a name in it."""
    yield node
    for d in getattr(node, "decls", None) or ():
        if isinstance(d, c_ast.Decl) and not d.name:
            yield from _unnamed(d.type)


def _are_one(members: list[c_ast.Decl], typedef: Lookup) -> bool:
    """Whether members are numbers of one type, which have one place in their union."""
    types = [ctype(d.type, typedef) for d in members]
    plain = all(t.is_scalar and not t.volatile for t in types)
    whole = all(d.name and d.bitsize is None and not d.align for d in members)
    return plain and whole and len({t.base for t in types}) == 1
