"""What you permit of floating point, in the words of C compilers.

    strict        every result as your C has it, to the last bit     -frounding-math
    contract      a*b + c may be rounded once                        -ffp-contract=fast
    reassociate   sums and products may be in another order          -fassociative-math
    fast          division and square root of floats may be as       -ffast-math
                  accurate as the device has them (2.5 and 3 ulp),
                  subnormal numbers count as 0; what C computes in
                  double of floats, for a float, may be in float

Each permits what those before it do. A device's functions (`exp`) are not
those of a C library: `strict` refuses them, the others bound their error. (C11, 6.5, paragraph 8,
and annex F; OpenCL C 1.2, section 7.4, and `-cl-fp32-correctly-rounded-divide-sqrt` in OpenCL 1.2,
section 5.6.4.2.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Literal, get_args

from loopxform.records import record

Level = Literal["strict", "contract", "reassociate", "fast"]
LEVELS: tuple[Level, ...] = get_args(Level)

Division = Literal["rounded", "device", "relaxed"]
"""How a program divides floats and takes their roots: as C does where the device can, as the device
does, or by whatever is quick on valid numbers (`-cl-unsafe-math-optimizations`)."""


@record
class FloatingPoint:
    """`contract`: products may be fused with sums. `reassociate`: sums and products may be in
    another order. `approximate`: division and square root need not be rounded correctly. `exact`:
    none of these, and what would differ from C all the same is refused. `most` is what the source
    may permit (None: anything)."""

    contract: bool = True
    reassociate: bool = False
    approximate: bool = False
    exact: bool = False
    most: FloatingPoint | None = field(default=None, compare=False)

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

    def bounded(self, given: bool, *, fused: bool = True) -> FloatingPoint:
        """The same; the source permits no more where it was `given`, and no products fused with
        sums where these are not to be `fused`."""
        if not given and fused:
            return self
        most = self if given else replace(PERMITTED["fast"], contract=False)
        return replace(self, most=replace(most, most=None))

    def reordering(self) -> FloatingPoint:
        """With sums in any order too, if the source may permit that."""
        may = self.most is None or self.most.reassociate
        return replace(self, reassociate=True, exact=False) if may else self

    def both(self, other: FloatingPoint) -> FloatingPoint:
        """What both permit."""
        exact = self.exact or other.exact
        return replace(
            self,
            contract=self.contract and other.contract,
            reassociate=self.reassociate and other.reassociate,
            approximate=self.approximate and other.approximate,
            exact=exact,
        )

    def either(self, other: FloatingPoint) -> FloatingPoint:
        """What one of them permits."""
        return replace(
            self,
            contract=self.contract or other.contract,
            reassociate=self.reassociate or other.reassociate,
            approximate=self.approximate or other.approximate,
            exact=self.exact and other.exact,
        )

    def at(self, said: Said) -> FloatingPoint:
        """What is permitted at a place of which the source says that. An annotation counts instead
        of these, up to `most`; what a pragma of compilers forbids is forbidden."""
        fp = self
        if said.level is not None:
            own = PERMITTED[said.level]
            fp = replace(own if self.most is None else own.both(self.most), most=self.most)
        if "exact" in said.forbidden:
            return replace(PERMITTED["strict"], most=self.most)
        without: dict[str, Any] = dict.fromkeys(said.forbidden, False)
        return replace(fp, **without)


Part = Literal["contract", "reassociate", "approximate", "exact"]


@record
class Said:
    """What the source says at a place: the `level` of the annotation around it, None for none, and
    what the pragmas of compilers forbid there (exact: all that is not as in C)."""

    level: Level | None = None
    forbidden: frozenset[Part] = frozenset()


CONTRACT = FloatingPoint()
SEPARATE = FloatingPoint(contract=False)
"""Each operation rounded on its own; functions are the device's."""

PERMITTED: dict[Level, FloatingPoint] = {
    "strict": FloatingPoint(contract=False, exact=True),
    "contract": CONTRACT,
    "reassociate": FloatingPoint(reassociate=True),
    "fast": FloatingPoint(reassociate=True, approximate=True),
}


# ---------------------------------------------------------------- the options of compilers


