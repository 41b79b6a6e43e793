"""Which sizes are timed: sweeps (`M=1024,2048`), those of a file, those of the thesis.

Several sweeps multiply: `M=N=512,1024` and `U=64,128` are four sets of sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from loopxform.bench.size_files import Sizes, is_name, sets_of
from loopxform.errors import UsageError
from loopxform.written import number

__all__ = ["Sizes", "every"]

# fmt: off
THESIS = (
    (214, 272, 263), (432, 415, 456), (704, 702, 807), (1058, 1073, 991),
    (1307, 1318, 1298), (1648, 1640, 1550), (1831, 1932, 1823), (2122, 2110, 2124),
    (2256, 2354, 2289), (2713, 2642, 2627), (2939, 2884, 2777), (3135, 3196, 3141),
    (3453, 3478, 3457), (3579, 3594, 3759), (3859, 3851, 3789), (4294, 4220, 4229),
)
# fmt: on
"""M, U and N of the thesis (appendix C): nearly square, with partial tiles."""

FORM = "--sizes M=512,1024 or M=N=512,1024 (one list a time), --sizes FILE, or --sizes thesis"


def every(common: Mapping[str, int | float], asked: Sequence[str]) -> list[Sizes]:
    """The sets of sizes, each once; `common` are in all of them. Raises UsageError, InputError."""
    out: list[Sizes] = []
    for parts in product(*(_sets(text) for text in asked)):
        made: Sizes = dict(common)
        for part in parts:
            twice = [n for n in part if n in made]
            if twice:
                message = f"'{twice[0]}' is given twice"
                raise UsageError(message, code="LX023", help=FORM, subject="--sizes")
            made |= part
        if made not in out:
            out.append(made)
    return out


def _sets(text: str) -> list[Sizes]:
    if text == "thesis":
        return [dict(zip("MUN", numbers)) for numbers in THESIS]
    return _sweep(text) if "=" in text else sets_of(text, FORM)


def _sweep(text: str) -> list[Sizes]:
    """`M=N=512,1024`: the names have the same number."""
    *names, values = text.split("=")
    try:
        if not all(is_name(n) for n in names) or len(set(names)) < len(names):
            raise ValueError
        return [dict.fromkeys(names, number(v)) for v in values.split(",")]
    except ValueError:
        message = f"'{text}' is not NAME=NUMBER,..."
        raise UsageError(message, code="LX023", help=FORM, subject=text) from None
