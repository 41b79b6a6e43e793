"""What a function does, access by access: enough to see whether two iterations really collide."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from loopxform.errors import Obstacle
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
    Select,
    Stmt,
    Tile,
    Un,
    Var,
)

Place = tuple[str, int, tuple[int, ...]]
"""Name, which run of its declaration, element."""


class TooLongError(Exception):
    """More accesses than a test wants to wait for."""


@dataclass(frozen=True)
class Access:
    """One read or write by a statement (its label), with the values of the loops around it."""

    label: str
    iteration: dict[str, int]
    place: Place
    write: bool


@dataclass
class Tracer:
    """Runs integers and real numbers alike; values only matter where they steer the control."""

    params: dict[str, int]
    limit: int = 40_000
    events: list[Access] = field(default_factory=list)
    memory: dict[Place, float] = field(default_factory=dict)
    loops: dict[str, int] = field(default_factory=dict)
    locals: dict[str, int] = field(default_factory=dict)
    declarations: int = 0
    label: str = ""

    def touch(self, name: str, index: tuple[int, ...], *, write: bool) -> Place:
        place = (name, self.locals.get(name, 0), index)
        self.events.append(Access(self.label, dict(self.loops), place, write))
        if len(self.events) > self.limit:
            raise TooLongError
        return place

    def read(self, name: str, index: tuple[int, ...] = ()) -> float:
        return self.memory.get(self.touch(name, index, write=False), float(sum(index) % 5))

    def value(self, e: Expr) -> float:
        match e:
            case Const(v) | Tile(_, v):
                return v
            case Var(name):
                known = self.loops.get(name, self.params.get(name))
                return self.read(name) if known is None else known
            case Load(array, index):
                return self.read(array, tuple(int(self.value(i)) for i in index))
            case Un("~", x):
                return float(~int(self.value(x)))
            case Un(op, x):
                return -self.value(x) if op == "-" else float(not self.value(x))
            case Bin("&&", a, b):
                return float(bool(self.value(a)) and bool(self.value(b)))
            case Bin(op, a, b):
                return _binary(op, self.value(a), self.value(b))
            case Select(c, a, b):
                return self.value(a if self.value(c) else b)
            case Cast(_, x):
                return self.value(x)
            case Call(_, args):
                return sum(map(self.value, args))

    def body(self, body: tuple[Stmt, ...]) -> None:
        hidden = dict(self.locals)
        for s in body:
            self.stmt(s)
        self.locals = hidden

    def stmt(self, s: Stmt) -> None:
        match s:
            case Decl(name):
                self.declarations += 1
                self.locals[name] = self.declarations
            case Assign(target, value, op):
                self.label = s.label
                new = self.value(value)
                name = target.array if isinstance(target, Load) else target.name
                indices = target.index if isinstance(target, Load) else ()
                index = tuple(int(self.value(i)) for i in indices)
                if op:
                    new = _binary(op, self.read(name, index), new)
                self.memory[self.touch(name, index, write=True)] = math.fmod(new, 1009)
            case If(cond, then, orelse):
                self.label = "if"
                self.body(then if self.value(cond) else orelse)
            case For():
                self.loop(s)
            case _:
                raise AssertionError(s)

    def loop(self, s: For) -> None:
        step = value_of(s.step)
        assert step is not None
        v = int(self.value(s.lo))
        while v < self.value(s.hi) if step > 0 else v > self.value(s.hi):
            self.loops[s.var] = v
            self.body(s.body)
            v += step
        self.loops.pop(s.var, None)


def _binary(op: str, a: float, b: float) -> float:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/" | "%":
            quotient = int(a / b) if b else 0
            return quotient if op == "/" else a - b * quotient
        case "&":
            return float(int(a) & int(b))
        case "min" | "max":
            return min(a, b) if op == "min" else max(a, b)
        case _:
            compare = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b}
            return float(compare.get(op, a != b))


def trace(fn: Function, params: dict[str, int]) -> list[Access]:
    """Every access in the order it happens. Raises TooLongError."""
    tracer = Tracer(params)
    tracer.body(fn.body)
    return tracer.events


# ---------------------------------------------------------------- witnesses

_VALUES = r"((?:\w+=-?\d+(?:, )?)*)"
_WITNESS = re.compile(rf"{_VALUES} and {_VALUES}(?: \({_VALUES}\))?")
_MESSAGE = re.compile(r"the (flow|anti|output) dependence of (\w+) from (\S+).*? to ([^\s,]+)")


@dataclass(frozen=True)
class Claim:
    """What a refusal says: two iterations of two statements meet in one element."""

    kind: str
    array: str
    source: str
    sink: str
    first: dict[str, int]
    second: dict[str, int]
    sizes: dict[str, int]

    def holds(self, events: list[Access]) -> bool:
        """Whether some access of the first iteration is followed by one of the second."""
        writes = {"flow": (True, False), "anti": (False, True), "output": (True, True)}[self.kind]
        before: set[Place] = set()
        for e in events:
            if e.place in before and self._is(e, self.sink, self.second, writes[1]):
                return True
            if self._is(e, self.source, self.first, writes[0]):
                before.add(e.place)
        return False

    def _is(self, e: Access, label: str, iteration: dict[str, int], write: bool) -> bool:
        return (
            e.label == label
            and e.write == write
            and e.place[0] == self.array
            and all(e.iteration.get(k) == v for k, v in iteration.items())
            and all(self.sizes.get(k, v) == v for k, v in e.iteration.items() if k not in iteration)
        )


def claims(obstacles: tuple[Obstacle, ...]) -> Iterator[Claim]:
    """What the obstacles that are proven dependences (LX101) claim."""
    for o in obstacles:
        if o.code != "LX101":
            continue
        assert o.witness, o.message
        text, numbers = _MESSAGE.match(o.message), _WITNESS.fullmatch(o.witness)
        assert text, o.message
        assert numbers, o.witness
        first, second, sizes = (_numbers(g) for g in numbers.groups())
        yield Claim(*text.groups(), first, second, sizes)


def _numbers(text: str | None) -> dict[str, int]:
    pairs = (p.split("=") for p in (text or "").split(", ") if p)
    return {k: int(v) for k, v in pairs}
