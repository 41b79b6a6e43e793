"""The two programs that are compared: the user's function, and what the host launches for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import islpy as isl
from pycparser import c_ast

from loopxform.validate import host as host_code
from loopxform.validate import text
from loopxform.validate.ctypes import BOOL, LONG, UINT, ULONG, CType, named
from loopxform.validate.model import Array, Position, Program, Scalar
from loopxform.validate.polynomials import (
    ONE,
    Plain,
    Polynomial,
    constant_of,
    extents_of,
    merged,
    plain,
    quotient,
)
from loopxform.validate.reader import Cell, Digits, Reader, Value, line_of, stored_in
from loopxform.validate.unmodelled import Unmodelled


@dataclass
class User:
    """The user's function as a program; `cells` are its arrays by name, `scalars` its parameters."""

    name: str
    program: Program
    parameters: tuple[str, ...]
    cells: dict[str, Cell]
    scalars: dict[str, CType]
    context: isl.Set
    line: int
    constants: dict[str, tuple[float, ...]]


@dataclass
class Launches:
    """One way through the host code: the sizes for which it may be taken, and what it launches."""

    where: isl.Set
    program: Program
    kernels: tuple[str, ...]


def user(path: Path, name: str, options: Sequence[str]) -> User:
    """Raises Unmodelled for what is not modelled, and where there is no such function."""
    tree = text.user_file(path, options)
    functions = text.functions(tree)
    if name not in functions:
        raise Unmodelled(f"{path} has no function {name}")
    f = functions[name]
    shapes: dict[str, tuple[Plain | None, ...]] = {}
    out, strides = _user(tree, functions, f, shapes, recording=True)
    for n, c in out.cells.items():
        if c.array.extents == (None,) and strides.get(n):
            shapes[n] = (None, *extents_of(strides[n]))
    return _user(tree, functions, f, shapes)[0]


def _user(
    tree: c_ast.FileAST,
    functions: dict[str, c_ast.FuncDef],
    f: c_ast.FuncDef,
    shapes: dict[str, tuple[Plain | None, ...]],
    *,
    recording: bool = False,
) -> tuple[User, dict[str, list[Plain]]]:
    structs = _structs(tree)
    params = f.decl.type.args.params if f.decl.type.args is not None else []
    scalars: dict[str, CType] = {}
    arrays: list[c_ast.Decl] = []
    for p in params:
        if isinstance(p, c_ast.Typename):
            continue
        if isinstance(p.type, c_ast.ArrayDecl | c_ast.PtrDecl):
            arrays.append(p)
        elif isinstance(p.type.type, c_ast.IdentifierType) and (t := named(p.type.type.names)):
            scalars[p.name] = t
        else:
            raise Unmodelled(f"the parameter {p.name}", line_of(p))
    names = tuple(n for n, t in scalars.items() if t.whole)
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, len(names), 0)
    for at, n in enumerate(names):
        space = space.set_dim_name(isl.dim_type.param, at, n)
    program = Program(space)
    r = Reader(program, names, {n: g for n, g in functions.items() if n != f.decl.name})
    r.stored, r.recording = stored_in(f.body), recording
    context = isl.Set.universe(space)
    for n, t in scalars.items():
        r.types[n] = t
        if not t.whole:
            r.bind(n, Scalar(n, t))
            continue
        r.bind(n, r.parameter(n))
        if not t.signed:
            a = r.parameter(n).affine
            assert a is not None
            context = context.intersect(a.ge_set(r.number(0).affine))
    r.domain = context
    cells: dict[str, Cell] = {}
    for d in (*(g for g in tree.ext if _is_array(g)), *arrays):
        cells |= _arrays(r, d, structs, shapes)
    for n in {c.name for c in params if not isinstance(c, c_ast.Typename)} & r.stored & set(scalars):
        cell = r.new_cell(n, scalars[n], (), "private", line_of(f))
        r.store(cell, (), (r.find(n, f), scalars[n]), f)  # type: ignore[arg-type]
        r.bind(n, cell)
    items = list(f.body.block_items or ())
    while items and isinstance(items[-1], c_ast.Return):
        if items[-1].expr is not None:
            raise Unmodelled("a value that is returned", line_of(items[-1]))
        items.pop()
    r.scopes.append({})
    r.order = (Position(1),)
    r.block(items)
    out = User(f.decl.name, program.closed(), names, cells, scalars, context, line_of(f.decl), text.constants(tree))
    return out, r.strides


