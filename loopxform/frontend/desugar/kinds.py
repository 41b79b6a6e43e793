"""What the text of a declaration says about a variable, before types are resolved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Literal, TypeAlias

from pycparser import c_ast

from loopxform.frontend.syntax.tree import every

Kind: TypeAlias = Literal["signed", "unsigned", "pointer", "other"]

_SIGNED = {"ptrdiff_t", "ssize_t", "intptr_t", "int32_t", "int64_t"}
_UNSIGNED = {"size_t", "uintptr_t", "uint32_t", "uint64_t"}
_WORDS = {"int", "long", "unsigned", "signed"}


def kind(d: c_ast.Decl) -> Kind:
    """An integer that is at least as wide as `int`, a pointer, or something else."""
    return "pointer" if isinstance(d.type, c_ast.PtrDecl) else _kind(d.type, d.quals)


def _kind(declared: c_ast.Node, quals: list[str]) -> Kind:
    t = declared.type if isinstance(declared, c_ast.TypeDecl) else None
    if not isinstance(t, c_ast.IdentifierType) or "volatile" in quals or "_Atomic" in quals:
        return "other"
    names = set(t.names)
    if len(names) == 1 and names <= _SIGNED | _UNSIGNED:
        return "signed" if names <= _SIGNED else "unsigned"
    if names <= _WORDS:
        return "unsigned" if "unsigned" in names else "signed"
    return "other"


def element_kind(d: c_ast.Decl) -> Kind:
    """The kind of what a pointer or an array of one dimension has for elements."""
    element = d.type.type if isinstance(d.type, c_ast.PtrDecl | c_ast.ArrayDecl) else None
    return _kind(element, element.quals) if isinstance(element, c_ast.TypeDecl) else "other"


def may_wrap(n: c_ast.Node, own: Mapping[str, c_ast.Decl]) -> bool:
    """Whether a node of an expression may be an unsigned number of 32 bits: variables that are not
    a function's `own`, and members, are not looked up."""
    match n:
        case c_ast.ID(name=name):
            return name not in own or not _is_wide_or_signed(own[name].type)
        case c_ast.Typename():
            return not _is_wide_or_signed(n.type)
        case c_ast.Constant():
            return "unsigned" in n.type
        case _:
            return isinstance(n, c_ast.StructRef)


def _is_wide_or_signed(t: c_ast.Node) -> bool:
    while isinstance(t, c_ast.PtrDecl | c_ast.ArrayDecl | c_ast.TypeDecl):
        t = t.type
    names = set(t.names) if isinstance(t, c_ast.IdentifierType) else set()
    if len(names) == 1 and names <= (_SIGNED | _UNSIGNED) - {"uint32_t"}:
        return True
    promoted = bool(names & {"char", "short", "long"}) or "unsigned" not in names
    return bool(names) and names <= _WORDS | {"char", "short"} and promoted


def once(node: c_ast.FuncDef) -> Mapping[str, c_ast.Decl]:
    """The parameters and locals of a function whose names it declares once."""
    found = [d for d in every(node) if isinstance(d, c_ast.Decl) and d.name]
    count = Counter(d.name for d in found)
    return {d.name: d for d in found if count[d.name] == 1 and d is not node.decl}


def alike(node: c_ast.FuncDef) -> dict[str, c_ast.Decl]:
    """As `once`, with the names that are declared several times with integers of one kind."""
    out: dict[str, c_ast.Decl] = {}
    mixed = set()
    for d in every(node):
        if isinstance(d, c_ast.Decl) and d.name and d is not node.decl:
            known = out.setdefault(d.name, d)
            if known is not d and _words(known) != _words(d):
                mixed.add(d.name)
    return {name: d for name, d in out.items() if name not in mixed}


def _words(d: c_ast.Decl) -> tuple[Kind, tuple[str, ...]]:
    t = d.type.type if isinstance(d.type, c_ast.TypeDecl) else None
    names = tuple(t.names) if isinstance(t, c_ast.IdentifierType) else (str(id(d)),)
    return kind(d), names
