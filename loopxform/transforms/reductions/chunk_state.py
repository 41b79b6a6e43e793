"""What a chunk of iterations makes of a running value, before that is known: one or two numbers.

s op= e             own                 s op own
s = m*s + e         own, factor         factor*s + own
s = e among those   own, kept           own, where a chunk sets s; else as above
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.analysis.running_updates import RunningUpdate, RunningValue
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Decl,
    Expr,
    Function,
    If,
    Load,
    Stmt,
    Var,
)
from loopxform.ir.types import INT, Scalar
from loopxform.ir.typing import symbols
from loopxform.ir.visit import at
from loopxform.records import record
from loopxform.source import Origin
from loopxform.transforms.reductions.partial import Operand, combined, neutral, partial_type


def operands(fn: Function, v: RunningValue) -> list[Operand]:
    """The statements that update a running value, each with what it reads."""
    found: list[Operand] = []
    for u in v.updates:
        s = at(fn, u.path)
        assert isinstance(s, Assign | If)
        if u.form != "set":
            found += ((s, e) for e in u.operands)
    return found


@record
class ChunkState:
    """The state of a running value: `own` in a chunk, `array` of all chunks, `run` where a chunk
    runs with the value at its beginning; `other` and `others` are the factor, or the flag."""

    value: RunningValue
    found: tuple[Operand, ...]
    type: Scalar
    number: Expr
    own: str
    array: str
    run: str
    other: str = ""
    others: str = ""

    @property
    def name(self) -> str:
        return self.value.var

    @property
    def other_type(self) -> Scalar:
        """The type of the factor, or the flag."""
        return self.type if self.value.op == "linear" else INT

    @property
    def rounds(self) -> bool:
        """Whether the order in which chunks are combined shows."""
        return self.type.is_float and self.value.op in ("+", "*", "linear")

    def arrays(self, room: Expr, origin: Origin) -> Iterator[Decl]:
        """The numbers of all chunks."""
        yield Decl(self.array, self.type, (room,), origin=origin)
        if self.others:
            yield Decl(self.others, self.other_type, (room,), origin=origin)

    def begun(self) -> Iterator[Stmt]:
        """What stands before the iterations of a chunk."""
        op = "+" if self.value.op == "linear" else self.value.op
        first = neutral(op, self.found, self.type) if op else _number(0, self.type)
        yield Decl(self.own, self.type)
        yield Assign(Var(self.own), first, label=f"begin_{self.own}")
        if self.other:
            yield Decl(self.other, self.other_type)
            start = _number(1, self.other_type)
            yield Assign(Var(self.other), start, label=f"begin_{self.other}")

    def tracked(self, u: RunningUpdate) -> tuple[Stmt, ...]:
        """What follows an update in the iterations of a chunk."""
        if not self.other:
            return ()
        target, label = Var(self.other), f"track_{self.other}"
        if u.form == "set":
            return (Assign(target, _number(0, self.other_type), label=label),)
        if self.value.op != "linear" or u.factor is None:
            return ()
        return (Assign(target, u.factor, "*", label=label),)

    def stored(self) -> Iterator[Stmt]:
        """What stands behind the iterations of a chunk."""
        yield Assign(Load(self.array, (self.number,)), Var(self.own), label=f"store_{self.own}")
        if self.other:
            element = Load(self.others, (self.number,))
            yield Assign(element, Var(self.other), label=f"store_{self.other}")

    def passed(self, fn: Function, number: Expr) -> Iterator[Stmt]:
        """An iteration of the loop over chunks: it leaves the value at the beginning of one where
        its own number was, and goes on to that at its end."""
        next_one, element = fresh(fn, f"{self.name}_next"), Load(self.array, (number,))
        yield Decl(next_one, self.type)
        yield Assign(Var(next_one), element, label=f"load_{next_one}")
        if self.value.used:
            yield Assign(element, Var(self.name), label=f"pass_{self.name}")
        yield from self.onward(Var(next_one), Load(self.others, (number,)))

    def onward(self, own: Var, other: Expr) -> Iterator[Stmt]:
        """What makes of the value at the beginning of a chunk that at its end, where the chunk has
        made `own` and `other` (a factor or a flag, where it has one) of it."""
        s, label = Var(self.name), f"combine_{self.name}"
        if self.value.op == "linear":
            yield Assign(s, Bin("+", Bin("*", other, s), own), label=label)
            return
        goes_on: tuple[Stmt, ...] = ()
        if self.value.op:
            goes_on = (combined(self.name, self.value.op, list(self.found), own, label),)
        if not self.other:
            yield from goes_on
            return
        begins = Assign(s, own, label=f"begin_{self.name}")
        kept = Bin("!=", other, Const(0))
        yield If(kept, goes_on, (begins,)) if goes_on else If(_none(kept), (begins,))

    def resumed(self, own: Scalar) -> Iterator[Stmt]:
        """What stands before the iterations of a chunk that runs with the value, of type `own`."""
        yield Decl(self.run, own)
        first = Load(self.array, (self.number,))
        yield Assign(Var(self.run), first, label=f"begin_{self.run}")


def chunk_state(fn: Function, v: RunningValue, number: Expr) -> ChunkState:
    """The state of a running value in the chunks of a loop, the `number` of which is given."""
    found = tuple(operands(fn, v))
    types = symbols(fn)
    op = "+" if v.op == "linear" else v.op
    kind = partial_type(v.var, op, found, types) if op else types[v.var]
    own, array, run = (fresh(fn, f"{v.var}_{end}") for end in ("own", "part", "run"))
    if v.op != "linear" and not v.restarts:
        return ChunkState(v, found, kind, number, own, array, run)
    word = "factor" if v.op == "linear" else "kept"
    other, others = fresh(fn, f"{v.var}_{word}"), fresh(fn, f"{v.var}_{word}_part")
    return ChunkState(v, found, kind, number, own, array, run, other, others)


def _number(n: int, kind: Scalar) -> Const:
    return Const(float(n) if kind.is_float else n, kind)


def _none(kept: Bin) -> Bin:
    return Bin("==", kept.left, kept.right)