def _is_array(d: c_ast.Node) -> bool:
    return isinstance(d, c_ast.Decl) and isinstance(d.type, c_ast.ArrayDecl)


def _structs(tree: c_ast.FileAST) -> dict[str, c_ast.Struct]:
    """By tag and by the name of a typedef."""
    out: dict[str, c_ast.Struct] = {}
    for d in tree.ext:
        t = getattr(d, "type", None)
        while isinstance(t, c_ast.TypeDecl):
            t = t.type
        if isinstance(t, c_ast.Struct) and t.decls is not None:
            out |= {n: t for n in (t.name, d.name) if n}
    return out


def _arrays(
    r: Reader,
    d: c_ast.Decl,
    structs: dict[str, c_ast.Struct],
    shapes: dict[str, tuple[Plain | None, ...]],
) -> dict[str, Cell]:
    """The array of a declaration, or one for each member of its structs, bound to their names."""
    dims: list[Polynomial | None] = []
    t = d.type
    while isinstance(t, c_ast.ArrayDecl | c_ast.PtrDecl):
        dim = t.dim if isinstance(t, c_ast.ArrayDecl) else None
        value = r.expr(dim)[0] if dim is not None else None
        if value is not None and not isinstance(value, Polynomial):
            raise Unmodelled(f"the size of {d.name}", line_of(d))
        dims.append(value)
        t = t.type
    members: dict[str, CType] = {}
    inner = t.type if isinstance(t, c_ast.TypeDecl) else t
    if isinstance(inner, c_ast.IdentifierType):
        type = named(inner.names)
        if type is not None:
            members[""] = type
        else:
            inner = structs.get(inner.names[-1])
    if isinstance(inner, c_ast.Struct):
        inner = inner if inner.decls is not None else structs.get(inner.name)
        for m in (inner.decls if inner is not None else None) or ():
            if isinstance(m.type, c_ast.TypeDecl) and isinstance(m.type.type, c_ast.IdentifierType):
                if (type := named(m.type.type.names)) is not None:
                    members[f".{m.name}"] = type
    out: dict[str, Cell] = {}
    known = tuple(None if x is None else plain(x) for x in dims)
    for member, type in members.items():
        name = d.name + member
        extents = shapes.get(name) or merged(known)
        array = Array(name, "global", type, extents, line_of(d))
        r.program.arrays[name] = array
        cell = Cell(array, tuple(dims))
        r.bind(name, cell)
        out[name] = cell
    return out


# ---------------------------------------------------------------- kernels


def ranges(c: User) -> isl.Set:
    """What the types of the parameters hold."""
    out = isl.Set.universe(c.program.space)
    r = Reader(Program(c.program.space), c.parameters)
    for n in c.parameters:
        t = c.scalars[n]
        low = -(1 << (t.bits - 1)) if t.signed else 0
        a = r.parameter(n).affine
        assert a is not None
        out = out.intersect(a.ge_set(r.number(low).affine))
        out = out.intersect(a.le_set(r.number(low + (1 << t.bits) - 1).affine))
    return out.params()


def _sizes(c: User) -> Reader:
    """Reads numbers of the host, which sizes decide."""
    r = Reader(Program(c.program.space), c.parameters)
    r.domain = c.context
    _bind_scalars(r, c)
    return r


def accepted(c: User, host: host_code.Host) -> isl.Set:
    """The sizes that the host code does not refuse."""
    r = _sizes(c)
    for g in host.guards:
        for where, holds in _pieces(r, g):
            if holds is False:
                r.domain = r.domain.subtract(where)
    return r.domain


