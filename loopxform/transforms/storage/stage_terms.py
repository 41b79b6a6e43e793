"""Staged terms of rows that follow one another:

    for ii: forall i of ii: { s = 0; for (k = row[i]; k < row[i + 1]; k++) s += e(k); y[i] = s; }
 -> for ii: { first = row[ii]; last = max(row[ii + T], first); s_own[T];
      forall i: s_own[i - ii] = 0;
      for (c = 0; c < last - first; c += SIZE) {
        s_terms[SIZE];
        forall q: s_terms[q] = e(first + c + q);
        forall i: for (k of row i and of this part) s_own[i - ii] += s_terms[k - first - c]; }
      forall i: y[i] = s_own[i - ii]; }

The terms of all rows of a tile are computed side by side, SIZE at a time, and each row sums up its
own in the order of the program, however long it is. The rows may have any lengths: on the way from
row[ii] up to row[ii + T] each k between them is passed by a row that begins at or before it and
ends after it, so that the program computes e(k), too, and whatever that reads exists. What rows
have outside of that part (where `row` does not ascend) they sum up before and after it, as they
did.

With PARTS each row is summed up in so many strided parts, which are combined at its end: that is
another order, which sums and products of real numbers need `reassociate` for (`rfactor` says more).

    forall r < T*PARTS: for (q of row ii + r/PARTS, from the r%PARTS-th on; q += PARTS)
                          s_own[r] += s_terms[q];

Legal where the row that follows begins where a row ends, a term depends on nothing but k and arrays
that the tile does not write, and the rows of a tile are a number. (CSR-stream: Greathouse and Daga,
"Efficient sparse matrix-vector multiplication on GPUs using the CSR storage format", SC 2014; the
parts of a row: CSR-vector, Bell and Garland, SC 2009.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.reductions import operands
from loopxform.errors import Obstacle
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Expr, Function
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite, replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.reductions.partial import inseparable, rounded, unordered
from loopxform.transforms.sites import (
    fixed_header,
    one_loop,
    parse_size,
    trusted,
    unmapped,
    whole_loop,
)
from loopxform.transforms.storage.rows_of_terms import Rows, rows_of
from loopxform.transforms.storage.staged_rows import staged


@record
class StageTerms(Step):
    """Computes the terms that `loop` sums up for all iterations of the loop around it, `size` at a
    time, and sums them up, in `parts` of a row or in order. `reassociate` (the word) allows
    floating-point sums and products to round differently."""

    loop: str
    size: str
    parts: str = ""
    reassociate: str = ""

    verb: ClassVar[str] = "stage-terms"
    usage: ClassVar[str] = "stage-terms LOOP SIZE [PARTS] [reassociate]"
    flags: ClassVar[Mapping[str, str]] = {"reassociate": "reassociate"}

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        where = site.loop.origin.loc
        sizes = [parse_size(fn, text) for text in (self.size, self.parts or "1")]
        wrong = tuple(replace(x, loc=where) for x in sizes if isinstance(x, Obstacle))
        if self.reassociate not in ("", "reassociate"):
            text = f"'{self.reassociate}' says nothing about the order"
            wrong = (*wrong, Obstacle("LX025", text, where, remedy=self.usage))
        structure = (
            *wrong,
            *whole_loop(site),
            *fixed_header(site),
            *unmapped(site, self.verb),
        )
        if structure:
            return structure
        found = rows_of(fn, site)
        if isinstance(found, Obstacle):
            return (found if found.loc else replace(found, loc=where),)
        return () if self._is_whole(fn) else self._inseparable(found)

    def rewrite(self, fn: Function) -> Function:
        found = _trusted(fn, trusted(one_loop(fn, self.loop)))
        size, parts = self._sizes(fn)
        whole = self._is_whole(fn)
        made = staged(found, size, None if whole else parts, str(self))
        return replace_at(fn, found.site.path, made)

    def reason(self, fn: Function) -> str:
        found = _trusted(fn, trusted(one_loop(fn, self.loop)))
        k, i, s = found.terms.var, found.rows.var, found.reduction
        text = f"rows of {k} follow one another, and no term depends on {i}"
        if self._is_whole(fn):
            return text
        allowed = "; it may be rounded differently" if self.reassociate else ""
        return f"{text}; {s.var} ({s.op}) may be reduced in any order{allowed}"

    def _sizes(self, fn: Function) -> tuple[Expr, Expr]:
        size, parts = parse_size(fn, self.size), parse_size(fn, self.parts or "1")
        assert not isinstance(size, Obstacle)
        assert not isinstance(parts, Obstacle)
        return size, parts

    def _is_whole(self, fn: Function) -> bool:
        """Whether rows are summed up in order."""
        return value_of(self._sizes(fn)[1]) == 1

    def _inseparable(self, found: Rows) -> tuple[Obstacle, ...]:
        """Why a row cannot be reduced in strided parts."""
        r, fn = found.reduction, found.fn
        types, updates = symbols(fn), operands(fn, found.reduction)
        why = rounded(r.var, r.op, types) or unordered(r.var, r.op, updates, types)
        if why and not self.reassociate:
            return (Obstacle("LX191", why, r.loc, remedy="allow it: --fp reassociate"),)
        apart = inseparable(r.var, r.op, updates, types)
        if apart is None:
            return ()
        text = f"partial results of '{r.var}' ({r.op}) cannot be combined: {apart[0]}"
        return (Obstacle("LX192", text, r.loc, remedy=apart[1]),)


def _trusted(fn: Function, site: LoopSite) -> Rows:
    """Inside `rewrite`, where `check` has already found the rows."""
    found = rows_of(fn, site)
    assert isinstance(found, Rows)
    return found
