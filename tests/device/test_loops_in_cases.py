"""Loops in the cases of a `switch`: each run of statements between two labels is a part."""

from __future__ import annotations

from pathlib import Path

from c_project import PLAIN, STRICT, cc, require_opencl, run_app

import loopxform as lx

FILE = """\
#include <stdio.h>

enum kind { A, B, C, D };

static int apply(enum kind k, int n, int *a)
{
  int s = 0;
  switch (k) {
  case A:
    for (int i = 0; i < n; i++)
      a[i] = i;
    break;
  case B: case C: {
    for (int i = 0; i < n; i++)
      a[i] += 2 * i;
    if (k == C)
      return 1;
    break;
  }
  default:
    s = 7;
    for (int i = 0; i < n; i++)
      a[i] ^= s;
    for (int i = 0; i < n; i++)
      a[i] += a[i] > 3 ? 1 : 2;
    break;
  case D: for (int i = n - 1; i >= 0; i--) a[i] -= 5; s = 3; break;
  }
  return s;
}

int main(void)
{
  int a[30];
  for (int k = 0; k < 6; k++) {
    int r = apply((enum kind)(k % 5), 30, a), h = 0;
    for (int i = 0; i < 30; i++)
      h = (h * 31 + a[i]) % 9973;
    printf("%d %d\\n", r, h);
  }
  return 0;
}
"""


def test_loops_of_cases_are_on_the_device(tmp_path: Path) -> None:
    require_opencl()
    (tmp_path / "cases.c").write_text(FILE)
    done = lx.load(tmp_path / "cases.c").offload()
    names = [r.region.name for r in done.regions]
    assert names == ["apply_1", "apply_2", "apply_3", "apply_4"], done.left
    done.write(tmp_path / "out")
    plain = cc(tmp_path, *STRICT, *PLAIN, "cases.c", "-o", "plain")
    built = cc(tmp_path, *STRICT, *PLAIN, "out/cases_opencl.c", "-o", "app", "-lOpenCL", "-lm")
    assert not plain.returncode + built.returncode, plain.stderr + built.stderr
    expected = run_app(tmp_path / "plain")
    found = run_app(tmp_path / "app", LOOPXFORM_HOST="never", LOOPXFORM_VERBOSE="1")
    assert (found.stdout, found.returncode) == (expected.stdout, expected.returncode)
    assert not found.stderr


def test_statements_around_a_label_are_no_part() -> None:
    text = "int f(int k, int n, int *a) { switch (k) { case 0: if (n) { case 1: "
    text += "for (int i = 0; i < n; i++) a[i] = i; } } return 0; }"
    assert lx.loads(text).offload().regions == ()
