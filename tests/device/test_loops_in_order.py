"""Loops of one work-item that the host runs in its place, between kernels: what they touch comes
and goes, and the results are those of the C."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from c_project import PLAIN, SANITIZED, STRICT, cc, require_opencl, run_app
from test_failing_opencl import FAILING, NAMES, SHIMMED, judge, link, run_it

import loopxform as lx
from loopxform.targets.profile import PROFILES

MAIN = """
#include <stdio.h>
#include <string.h>
void user_f(int n, int m, float *x, float *y, double a[n][n]);
void f(int n, int m, float *x, float *y, double a[n][n]);

static int differs_for(int n, int m)
{
  float x[2][64], y[2][64];
  double a[2][48 * 48];
  for (int i = 0; i < 64; i++)
    x[0][i] = x[1][i] = (float)(i % 7), y[0][i] = y[1][i] = (float)(3 - i % 5);
  for (int i = 0; i < 48 * 48; i++)
    a[0][i] = a[1][i] = i % 49 == 0 ? 9 : (i % 11) * 0.13;
  f(n, m, x[0], y[0], (void *)a[0]);
  user_f(n, m, x[1], y[1], (void *)a[1]);
  return memcmp(x[0], x[1], sizeof x[0]) || memcmp(y[0], y[1], sizeof y[0]) ||
         memcmp(a[0], a[1], sizeof a[0]);
}
"""
ALL = """
int main(void)
{
  int wrong = 0;
  static const int sizes[] = {0, 1, 2, 3, 17, 48};
  for (int n = 0; n < 6; n++)
    for (int m = 0; m < 4; m++)
      wrong += differs_for(sizes[n], m);
  return wrong;
}
"""

WIDE = "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) x[i] = x[i] * 0.5f + y[i];"
RECURRENCE = "for (int i = 2; i < n; i++) y[i] = 0.5f * y[i - 1] - 0.25f * y[i - 2] + x[i];"

BODIES = {
    "between-kernels": (f"{WIDE} {RECURRENCE} {WIDE}", 1),
    "in-a-loop": (f"for (int t = 0; t < m; t++) {{ {WIDE} {RECURRENCE} }}", 1),
    "from-some-element-on": (
        f"{WIDE} for (int i = m + 2; i < n; i++) y[i] = 0.5f * y[i - 1] - y[i - 2] + x[i]; {WIDE}",
        1,
    ),
    "some-elements": (
        f"{WIDE} for (int i = 2; i < n; i += 2) if (x[i] > 1) y[i] = y[i - 1] - y[i - 2] * x[i];"
        f" {WIDE}",
        1,
    ),
    "a-sum": (f"{WIDE} float s = 0; for (int i = 0; i < n; i++) s += x[i]; y[0] = s; {WIDE}", 1),
    "a-matrix": (
        f"{WIDE} for (int i = n - 1; i >= 0; i--) {{ double w = y[i];"
        f" for (int j = i + 1; j < n; j++) w -= a[i][j] * a[0][j]; a[0][i] = w / a[i][i]; }}"
        f" {WIDE}",
        1,
    ),
    "until-data-say-so": (
        f"int t = 0; float s = 1; while (s != 0 && t < m) {{ {WIDE} s = 0;"
        " for (int i = 0; i < n; i++) s += x[i]; t++; }",
        1,
    ),
    "in-one-of-two-branches": (
        f"{WIDE} if (m > 1) {{ for (int i = 3; i < n; i++) y[i] = y[i - 3] * 0.5f + x[i]; }}"
        f" else for (int i = 2; i < n; i++) x[i] = x[i - 1] * 0.5f - x[i - 2] + y[i]; {WIDE}",
        1,
    ),
    "with-a-table": (
        f"static const float t[4] = {{1, 0.5f, 0.25f, 3}}; {WIDE}"
        f" for (int i = 2; i < n; i++) y[i] = t[i & 3] * y[i - 1] - y[i - 2] + x[i]; {WIDE}",
        0,
    ),
    "few-iterations": (f"{WIDE} for (int i = 2; i < 9; i++) x[i] = x[i - 1] - x[i - 2]; {WIDE}", 0),
}


GENERIC = PROFILES["generic"]
LIMITS = replace(GENERIC, costs=replace(GENERIC.costs, step_iterations=0))
"""Steps in one group would leave no loop in order to the host."""


def written(folder: Path, body: str) -> None:
    file = folder / "f.c"
    file.write_text(f"void f(int n, int m, float *x, float *y, double a[n][n])\n{{\n{body}\n}}\n")
    lx.load(file).offload("f", limits=LIMITS, fp="strict").write(folder)
    built = cc(folder, *PLAIN, *SANITIZED, "-c", "-Df=user_f", "f.c", "-o", "user.o")
    assert built.returncode == 0, built.stderr


@pytest.mark.parametrize("case", BODIES)
def test_it_is_the_same(case: str, tmp_path: Path) -> None:
    require_opencl()
    body, count = BODIES[case]
    written(tmp_path, body)
    (tmp_path / "main.c").write_text(MAIN + ALL)
    text = (tmp_path / "f_opencl.c").read_text()
    assert len(re.findall(r"^static void lx_by_host_", text, re.M)) == count
    files = ["f_opencl.c", "main.c", "user.o", "-o", "app", "-lOpenCL", "-lm"]
    built = cc(tmp_path, *STRICT, "-Wno-unused-parameter", *PLAIN, *SANITIZED, *files)
    assert built.returncode == 0, built.stderr
    for mode in ("parts", "never") if count else ("parts",):
        leaks = {"ASAN_OPTIONS": "detect_leaks=0"}
        more = {"LOOPXFORM_HOST": mode, "LOOPXFORM_VERBOSE": "1", **leaks}
        done = run_app(tmp_path / "app", whole=True, **more)
        assert done.returncode == 0, done.stderr
        assert ("loops in order on the host" in done.stderr) == (mode == "parts" and count > 0)


def test_nothing_stays_behind_where_a_call_fails(tmp_path: Path) -> None:
    require_opencl()
    written(tmp_path, BODIES["in-a-loop"][0])
    differs = "\nstatic int differs(void) { return differs_for(9, 2); }\n"
    caller = f'{MAIN}{differs}#include "f_opencl.h"\n{SHIMMED}{FAILING}'
    judge(run_it(link(tmp_path, "f", caller, NAMES), LOOPXFORM_HOST="parts"), 30)
