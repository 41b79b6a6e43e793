"""Parametric bounding boxes: the greatest index per dimension of a union of conjunctions, in C.

isl gives a piecewise value. It becomes one expression `max(e1, e2, ...)` where on every piece no
other form exceeds the piece's own, `min(e1, e2, ...)` where none is below it; a floor becomes a C
division where what it divides is proven >= 0 (C truncates, which is then the same).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from itertools import chain
from typing import TYPE_CHECKING

from loopxform.analysis import sets
from loopxform.analysis.linear import Conj, Constraint, Lin, plus
from loopxform.ir.affine import simplify
from loopxform.ir.nodes import Bin, Const, Expr, Select, Var
from loopxform.records import record, slotted

if TYPE_CHECKING:
    import islpy

Names = Sequence[str]


class NoFormula(Exception):
    """The answer exists, but not as an expression of C this module writes."""


@slotted
class _Form:
    """An affine form over parameters and floors of such: `lin` over parameters and `/0, /1, ...`,
    `floors` the numerator and divisor of each."""

    lin: tuple[tuple[str, int], ...]
    floors: tuple[tuple[tuple[tuple[str, int], ...], int], ...] = ()

    def conj(self, name: str) -> Conj:
        """`name` equals the form."""
        out = [Constraint(True, plus(dict(self.lin), {name: 1}, -1))]
        for n, (numerator, divisor) in enumerate(self.floors):
            rest = plus(dict(numerator), {f"/{n}": 1}, -divisor)
            out.append(Constraint(False, rest))
            out.append(Constraint(False, plus({"": divisor - 1}, rest, -1)))
        return tuple(
            Constraint(c.eq, {(f"{k}{name}" if k[:1] == "/" else k): v for k, v in c.lin.items()})
            for c in out
        )

    def expr(self) -> Expr:
        named: dict[str, Expr] = {}
        for n, (numerator, divisor) in enumerate(self.floors):
            named[f"/{n}"] = Bin("/", _sum(dict(numerator), {}), Const(divisor))
        return _sum(dict(self.lin), named)


@record
class Box:
    """Exclusive upper bounds, and the condition on the parameters under which the union has a point
    (None: always). `corner` says that the point of all maxima is one of them; where it is not,
    `last` is the greatest in lexicographic order, None where it has no formula."""

    upper: tuple[Expr, ...]
    when: Expr | None
    corner: bool
    last: tuple[Expr, ...] | None = None


def bounding_box(
    parts: Sequence[Conj], index: Names, params: Names, *, chosen: bool = False
) -> Box:
    """The box around a union; where it is `chosen`, conditions may tell its bounds apart. Raises
    NoFormula."""
    try:
        return sets.bounded(lambda: _bounding_box(parts, index, params, chosen=chosen))
    except sets.TooHard as e:
        raise NoFormula("where it ends is too hard to tell") from e


def _bounding_box(parts: Sequence[Conj], index: Names, params: Names, *, chosen: bool) -> Box:
    union = sets.build(tuple(parts), index, params)
    maxima = [sets.bounded(partial(union.dim_max, d)) for d in range(len(index))]
    when = sets.bounded(lambda: union.params().coalesce())
    found = [_told(x, params) if chosen else _forms(x, params) for x in maxima]
    upper = tuple(
        _behind(formula(x, params, when)) if forms is None else _value(*forms, 1)
        for x, forms in zip(maxima, found)
    )
    known = [forms for forms in found if forms is not None]
    whole = len(known) == len(index)
    corner = len(index) == 1 or (whole and _has_corner(parts, index, params, known))
    last = None if corner else _last(union, len(index), params)
    return Box(upper, condition(when, params), corner, last)


def _told(value: islpy.PwAff, params: Names) -> tuple[list[_Form], str] | None:
    """The forms of a value, None where none of them is the greatest or the least everywhere."""
    try:
        return _forms(value, params)
    except NoFormula:
        return None


def _behind(e: Expr) -> Expr:
    return simplify(Bin("+", e, Const(1)))


def _last(union: islpy.Set, rank: int, params: Names) -> tuple[Expr, ...] | None:
    """The point of a union that is the greatest in lexicographic order."""
    try:
        found = sets.bounded(union.lexmax_pw_multi_aff)
        where = sets.bounded(union.params)
        return tuple(formula(found.get_pw_aff(d), params, where) for d in range(rank))
    except (NoFormula, sets.TooHard):
        return None


MAX_TESTS = 4
"""Comparisons that choose between the pieces of a value, beyond which it has no simple formula."""


def formula(value: islpy.PwAff, params: Names, within: islpy.Set) -> Expr:
    """A piecewise value as one expression, right wherever there is a value and the parameters are
    in `within`. Raises NoFormula."""
    try:
        return _value(*_forms(value, params))
    except NoFormula:
        return _chosen(sets.bounded(lambda: value.gist(within).coalesce()), params)


def _chosen(value: islpy.PwAff, params: Names) -> Expr:
    """`c ? a : b`"""
    *others, (where, last) = sets.bounded(value.get_pieces)
    asked = sum(b.n_constraint() for x, _ in others for b in x.get_basic_sets())
    if asked > MAX_TESTS:
        raise NoFormula("its greatest index has no simple formula")
    out = _form(last, where, params).expr()
    for where, aff in others:
        when = condition(where, params)
        here = simplify(_form(aff, where, params).expr())
        out = here if when is None else Select(when, here, out)
    return out


def _forms(value: islpy.PwAff, params: Names) -> tuple[list[_Form], str]:
    """The different forms of a value, and the operator that chooses among them."""
    pieces = sets.bounded(lambda: value.coalesce().get_pieces())
    found = [(where, _form(aff, where, params)) for where, aff in pieces]
    forms = list(dict.fromkeys(form for _, form in found))
    if not forms:
        raise NoFormula("its greatest index is not known")
    pairs = [(where, form, x) for where, form in found for x in forms if x != form]
    above = {x for where, form, x in pairs if _exceeds(x, form, where, params)}
    below = {x for where, form, x in pairs if _exceeds(form, x, where, params)}
    everywhere = next((x for x in forms if x not in above | below), None)
    if everywhere is not None:
        return [everywhere], "max"
    if above and below:
        raise NoFormula("its greatest index has no simple formula")
    return forms, "min" if above else "max"


def _exceeds(a: _Form, b: _Form, where: islpy.Set, params: Names) -> bool:
    """Whether a > b somewhere."""
    above = Constraint(False, {"#a": 1, "#b": -1, "": -1})
    conj = (*a.conj("#a"), *b.conj("#b"), above)
    found = sets.build((conj,), (), params).params()
    return not sets.bounded(lambda: where.intersect(found).is_empty())


def _has_corner(
    parts: Sequence[Conj], index: Names, params: Names, maxima: Sequence[tuple[list[_Form], str]]
) -> bool:
    """Whether the point of all maxima lies in the union for every parameter of it. No index is
    more than its maximum, so it is that where it is no less than all its forms, or than one of
    those of which the maximum is the least."""
    corners: list[Conj] = [()]
    for name, (forms, op) in zip(index, maxima):
        reached = [_no_less(name, form, n) for n, form in enumerate(forms)]
        cases = [tuple(chain(*reached))] if op == "max" else reached
        corners = [(*corner, *case) for corner in corners for case in cases]
    if len(parts) * len(corners) > MAX_CORNERS:
        return False
    union = sets.build(tuple(parts), index, params)
    inside = sets.build(tuple((*p, *corner) for p in parts for corner in corners), index, params)
    return sets.bounded(lambda: union.params().is_subset(inside.params()))


MAX_CORNERS = 64
"""Conjunctions that are looked at for the point of all maxima."""


def _no_less(name: str, form: _Form, n: int) -> Conj:
    value = f"{name}.{n}"
    return (*form.conj(value), Constraint(False, {name: 1, value: -1}))


def _value(forms: Sequence[_Form], op: str, plus: int = 0) -> Expr:
    """The greatest or least of the forms, and `plus`."""
    texts = [simplify(Bin("+", form.expr(), Const(plus))) for form in forms]
    return reduce(lambda a, b: Bin(op, a, b), texts)


# ---------------------------------------------------------------- reading isl


def _form(aff: islpy.Aff, where: islpy.Set, params: Names) -> _Form:
    import islpy

    divs = aff.dim(islpy.dim_type.div)
    lin = _coefficients(aff, params)
    floors = []
    for n in range(divs):
        c = aff.get_coefficient_val(islpy.dim_type.div, n)
        if not c.is_int():
            raise NoFormula("its greatest index has no simple formula")
        div = aff.get_div(n)
        if div.dim(islpy.dim_type.div) and _nested(div):
            raise NoFormula("its greatest index has no simple formula")
        divisor = div.get_denominator_val()
        numerator = _coefficients(div.scale_val(divisor), params)
        below = (Constraint(False, plus({"": -1}, numerator, -1)),)
        negative = sets.build((below,), (), params).params()
        if not sets.bounded(lambda s=negative: where.intersect(s).is_empty()):  # type: ignore[misc]
            raise NoFormula("its greatest index rounds a number that may be negative")
        floors.append((tuple(sorted(numerator.items())), divisor.to_python()))
        if not c.is_zero():
            lin[f"/{n}"] = c.to_python()
    return _Form(tuple(sorted(lin.items())), tuple(floors))


def _nested(div: islpy.Aff) -> bool:
    import islpy

    count = div.dim(islpy.dim_type.div)
    return any(not div.get_coefficient_val(islpy.dim_type.div, n).is_zero() for n in range(count))


def _coefficients(aff: islpy.Aff, params: Names) -> Lin:
    import islpy

    kind = islpy.dim_type.param
    out: Lin = {}
    for n, name in enumerate(params):
        where = aff.find_dim_by_name(kind, f"p{n}")
        if where < 0:
            continue
        c = aff.get_coefficient_val(kind, where)
        if not c.is_int():
            raise NoFormula("its greatest index has no simple formula")
        if not c.is_zero():
            out[name] = c.to_python()
    constant = aff.get_constant_val()
    if not constant.is_int():
        raise NoFormula("its greatest index has no simple formula")
    return plus(out, {"": constant.to_python()}) if not constant.is_zero() else out


def condition(when: islpy.Set, params: Names) -> Expr | None:
    """The parameter set as a C condition, None where it is everything."""
    everything = sets.build(((),), (), params).params()
    if sets.bounded(lambda: when.is_equal(everything)):
        return None
    out: Expr | None = None
    for basic in when.get_basic_sets():
        constraints: list[Constraint] = []
        for c in basic.get_constraints():
            if c.is_div_constraint():
                continue
            aff = c.get_aff()
            if _nested(aff):
                raise NoFormula("the condition under which it is touched has no simple formula")
            constraints.append(Constraint(bool(c.is_equality()), _coefficients(aff, params)))
        case = all_of(constraints) or Const(1)
        out = case if out is None else Bin("||", out, case)
    return out


# ---------------------------------------------------------------- back to C


def to_expr(lin: Lin) -> Expr:
    """A linear form over scalars as a C expression."""
    return simplify(_sum(lin, {}))


def _sum(lin: Lin, named: dict[str, Expr]) -> Expr:
    out: Expr | None = None
    for name, c in sorted(lin.items(), key=lambda t: (t[0] == "", t[0])):
        atom: Expr = named.get(name, Var(name)) if name else Const(abs(c))
        if name and abs(c) != 1:
            atom = Bin("*", Const(abs(c)), atom)
        if out is None:
            out = atom if c > 0 else Bin("-", Const(0), atom)
        else:
            out = Bin("+" if c > 0 else "-", out, atom)
    return Const(0) if out is None else out


def all_of(conj: Sequence[Constraint]) -> Expr | None:
    """The conjunction as a C condition without subtraction on the left; None where it is empty."""
    out: Expr | None = None
    for c in conj:
        positive = {k: v for k, v in c.lin.items() if k and v > 0}
        negative = {k: -v for k, v in c.lin.items() if k and v < 0}
        gap = c.lin.get("", 0)
        left: Lin = positive
        right: Lin = plus(negative, {"": -gap}) if gap else negative
        if not positive:
            left, right = ({"": gap} if gap else {}), negative
        test = Bin("==" if c.eq else ">=", to_expr(left), to_expr(right))
        out = test if out is None else Bin("&&", out, test)
    return out
