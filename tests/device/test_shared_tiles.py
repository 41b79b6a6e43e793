"""Tiles that all work-items of a group walk along together are read in vectors, elements that no
loop changes once: where iterations fill vectors and tiles, and where they do not.
"""

from __future__ import annotations

import re

import pytest
from corpus_nests import nest
from harness import simulate_launches

from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.runtime.selection import choose
from loopxform.verify.check_run import Comparison, arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource, Library

SEED = 12
NESTS = {
    "nbody": {"eps": 0.25},
    "coulomb_grid": {"h": 0.5, "z": 0.125},
    "kernel_density": {"h": 0.5},
}
WIDE = {"nbody": "float, 4", "coulomb_grid": "float, 4", "kernel_density": "double, 2"}
SIZES = (16, 13, 3, 1)


def plan(name: str, tile: int = 8) -> Plan:
    done = nest(name).routine.tile(recipe="1-d", Tx=4, Tk=tile, vector=4, contract=False)
    return emit.kernel(done.derivation, fp=SEPARATE)


def sizes(name: str, size: int) -> dict[str, float]:
    return {**nest(name).fixed, **NESTS[name], **dict.fromkeys(nest(name).residual, size)}


@pytest.mark.device
@pytest.mark.parametrize("name", NESTS)
def test_sizes_around_those_of_tiles(name: str) -> None:
    p = plan(name)
    assert f"LX_READ({WIDE[name]}," in p.source
    both = Comparison(p, CSource(str(nest(name).file)), choose())
    for size in SIZES:
        found = both.run(sizes(name, size), SEED)
        assert found.ok, (name, size, SEED, found.mismatches[0])


def test_tiles_that_no_vector_divides() -> None:
    """Tk 6 is three vectors of two, Tk 5 is none."""
    assert "*(__local const float2 *)" in plan("nbody", 6).source
    assert not re.search(r"LX_READ|__local const float\d", plan("nbody", 5).source)


@pytest.mark.parametrize("name", ["nbody", "coulomb_grid"])
def test_elements_are_read_once(name: str) -> None:
    """No loop over a tile reads what it does not change from global memory. In `kernel_density`
    there may be no iteration that reads it at all."""
    for k in plan(name).kernels:
        inside = k.text[k.text.index("for (int") :]
        assert not re.search(r"\b[a-z]+\[min\((i|x|row|col)", inside), k.text


@pytest.mark.oclgrind
@pytest.mark.parametrize("size", [13, 3])
@pytest.mark.parametrize("name", NESTS)
def test_no_race_and_nothing_out_of_bounds(name: str, size: int) -> None:
    p = plan(name)
    args = arguments(p.start, sizes(name, size), SEED)
    report, after = simulate_launches(p, args)
    assert report.clean, (name, size, report.findings[0])
    library = Library(CSource(str(nest(name).file)), [p.start])
    library.run(name, args)
    relative = nest(name).tolerance or 0.0
    assert not compare({n: args[n] for n in after}, after, rtol=relative, atol=relative)
