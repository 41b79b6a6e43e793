"""What you permit of floating point, in the words of C compilers.

    strict        every result as your C has it, to the last bit     -ffp-contract=off
    contract      a*b + c may be rounded once                        -ffp-contract=fast
    reassociate   sums and products may be in another order          -fassociative-math
    fast          division and square root of floats may be as       -freciprocal-math
                  accurate as the device has them (2.5 and 3 ulp)

Each permits what those before it do; `-ffast-math` is `fast`. A device's functions (`exp`) are not
those of a C library: `strict` refuses them, the others bound their error. (C11, 6.5, paragraph 8,
and annex F; OpenCL C 1.2, section 7.4, and `-cl-fp32-correctly-rounded-divide-sqrt` in OpenCL 1.2,
section 5.6.4.2.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, get_args

from loopxform.records import record

Level = Literal["strict", "contract", "reassociate", "fast"]
LEVELS: tuple[Level, ...] = get_args(Level)


@record
class FloatingPoint:
    """`contract`: products may be fused with sums. `reassociate`: sums and products may be in
    another order. `approximate`: division and square root need not be rounded correctly. `exact`:
    nothing may differ from C, and what would is refused."""

    contract: bool = True
    reassociate: bool = False
    approximate: bool = False
    exact: bool = False

    @property
    def level(self) -> Level:
        """The lowest level that permits as much."""
        if self.approximate:
            return "fast"
        if self.reassociate:
            return "reassociate"
        return "contract" if self.contract or not self.exact else "strict"


CONTRACT = FloatingPoint()
SEPARATE = FloatingPoint(contract=False)
"""Each operation rounded on its own; functions are the device's."""

PERMITTED: dict[Level, FloatingPoint] = {
    "strict": FloatingPoint(contract=False, exact=True),
    "contract": CONTRACT,
    "reassociate": FloatingPoint(reassociate=True),
    "fast": FloatingPoint(reassociate=True, approximate=True),
}

_SWITCHES: dict[str, tuple[str, ...]] = {
    "associative-math": ("reassociate",),
    "reciprocal-math": ("approximate",),
    "unsafe-math-optimizations": ("reassociate", "approximate"),
    "fast-math": ("reassociate", "approximate"),
}
"""What options of gcc and clang permit, by what stands behind -f or -fno-."""

_CONTRACTING = {"off": False, "on": True, "fast": True, "fast-honor-pragmas": True}


def of_flags(flags: Iterable[str], default: FloatingPoint) -> FloatingPoint:
    """What a C compiler may do under its options, of which the last counts; what none of them
    decides is as `default` has it."""
    permitted = default
    for flag in flags:
        name = flag.removeprefix("-f")
        switch, on = name.removeprefix("no-"), not name.startswith("no-")
        if flag == "-frounding-math":
            permitted = PERMITTED["strict"]
        elif flag == "-Ofast":
            permitted = replace(permitted, **dict.fromkeys(_SWITCHES["fast-math"], True))
        elif flag.startswith("-ffp-contract="):
            allowed = _CONTRACTING.get(flag.partition("=")[2], permitted.contract)
            permitted = replace(permitted, contract=allowed)
        elif flag.startswith("-f") and switch in _SWITCHES:
            permitted = replace(permitted, **dict.fromkeys(_SWITCHES[switch], on))
    return permitted
