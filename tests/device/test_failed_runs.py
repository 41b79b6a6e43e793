"""Nothing of a run that has failed works on the device when the host goes on: other runs may have
its memory next."""

from __future__ import annotations

from pathlib import Path

from c_project import PLAIN, cc, require_opencl
from test_failing_opencl import NAMES, SHIMMED, link, run_it

import loopxform as lx

SLOW = """
void slow(int n, int m, const float *restrict a, float *restrict b, float *restrict c)
{
  for (int i = 0; i < n; i++) {
    float s = a[i];
    for (int j = 0; j < m; j++)
      s = s * 0.5f + a[(i + j) % n];
    b[i] = s;
  }
  for (int i = 0; i < n; i++)
    c[i] += b[n - 1 - i];
}
"""
CALLER = """
#include <stdio.h>
#include "slow_opencl.h"
void slow(int, int, const float *, float *, float *);
int failing_runs(void);
int main(void)
{
  enum { N = 2 };
  const float a[N] = {1.25f, 2};
  float b[N], c[N] = {0};
  long from = 0;
  failing_runs();
  slow(N, 9, a, b, c);
  do {
    failing_start(++from, from);
    slow(N, 150000, a, b, c);
    if (failing_launches() == 1 && failing_runs())
      printf("call %ld: a kernel still runs\\n", from);
  } while (failing_calls() >= from);
  puts(failing_runs() ? "running" : "ended");
  return 0;
}
"""


def test_kernels_have_ended(tmp_path: Path) -> None:
    require_opencl()
    (tmp_path / "slow.c").write_text(SLOW)
    lx.load(tmp_path / "slow.c").offload(contract=False).write(tmp_path)
    user = [*PLAIN, "-c", "-Dslow=user_slow", "slow.c", "-o", "user.o"]
    assert cc(tmp_path, *user).returncode == 0
    app = link(tmp_path, "slow", SHIMMED + CALLER, NAMES)
    assert run_it(app).stdout == "ended\n"
