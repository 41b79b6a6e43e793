"""Extrema of which the second one is looked for where the first has not changed: apart where they
begin with one value, with the same results as in C, NaN and signed zeros included."""

from __future__ import annotations

import numpy as np
import pytest

from loopxform.frontend import parse_file
from loopxform.prepare.extrema_apart import with_extrema_apart
from loopxform.verify.cref import CSource, Library
from loopxform.verify.interp import run

PARAMS = "int n, double *a, double *r"
LOOP = "for (int i = 0; i < n; i++)"
STORED = "r[0] = hi; r[1] = lo;"

APART = {
    "first-element": f"double hi = a[0], lo = a[0]; {LOOP} if (a[i] > hi) hi = a[i];"
    f" else if (lo > a[i]) lo = a[i]; {STORED}",
    "chained": f"double hi, lo; hi = lo = a[0]; {LOOP} {{ double t = a[i] * 2; if (t < lo) lo = t;"
    f" else if (t >= hi) hi = t; }} {STORED}",
    "rows": f"for (int k = 0; k < 2; k++) {{ double hi = a[k], lo = hi; {LOOP} if (a[i] - k > hi)"
    f" hi = a[i] - k; else if (a[i] - k < lo) lo = a[i] - k; r[k] = hi - lo; r[k + 2] = hi; }}",
}

TOGETHER = {
    "far-ends": f"double hi = -9, lo = 9; {LOOP} if (a[i] > hi) hi = a[i];"
    f" else if (a[i] < lo) lo = a[i]; {STORED}",
    "changed": f"double hi = a[0], lo = hi; hi -= 2; {LOOP} if (a[i] > hi) hi = a[i];"
    f" else if (a[i] < lo) lo = a[i]; {STORED}",
    "array-that-changes": f"double hi = a[0]; a[0] = 3; double lo = a[0]; {LOOP}"
    f" if (a[i] > hi) hi = a[i]; else if (a[i] < lo) lo = a[i]; {STORED}",
    "of-equal-numbers": f"double hi = a[0], lo = hi; {LOOP} if (a[i] >= hi) hi = a[i];"
    f" else if (a[i] <= lo) lo = a[i]; {STORED}",
    "set-elsewhere": f"double hi = a[0], lo = hi; {LOOP} {{ if (a[i] > hi) hi = a[i];"
    f" else if (a[i] < lo) lo = a[i]; if (i == 2) hi = -4; }} {STORED}",
    "narrower": f"float hi = 1, lo = 1; {LOOP} if (a[i] > hi) hi = a[i];"
    f" else if (a[i] < lo) lo = a[i]; {STORED}",
    "two-terms": f"double hi = a[0], lo = hi; {LOOP} if (a[i] > hi) hi = a[i];"
    f" else if (r[i] < lo) lo = r[i]; {STORED}",
}

DATA = (
    [3.0, 1.0, 7.0, 7.0, -2.0, 8.0],
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    [np.nan, 2.0, -3.0, 4.0, 5.0, 6.0],
    [3.0, np.nan, 1.0, np.nan, 5.0, -np.inf],
    [0.0, -0.0, 0.0, -0.0, -0.0, 0.0],
)


@pytest.mark.parametrize("case", [*APART, *TOGETHER])
def test_extrema(case: str) -> None:
    body = (APART | TOGETHER)[case]
    source = f"void f({PARAMS}) {{ {body} }}"
    (fn,) = parse_file("t.c", text=source).unit.functions
    made = with_extrema_apart(fn)
    assert (made.body != fn.body) == (case in APART)
    library = Library(CSource(text=source), [fn])
    for a in DATA:
        mine, theirs = ({"n": 6, "a": np.array(a), "r": np.zeros(6)} for _ in range(2))
        library.run("f", theirs)
        run(made, mine)
        np.testing.assert_array_equal(mine["r"].view(np.int64), theirs["r"].view(np.int64))
