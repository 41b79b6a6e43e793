"""Whole numbers that follow from iterations and parameters, and what is computed with them."""

from __future__ import annotations

from dataclasses import dataclass, field

import islpy as isl

from loopxform.validate.ctypes import CType
from loopxform.validate.expressions import COMPARED
from loopxform.validate.model import Program
from loopxform.validate.polynomials import (
    ONE,
    Plain,
    Polynomial,
    added,
    constant_of,
    multiplied,
    plain,
    split,
)
from loopxform.validate.unmodelled import Unmodelled


@dataclass
class Numbers:
    """`domain` has the instances of the text that is read: a dimension for each group, item and
    loop around it."""

    program: Program
    domain: isl.Set = field(init=False)

    def __post_init__(self) -> None:
        self.domain = isl.Set.universe(self.program.space)

    @property
    def dims(self) -> int:
        return int(self.domain.dim(isl.dim_type.set))

    def number(self, value: int) -> Polynomial:
        return Polynomial.of(self.constant(value))

    def constant(self, value: int) -> isl.PwAff:
        """A number as an affine one."""
        space = isl.LocalSpace.from_space(self.domain.get_space())
        return isl.PwAff.from_aff(isl.Aff.zero_on_domain(space).set_constant_val(_val(value)))

    def parameter(self, name: str) -> Polynomial:
        return Polynomial.of(self._parameter(name))

    def _parameter(self, name: str) -> isl.PwAff:
        space = self.domain.get_space()
        at = space.find_dim_by_name(isl.dim_type.param, name)
        if at < 0:
            at = space.dim(isl.dim_type.param)
            space = space.add_dims(isl.dim_type.param, 1)
            space = space.set_dim_name(isl.dim_type.param, at, name)
        local = isl.LocalSpace.from_space(space)
        return isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.param, at))

    def dimension(self, at: int) -> isl.PwAff:
        """The number of an instance in a dimension of the domain."""
        space = isl.LocalSpace.from_space(self.domain.get_space())
        return isl.PwAff.from_aff(isl.Aff.var_on_domain(space, isl.dim_type.set, at))

    def new_dimension(self) -> isl.PwAff:
        """Adds a dimension to the domain."""
        at = self.dims
        self.domain = self.domain.add_dims(isl.dim_type.set, 1)
        return self.dimension(at)

    def polynomial(self, size: Plain) -> Polynomial:
        total = self.number(0)
        for m, c in size.items():
            term = self.number(c)
            for name in m:
                term = multiplied(term, self.parameter(name))
            total = added(total, term)
        return total

    # ------------------------------------------------------------ what is known of numbers

    def between(self, value: isl.PwAff, low: int, high: int) -> isl.Set:
        """The instances for which a number is `low` or more, and below `high`."""
        return value.ge_set(self.constant(low)).intersect(value.lt_set(self.constant(high)))

    def non_negative(self, x: Polynomial) -> bool:
        """Whether it is, in every instance; false where nobody knows."""
        if not x.terms:
            return True
        a = x.affine
        if a is None:
            return False
        return bool(self.domain.intersect(a.lt_set(self.constant(0))).is_empty())

    def alike(self, a: Polynomial, b: Polynomial) -> bool:
        """Whether two numbers are equal in every instance."""
        difference = added(a, b, -1)
        if set(difference.terms) - {ONE}:
            return False
        v = difference.affine
        return v is None or bool(self.domain.is_subset(v.eq_set(self.constant(0))))

    def in_range(self, v: Polynomial, type: CType) -> bool:
        """Whether a number fits a type. Signed ones of int and more do: C leaves the rest open."""
        if type.bits >= 32:
            return type.signed or self.non_negative(v)
        a = v.affine
        if a is None:
            return False
        low = -(1 << (type.bits - 1)) if type.signed else 0
        high = low + (1 << type.bits) - 1
        outside = a.lt_set(self.constant(low)).union(a.gt_set(self.constant(high)))
        return bool(self.domain.intersect(outside).is_empty())

    # ------------------------------------------------------------ arithmetic

    def arithmetic(
        self, op: str, x: Polynomial, y: Polynomial, type: CType, line: int = 0
    ) -> Polynomial | None:
        """What an operation makes of two numbers, where that is a number again."""
        if op in ("+", "-"):
            z = added(x, y, 1 if op == "+" else -1)
            return z if type.signed or op == "+" or self.non_negative(z) else None
        if op == "*":
            try:
                return multiplied(x, y, line)
            except Unmodelled:
                return None
        if op in ("/", "%"):
            return self._divided(op, x, y)
        a, b = x.affine, y.affine
        if a is None or b is None:
            return None
        if op in COMPARED:
            return self._compared(op, a, b)
        n = constant_of(b)
        return None if n is None else self._shifted(op, x, a, n)

    def _compared(self, op: str, a: isl.PwAff, b: isl.PwAff) -> Polynomial:
        holds = getattr(a, COMPARED[op])(b)
        inside = self.constant(1).intersect_domain(holds)
        return Polynomial.of(
            inside.union_add(self.constant(0).intersect_domain(holds.complement()))
        )

    def _shifted(self, op: str, x: Polynomial, a: isl.PwAff, n: int) -> Polynomial | None:
        """`x << n`, `x >> n`, and `x & n` where n is one less than a power of two."""
        if op == "<<" and 0 <= n < 31:
            return Polynomial.of(a.scale_val(isl.Val(1 << n)))
        if op == ">>" and 0 <= n < 31 and self.non_negative(x):
            return Polynomial.of(a.scale_down_val(isl.Val(1 << n)).floor())
        if op == "&" and n >= 0 and (n & (n + 1)) == 0 and self.non_negative(x):
            return Polynomial.of(a.mod_val(isl.Val(n + 1)))
        return None

    # ------------------------------------------------------------ division

    def _divided(self, op: str, x: Polynomial, y: Polynomial) -> Polynomial | None:
        a, n = x.affine, y.constant
        if a is None or n is None:
            return self._parted(op, x, y)
        if n <= 0:
            return None
        q = self._towards_zero(x, a, n)
        return Polynomial.of(q if op == "/" else a.sub(q.scale_val(isl.Val(n))))

    def _towards_zero(self, x: Polynomial, a: isl.PwAff, n: int) -> isl.PwAff:
        """x / n as C rounds it."""
        by = self.constant(n)
        positive = self.non_negative(x)
        named = self._quotient_of(a, n) if n > 1 else None
        if named is None:
            q = a.scale_down_val(isl.Val(n)).floor() if positive else a.tdiv_q(by)
            return q.coalesce()
        if positive:
            return named
        over = named.intersect_domain(a.ge_set(self.constant(0)))
        under = a.tdiv_q(by).intersect_domain(a.lt_set(self.constant(0)))
        return over.union_add(under)

    def _quotient_of(self, a: isl.PwAff, n: int) -> isl.PwAff | None:
        """a / n rounded down, where what iterations decide of it is a multiple of n."""
        if a.n_piece() != 1:
            return None
        ((_, aff),) = a.get_pieces()
        if aff.dim(isl.dim_type.div) or not aff.get_denominator_val().is_one():
            return None
        moving = self.constant(0)
        for d in range(aff.dim(isl.dim_type.in_)):
            c = int(aff.get_coefficient_val(isl.dim_type.in_, d).to_python())
            if c % n:
                return None
            if c:
                moving = moving.add(self.dimension(d).scale_val(isl.Val(c)))
        q = self._quotient(a.sub(moving), n)
        return None if q is None else q.add(moving.scale_down_val(isl.Val(n)))

    def _quotient(self, a: isl.PwAff, n: int) -> isl.PwAff | None:
        """a / n for a number that parameters alone decide, as a parameter of its own: isl sees less
        in a quotient than in a name for it. Rounded down."""
        known = plain(Polynomial.of(a))
        if known is None:
            return None
        terms = "+".join(f"{c}*{m[0]}" if m else str(c) for m, c in sorted(known.items()))
        q = self._parameter(f"q[{terms}/{n}]".replace("+-", "-"))
        meaning = self.between(a.sub(q.scale_val(isl.Val(n))), 0, n)
        self.domain = self.domain.intersect(meaning)
        self.program.quotients = self.program.quotients.intersect(meaning.params())
        return q

    def _parted(self, op: str, x: Polynomial, y: Polynomial) -> Polynomial | None:
        """(z*h + y) / h is z where 0 <= y < h."""
        by, size = plain(y), y.affine
        if by is None or size is None:
            return None
        try:
            q, r = split(x, (by,))
        except Unmodelled:
            return None
        inside = r.ge_set(self.constant(0)).intersect(r.lt_set(size))
        if not self.domain.is_subset(inside):
            return None
        return Polynomial.of(q if op == "/" else r)


def _val(value: int) -> isl.Val:
    """Of a number of any length, which a long of C's need not hold."""
    if -(1 << 63) <= value < 1 << 63:
        return isl.Val(value)
    return isl.Val.read_from_str(isl.DEFAULT_CONTEXT, str(value))
