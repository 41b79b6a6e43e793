"""What levels and the options of compilers permit of floating point."""

from __future__ import annotations

from itertools import product

import pytest

from loopxform.floating_point import (
    CONTRACT,
    LEVELS,
    PERMITTED,
    SEPARATE,
    FloatingPoint,
    of_flags,
)

REASSOCIATE = PERMITTED["reassociate"]


def test_each_level_permits_what_those_before_it_do() -> None:
    parts = [
        (fp.contract, fp.reassociate, fp.approximate) for fp in map(PERMITTED.get, LEVELS) if fp
    ]
    assert parts == sorted(parts)
    assert [sum(p) for p in parts] == [0, 1, 2, 3]
    assert [fp.exact for fp in PERMITTED.values()] == [True, False, False, False]
    assert [PERMITTED[level].level for level in LEVELS] == list(LEVELS)
    assert SEPARATE.level == "contract"


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("-O3 -march=native -std=gnu99 -Wall", CONTRACT),
        ("-mfma -mno-fma", CONTRACT),
        ("-std=c99", SEPARATE),
        ("-std=iso9899:2011", SEPARATE),
        ("-ansi", SEPARATE),
        ("-std=c99 -std=gnu99", CONTRACT),
        ("-std=c99 -ffp-contract=fast", CONTRACT),
        ("-std=c99 -funsafe-math-optimizations", PERMITTED["fast"]),
        ("-ffp-contract=on", SEPARATE),
        ("-ffp-contract=off", SEPARATE),
        ("-ffp-contract=off -ffp-contract=fast", CONTRACT),
        ("-fassociative-math", CONTRACT),
        ("-fassociative-math -fno-signed-zeros", CONTRACT),
        ("-fassociative-math -fno-trapping-math", CONTRACT),
        ("-fassociative-math -fno-signed-zeros -fno-trapping-math", REASSOCIATE),
        ("-fno-trapping-math -fno-signed-zeros -fassociative-math", REASSOCIATE),
        ("-fno-signed-zeros -fno-trapping-math", CONTRACT),
        ("-freciprocal-math", CONTRACT),
        ("-ffast-math -fno-reciprocal-math", REASSOCIATE),
        ("-ffast-math -fsigned-zeros", FloatingPoint(approximate=True)),
        ("-ffast-math -ftrapping-math", SEPARATE),
        ("-ffast-math -fno-unsafe-math-optimizations", SEPARATE),
        ("-ffast-math -fno-finite-math-only -fmath-errno", PERMITTED["fast"]),
        ("-fno-associative-math -ffast-math", PERMITTED["fast"]),
        ("-fno-associative-math -Ofast", FloatingPoint(approximate=True)),
        ("-ffp-exception-behavior=strict", PERMITTED["strict"]),
        ("-ffast-math", PERMITTED["fast"]),
        ("-Ofast", PERMITTED["fast"]),
        ("-funsafe-math-optimizations", PERMITTED["fast"]),
        ("-ffast-math -fno-fast-math", CONTRACT),
        ("-ffast-math -fno-associative-math", FloatingPoint(approximate=True)),
        ("-ffast-math -ffp-contract=off", FloatingPoint(False, reassociate=True, approximate=True)),
        ("-ffast-math -frounding-math", PERMITTED["strict"]),
        ("-frounding-math -fno-rounding-math", CONTRACT),
        ("-frounding-math -ffast-math", PERMITTED["fast"]),
        ("-frounding-math -ffp-contract=fast", PERMITTED["strict"]),
        ("-Ofast -O2", CONTRACT),
        ("-O2 -Ofast", PERMITTED["fast"]),
        ("-Ofast -fno-fast-math", CONTRACT),
        ("-ffp-model=fast", PERMITTED["fast"]),
        ("-ffast-math -ffp-model=strict", PERMITTED["strict"]),
        ("-ffp-model=strict -fno-rounding-math", SEPARATE),
        ("-ffast-math -ffp-model=precise", SEPARATE),
        ("-fno-math-errno -ffinite-math-only", CONTRACT),
        ("-ffp-contract=unknown", CONTRACT),
    ],
)
def test_options_of_compilers(flags: str, expected: FloatingPoint) -> None:
    assert of_flags(flags.split(), CONTRACT) == expected


def test_exact_permits_nothing_else() -> None:
    """Whatever options follow each other, in whatever order."""
    options = ["-frounding-math", "-fno-rounding-math", "-ffast-math", "-fno-fast-math", "-Ofast"]
    options += ["-ffp-contract=fast", "-ffp-contract=off", "-ffp-model=strict", "-ffp-model=fast"]
    for flags in product(options, repeat=3):
        for default in PERMITTED.values():
            fp = of_flags(flags, default)
            assert not fp.exact or fp == PERMITTED["strict"], flags


def test_what_no_option_decides_stays_as_it_was() -> None:
    assert of_flags(["-O2"], SEPARATE) == SEPARATE
    for level in LEVELS:
        for flags in ([], ["-O2", "-Wall"], ["-mfma"], ["-ffinite-math-only"]):
            assert of_flags(flags, PERMITTED[level]) == PERMITTED[level]
    fast = ["-ffast-math"]
    assert of_flags(fast, SEPARATE) == FloatingPoint(False, reassociate=True, approximate=True)
