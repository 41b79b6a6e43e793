"""Whole functions on a device, whichever versions of their nests and of themselves run."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from test_whole_functions import FOLDER, MARKET

import loopxform as lx
from loopxform.bench.regions import with_thresholds
from loopxform.codegen import emit
from loopxform.runtime.schedule import launched, not_known
from loopxform.runtime.selection import choose
from loopxform.transforms import thresholds_of
from loopxform.verify.check_run import Comparison
from loopxform.verify.cref import CSource

TRAINING = {"eta": 0.3, "momentum": 0.5}
SIZES: Mapping[str, tuple[Mapping[str, int | float], ...]] = {
    "loc_vol_calib": (
        {"outer": 5, "numX": 7, "numY": 6, "numT": 4, **MARKET},
        {"outer": 0, "numX": 3, "numY": 3, "numT": 3, **MARKET},
        {"outer": 3, "numX": 0, "numY": 4, "numT": 3, **MARKET},
        {"outer": 20, "numX": 33, "numY": 17, "numT": 1, **MARKET},
    ),
    "backprop": (
        {"inputs": 700, "hidden": 3, "outputs": 40, **TRAINING},
        {"inputs": 0, "hidden": 5, "outputs": 0, **TRAINING},
        {"inputs": 33, "hidden": 80, "outputs": 1, **TRAINING},
    ),
}


@pytest.mark.device
@pytest.mark.parametrize("name", SIZES)
def test_the_user_s_results_whichever_runs(name: str) -> None:
    """By work-items alone, by groups, and with all the parallelism there is."""
    done = lx.load(FOLDER / f"{name}.c")[name].offload(fp="reassociate")
    first = emit.kernel(done.derivation, fp=done.fp)
    names = thresholds_of(done.derivation)
    most, seen = 2**31 - 1, set[int]()
    rows = ({}, {"outer": most}, {"outer": most, "group": most})
    every = [{x: kinds.get(x.split("_")[1], 0) for x in names} for kinds in rows]
    for thresholds in [every[n] for n in range(3) if every[n] not in every[:n]]:
        plan = with_thresholds(first, thresholds)
        both = Comparison(plan, CSource(str(FOLDER / f"{name}.c")), choose())
        for sizes in SIZES[name]:
            found = both.run(sizes, 5)
            assert found.ok, (thresholds, dict(sizes), found.mismatches)
            integers = {n: v for n, v in sizes.items() if isinstance(v, int)}
            seen |= {n for n, _ in launched(plan, integers, not_known)}
    assert seen == set(range(len(first.kernels)))
