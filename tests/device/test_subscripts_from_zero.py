"""Subscripts that may be negative as far as the text says: the written program asks the scalars
that decide it, and its own loops run where an element in front of the pointer is meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_project import PLAIN, STRICT, cc, require_opencl, run_app

import loopxform as lx
from loopxform.analysis.subscripts_from_zero import with_subscripts_from_zero
from loopxform.ir.printer import expr_text

FILE = """\
#include <stdio.h>

void between(int lo, int hi, int *a)
{
  for (int i = lo; i < hi; i++)
    a[i] += i;
}

void moved(int n, int by, const int *a, int *b)
{
  for (int i = 0; i < n; i++)
    b[i + by] = 3 * a[i];
}

void backwards(int n, const int *a, int *b)
{
  for (int i = 0; i < 4; i++)
    b[i] = a[n - i];
}

int main(void)
{
  static int a[40], b[40];
  for (int i = 0; i < 40; i++)
    a[i] = i * i % 11;
  between(3, 17, a);
  between(-5, 6, a + 10);
  between(7, 2, a);
  moved(20, 9, a, b);
  moved(20, -9, a, b + 9);
  backwards(30, a, b);
  backwards(1, a + 20, b);
  for (int i = 0; i < 40; i++)
    printf("%d %d\\n", a[i], b[i]);
  return 0;
}
"""

ASKED = {
    "for (int i = lo; i < hi; i++) a[i] = 0;": ["lo >= 0"],
    "for (int i = 0; i < hi; i++) a[i - lo] = 0;": ["0 >= lo"],
    "for (int i = 0; i < hi; i++) a[i] = 0;": [],
    "for (int i = 0; i < hi; i++) a[i - 3] = 0;": [],
    "for (int i = 0; i < hi; i++) a[lo - i] = 0;": ["lo >= hi - 1"],
    "lo = hi / 2; for (int i = lo; i < hi; i++) a[i] = 0;": [],
}
"""Of the caller's numbers, in front of loops."""


@pytest.mark.parametrize("text", ASKED)
def test_what_is_asked(text: str) -> None:
    fn = lx.loads(f"void f(int lo, int hi, int *a) {{ {text} }}")["f"].function
    asked = [expr_text(e) for e in with_subscripts_from_zero(fn).assumes]
    assert asked == ASKED[text]


def test_the_loops_of_the_user_run_where_it_does_not_hold(tmp_path: Path) -> None:
    require_opencl()
    (tmp_path / "shifted.c").write_text(FILE)
    done = lx.load(tmp_path / "shifted.c").offload()
    names = [r.region.name for r in done.regions]
    assert {"between", "moved", "backwards"} <= set(names)
    done.write(tmp_path / "out")
    plain = cc(tmp_path, *STRICT, *PLAIN, "shifted.c", "-o", "plain")
    built = cc(tmp_path, *STRICT, *PLAIN, "out/shifted_opencl.c", "-o", "app", "-lOpenCL", "-lm")
    assert not plain.returncode + built.returncode, plain.stderr + built.stderr
    settings = {"LOOPXFORM_HOST": "never", "LOOPXFORM_VERBOSE": "1"}
    expected = run_app(tmp_path / "plain")
    found = run_app(tmp_path / "app", **settings)
    assert (found.stdout, found.returncode) == (expected.stdout, expected.returncode)
    said = [line.split(": ", 2)[2] for line in found.stderr.splitlines()]
    host = "running the loops on the host"
    assert said == [
        f"between: the assumption lo >= 0 does not hold; {host}",
        f"moved: the assumption by >= 0 does not hold; {host}",
        f"backwards: the assumption n >= 3 does not hold; {host}",
    ]
