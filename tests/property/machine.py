"""Runs small functions on integers, access by access, as C defines them; and what conflicts.

Signed arithmetic is that of the integers (overflow is the program's mistake), unsigned arithmetic
wraps around by the type C gives an expression, whatever marks the front end has put there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from loopxform.analysis.dependence import Dependence
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Cast,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Return,
    Select,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.types import Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import Path, walk
from loopxform.ir.whiles import condition, test

Place = tuple[str, int, tuple[int, ...]]
"""Name, which instance of a local declaration, element."""


@dataclass
class Event:
    path: Path
    iteration: tuple[tuple[Path, int, int], ...]
    """Per loop around: where it is, its value, its sign."""
    place: Place
    write: bool
    name: str
    """What the program calls the object; that of `place` is another where arrays overlap."""


@dataclass
class Machine:
    """Runs a function on integers; `order` chooses the order of a loop's iterations, `poison` names
    private to a loop are spoilt at the start of each of its iterations."""

    memory: dict[Place, int]
    params: dict[str, int]
    order: dict[Path, Callable[[list[int]], list[int]]] = field(default_factory=dict)
    poison: dict[Path, tuple[str, ...]] = field(default_factory=dict)
    copies: frozenset[str] = frozenset()
    """Those whose values the last iteration leaves, arrays as a whole."""
    conditional: frozenset[str] = frozenset()
    """Those whose value is that of the last iteration that sets them."""
    events: list[Event] = field(default_factory=list)
    around: list[tuple[Path, int, int]] = field(default_factory=list)
    vars: dict[str, int] = field(default_factory=dict)
    locals: dict[str, int] = field(default_factory=dict)
    instances: int = 0
    limit: int = 30_000
    huge: int = 1 << 40
    """Numbers from here on are cut."""
    types: dict[str, Scalar] = field(default_factory=dict)
    unsigned: bool = False
    """Whether the program has unsigned variables at all."""
    arrays: frozenset[str] = frozenset()
    aliases: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Arrays that are another array, so many elements further on."""

    def touch(self, path: Path, name: str, index: tuple[int, ...], write: bool) -> Place:
        called = name
        if name in self.aliases:
            name, offset = self.aliases[name]
            index = (index[0] + offset,)
        place = (name, self.locals.get(name, 0), index)
        self.events.append(Event(path, tuple(self.around), place, write, called))
        if len(self.events) > self.limit:
            raise OverflowError
        return place

    def load(self, path: Path, name: str, index: tuple[int, ...] = ()) -> int:
        place = self.touch(path, name, index, False)
        return self.memory[place] if place in self.memory else self.initial(name, index)

    def initial(self, name: str, index: tuple[int, ...]) -> int:
        """What an object holds before anything is written to it."""
        return (len(name) + ord(name[0]) % 7 + sum(index) * 3 + 1) % 11

    def value(self, e: Expr, path: Path) -> int:  # noqa: C901
        match e:
            case Const(v):
                return int(v)
            case Var(name):
                if name in self.vars:
                    return self.vars[name]
                if name in self.params:
                    return self.params[name]
                return self.load(path, name)
            case Load(array, index):
                return self.load(path, array, tuple(self.value(i, path) for i in index))
            case Un("-", x):
                return -self.value(x, path)
            case Un("+", x):
                return self.value(x, path)
            case Un("!", x):
                return int(not self.value(x, path))
            case Bin("&&", a, b):
                return int(bool(self.value(a, path)) and bool(self.value(b, path)))
            case Bin("||", a, b):
                return int(bool(self.value(a, path)) or bool(self.value(b, path)))
            case Bin(op, a, b):
                both = self.value(a, path), self.value(b, path)
                return self.wrapped(e, _binary(op, *self.converted(e, *both)))
            case Cast(type, x):
                value = self.value(x, path)
                return value % (1 << 8 * type.bytes) if type.is_unsigned else value
            case Select(c, a, b):
                return self.value(a if self.value(c, path) else b, path)
            case Call(name, args):
                return _called(name, [self.value(x, path) for x in args])
            case _:
                raise AssertionError(e)

    def wrapped(self, e: Expr, value: int) -> int:
        """The value of an expression of unsigned type."""
        type = self.type(e)
        return value % (1 << 8 * type.bytes) if type is not None and type.is_unsigned else value

    def converted(self, e: Bin, a: int, b: int) -> tuple[int, int]:
        """Operands of a comparison or quotient in their common type (C11 6.3.1.8)."""
        type = self.type(Bin("+", e.left, e.right)) if self.unsigned else None
        if type is None or not type.is_unsigned:
            return a, b
        return a % (1 << 8 * type.bytes), b % (1 << 8 * type.bytes)

    def type(self, e: Expr) -> Scalar | None:
        return type_of(e, self.types) if self.unsigned else None

    def body(self, body: tuple[Stmt, ...], path: Path, *, orelse: bool = False) -> None:
        hidden = dict(self.locals)
        for n, s in enumerate(body):
            self.stmt(s, (*path, -1 - n if orelse else n))
        self.locals = hidden

    def stmt(self, s: Stmt, path: Path) -> None:
        match s:
            case Decl(name):
                self.instances += 1
                self.locals[name] = self.instances
            case Assign(target, value, op):
                new = self.value(value, path)
                index = ()
                if isinstance(target, Load):
                    index = tuple(self.value(i, path) for i in target.index)
                name = target.array if isinstance(target, Load) else target.name
                if op:
                    new = _binary(op, self.load(path, name, index), new)
                type = self.types.get(name)
                if type is not None and type.is_unsigned:
                    new %= 1 << 8 * type.bytes
                small = new if abs(new) < self.huge else new % 10007
                self.memory[self.touch(path, name, index, True)] = small
            case If(cond, then, other):
                if self.value(cond, path):
                    self.body(then, path)
                else:
                    self.body(other, path, orelse=True)
            case For():
                self.loop(s, path)
            case Return(value):
                if value is not None:
                    self.value(value, path)
            case _:
                raise AssertionError(s)

    def on_data(self, s: For, path: Path, step: int) -> None:
        """A loop that asks before each iteration."""
        v = self.value(s.lo, path)
        self.vars[s.var] = v
        self.value(s.hi, path)
        while True:
            self.around.append((path, v, step))
            if not self.value(test(s), path):
                break
            self.body(s.body, path)
            self.around.pop()
            v += step
            self.vars[s.var] = v
        self.around.pop()
        del self.vars[s.var]

    def loop(self, s: For, path: Path) -> None:
        step = value_of(s.step)
        assert step is not None
        if condition(s) is not None:
            self.on_data(s, path, step)
            return
        values, v = [], self.value(s.lo, path)
        while v < self.value(s.hi, path) if step > 0 else v > self.value(s.hi, path):
            values.append(v)
            v += step
        after = v
        chosen = self.order.get(path, lambda x: x)(values)
        spoilt = [(n, self.locals.get(n, 0)) for n in self.poison.get(path, ())]
        before = {p: x for p, x in self.memory.items() if p[:2] in spoilt}
        last: dict[Place, int] = {}
        set_at: dict[Place, tuple[int, int]] = {}
        for n, v in enumerate(chosen):
            self._spoil(spoilt, 9000 + n)
            begin, turn = len(self.events), values.index(v)
            self.vars[s.var] = v
            self.around.append((path, v, step))
            self.body(s.body, path)
            self.around.pop()
            if v == values[-1]:
                last = {p: x for p, x in self.memory.items() if p[:2] in spoilt}
            for place in {e.place for e in self.events[begin:] if e.write}:
                if place[:2] in spoilt and set_at.get(place, (-1, 0))[0] < turn:
                    set_at[place] = turn, self.memory[place]
        if chosen:
            self._leave(spoilt, before, last, {p: x for p, (_, x) in set_at.items()})
        self.vars.pop(s.var, None)
        if s.live_out:
            self.memory[(s.var, self.locals.get(s.var, 0), ())] = after

    def _spoil(self, objects: list[tuple[str, int]], value: int) -> None:
        for name, instance in objects:
            for place in [p for p in self.memory if p[:2] == (name, instance)]:
                self.memory[place] = value
            if name not in self.arrays:
                self.memory[(name, instance, ())] = value

    def _leave(
        self,
        objects: list[tuple[str, int]],
        before: dict[Place, int],
        last: dict[Place, int],
        set: dict[Place, int],
    ) -> None:
        """What a loop leaves in what was private to its iterations."""
        for place in [p for p in self.memory if p[:2] in objects]:
            if place[0] in self.copies:
                self.memory[place] = last[place]
            elif place[0] not in self.conditional:
                self.memory[place] = 8000
            elif place in set:
                self.memory[place] = set[place]
            elif place in before:
                self.memory[place] = before[place]
            else:
                del self.memory[place]


