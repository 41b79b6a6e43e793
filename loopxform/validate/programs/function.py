"""The user's function as a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import islpy as isl
from pycparser import c_ast

from loopxform.errors import InputError
from loopxform.validate import text
from loopxform.validate.ctypes import INT, CType, named
from loopxform.validate.model import Position, Program, Scalar, Whole
from loopxform.validate.polynomials import Plain, extents_of
from loopxform.validate.programs.declarations import Declarations, Shapes, structs_of
from loopxform.validate.reading.reader import Reader
from loopxform.validate.reading.syntax import line_of, stored_in
from loopxform.validate.reading.values import Cell
from loopxform.validate.unmodelled import Unmodelled


@dataclass
class User:
    """`cells` are the arrays of the function by name, `scalars` its other parameters, `constants`
    the numbers of arrays of the file."""

    program: Program
    cells: dict[str, Cell]
    scalars: dict[str, CType]
    context: isl.Set
    """The sizes that the types of the parameters allow."""
    constants: dict[str, tuple[float, ...]]
    tested: frozenset[str]
    """The arrays that may be null pointers: `NAME_given` says that one is not."""


def user(path: Path, name: str, options: Sequence[str]) -> User:
    """Raises Unmodelled for what is not modelled, InputError where there is no such function."""
    tree = text.user_file(path, options)
    if name not in text.functions(tree):
        help = f"name the C that the kernels of {name} were made of"
        raise InputError(f"{path} has no function '{name}'", help=help, subject="--from")
    shapes: Shapes = {}
    first, strides = _read(tree, name, shapes, recording=True)
    for n, c in first.cells.items():
        if c.array.extents == (None,) and strides.get(n):
            shapes[n] = (None, *extents_of(strides[n]))
    return _read(tree, name, shapes)[0]


def _read(
    tree: c_ast.FileAST, name: str, shapes: Shapes, *, recording: bool = False
) -> tuple[User, dict[str, list[Plain]]]:
    """The program, and the strides of its arrays."""
    functions = text.functions(tree)
    f = functions.pop(name)
    scalars, arrays = _parameters(f)
    program = Program(_space([n for n, t in scalars.items() if t.whole]))
    r = Reader(program, functions)
    r.stored, r.recording = stored_in(f.body), recording
    declarations = Declarations(r, structs_of(tree), shapes)
    cells: dict[str, Cell] = {}
    for d in tree.ext:
        if _is_array(d):
            cells |= declarations.bind(d)
    r.scopes.append({})  # functions that are called see none of the parameters
    context = r.domain = _bound(r, scalars)
    for d in arrays:
        cells |= declarations.bind(d)
    for n, t in scalars.items():
        if n in r.stored:
            _copied(r, n, t, f)
    r.scopes.append({})
    r.order = (Position(1),)
    r.block(_statements(f))
    for n in sorted(r.tested):
        given = f"{n}_given"
        scalars[given] = INT
        context = context.intersect(sizes_between(r, given, 0, 2))
    constants, tested = text.constants(tree), frozenset(r.tested)
    return User(program.closed(), cells, scalars, context, constants, tested), r.strides


def sizes_between(r: Reader, name: str, low: int, high: int) -> isl.Set:
    """The sizes for which a parameter is at least `low` and less than `high`."""
    of_sizes = Reader(Program(r.program.space))
    number = of_sizes.affine_of(of_sizes.parameter(name))
    return of_sizes.between(number, low, high)


def _parameters(f: c_ast.FuncDef) -> tuple[dict[str, CType], list[c_ast.Decl]]:
    """Those that are numbers, and those that are arrays."""
    scalars: dict[str, CType] = {}
    arrays: list[c_ast.Decl] = []
    for p in f.decl.type.args.params if f.decl.type.args is not None else ():
        if isinstance(p, c_ast.Typename):
            continue
        if isinstance(p.type, c_ast.ArrayDecl | c_ast.PtrDecl):
            arrays.append(p)
        elif isinstance(p.type.type, c_ast.IdentifierType) and (t := named(p.type.type.names)):
            scalars[p.name] = t
        else:
            raise Unmodelled(f"the parameter {p.name}", line_of(p))
    return scalars, arrays


def _space(names: Sequence[str]) -> isl.Space:
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, len(names), 0)
    for at, n in enumerate(names):
        space = space.set_dim_name(isl.dim_type.param, at, n)
    return space


def _bound(r: Reader, scalars: dict[str, CType]) -> isl.Set:
    """Binds the parameters that are numbers. The sizes that their types allow."""
    context = r.domain
    for n, t in scalars.items():
        if not t.whole:
            r.bind(n, Scalar(n, t))
            continue
        number = r.parameter(n)
        r.bind(n, Whole(number, t))
        if not t.signed:
            context = context.intersect(r.affine_of(number).ge_set(r.constant(0)))
    return context


def _copied(r: Reader, name: str, type: CType, f: c_ast.FuncDef) -> None:
    """A parameter that the function stores to is a variable of its own."""
    passed = r.find(name, f)
    assert not isinstance(passed, Cell)
    cell = r.new_cell(name, type, (), "private", line_of(f))
    value = passed.value if isinstance(passed, Whole) else passed
    r.store(cell, (), (value, type), f)
    r.bind(name, cell)


def _is_array(d: c_ast.Node) -> bool:
    return isinstance(d, c_ast.Decl) and isinstance(d.type, c_ast.ArrayDecl)


def _statements(f: c_ast.FuncDef) -> list[c_ast.Node]:
    """Without a return at the end. Raises Unmodelled where it returns a value."""
    items = list(f.body.block_items or ())
    while items and isinstance(items[-1], c_ast.Return):
        if items[-1].expr is not None:
            raise Unmodelled("a value that is returned", line_of(items[-1]))
        items.pop()
    return items
