"""Whole functions on a device, whichever versions of their nests and of themselves run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_whole_functions import FOLDER, MARKET, exact

import loopxform as lx
from loopxform.bench.regions import with_thresholds
from loopxform.codegen import emit
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.schedule import launched, not_known
from loopxform.runtime.selection import choose
from loopxform.targets.target import GENERIC
from loopxform.transforms import thresholds_of
from loopxform.verify.check_run import Reference, allowed_of, differences
from loopxform.verify.cref import CSource

TRAINING = {"eta": 0.3, "momentum": 0.5}
EXACT = ("loc_vol_calib", "smoothed_rows")
SIZES: Mapping[str, tuple[Mapping[str, int | float], ...]] = {
    "loc_vol_calib": (
        {"outer": 5, "numX": 7, "numY": 6, "numT": 4, **MARKET},
        {"outer": 0, "numX": 3, "numY": 3, "numT": 3, **MARKET},
        {"outer": 3, "numX": 0, "numY": 4, "numT": 3, **MARKET},
        {"outer": 20, "numX": 33, "numY": 17, "numT": 1, **MARKET},
        {"outer": 17, "numX": 32, "numY": 19, "numT": 6, **MARKET},
        {"outer": 2, "numX": 60, "numY": 9, "numT": 3, **MARKET},
    ),
    "smoothed_rows": (
        {"n": 3, "m": 300, "rounds": 4},
        {"n": 2, "m": 3500, "rounds": 2},
        {"n": 140, "m": 2, "rounds": 3},
        {"n": 2, "m": 0, "rounds": 3},
        {"n": 0, "m": 5, "rounds": 0},
    ),
    "attention": (
        {"queries": 3, "keys": 300, "width": 20},
        {"queries": 140, "keys": 6200, "width": 1},
        {"queries": 900, "keys": 300, "width": 1},
        {"queries": 20, "keys": 13000, "width": 1},
        {"queries": 4100, "keys": 70, "width": 3},
        {"queries": 4100, "keys": 70, "width": 65},
        {"queries": 2, "keys": 1, "width": 0},
    ),
    "backprop": (
        {"inputs": 700, "hidden": 3, "outputs": 40, **TRAINING},
        {"inputs": 0, "hidden": 5, "outputs": 0, **TRAINING},
        {"inputs": 33, "hidden": 80, "outputs": 1, **TRAINING},
    ),
}


@pytest.mark.device
@pytest.mark.parametrize(
    ("name", "device"),
    [
        *(("loc_vol_calib", "c"), ("loc_vol_calib", None), ("backprop", None)),
        *(("smoothed_rows", None), ("attention", None), ("attention", "c")),
    ],
)
def test_the_user_s_results_whichever_runs(name: str, device: str | None, tmp_path: Path) -> None:
    """By work-items alone, by groups, and with all the parallelism there is: to the last bit where
    no sum is in another order. Kernels that run as C have the functions of the C library."""
    file = tmp_path / f"{name}.c"
    as_it_is = (FOLDER / f"{name}.c").read_text()
    file.write_text(as_it_is if device == "c" else exact(name))
    tiles = {"time_tile": (2, 4, 16), "fuse_stages": (4, 16)}
    little = replace(GENERIC, expanded_mib=1)
    done = lx.load(file)[name].offload(limits=little, fp="reassociate", contract=False, **tiles)
    first = emit.kernel(done.derivation, fp=done.fp)
    names = thresholds_of(done.derivation)
    most, seen = 2**31 - 1, set[int]()
    rows = ({}, {"outer": most}, {"outer": most, "intra": most}, {"outer": most, "group": most})
    every = [{x: kinds.get(x.split("_")[1], 0) for x in names} for kinds in rows]
    for thresholds in [x for n, x in enumerate(every) if x not in every[:n]]:
        plan = with_thresholds(first, thresholds)
        kernel = CompiledKernel(plan, choose(device))
        reference = Reference(CSource(str(file)), plan.written)
        for sizes in SIZES[name]:
            given = reference.arguments(sizes, 5)
            expected = reference.expected(given)
            kernel(**given)
            if name in EXACT:
                for array, values in expected.items():
                    assert np.array_equal(values, given[array], equal_nan=True), (sizes, array)
            else:
                allowed = allowed_of(plan, choose(device))
                assert not differences(plan, expected, given, allowed)[1], (thresholds, sizes)
            integers = {n: v for n, v in sizes.items() if isinstance(v, int)}
            seen |= {n for n, _ in launched(plan, integers, not_known)}
    assert seen == set(range(len(first.kernels)))
