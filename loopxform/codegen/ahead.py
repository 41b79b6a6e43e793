"""A loop whose tiles are fetched an iteration ahead (the step `pipeline`).

int stage = 0;
fetch tile 0; store it into buffer 0;
for (kk ...) {
  barrier;                                 buffer `stage` is complete, the other one not in use
  if (another iteration) fetch its tile;   into registers: the loads are under way
  compute with buffer `stage`;
  if (another iteration) store what was fetched into buffer 1 - stage;
  stage = 1 - stage;
}
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from loopxform.codegen import cexpr
from loopxform.codegen.collective import CopyPlan, Half, OwnNames, plan_copy, vector_type
from loopxform.codegen.dialect import KernelDialect
from loopxform.codegen.item import indented
from loopxform.codegen.mapping import Mapping
from loopxform.ir import whiles
from loopxform.ir.nodes import Bin, Copy, Expr, For, Slice, Stmt, Var
from loopxform.ir.visit import substitute
from loopxform.transforms.pipeline import split


@dataclass(frozen=True)
class Ahead:
    """The loop, and what it takes to print copies."""

    loop: For
    mapping: Mapping
    dialect: KernelDialect
    own: OwnNames
    render: Callable[[CopyPlan], str]

    @property
    def copies(self) -> tuple[Copy, ...]:
        return split(self.loop)[0]

    @property
    def rest(self) -> tuple[Stmt, ...]:
        """The body without the copies."""
        return split(self.loop)[1]

    @property
    def places(self) -> list[Expr]:
        """What says which parts are copied."""
        found = (e for c in self.copies for x in c.slices for e in (x.lo, x.size, x.limit))
        return [e for e in found if e is not None]

    def first(self) -> list[str]:
        """Fills the first buffer, if there is an iteration."""
        return self._if(self.loop.lo, self._lines(self.loop.lo, "0"))

    def body(self, fence: str, compute: list[str]) -> list[str]:
        """The body of the loop: `fence` is the barrier it begins with."""
        stage = self.own.stage
        later = Bin("+", Var(self.loop.var), self.loop.step)
        return [
            fence,
            *self._registers(),
            *self._if(later, self._lines(later, "", stored=False)),
            *compute,
            *self._if(later, self._lines(later, f"1 - {stage}", stored=True)),
            f"{stage} = 1 - {stage};",
        ]

    def _if(self, value: Expr, lines: list[str]) -> list[str]:
        """Lines for the iteration of that value, if there is one."""
        test = substitute(whiles.test(self.loop), {self.loop.var: value})
        return [f"if ({cexpr.expr(test, self.dialect)}) {{", *indented(lines), "}"]

    def _registers(self) -> list[str]:
        d = self.dialect
        return [
            f"{vector_type(c, d)} {self.own.next[c.target]}[{self._plan(c, d, None).rounds}];"
            for c in self.copies
        ]

    def _lines(self, value: Expr, buffer: str, stored: bool | None = None) -> list[str]:
        """The copies of the iteration of that value, or the half that is stored, or fetched."""
        d = replace(self.dialect, buffer=buffer)
        plans = (self._plan(self._at(c, value), d, stored) for c in self.copies)
        return [line for p in plans for line in self.render(p).rstrip("\n").split("\n")]

    def _plan(self, c: Copy, d: KernelDialect, stored: bool | None) -> CopyPlan:
        half = None if stored is None else Half(self.own.next[c.target], stored)
        return plan_copy(c, self.mapping.group_shape, self.own, d, half)

    def _at(self, c: Copy, value: Expr) -> Copy:
        """The copy of another iteration."""

        def moved(e: Expr | None) -> Expr | None:
            return None if e is None else substitute(e, {self.loop.var: value})

        def part(x: Slice) -> Slice:
            return replace(x, lo=moved(x.lo) or x.lo, size=moved(x.size), limit=moved(x.limit))

        return replace(c, slices=tuple(map(part, c.slices)))
