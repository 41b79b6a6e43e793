"""Atomic updates: for i: h[a[i]] += e(i)  ->  for i: atomic h[a[i]] += e(i)

    histograms, sums by key       h[a[i]]++, s[key[i]] += w[i]
    products by key               p[key[i]] *= w[i]
    extrema by key                if (s[key[i]] < w[i]) s[key[i]] = w[i]

Every element is read and written in one piece, so that iterations may run at the same time, in any
order: what only commutes keeps no loop in order. Legal where the loop carries reductions into the
elements of arrays of numbers of 32 or 64 bits, whose operator is one of + - * & | ^ min max, and
uses these elements for nothing else. Sums and products wrap around: their low bits are those of the
one in order; those of real numbers are rounded differently in another order, and need
`reassociate`. So do extrema
of real numbers that are compared, unless no operand is ever -0.0: which of two zeros is kept
depends on the order. Reductions of scalars are left as they are. ("Atomic" in Halide and OpenMP;
Kirk and Hwu, "Programming Massively Parallel Processors", chapter 9.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.reductions import Reduction, operands, reductions, subtracts
from loopxform.analysis.signed_zeros import never_minus_zero
from loopxform.errors import Obstacle
from loopxform.ir.nodes import Assign, Bin, Call, Cast, Const, Expr, Function, If, Select, Un
from loopxform.ir.types import INT, UINT, ULONG, Scalar, common
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import LoopSite, at, replace_at, walk_expr
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.reductions.partial import inseparable, rounded, unordered
from loopxform.transforms.sites import one_loop, trusted, whole_loop

ATOMIC = frozenset(["+", "*", "&", "|", "^", "min", "max"])
"""Operators of reductions that OpenCL C has atomic functions for, or that a value may be exchanged
for the one before by."""

OF_REALS = frozenset(["+", "*", "min", "max"])
"""Those of real numbers."""

MODULAR = ("+", "*")
"""Operators whose low bits are those of the whole in any order, formed in an unsigned type."""

WIDE = 8
SIZES = (4, WIDE)
"""Bytes of the integers that it has them for; of 8 where a device has an extension."""


@record
class AtomicUpdates(Step):
    """Makes the reductions into elements of arrays that `loop` carries atomic updates.
    `reassociate` (the word) allows sums of real numbers, which may then be rounded differently."""

    loop: str
    reassociate: str = ""

    verb: ClassVar[str] = "atomic-updates"
    usage: ClassVar[str] = "atomic-updates LOOP [reassociate]"
    flags: ClassVar[Mapping[str, str]] = {"reassociate": "reassociate"}

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        structure = whole_loop(site)
        if structure:
            return structure
        found = _by_element(fn, site)
        if not found:
            text = f"the loop over '{site.loop.var}' has no reduction into elements of an array"
            remedy = "name a loop with updates such as h[a[i]] += 1"
            return (Obstacle("LX192", text, site.loop.origin.loc, remedy=remedy),)
        refused = self.refused(fn, site)
        return refused if len(refused) == len(found) else ()

    def refused(self, fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
        """Why some of the reductions are left as they are."""
        every = (self._obstacle(fn, r) for r in _by_element(fn, site))
        return tuple(o for o in every if o is not None)

    def rewrite(self, fn: Function) -> Function:
        for r in _by_element(fn, trusted(one_loop(fn, self.loop))):
            if self._obstacle(fn, r) is None:
                fn = _rewritten(fn, r, str(self))
        return fn

    def _obstacle(self, fn: Function, r: Reduction) -> Obstacle | None:
        """Why the updates of a reduction cannot be atomic."""
        types, found = symbols(fn), operands(fn, r)
        own, why = types[r.array], ("", "")
        if r.op not in ATOMIC or (own.is_float and r.op not in OF_REALS):
            what = f"{r.op} of real numbers" if own.is_float else r.op
            why = f"devices have no atomic {what}", "leave the loop to the host"
        elif own.bytes not in SIZES:
            text = f"devices have atomic functions of 32 and 64 bits, not of {own}"
            why = text, f"declare {r.array} as int or unsigned"
        elif own.is_float and (text := rounded(r.array, r.op, types)) and not self.reassociate:
            return Obstacle("LX191", text, r.loc, remedy="allow it: --fp reassociate")
        elif (text := self._mixed_zeros(fn, r)) and not self.reassociate:
            remedy = "allow it: --fp reassociate, or call fmin or fmax"
            return Obstacle("LX191", text, r.loc, remedy=remedy)
        elif any(common(type_of(e, types), own) != own for _, e in found if own.is_float):
            why = "an operand has a wider type", f"convert it to {own} first"
        elif any(type_of(e, types).is_float for _, e in found if own.is_integer):
            why = "an operand is a real number", "convert it first"
        else:
            why = inseparable(r.array, r.op, found, types) or why
        if not why[0]:
            return None
        text = f"updates of '{r.array}' ({r.op}) cannot be atomic: {why[0]}"
        return Obstacle("LX203", text, r.loc, remedy=why[1])

    def _mixed_zeros(self, fn: Function, r: Reduction) -> str:
        """Why it depends on the order which of two zeros an extremum is ("": it does not)."""
        found = operands(fn, r)
        if all(_keeps_equals(s, e) and never_minus_zero(fn, e) for s, e in found):
            return ""
        return unordered(r.array, r.op, found, symbols(fn))

    def reason(self, fn: Function) -> str:
        found = _by_element(fn, trusted(one_loop(fn, self.loop)))
        what = ", ".join(f"{r.array} ({r.op})" for r in found if self._obstacle(fn, r) is None)
        return f"updates of {what} may be in any order, and the loop uses it for nothing else"


def _keeps_equals(s: Assign | If, operand: Expr) -> bool:
    """Whether a comparison keeps the first of equal values."""
    e = s.value if isinstance(s, Assign) else Select(s.cond, operand, operand)
    strict = isinstance(e, Select) and isinstance(e.cond, Bin) and e.cond.op in ("<", ">")
    return strict and isinstance(e, Select) and e.then == operand


def _by_element(fn: Function, site: LoopSite) -> tuple[Reduction, ...]:
    """The reductions of a loop into elements that differ between its iterations."""
    found = (r for r in reductions(fn, site.path) if not r.fixed)
    return tuple(r for r in found if any(not s.atomic for s in _updates(fn, r)))


def _updates(fn: Function, r: Reduction) -> list[Assign]:
    return [s for p in r.paths if isinstance(s := at(fn, p), Assign)]


def _rewritten(fn: Function, r: Reduction, step: str) -> Function:
    """The program with atomic updates for those of a reduction, at the same places."""
    found = operands(fn, r)
    own = symbols(fn)[r.array]
    for path in reversed(r.paths):  # what is inside a statement comes before that
        s = at(fn, path)
        for operand in (e for update, e in found if update is s):
            assert isinstance(s, Assign | If)
            fn = replace_at(fn, path, (_atomic(s, operand, r.op, own, step),))
    return fn


def _atomic(s: Assign | If, operand: Expr, op: str, own: Scalar, step: str) -> Assign:
    """The update by `operand` of an element of type `own`. Signed sums and products are formed in
    the unsigned type: in another order they may leave the range where the whole does not."""
    (inner,) = (s,) if isinstance(s, Assign) else s.then
    assert isinstance(inner, Assign)
    value = inner.value if inner.op else operand
    word = "-" if subtracts(inner) else inner.op or op
    if own.is_float and s is inner and isinstance(inner.value, Call) and op in ("min", "max"):
        word = inner.value.name  # fmin
    if own.is_integer and op in MODULAR:
        value = _unsigned(value, inner.value, ULONG if own.bytes == WIDE else UINT, own)
    origin = s.origin.then(step)
    return replace(inner, value=value, op=word, atomic=True, origin=origin)


def _unsigned(e: Expr, text: Expr, wide: Scalar, own: Scalar) -> Expr:
    """An operand in the unsigned type."""
    if not _stands_in(text, e):
        return _terms(e, text, wide)
    if own.is_unsigned:
        return e
    if isinstance(e, Const) and e.type == INT and e.value >= 0:
        return replace(e, type=wide, text="")
    return Cast(wide, e)


def _terms(e: Expr, text: Expr, wide: Scalar) -> Expr:
    """A sum of what the text adds one by one, or a product; its terms are computed as they stand
    there."""
    match e:
        case Bin("+" | "-" | "*" as op, left, right) if not _stands_in(text, e):
            return Bin(op, _terms(left, text, wide), _terms(right, text, wide))
        case Un("-", operand) if not _stands_in(text, e):
            return Un("-", _terms(operand, text, wide))
        case _:
            return Cast(wide, e)


def _stands_in(text: Expr, e: Expr) -> bool:
    return any(x is e for x in walk_expr(text))
