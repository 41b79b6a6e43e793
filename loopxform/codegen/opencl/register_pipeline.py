"""A loop in which work-items read what they need of the tiles an iteration ahead (the step
`register-pipeline`), inside one whose tiles are fetched ahead:

float A_reg[2][Ry];
read A_reg[0] for k = 0;
for (kk ...) {
  for (k = 0; k < Tk - 1; ++k) {
    read A_reg[(k + 1) % 2] for k + 1;
    compute with A_reg[k % 2];
  }
  ...                                      the next tile, and the barrier (codegen.ahead)
  read A_reg[0] for k = 0;                 of the next tile
  compute with A_reg[1];
}

Where there is no next tile the last one is read again. The number of iterations is even, so that
the first one always has the same registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from loopxform.codegen.opencl.tensor_product import TensorWriter
from loopxform.codegen.opencl.work_item import indented
from loopxform.ir.affine import simplify
from loopxform.ir.nodes import Bin, Const, Expr, For, Stmt, Var
from loopxform.ir.visit import names, stmt_exprs, substitute_body, walk
from loopxform.transforms.latency.register_pipeline import parts


@dataclass
class PreloadWriter(TensorWriter):
    """Writes the parts of such a loop."""

    def registers(self, loop: For) -> list[str]:
        """Declares two of each."""
        own = parts(loop)[0]
        return [line for d in own for line in self._pair({x.name for x in own}, "2", d)]

    def first_read(self, loop: For) -> list[str]:
        """Reads for the first iteration."""
        plain = self._read(loop, Const(0), "0")
        if not self.has_tiles(loop):
            return plain
        return self.either(self.fragments(loop, Const(0), "0"), plain, loop)

    def steps(self, loop: For, between: Sequence[str] = ()) -> list[str]:
        """All iterations but the last one, with what comes `between` them."""
        k = self.dialect.name(loop.var)
        later = Bin("+", Var(loop.var), Const(1))
        read = self._read(loop, later, f"({k} + 1) % 2")
        body = [*read, *self._compute(loop, f"{k} % 2"), *between]
        plain = self._loop(replace(loop, hi=self._last(loop)), body)
        return self.either(self._products(loop), plain, loop) if self.has_tiles(loop) else plain

    def _products(self, loop: For) -> list[str]:
        """The same by products of tiles: an iteration is one of them."""
        depth, k = self.depth(loop), self.dialect.name(loop.var)
        later = Bin("+", Var(loop.var), Const(depth))
        body = [
            *self.fragments(loop, later, f"({k} / {depth} + 1) % 2"),
            *self.products(loop, f"{k} / {depth} % 2"),
        ]
        end = simplify(Bin("-", loop.hi, Const(depth)))
        return self._loop(replace(loop, hi=end, step=Const(depth)), body)

    def last_step(self, loop: For) -> list[str]:
        """The last iteration."""
        kind, k = self.dialect.counter_type(loop.type), self.dialect.name(loop.var)
        lines = self._compute(loop, "1")
        used = {n for _, s in walk(parts(loop)[2]) for e in stmt_exprs(s) for n in names(e)}
        if loop.var in used:
            lines = [f"const {kind} {k} = {self._text(self._last(loop))};", *lines]
        if self.has_tiles(loop):
            return self.either(self.products(loop, "1"), lines, loop)
        return ["{", *indented(lines), "}"]

    def _last(self, loop: For) -> Expr:
        return simplify(Bin("-", loop.hi, Const(1)))

    def _read(self, loop: For, value: Expr, which: str) -> list[str]:
        own, copies, _ = parts(loop)
        moved = substitute_body(copies, {loop.var: value})
        return [line for s in moved for line in self._pair({d.name for d in own}, which, s)]

    def _compute(self, loop: For, which: str) -> list[str]:
        own, _, rest = parts(loop)
        return [line for s in rest for line in self._pair({d.name for d in own}, which, s)]

    def _pair(self, names: set[str], which: str, s: Stmt) -> list[str]:
        """A statement with registers of which those of that number are in use."""
        plain = self.dialect
        self.dialect = replace(plain, pairs=dict.fromkeys(names, which))
        out = self._item(s)
        self.dialect = plain
        return out