@record
class _Switches:
    """What gcc and clang keep of the options they have read: `contract` and `trapping` None where
    nothing said it, `unsafe` of -funsafe-math-optimizations."""

    contract: bool | None = None
    associative: bool = False
    reciprocal: bool = False
    unsafe: bool = False
    signed_zeros: bool = True
    trapping: bool | None = None
    rounding: bool = False
    iso: bool = False


_Settings = Mapping[str, Any]
_UNSAFE = {
    "associative": True,
    "reciprocal": True,
    "unsafe": True,
    "signed_zeros": False,
    "trapping": False,
}
_SAFE = {name: not value for name, value in _UNSAFE.items()}
_OPTIONS: dict[str, _Settings] = {
    **{
        f"-f{'no-' * (not on)}{option}": {name: on}
        for option, name in (
            ("associative-math", "associative"),
            ("reciprocal-math", "reciprocal"),
            ("signed-zeros", "signed_zeros"),
            ("trapping-math", "trapping"),
            ("rounding-math", "rounding"),
        )
        for on in (True, False)
    },
    "-funsafe-math-optimizations": _UNSAFE,
    "-fno-unsafe-math-optimizations": _SAFE,
    "-ffast-math": {**_UNSAFE, "rounding": False},
    "-fno-fast-math": {**_SAFE, "trapping": None},
    "-ffp-contract=off": {"contract": False},
    "-ffp-contract=on": {"contract": False},
    "-ffp-contract=fast": {"contract": True},
    "-ffp-contract=fast-honor-pragmas": {"contract": True},
    "-ffp-exception-behavior=strict": {"rounding": True},
    "-ffp-model=precise": {**_SAFE, "contract": False, "rounding": False},
    "-ffp-model=strict": {**_SAFE, "contract": False, "rounding": True},
    "-ffp-model=fast": {**_UNSAFE, "contract": True, "rounding": False},
    "-ffp-model=aggressive": {**_UNSAFE, "contract": True, "rounding": False},
    "-ansi": {"iso": True},
}
"""What each option sets. -ffp-contract=on means contraction within one expression, which a device's
compiler cannot be held to: nothing is fused. It is what the model `precise` of clang has."""


def of_flags(flags: Sequence[str], default: FloatingPoint, *, clang: bool = False) -> FloatingPoint:
    """What a C compiler may do under its options, of which the last counts; what none of them
    decides is as `default` has it. Where gcc and clang differ, what both permit, but for standards:
    -std=c99 has gcc fuse nothing, and leaves clang as it is.

    Sums are in another order where -fassociative-math is on and neither -fsigned-zeros nor
    -ftrapping-math is; clang fuses nothing where the latter is asked for. Division is approximate
    under -funsafe-math-optimizations alone, as -freciprocal-math does not make square roots less
    accurate. Where programs may set how is rounded (-frounding-math), results are to be those of C.
    """
    may, approximate = default.reassociate, default.approximate
    state = _Switches(None, may, approximate, approximate, not may)
    if may or approximate:
        state = replace(state, trapping=False)
    if [f for f in flags if f.startswith("-O")][-1:] == ["-Ofast"]:  # the other options are over it
        state = replace(state, **_UNSAFE)
    for flag in flags:
        state = replace(state, **_said(flag))
    if state.rounding:
        return PERMITTED["strict"]
    contract = default.contract if state.contract is None else state.contract
    if state.contract is None and state.iso and not clang and not state.unsafe:
        contract = False
    silent = state.trapping is False
    fp = FloatingPoint(
        contract and not state.trapping,
        state.associative and not state.signed_zeros and silent,
        state.reciprocal and state.unsafe and silent,
    )
    return replace(fp, exact=default.exact and fp == SEPARATE, most=default.most)


def forbidden(flags: Sequence[str]) -> frozenset[Part]:
    """What the options of a compiler forbid that was permitted before."""
    fp = of_flags(flags, PERMITTED["fast"])
    parts: tuple[Part, ...] = ("contract", "reassociate", "approximate")
    return frozenset(["exact"] if fp.exact else [x for x in parts if not getattr(fp, x)])


def _said(flag: str) -> _Settings:
    """What one option sets."""
    if flag.startswith("-std="):
        return {"iso": not flag.startswith("-std=gnu")}
    return _OPTIONS.get(flag, {})
