"""Old-style definitions as new ones: `f(n, a) int n; double *a; {` is `f(int n, double *a) {`.

Only where callers pass the arguments alike: an old-style float arrives as a double.
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
    names = [p.name for p in t.args.params if isinstance(p, c_ast.ID)]
    if set(names) != declared.keys() or len(names) != len(t.args.params):
        return
    if not all(map(_is_passed_alike, declared.values())):
        return
    params = [declared[n] for n in names]
    t.args = cast(Any, c_ast.ParamList)(params, coord=t.args.coord)
    node.param_decls = None


def _is_passed_alike(d: c_ast.Decl) -> bool:
    if isinstance(d.type, c_ast.PtrDecl | c_ast.ArrayDecl):
        return True
    t = d.type.type if isinstance(d.type, c_ast.TypeDecl) else None
    # A typedef may name anything.
    plain = {"int", "long", "unsigned", "signed", "double"}
    return isinstance(t, c_ast.IdentifierType) and set(t.names) <= plain
