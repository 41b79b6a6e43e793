"""Old-style definitions as new ones: `f(n, a) int n; double *a; {` is `f(int n, double *a) {`.

Only where callers pass the arguments alike: an old-style float arrives as a double. Parameters
without a declaration are int.
"""

from __future__ import annotations

from typing import Any, cast

from pycparser import c_ast


def prototyped(node: c_ast.FuncDef) -> None:
    """Rewrites the definition in place, where that says the same."""
    t = node.decl.type
    if not node.param_decls or not isinstance(t, c_ast.FuncDecl) or t.args is None:
        return
    declared = {d.name: d for d in node.param_decls if isinstance(d, c_ast.Decl)}
    named = [p for p in t.args.params if isinstance(p, c_ast.ID)]
    names = [p.name for p in named]
    if not declared.keys() <= set(names) or len(names) != len(t.args.params):
        return
    declared |= {p.name: _int(p) for p in named if p.name not in declared}
    if not all(map(_is_passed_alike, declared.values())):
        return
    params = [declared[n] for n in names]
    t.args = cast(Any, c_ast.ParamList)(params, coord=t.args.coord)
    node.param_decls = None


def _int(p: c_ast.ID) -> c_ast.Decl:
    make = cast(Any, c_ast)
    t = make.TypeDecl(p.name, [], None, make.IdentifierType(["int"], coord=p.coord), coord=p.coord)
    made = make.Decl(p.name, [], [], [], [], t, None, None, coord=p.coord)
    return cast(c_ast.Decl, made)


def _is_passed_alike(d: c_ast.Decl) -> bool:
    if isinstance(d.type, c_ast.PtrDecl | c_ast.ArrayDecl):
        return True
    t = d.type.type if isinstance(d.type, c_ast.TypeDecl) else None
    # A typedef may name anything.
    plain = {"int", "long", "unsigned", "signed", "double"}
    return isinstance(t, c_ast.IdentifierType) and set(t.names) <= plain
