"""Old-style definitions as new ones: `f(n, a) int n; double *a; {` is `f(int n, double *a) {`.

Only where callers pass the arguments alike: an old-style float arrives as a double. Where calls are
inlined that makes no difference, as the function converts it at once. Parameters without a
declaration are int.
"""

from __future__ import annotations

import copy
from typing import Any, cast

from pycparser import c_ast


def prototyped(node: c_ast.FuncDef) -> None:
    """Rewrites the definition in place, where that says the same to every caller."""
    params = _parameters(node)
    if params is not None and all(_is_passed_alike(p) for p in params):
        node.decl.type.args = cast(Any, c_ast.ParamList)(params, coord=node.decl.type.args.coord)
        node.param_decls = None


def as_inlined(node: c_ast.FuncDef) -> c_ast.FuncDef:
    """The definition with a prototype, for calls that are replaced by what it does: what they pass
    is converted to the promoted type and from there to that of the parameter, which is the same as
    converting it to the latter."""
    params = _parameters(node)
    if params is None or not all(_is_passed_alike(p) or _is_promoted(p) for p in params):
        return node
    out = copy.copy(node)
    out.decl, out.param_decls = copy.copy(node.decl), None
    out.decl.type = copy.copy(node.decl.type)
    out.decl.type.args = cast(Any, c_ast.ParamList)(params, coord=node.decl.type.args.coord)
    return out


def _parameters(node: c_ast.FuncDef) -> list[c_ast.Decl] | None:
    """The parameters of an old-style definition as declarations, in order."""
    t = node.decl.type
    if not node.param_decls or not isinstance(t, c_ast.FuncDecl) or t.args is None:
        return None
    declared = {d.name: d for d in node.param_decls if isinstance(d, c_ast.Decl)}
    named = [p for p in t.args.params if isinstance(p, c_ast.ID)]
    names = [p.name for p in named]
    if not declared.keys() <= set(names) or len(names) != len(t.args.params):
        return None
    declared |= {p.name: _int(p) for p in named if p.name not in declared}
    return [declared[n] for n in names]


def _int(p: c_ast.ID) -> c_ast.Decl:
    make = cast(Any, c_ast)
    t = make.TypeDecl(p.name, [], None, make.IdentifierType(["int"], coord=p.coord), coord=p.coord)
    made = make.Decl(p.name, [], [], [], [], t, None, None, coord=p.coord)
    return cast(c_ast.Decl, made)


def _is_passed_alike(d: c_ast.Decl) -> bool:
    if isinstance(d.type, c_ast.PtrDecl | c_ast.ArrayDecl):
        return True
    # A typedef may name anything.
    return _is_named(d, {"int", "long", "unsigned", "signed", "double"})


def _is_promoted(d: c_ast.Decl) -> bool:
    """Whether callers pass another type, the promoted one."""
    return _is_named(d, {"float", "char", "short", "int", "unsigned", "signed"})


def _is_named(d: c_ast.Decl, names: set[str]) -> bool:
    t = d.type.type if isinstance(d.type, c_ast.TypeDecl) else None
    return isinstance(t, c_ast.IdentifierType) and set(t.names) <= names