def _binary(op: str, a: int, b: int) -> int:  # noqa: C901
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else 0
        case "%":
            return a - b * _binary("/", a, b) if b else 0
        case "<":
            return int(a < b)
        case "<=":
            return int(a <= b)
        case ">":
            return int(a > b)
        case ">=":
            return int(a >= b)
        case "==":
            return int(a == b)
        case "!=":
            return int(a != b)
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
        case "<<":
            return a << b
        case ">>":
            return a >> b
        case "min":
            return min(a, b)
        case _:
            assert op == "max"
            return max(a, b)


def _called(name: str, args: list[int]) -> int:
    """A function of the library: the right one where integers have it, else any that computes."""
    match name:
        case "fabs":
            return abs(args[0])
        case "fmin":
            return min(args)
        case "fmax":
            return max(args)
        case "floor":
            return args[0]
        case _:
            return sum(n * x for n, x in enumerate(args, 2)) % 5


def run(
    fn: Function,
    params: dict[str, int],
    memory: dict[Place, int] | None = None,
    **how: object,
) -> Machine:
    types = symbols(fn)
    unsigned = any(t.is_unsigned for t in types.values())
    arrays = {p.name for p in fn.objects if p.shape}
    arrays |= {s.name for _, s in walk(fn.body) if isinstance(s, Decl) and s.shape}
    given = {"types": types, "unsigned": unsigned, "arrays": frozenset(arrays), **how}
    machine = Machine(dict(memory or {}), params, **given)  # type: ignore[arg-type]
    machine.body(fn.body, ())
    return machine


