"""Bounds that are the last numbers of their types (no limit), on a device and in written C: what
the user's loops do."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_project import Compared, assert_all_same

import loopxform as lx
from loopxform.verify.check_run import arguments

MOST, LEAST = (1 << 31) - 1, -(1 << 31)

PROGRAMS: dict[str, tuple[str, tuple[dict[str, int], ...]]] = {
    "limited": (
        "void limited(int n, int limit, float a[restrict n], const float b[restrict n])"
        "{ for (int i = 0; i < n && i <= limit; i++) a[i] += b[i]; }",
        ({"n": 33, "limit": MOST}, {"n": 33, "limit": 7}, {"n": 33, "limit": LEAST}),
    ),
    "window": (
        "void window(int n, int r, float a[restrict n], const float b[restrict n])"
        "{ for (int i = 0; i < n; i++)"
        " for (int j = i - r < 0 ? 0 : i - r; j <= i + r && j < n; j++) a[i] += b[j]; }",
        ({"n": 33, "r": MOST - 32}, {"n": 33, "r": MOST - 33}, {"n": 33, "r": 2}),
    ),
    "on_data": (
        "void on_data(int n, int m, const int k[restrict n], float a[restrict n],"
        " const float b[restrict n]) { for (int i = 0; i < n; i++) {"
        " int end = k[i] > 4 ? 2147483647 : k[i];"
        " for (int j = 0; j < n && j <= end; j++) a[i] += b[j]; } }",
        ({"n": 33, "m": 2},),
    ),
    "in_front": (
        "void in_front(int n, int m, float a[restrict n], const float b[restrict n])"
        "{ for (int i = 0; i < n; i++) for (int j = 0; j + 1 < m; j++) a[i] += b[j % n]; }",
        ({"n": 33, "m": LEAST}, {"n": 33, "m": 9}),
    ),
    "unsigned_sum": (
        "void unsigned_sum(unsigned n, int m, float a[restrict n], const float b[restrict n])"
        "{ for (unsigned i = 0; i + 1 < n; i++) a[i] += b[i + 1]; }",
        ({"n": 0, "m": 1}, {"n": 1, "m": 1}, {"n": 33, "m": 1}),
    ),
    "no_end": (
        "void no_end(int n, int last, float a[restrict n], const float b[restrict n])"
        "{ for (int i = 0; i != last && i < n; i++) a[i] += b[i]; }",
        ({"n": 33, "last": -1}, {"n": 33, "last": 9}, {"n": 33, "last": 60}),
    ),
}


@pytest.mark.device
def test_the_drop_in_does_what_the_loops_did(tmp_path: Path) -> None:
    programs = []
    for name, (text, sizes) in PROGRAMS.items():
        done = lx.loads(text)[name].offload(contract=False).derivation
        every = tuple(arguments(done.start, s, 1) for s in sizes)
        programs.append(Compared(done, text, every))
    assert_all_same(tmp_path, programs, LOOPXFORM_HOST="never", LOOPXFORM_VERBOSE="0")
