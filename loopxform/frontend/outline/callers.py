"""Array parameters of functions that only their file calls, with arrays of the file of one size:
they have as many elements.

    static double a[90], b[90];
    static void f(double x[]);  ... f(a); ... f(b);     ->    static void f(double x[90]);

Of arrays of several sizes each call passes another number of elements: of no use, and more than the
least may be touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.names.variables import changed
from loopxform.frontend.outline.loops import number
from loopxform.frontend.syntax.tree import clone, every

_make = cast(Any, c_ast)


def size_parameters(ast: c_ast.FileAST) -> frozenset[str]:
    """Changes the parameters of the definitions of a file. Returns the names of these functions."""
    sized = set[str]()
    functions = [x for x in ast.ext if isinstance(x, c_ast.FuncDef)]
    arrays = {x.name: x.type for x in ast.ext if _is_array(x)}
    private = {f.decl.name for f in functions if "static" in f.decl.storage}
    private |= {x.name for x in ast.ext if _is_static(x)}
    calls, others = _mentions(functions, private), _outside(ast)
    for f in functions:
        found = calls.get(f.decl.name)
        params = f.decl.type.args.params if f.decl.type.args else []
        if f.decl.name in private - others and found:
            set_here = {x.name for x in map(changed, every(f.body)) if isinstance(x, c_ast.ID)}
            for n, p in enumerate(params):
                if isinstance(p, c_ast.Decl) and p.name not in set_here:
                    given = [_given(names, n, arrays) for names in found]
                    if _size(p, given):
                        sized.add(f.decl.name)
    return frozenset(sized)


def _is_array(x: c_ast.Node) -> bool:
    """Whether it declares an array of the file, all of it."""
    return isinstance(x, c_ast.Decl) and isinstance(x.type, c_ast.ArrayDecl) and bool(x.name)


def _is_static(x: c_ast.Node) -> bool:
    is_function = isinstance(x, c_ast.Decl) and isinstance(x.type, c_ast.FuncDecl)
    return is_function and "static" in cast(c_ast.Decl, x).storage


def _mentions(
    functions: Sequence[c_ast.FuncDef], names: set[str]
) -> dict[str, list[list[str]] | None]:
    """For each name the arguments of all its calls, as names of the file, "" for anything else;
    None where it is more than called."""
    found: dict[str, list[list[str]] | None] = {}
    for f in functions:
        local = {x.name for x in every(f) if isinstance(x, c_ast.Decl)}
        called = [x for x in every(f.body) if isinstance(x, c_ast.FuncCall)]
        direct = {id(x.name) for x in called}
        for x in every(f.body):
            if isinstance(x, c_ast.ID) and x.name in names and id(x) not in direct:
                found[x.name] = None
        for call in called:
            name = getattr(call.name, "name", None)
            if name in names and found.setdefault(name, []) is not None:
                args = call.args.exprs if call.args else []
                named = [x.name if isinstance(x, c_ast.ID) else "" for x in args]
                cast(Any, found[name]).append([x if x not in local else "" for x in named])
    return found


def _outside(ast: c_ast.FileAST) -> set[str]:
    """What is named outside of functions: in tables of functions, say."""
    outside = (x for x in ast.ext if not isinstance(x, c_ast.FuncDef))
    return {x.name for e in outside for x in every(e) if isinstance(x, c_ast.ID)}


def _given(names: list[str], n: int, arrays: dict[str, c_ast.Node]) -> Any:
    return arrays.get(names[n]) if n < len(names) else None


def _size(p: c_ast.Decl, given: list[Any]) -> bool:
    """Declares a parameter with the size of the arrays that are given, where these are all of its
    type and of one size. Returns whether it is so."""
    t = cast(Any, p.type)
    is_open = isinstance(t, c_ast.ArrayDecl) and t.dim is None and not t.dim_quals
    is_pointer = isinstance(t, c_ast.PtrDecl) and not t.quals
    sizes = [None if g is None or g.dim is None else number(g.dim) for g in given]
    if not (is_open or is_pointer) or not all(sizes) or len(set(sizes)) > 1:
        return False
    if any(_words(g.type) != _words(t.type) for g in given):
        return False
    size = _make.Constant("int", str(sizes[0]), t.coord)
    p.type = _make.ArrayDecl(clone(t.type), size, [], t.coord)
    return True


def _words(t: c_ast.Node) -> list[Any]:
    """A type, to be compared; how much of it is constant does not matter."""
    return list(_parts(t))


def _parts(t: c_ast.Node) -> Iterator[Any]:
    match t:
        case c_ast.TypeDecl(type=inner):
            yield from _parts(inner)
        case c_ast.ArrayDecl(type=inner, dim=dim):
            size = None if dim is None else number(dim)
            yield "array" if size is not None else t, size
            yield from _parts(inner)
        case c_ast.PtrDecl(type=inner):
            yield "pointer"
            yield from _parts(inner)
        case c_ast.IdentifierType(names=names):
            yield tuple(names)
        case c_ast.Struct(name=str() as tag) | c_ast.Union(name=str() as tag):
            yield type(t), tag
        case _:
            yield t