def observed(events: list[Event]) -> Iterator[tuple[Event, Event]]:
    """Pairs of conflicting accesses by different statement instances, in order."""
    by_place: dict[Place, list[Event]] = {}
    for e in events:
        by_place.setdefault(e.place, []).append(e)
    for group in by_place.values():
        if len(group) > 60:
            group = group[:30] + group[-30:]
        for n, first in enumerate(group):
            for second in group[n + 1 :]:
                same = first.path == second.path and first.iteration == second.iteration
                if (first.write or second.write) and not same:
                    yield first, second


def direction(first: Event, second: Event) -> tuple[str, ...]:
    out = []
    for (p, v, step), (q, w, _) in zip(first.iteration, second.iteration):
        if p != q:
            break
        gap = (w - v) * (1 if step > 0 else -1)
        out.append("<" if gap > 0 else ">" if gap < 0 else "=")
    return tuple(out)


def kind(first: Event, second: Event) -> str:
    return "output" if first.write and second.write else "flow" if first.write else "anti"


def covers(d: Dependence, signs: tuple[str, ...]) -> bool:
    return len(d.direction) == len(signs) and all(p in ("*", s) for p, s in zip(d.direction, signs))


def carrier(first: Event, second: Event) -> Path | None:
    signs = direction(first, second)
    level = next((n for n, s in enumerate(signs) if s != "="), None)
    return None if level is None else first.iteration[level][0]
