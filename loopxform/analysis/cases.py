"""Values by cases: a linear form, and the constraints under which it is the value."""

from __future__ import annotations

from typing import TypeAlias

from loopxform.analysis.linear import Conj, Lin, at_least, const, constant_of, plus
from loopxform.ir.types import Scalar

Case: TypeAlias = tuple[Lin, Conj]
Cases: TypeAlias = tuple[Case, ...]


def with_sign(cases: Cases, type: Scalar) -> Cases:
    """The values of an integer type of the other signedness, no wider than `type`, as `type`
    holds them: modulo 2^bits. A number is one of them."""
    bits = 8 * type.bytes
    out: list[Case] = []
    for x, when in cases:
        number = constant_of(x)
        if number is not None:
            out.append((const(type.least + (number - type.least) % (1 << bits)), when))
        elif type.is_unsigned:
            out.append((x, (*when, at_least(x, {}))))
            out.append((plus(x, const(1 << bits)), (*when, at_least({}, x, 1))))
        else:
            most = const((1 << (bits - 1)) - 1)
            out.append((x, (*when, at_least(most, x))))
            out.append((plus(x, const(-(1 << bits))), (*when, at_least(x, most, 1))))
    return tuple(out)
