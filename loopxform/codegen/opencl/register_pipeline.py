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
the first one always has the same registers. Where more than one iteration is read ahead, so many
come behind the barrier, each of which reads for one of the next tile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from loopxform.codegen.opencl.tensor_product import TensorWriter
from loopxform.codegen.opencl.work_item import indented
from loopxform.ir.affine import simplify
from loopxform.ir.nodes import Bin, Const, Expr, For, Stmt, Var
from loopxform.ir.visit import names, stmt_exprs, substitute_body, walk
from loopxform.transforms.latency.register_pipeline import parts, sets


@dataclass
class PreloadWriter(TensorWriter):
    """Writes the parts of such a loop."""

    def registers(self, loop: For) -> list[str]:
        """Declares two of each, or more."""
        own, count = parts(loop)[0], str(sets(loop.preloaded))
        return [line for d in own for line in self._set({x.name for x in own}, count, d)]

    def first_read(self, loop: For) -> list[str]:
        """Reads for the first iteration, or for so many as are read ahead."""
        if loop.preloaded > 1:
            first = replace(loop, hi=Const(loop.preloaded))
            return self._loop(first, self._read(loop, Var(loop.var), self.dialect.name(loop.var)))
        plain = self._read(loop, Const(0), "0")
        if not self.has_tiles(loop):
            return plain
        return self.either(self.fragments(loop, Const(0), "0"), plain, loop)

    def steps(self, loop: For, between: Sequence[str] = ()) -> list[str]:
        """All iterations but those behind the barrier, with what comes `between` them."""
        later = Bin("+", Var(loop.var), Const(loop.preloaded))
        body = [*self._step(loop, later), *between]
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

    def last_steps(self, loop: For) -> list[str]:
        """Reads for the first iterations of the next tile, and the last ones of this one."""
        if loop.preloaded == 1:
            return [*self.first_read(loop), *self._last_step(loop)]
        later = Bin("-", Bin("+", Var(loop.var), Const(loop.preloaded)), loop.hi)
        return self._loop(replace(loop, lo=self._last(loop)), self._step(loop, later))

    def _step(self, loop: For, later: Expr) -> list[str]:
        """An iteration, which reads for a later one."""
        k, count = self.dialect.name(loop.var), sets(loop.preloaded)
        read = self._read(loop, later, f"({k} + {loop.preloaded}) % {count}")
        return [*read, *self._compute(loop, f"{k} % {count}")]

    def _last_step(self, loop: For) -> list[str]:
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
        """The first iteration behind the barrier."""
        return simplify(Bin("-", loop.hi, Const(loop.preloaded)))

    def _read(self, loop: For, value: Expr, which: str) -> list[str]:
        own, copies, _ = parts(loop)
        moved = substitute_body(copies, {loop.var: value})
        return [line for s in moved for line in self._set({d.name for d in own}, which, s)]

    def _compute(self, loop: For, which: str) -> list[str]:
        own, _, rest = parts(loop)
        return [line for s in rest for line in self._set({d.name for d in own}, which, s)]

    def _set(self, names: set[str], which: str, s: Stmt) -> list[str]:
        """A statement with registers of which those of that number are in use."""
        plain = self.dialect
        self.dialect = replace(plain, pairs=dict.fromkeys(names, which))
        out = self._item(s)
        self.dialect = plain
        return out
