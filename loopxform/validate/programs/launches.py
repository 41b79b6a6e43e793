"""What the host code launches, as programs: one for each way through it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import islpy as isl
from pycparser import c_ast

from loopxform.validate import host as host_code
from loopxform.validate import text
from loopxform.validate.model import Array, Position, Program, Whole
from loopxform.validate.polynomials import extents_of
from loopxform.validate.programs.declarations import same_type, structs_of
from loopxform.validate.programs.function import User
from loopxform.validate.programs.grid import Grid
from loopxform.validate.programs.sizes import bind_scalars, decided, ranges, rows_of, sizes_of
from loopxform.validate.reading.reader import Reader
from loopxform.validate.reading.syntax import called_name, line_of, stored_in
from loopxform.validate.reading.values import Cell
from loopxform.validate.unmodelled import Unmodelled


@dataclass
class Launches:
    """One way through the host code: the sizes for which it may be taken, and what it launches."""

    where: isl.Set
    program: Program
    kernels: tuple[str, ...]


def launches(u: User, kernels: str, host: host_code.Host) -> Iterator[Launches]:
    """Every way through the host code, with the kernels of the file `kernels`."""
    if u.tested - host.tested:
        raise Unmodelled("pointers that host code does not compare with null")
    r = sizes_of(u)
    _limit_rows(r, u, host)
    for where, steps in _ways(r, list(host.run.body.block_items or ())):
        if where.is_empty():
            continue
        way = _Way(u, host, kernels, where)
        if host.own:
            way.program(steps, recording=True)
        names = tuple(host.kernels[_index(s)].name for s in steps)
        yield Launches(where, way.program(steps).closed(), names)


def _limit_rows(r: Reader, u: User, host: host_code.Host) -> None:
    """An array whose number of rows is not declared has those that the host copies."""
    for n, cell in u.cells.items():
        room = host.rooms.get(f"lx_mem_{n.partition('.')[0]}")
        if cell.array.extents[:1] == (None,) and room is not None:
            try:
                cell.array.limit = rows_of(r, room, cell.array.extents[1:])
            except Unmodelled:
                cell.array.limit = None


Steps = list[c_ast.FuncCall]
"""Calls of lx_step, each of which launches a kernel."""


def _ways(r: Reader, items: list[c_ast.Node]) -> list[tuple[isl.Set, Steps]]:
    """What may be launched, and for which sizes. Conditions that tuning decides go both ways."""
    ways: list[tuple[isl.Set, Steps]] = [(r.domain, [])]
    for s in items:
        ways = [
            (where, [*first, *second])
            for a, first in ways
            for b, second in _steps(r, s)
            if not (where := a.intersect(b)).is_empty()
        ]
    return ways


def _steps(r: Reader, s: c_ast.Node) -> list[tuple[isl.Set, Steps]]:
    always = isl.Set.universe(r.domain.get_space())
    match s:
        case c_ast.FuncCall() if called_name(s) == "lx_step":
            return [(always, [s])]
        case c_ast.FuncCall() if called_name(s) == "lx_split":  # which rows groups touch
            return [(always, [])]
        case c_ast.Cast() | c_ast.EmptyStatement():
            return [(always, [])]
        case c_ast.Compound():
            return _ways(r, list(s.block_items or ()))
        case c_ast.If():
            ways: list[tuple[isl.Set, Steps]] = []
            for where, holds in decided(r, s.cond):
                for body, never in ((s.iftrue, False), (s.iffalse, True)):
                    if holds is not never:
                        with r.within(domain=where):
                            ways += _ways(r, [body] if body is not None else [])
            return ways
    raise Unmodelled("host code that does more than launch", line_of(s))


def _index(step: c_ast.FuncCall) -> int:
    return int(step.args.exprs[1].value)


@dataclass
class _Way:
    """Reads the kernels of one way. `scratch` is the host's own memory by name."""

    user: User
    host: host_code.Host
    kernels: str
    where: isl.Set
    scratch: dict[str, Array] = field(default_factory=dict)

    def program(self, steps: Steps, *, recording: bool = False) -> Program:
        program = Program(self.user.program.space)
        for at, step in enumerate(steps):
            self._launch(program, step, at, recording)
        return program

    def _launch(self, program: Program, step: c_ast.FuncCall, at: int, recording: bool) -> None:
        own = self.host.kernels[_index(step)]
        tree = text.kernels(self.kernels, own.macros)
        functions = text.functions(tree)
        f = self._kernel(own, functions)
        r = Reader(program, functions)
        r.domain, r.prefix, r.in_kernel = self.where, f"L{at}.", True
        bind_scalars(r, self.user)
        r.ranges = ranges(self.user)
        grid = Grid(r, own.shape)
        counts = [grid.count(e) for e in step.args.exprs[2:5]]
        r.domain = r.domain.intersect_params(program.quotients)
        grid.number(counts)
        r.work_item = grid
        r.stored, r.recording = stored_in(f.body), recording
        self._bind_constants(r, tree)
        _Arguments(r, self, own, tree).bind(f)
        r.launch, r.in_phase = (Position(at),), True
        r.scopes.append({})
        r.block(f.body.block_items)
        if recording:
            self._shape_scratch(r)

    def _kernel(self, own: host_code.Kernel, functions: dict[str, c_ast.FuncDef]) -> c_ast.FuncDef:
        """The kernel of this name, taken out of the functions of its file."""
        if own.name not in functions:
            raise Unmodelled(f"the kernel {own.name}, which is not in the file")
        f = functions.pop(own.name)
        built = text.functions(text.kernels(self.host.source, own.macros)).get(own.name)
        if built is None or text.written(built) != text.written(f):
            raise Unmodelled(f"the kernel {own.name}, which the host code holds otherwise")
        return f

    def _bind_constants(self, r: Reader, tree: c_ast.FileAST) -> None:
        """Arrays of numbers that stand in both files."""
        for name, numbers in text.constants(tree).items():
            if self.user.constants.get(name) == numbers and name in self.user.cells:
                array = self.user.cells[name].array
                r.program.arrays[name] = array
                r.bind(name, Cell(array, (None,)))

    def _shape_scratch(self, r: Reader) -> None:
        """The shapes that subscripts tell."""
        for name, array in self.scratch.items():
            if array.extents == (None,) and r.strides.get(name):
                array.extents = (None, *extents_of(r.strides[name]))
                array.limit = self.rows(name, array)

    def rows(self, name: str, array: Array) -> isl.PwAff | None:
        return rows_of(sizes_of(self.user), self.host.rooms[name], array.extents[1:])


