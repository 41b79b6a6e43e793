"""Asynchronous copies, simulated as late as they may be: an element arrives when it is waited for,
and no sooner. No kernel reads it before, no group overwrites what it still needs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from harness import given, program, run_c, simulate_launches, sizes_of
from tilings import Options, Tiles, tile

from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.recipes.tile import tile as automatic
from loopxform.runtime.oclgrind_report import OclgrindReport
from loopxform.targets.profile import PROFILES
from loopxform.verify.compare import compare

LATE = """
#define LX_START(bytes, to, from) (to_[at_ % 256] = (to), from_[at_++ % 256] = (from))
#define LX_START_VECTOR(type, n, bytes, to, from) \\
  for (int n_ = 0; n_ < n; ++n_) LX_START(4, (to) + n_, (from) + n_)
#define LX_STARTED() (groups_[++count_ % 16] = at_)
#define LX_ARRIVED(n) \\
  for (; count_ >= n && done_ < groups_[(count_ - n) % 16]; ++done_) \\
    *to_[done_ % 256] = *from_[done_ % 256]
"""
KEPT = """
__local float *to_[256];
__global const float *from_[256];
int at_ = 0, done_ = 0, count_ = 0, groups_[16] = {0};
int stage = 0"""
"""What each work-item has started."""

SEED = 15
TILES = Tiles(2, 2, 4, 4, 4)
WAYS = {
    "two-buffers": Options(async_copies=True, pad=True),
    "three-buffers": Options(stages=3, vector=4, pad=True),
    "four-buffers": Options(stages=4, pad=False),
    "read-ahead": Options(async_copies=True, register_pipeline=True, vector=2),
    "three-buffers-read-ahead": Options(stages=3, register_pipeline=True, pad=True, vector=4),
    "five-buffers-read-ahead": Options(stages=5, register_pipeline=True, pad=True),
}
SIZES = ((9, 33, 8), (8, 16, 8), (3, 5, 4))
"""Many tiles and a partial one, whole tiles, as few as two."""


def late(text: str) -> str:
    """The kernels with copies that arrive when they are waited for."""
    out, found = re.subn(r"(?s)#ifdef LX_ASYNC\n.*?#endif", lambda _: LATE, text)
    assert found == 1
    kind = "double" if "__local double" in out else "float"
    return out.replace("int stage = 0", KEPT.replace("float", kind))


def plan(name: str, options: Options) -> Plan:
    done = tile(program(name), TILES, "register", strict=True, options=options)
    return emit.kernel(done.derivation, fp=SEPARATE)


def outcome(
    name: str, p: Plan, changed: Callable[[str], str], size: tuple[int, int, int]
) -> tuple[OclgrindReport, Mapping[str, Any], Mapping[str, Any]]:
    """What the simulator says, what it computes, and what C computes."""
    args = given(name, sizes_of(name, *size), SEED)
    report, after = simulate_launches(p, args, changed)
    expected = run_c(name, args)
    return report, after, {n: expected[n] for n in after}


@pytest.mark.oclgrind
@pytest.mark.parametrize("way", WAYS)
def test_late_copies(way: str) -> None:
    p = plan("mm", WAYS[way])
    for size in SIZES:
        report, after, expected = outcome("mm", p, late, size)
        assert report.clean, (way, size, report.findings[0])
        assert not compare(expected, after), (way, size)


@pytest.mark.slow
@pytest.mark.oclgrind
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["mm_at", "batched", "covariance", "mm_flat"])
def test_late_copies_of_other_programs(name: str, way: str) -> None:
    p = plan(name, WAYS[way])
    if "LX_ASYNC" in p.source:
        for size in SIZES[:2]:
            report, after, expected = outcome(name, p, late, size)
            assert report.clean, (name, way, size, report.findings[0])
            assert not compare(expected, after), (name, way, size)


@pytest.mark.slow
@pytest.mark.oclgrind
@pytest.mark.parametrize(
    ("name", "size"),
    [("mm", (41, 35, 45)), ("mm_bt", (100, 33, 100))],
    ids=["mm-64x128", "mm_bt-128x128"],
)
def test_late_copies_of_packed_operands(name: str, size: tuple[int, int, int]) -> None:
    """In the tiles that large sizes have."""
    few = replace(PROFILES["h100"], pack_operands=20, transpose_operands=40, compute_units=1)
    p = emit.kernel(automatic(program(name), {}, None, few).derivation, fp=SEPARATE)
    report, after, expected = outcome(name, p, late, size)
    assert report.clean, report.findings[0]
    assert not compare(expected, after)


@pytest.mark.oclgrind
@pytest.mark.parametrize("way", ["three-buffers", "three-buffers-read-ahead"])
def test_a_wait_for_too_little_is_noticed(way: str) -> None:
    """The simulation tells a kernel that reads too early."""
    p = plan("mm", WAYS[way])

    def wrong(text: str) -> str:
        right = late(text)
        made = re.sub(r"LX_ARRIVED\((\d)\);", lambda m: f"LX_ARRIVED({int(m[1]) + 1});", right)
        assert made != right
        return made

    report, after, expected = outcome("mm", p, wrong, SIZES[0])
    assert not report.clean or compare(expected, after)
