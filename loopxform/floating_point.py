"""What you permit of floating point, in the words of C compilers.

    strict        every result as your C has it, to the last bit     -frounding-math
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

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

from loopxform.records import record

Level = Literal["strict", "contract", "reassociate", "fast"]
LEVELS: tuple[Level, ...] = get_args(Level)


@record
class FloatingPoint:
    """`contract`: products may be fused with sums. `reassociate`: sums and products may be in
    another order. `approximate`: division and square root need not be rounded correctly. `exact`:
    none of these, and what would differ from C all the same is refused."""

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
        return "strict" if self.exact else "contract"

    def contracting(self, on: bool) -> FloatingPoint:
        """With products fused with sums, or not."""
        return replace(self, contract=on, exact=self.exact and not on)


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


_MODELS: dict[str, FloatingPoint] = {
    "precise": CONTRACT,
    "strict": PERMITTED["strict"],
    "fast": PERMITTED["fast"],
    "aggressive": PERMITTED["fast"],
}
"""-ffp-model= of clang."""


def of_flags(flags: Sequence[str], default: FloatingPoint) -> FloatingPoint:
    """What a C compiler may do under its options, of which the last counts; what none of them
    decides is as `default` has it. Where programs may set how is rounded (`-frounding-math`),
    results are to be those of C."""
    permitted, rounding = default, False
    if [f for f in flags if f.startswith("-O")][-1:] == ["-Ofast"]:
        permitted = replace(permitted, **dict.fromkeys(_SWITCHES["fast-math"], True), exact=False)
    for flag in flags:
        name = flag.removeprefix("-f")
        switch, on = name.removeprefix("no-"), not name.startswith("no-")
        option, _, value = flag.partition("=")
        if switch == "rounding-math":
            rounding = on
        elif option == "-ffp-contract" and value in _CONTRACTING:
            permitted = permitted.contracting(_CONTRACTING[value])
        elif option == "-ffp-model" and value in _MODELS:
            permitted, rounding = _MODELS[value], False
        elif flag.startswith("-f") and switch in _SWITCHES:
            exact = permitted.exact and not on
            permitted = replace(permitted, **dict.fromkeys(_SWITCHES[switch], on), exact=exact)
            rounding = rounding and not (switch == "fast-math" and on)
    return PERMITTED["strict"] if rounding else permitted