def launches(c: User, kernels: str, host: host_code.Host) -> Iterator[Launches]:
    """Every way through the host code, with the kernels of the file `kernels`."""
    r = _sizes(c)
    for n, cell in c.cells.items():
        room = host.rooms.get(f"lx_mem_{n.partition('.')[0]}")
        if cell.array.extents[:1] == (None,) and room is not None:
            try:
                cell.array.limit = limit_of(r, room, cell.array.extents[1:])
            except Unmodelled:
                cell.array.limit = None
    for where, steps in _ways(r, list(host.run.body.block_items or ())):
        if where.is_empty():
            continue
        scratch: dict[str, Array] = {}
        for recording in (True, False) if host.own else (False,):
            program = Program(c.program.space)
            for at, step in enumerate(steps):
                _launch(program, c, host, kernels, step, at, where, scratch, recording)
        yield Launches(where, program.closed(), tuple(host.kernels[_index(s)].name for s in steps))


def _bind_scalars(r: Reader, c: User) -> None:
    for n, t in c.scalars.items():
        r.bind(n, r.parameter(n) if t.whole else Scalar(n, t))
        r.types[n] = t
    r.bind(host_code.THRESHOLD, Scalar(host_code.THRESHOLD, LONG))


def _pieces(r: Reader, e: c_ast.Node) -> Any:
    try:
        return r.condition(e)
    except Unmodelled:
        return [(r.domain, Scalar("unknown", LONG))]


Way = tuple[isl.Set, list[c_ast.FuncCall]]


def _ways(r: Reader, items: list[c_ast.Node]) -> list[Way]:
    """What may be launched, and for which sizes. Conditions that tuning decides go both ways."""
    ways: list[Way] = [(r.domain, [])]
    for s in items:
        more: list[Way]
        match s:
            case c_ast.FuncCall() if s.name.name == "lx_step":
                ways = [(w, [*steps, s]) for w, steps in ways]
                continue
            case c_ast.Cast() | c_ast.EmptyStatement():
                continue
            case c_ast.Compound():
                more = _ways(r, list(s.block_items or ()))
            case c_ast.If():
                more = []
                for where, holds in _pieces(r, s.cond):
                    for body, wrong in ((s.iftrue, False), (s.iffalse, True)):
                        if holds is wrong:
                            continue
                        with r.within(domain=where):
                            more += _ways(r, [body] if body is not None else [])
            case _:
                raise Unmodelled("host code that does more than launch", line_of(s))
        ways = [
            (a.intersect(b), [*first, *second])
            for a, first in ways
            for b, second in more
            if not a.intersect(b).is_empty()
        ]
    return ways


def _index(step: c_ast.FuncCall) -> int:
    return int(step.args.exprs[1].value)


def _launch(
    program: Program,
    c: User,
    host: host_code.Host,
    kernels: str,
    step: c_ast.FuncCall,
    at: int,
    where: isl.Set,
    scratch: dict[str, Array],
    recording: bool,
) -> None:
    own = host.kernels[_index(step)]
    tree = text.kernels(kernels, own.macros)
    functions = text.functions(tree)
    if own.name not in functions:
        raise Unmodelled(f"the kernel {own.name}, which is not in the file")
    f = functions[own.name]
    built = text.functions(text.kernels(host.source, own.macros)).get(own.name)
    if built is None or text.written(built) != text.written(f):
        raise Unmodelled(f"the kernel {own.name}, which the host code holds otherwise")
    r = Reader(program, c.parameters, {n: g for n, g in functions.items() if n != own.name})
    r.domain, r.prefix, r.in_kernel = where, f"L{at}.", True
    _bind_scalars(r, c)
    r.ranges = ranges(c)
    grid = _Grid(r, f, own.shape)
    counts = [grid.count(e) for e in step.args.exprs[2:5]]
    r.domain = r.domain.intersect_params(program.quotients)
    grid.number_groups(counts)
    grid.number_items()
    r.call = grid
    r.stored = stored_in(f.body)
    r.recording = recording
    for name, numbers in text.constants(tree).items():
        if c.constants.get(name) == numbers and name in c.cells:
            r.program.arrays[name] = c.cells[name].array
            r.bind(name, Cell(c.cells[name].array, (None,)))
    _arguments(r, c, f, own, host, scratch, tree)
    r.launch, r.in_phase = (Position(at),), True
    r.scopes.append({})
    r.block(f.body.block_items)
    if recording:
        for name, array in scratch.items():
            if array.extents == (None,) and r.strides.get(name):
                array.extents = (None, *extents_of(r.strides[name]))
                array.limit = limit_of(_sizes(c), host.rooms[name], array.extents[1:])


