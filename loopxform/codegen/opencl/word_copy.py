"""A collective copy into a tile that keeps neighbours along its slower dimension in words
(`LocalTile.packed`): each work-item makes words, of elements that it reads one by one, or of a
vector where the array has them side by side.

const char4 v = (char4)(B[k][j], B[k + 1][j], B[k + 2][j], B[k + 3][j]);
*(__local char4 *)&B_loc[k / 4][j * 4] = v;
"""

from __future__ import annotations

from collections.abc import Mapping as Map
from collections.abc import Sequence
from dataclasses import replace

from loopxform.codegen import cexpr
from loopxform.codegen.opencl.dialect import KernelDialect
from loopxform.codegen.opencl.local_tile import LocalTile
from loopxform.codegen.opencl.vector_moves import LOAD
from loopxform.ir.nodes import Bin, Const, Copy, Expr, Load, Var
from loopxform.ir.visit import substitute
from loopxform.records import record
from loopxform.transforms.edges.bounds import conjunction


@record
class WordCopy:
    """Such a copy: `width` is that of a word where the array has it side by side, else 1. `along`
    is the dimension of the array that words are made along, `packed` how many elements have."""

    copy: Copy
    along: int
    packed: int

    def moves(
        self,
        part: str | None,
        source: Load,
        target: Load,
        tests: Sequence[Expr],
        pad: str,
        kept: Load | None,
        counters: Map[int, str],
        free: str,
        d: KernelDialect,
    ) -> list[str]:
        """The statements of one round, or of a part of it, for the word that `counters` say; of
        elements for which not all `tests` hold there is `pad` in place. `kept` is the register that
        holds the word in the meantime, `free` a name for it where there is none."""
        kind = f"{d.memory_name(source.array)}{self.packed}"
        name = free if kept is None else d.load(kept)
        if part == "mend":
            parts = [f"{name}.s{n:x}" for n in range(self.packed)]
            return [f"{name} = {self._padded(kind, parts, tests, pad, counters, d)}"]
        word = self._word(kind, source, tests, pad, counters, d)
        fetch = f"const {kind} {name} = {word}" if kept is None else f"{name} = {word}"
        first = _at(target, self._element(counters, 0))
        store = f"*(__local {kind} *)&{d.element(first, whole=True)} = {name}"
        match part:
            case "fetch":
                return [fetch]
            case "store":
                return [store]
            case _:
                return [fetch, store]

    def _word(
        self,
        kind: str,
        source: Load,
        tests: Sequence[Expr],
        pad: str,
        counters: Map[int, str],
        d: KernelDialect,
    ) -> str:
        places = [_at(source, self._element(counters, n)) for n in range(self.packed)]
        if self.copy.width == 1:
            parts = [d.load(x) for x in places]
            return self._padded(kind, parts, tests, pad, counters, d)
        read = f"{LOAD}({kind}, {self.packed}, &{d.load(places[0])})"
        if not tests:
            return read
        test = conjunction([substitute(t, self._element(counters, 0)) for t in tests])
        return f"{cexpr.expr(test, d, 3)} ? {read} : ({kind})({pad})"

    def _padded(
        self,
        kind: str,
        parts: Sequence[str],
        tests: Sequence[Expr],
        pad: str,
        counters: Map[int, str],
        d: KernelDialect,
    ) -> str:
        """A word of some elements, of those that exist."""
        one = kind.removesuffix(str(self.packed))
        out = list(parts)
        for n, x in enumerate(parts if tests else ()):
            test = conjunction([substitute(t, self._element(counters, n)) for t in tests])
            out[n] = f"({one})({cexpr.expr(test, d, 3)} ? {x} : {pad})"
        return f"({kind})({', '.join(out)})"

    def _element(self, counters: Map[int, str], n: int) -> dict[str, Expr]:
        """Element `n` of the word of that number."""
        c = counters[self.along]
        first = Bin("*", Var(c), Const(self.packed))
        return {c: Bin("+", first, Const(n)) if n else first}


def of_words(s: Copy, tile: LocalTile, sized: Sequence[int]) -> WordCopy | None:
    """The copy as one of words, into a tile that has these: `sized` are the dimensions of the array
    that are copied. None for other tiles."""
    if tile.packed == 1:
        return None
    along = sized[tile.order[0]]
    together = along == len(s.slices) - 1 and s.width % tile.packed == 0
    return WordCopy(replace(s, width=tile.packed if together else 1), along, tile.packed)


def _at(e: Load, moved: dict[str, Expr]) -> Load:
    return Load(e.array, tuple(substitute(x, moved) for x in e.index))