@dataclass
class _Arguments:
    """What the host passes to a kernel."""

    reader: Reader
    way: _Way
    own: host_code.Kernel
    tree: c_ast.FileAST

    def bind(self, f: c_ast.FuncDef) -> None:
        for at, p in enumerate(f.decl.type.args.params):
            given = self.own.arguments.get(at)
            if given is None:
                what = f"the argument {p.name} of {self.own.name}, which is not set"
                raise Unmodelled(what, line_of(p))
            if isinstance(p.type, c_ast.PtrDecl):
                self._bind_memory(p, given)
            else:
                self._bind_number(p, given)

    def _bind_number(self, p: c_ast.Decl, given: str) -> None:
        r = self.reader
        number = r.find(given, p)
        type, _ = r.declared(p.type)
        if not isinstance(number, Whole):
            r.bind(p.name, number)
            return
        narrow = type.bits < 32 or (type.bits == 32 and not r.holds(number.value, type))
        if type != number.type and narrow:
            raise Unmodelled(f"the type of {p.name}", line_of(p))
        r.bind(p.name, Whole(number.value, type))

    def _bind_memory(self, p: c_ast.Decl, given: str) -> None:
        r, cells = self.reader, self.way.user.cells
        if given in self.way.host.own:
            self._bind_scratch(p, given)
            return
        name = given if given in cells else given.removeprefix("lx_mem_")
        passed = {n: c for n, c in cells.items() if n == name or n.startswith(f"{name}.")}
        if not passed:
            raise Unmodelled(f"the argument {p.name} of {self.own.name}", line_of(p))
        for n, c in passed.items():
            member = n.removeprefix(name)
            same_type(r, c.array, member, p, structs_of(self.tree))
            r.program.arrays[n] = c.array
            r.bind(p.name + member, Cell(c.array, (None,)))

    def _bind_scratch(self, p: c_ast.Decl, given: str) -> None:
        r, scratch = self.reader, self.way.scratch
        if given not in scratch:
            type, _ = r.declared(p.type.type)
            array = Array(given, "scratch", type, (None,), line_of(p))
            array.limit = self.way.rows(given, array)
            scratch[given] = array
        r.program.arrays[given] = scratch[given]
        r.bind(p.name, Cell(scratch[given], (None,)))