def limit_of(r: Reader, count: c_ast.Node, inner: tuple[Plain | None, ...]) -> isl.PwAff | None:
    """How many rows a memory of so many elements has, where the inner extents divide that."""
    rest = []
    left = [e for e in inner if e is not None]
    positive = isl.Set.universe(r.program.space)
    for n in r.parameters:  # of a negative one there is less, which `max(n, 1)` is not below
        a = r.parameter(n).affine
        assert a is not None
        positive = positive.intersect(a.ge_set(r.number(0).affine))
    with r.within(domain=positive):
        factors = [r.expr(f)[0] for f in factors_of(count)]
        if not all(isinstance(f, Polynomial) for f in factors):
            return None
        for f in factors:
            size = plain(f)
            if size is not None and size in left:
                left.remove(size)
            else:
                rest.append(f)
        if not left and len(rest) == 1:
            return rest[0].affine
        whole = plain(factors[0]) if len(factors) == 1 else None
        for e in left if len(factors) == 1 else ():
            whole = quotient(whole, e) if whole is not None else None
        if whole is None or any(len(m) > 1 for m in whole):
            return None
        return r.polynomial(whole).affine


def factors_of(e: c_ast.Node) -> list[c_ast.Node]:
    """Of a product whose factors are `max(x, 0)` or `max(x, 1)`, the x; else what it is itself."""
    if isinstance(e, c_ast.BinaryOp) and e.op == "*":
        parts = [*_factors(e.left), *_factors(e.right)]
        if all(p is not None for p in parts):
            return parts  # type: ignore[return-value]
    return [e]


def _factors(e: c_ast.Node) -> list[c_ast.Node | None]:
    if isinstance(e, c_ast.BinaryOp) and e.op == "*":
        return [*_factors(e.left), *_factors(e.right)]
    if isinstance(e, c_ast.FuncCall) and e.name.name == "max":
        return [e.args.exprs[0]]
    return [e if isinstance(e, c_ast.Constant) else None]


@dataclass
class _Grid:
    """The groups and the items of a launch, as dimensions of the domain."""

    reader: Reader
    kernel: c_ast.FuncDef
    shape: tuple[int, int, int]
    groups: list[Polynomial | Digits] = field(default_factory=list)
    items: list[Polynomial] = field(default_factory=list)
    counts: list[Polynomial | None] = field(default_factory=list)

    def __call__(
        self, r: Reader, name: str, arguments: list[c_ast.Node], node: c_ast.Node
    ) -> Value | None:
        known = {
            "get_group_id": self.groups,
            "get_local_id": self.items,
            "get_local_size": [r.number(s) for s in self.shape],
            "get_num_groups": self.counts,
        }
        if name in known and len(arguments) == 1 and isinstance(arguments[0], c_ast.Constant):
            at = int(arguments[0].value.rstrip("uUlL"))
            value = known[name][at]
            if value is None:
                raise Unmodelled(f"a call of {name}", line_of(node))
            return value.lifted(r.dims), ULONG
        if name.startswith("get_"):
            raise Unmodelled(f"a call of {name}", line_of(node))
        return None

    def count(self, e: c_ast.Node) -> list[Polynomial]:
        """The factors of `lx_count(a)`, `lx_count(max(a, 0) * max(b, 0))`: where one of them is not
        positive there are no groups."""
        if not (isinstance(e, c_ast.FuncCall) and e.name.name == "lx_count"):
            raise Unmodelled("a launch whose groups are not counted", line_of(e))
        out: list[Polynomial] = []
        factors = factors_of(e.args.exprs[0])
        for f in factors:
            value, _ = self.reader.expr(f)
            if not isinstance(value, Polynomial):
                raise Unmodelled("a launch whose groups data count", line_of(e))
            out.append(value)
        return out

    def number_groups(self, counts: list[list[Polynomial]]) -> None:
        """Dimensions for them, the slowest first; those of one group have none."""
        r = self.reader
        made: dict[int, Polynomial | Digits] = {}
        for axis in (2, 1, 0):
            digits = [(self.dimension(size), size) for size in counts[axis]]
            made[axis] = digits[0][0] if len(digits) == 1 else Digits(tuple(digits))
        self.groups = [made[axis].lifted(r.dims) for axis in range(3)]
        self.counts = [c[0] if len(c) == 1 else None for c in counts]

    def dimension(self, count: Polynomial) -> Polynomial:
        r = self.reader
        a = count.affine
        if a is None:
            raise Unmodelled("a launch whose groups are counted by a product")
        if constant_of(a) == 1:
            return r.number(0)
        at = r.new_dimension("")
        v, n = at.affine, count.lifted(r.dims).affine
        assert v is not None
        r.domain = r.domain.intersect(v.ge_set(r.number(0).affine)).intersect(v.lt_set(n))
        r.groups = (*r.groups, r.dims - 1)
        return at

    def number_items(self) -> None:
        r = self.reader
        made: dict[int, Polynomial] = {}
        first = r.dims
        for axis in (2, 1, 0):
            size = self.shape[axis]
            if size == 1:
                made[axis] = r.number(0)
                continue
            at = r.new_dimension("")
            v = at.affine
            assert v is not None
            inside = v.ge_set(r.number(0).affine).intersect(v.lt_set(r.number(size).affine))
            r.domain = r.domain.intersect(inside)
            made[axis] = at
        r.items = tuple(range(first, r.dims))
        r.all_items = r.domain
        for d in range(first):
            r.all_items = r.all_items.drop_constraints_involving_dims(isl.dim_type.set, d, 1)
        r.all_items = r.all_items.drop_constraints_involving_dims(
            isl.dim_type.param, 0, r.all_items.dim(isl.dim_type.param)
        )
        self.items = [made[axis].lifted(r.dims) for axis in range(3)]
        self.groups = [g.lifted(r.dims) for g in self.groups]


