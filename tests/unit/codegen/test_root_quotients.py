"""Quotients by square roots by the device's reciprocal root: where, and what they are then."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from c_project import STRICT, cc

import loopxform as lx
from loopxform.codegen.opencl.root_quotients import OVER_CUBE, OVER_ROOT, helpers
from loopxform.floating_point import Level

NEST = """
#include <math.h>
void f(int n, float x[restrict n], float y[restrict n], double d[restrict n])
{
  for (int i = 0; i < n; i++)
    x[i] = VALUE;
}
"""
PROGRAM = """
#include <math.h>
#include <stdio.h>
#define __NV_CL_C_VERSION 120
#define rsqrt(x) ((float)(1 / sqrt((double)(x))))
{helpers}
int main(void)
{{
  static const float special[] = {{0, INFINITY, NAN, -1, 1, 3e38f, 2e-38f}};
  double worst = 0;
  for (int k = -100; k <= 80; k++) {{
    const float x = 1.37f, y = ldexpf(1.1f + k % 7 / 8.0f, k);
    const double root = x / sqrt(y), cube = x / ((double)y * sqrt(y));
    const double pairs[][2] = {{{{over_root(x, y), root}}, {{over_root_cube(x, y), cube}}}};
    for (int n = 0; n < 2; n++)
      if (pairs[n][1] > 2e-38 && pairs[n][1] < 3e38)
        worst = fmax(worst, fabs(pairs[n][0] / pairs[n][1] - 1) * 0x1p24);
  }}
  printf("%.1f", worst);
  for (int a = 0; a < 7; a++)
    for (int b = 0; b < 3; b++) {{
      const float x = special[a], y = special[b], c = x / (y * sqrtf(y)), q = over_root_cube(x, y);
      printf(" %d", (isnan(c) && isnan(q)) || c == q);
    }}
  return 0;
}}
"""


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("1.0f / sqrtf(y[i])", OVER_ROOT),
        ("x[i] / (y[i] * sqrtf(y[i]))", OVER_CUBE),
        ("x[i] / (sqrtf(y[i]) * y[i])", OVER_CUBE),
        ("x[i] / (y[i] * sqrtf(x[i]))", ""),
        ("d[i] / sqrtf(y[i])", ""),
        ("1.0f / sqrt(d[i])", ""),
    ],
)
def test_where_it_is_used(value: str, name: str, tmp_path: Path) -> None:
    file = tmp_path / "f.c"
    file.write_text(NEST.replace("VALUE", value))
    levels: tuple[Level, ...] = ("contract", "reassociate", "fast")
    texts = [lx.load(str(file))["f"].tile(fp=level).kernel for level in levels]
    for text in texts[:2]:
        assert OVER_ROOT not in text
    assert (f"= {name}(" in texts[2]) if name else (OVER_ROOT not in texts[2])


def test_what_they_are(tmp_path: Path) -> None:
    """Within some units in the last place, and 0, infinite or not a number where the quotients
    are."""
    text = "\n".join(helpers(f"{OVER_ROOT}( {OVER_CUBE}("))
    (tmp_path / "q.c").write_text(PROGRAM.format(helpers=text))
    built = cc(tmp_path, *STRICT, "-O2", "-ffp-contract=off", "-o", "q", "q.c", "-lm")
    assert not built.returncode, built.stderr
    done = subprocess.run([tmp_path / "q"], capture_output=True, text=True, check=True)
    worst, *same = done.stdout.split()
    assert float(worst) <= 4
    assert same == ["1"] * 21