def _arguments(
    r: Reader,
    c: User,
    f: c_ast.FuncDef,
    own: host_code.Kernel,
    host: host_code.Host,
    scratch: dict[str, Array],
    tree: c_ast.FileAST,
) -> None:
    for at, p in enumerate(f.decl.type.args.params):
        given = own.arguments.get(at)
        if given is None:
            raise Unmodelled(f"the argument {p.name} of {own.name}, which is not set", line_of(p))
        if not isinstance(p.type, c_ast.PtrDecl):
            bound = r.find(given, p)
            type, _ = r.declared(p.type)
            r.types[p.name] = type
            r.bind(p.name, bound)
            continue
        array = given.removeprefix("lx_mem_") if given not in c.cells else given
        cells = {n: x for n, x in c.cells.items() if n == array or n.startswith(f"{array}.")}
        if given not in host.own and cells:
            for n, x in cells.items():
                same_type(r, x.array, n[len(array) :], p, tree)
                r.program.arrays[n] = x.array
                r.bind(p.name + n[len(array) :], Cell(x.array, (None,)))
            continue
        if given not in host.own:
            raise Unmodelled(f"the argument {p.name} of {own.name}", line_of(p))
        if given not in scratch:
            type, _ = r.declared(p.type.type)
            scratch[given] = Array(given, "scratch", type, (None,), line_of(p))
            scratch[given].limit = limit_of(_sizes(c), host.rooms[given], ())
        r.program.arrays[given] = scratch[given]
        r.bind(p.name, Cell(scratch[given], (None,)))


def same_type(
    r: Reader, array: Array, member: str, p: c_ast.Decl, tree: c_ast.FileAST
) -> None:
    """The elements are those of the user's array, and structs have the same members in the same
    order."""
    inner = p.type.type
    if not member:
        type, _ = r.declared(inner)
    else:
        names = getattr(inner.type, "names", None) or [inner.type.name]
        struct = _structs(tree).get(names[-1])
        types = {m.name: m.type for m in (struct.decls if struct is not None else ())}
        if member[1:] not in types:
            raise Unmodelled(f"the member {member} of {p.name}", line_of(p))
        type, _ = r.declared(types[member[1:]])
    stored = CType("int", 8, False) if array.type == BOOL else array.type
    if type != stored:
        raise Unmodelled(f"the type of {p.name}", line_of(p))


__all__ = ["Launches", "User", "launches", "replace", "user", "UINT"]
