"""What a scop holds is on the device, whether it is parallel or has loops at all; what stands
around it is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_project import PLAIN, STRICT, cc, require_opencl, run_app

import loopxform as lx
from loopxform.errors import LoopxformError

FILE = """\
#include <stdio.h>

struct point { int x, y; };

void few(int *a, int n)
{
  a[1] = 7;
#pragma scop
  a[0] = 2 * n;
  if (n > 3)
    a[2] = a[0] - a[1];
#pragma endscop
  a[3] += a[2];
}

int prefix(int n, int *a)
{
  int last;
#pragma scop
  for (int i = 1; i < n; i++)
    a[i] += a[i - 1];
  last = a[n - 1];
#pragma endscop
  for (int i = 0; i < n; i++)
    a[i] += last;
  return last;
}

void in_a_loop(int n, struct point *p)
{
  for (int i = 0; i < n; i++) {
#pragma scop
    p[i].x = p[i].y * 2;
#pragma endscop
    p[i].y++;
  }
}

void at_the_end(int n, int *a)
{
  int s;
#pragma scop
  s = 0;
  for (int i = 0; i < n; i++)
    for (int j = a[i]; j < 10; j++)
      s++;
  a[0] = s;
#pragma endscop
}

int main(void)
{
  int a[8] = {5, 4, 3, 2, 1, 0, 1, 2};
  struct point p[3] = {{1, 2}, {3, 4}, {5, 6}};
  few(a, 2);
  few(a, 9);
  at_the_end(8, a);
  printf("%d\\n", prefix(8, a));
  in_a_loop(3, p);
  for (int i = 0; i < 8; i++)
    printf("%d ", a[i]);
  for (int i = 0; i < 3; i++)
    printf("%d %d ", p[i].x, p[i].y);
  printf("\\n");
  return 0;
}
"""


@pytest.mark.slow
def test_scops_are_on_the_device(tmp_path: Path) -> None:
    require_opencl()
    (tmp_path / "scops.c").write_text(FILE)
    done = lx.load(tmp_path / "scops.c").offload()
    assert [r.region.name for r in done.regions] == [
        "few_1",
        "prefix_1",
        "in_a_loop_1",
        "at_the_end",
    ]
    done.write(tmp_path / "out")
    loose = [x for x in STRICT if x != "-Wall"] + ["-Wno-unknown-pragmas"]
    plain = cc(tmp_path, *loose, *PLAIN, "scops.c", "-o", "plain")
    built = cc(tmp_path, *loose, *PLAIN, "out/scops_opencl.c", "-o", "app", "-lOpenCL", "-lm")
    assert not plain.returncode + built.returncode, plain.stderr + built.stderr
    settings = {"LOOPXFORM_HOST": "never", "LOOPXFORM_VERBOSE": "1"}
    expected = run_app(tmp_path / "plain")
    found = run_app(tmp_path / "app", **settings)
    assert (found.stdout, found.returncode) == (expected.stdout, expected.returncode)
    assert not found.stderr


def test_without_a_scop_statements_alone_are_no_reason_for_a_launch() -> None:
    text = FILE.replace("#pragma scop", "").replace("#pragma endscop", "")
    done = lx.loads(text).offload()
    assert [r.region.owner.name for r in done.regions] == ["prefix", "in_a_loop", "at_the_end"]


def test_a_scop_of_what_is_not_modelled_stays() -> None:
    text = "int g(void);\nvoid f(int *a)\n{\n#pragma scop\n  a[0] = g();\n#pragma endscop\n}\n"
    assert lx.loads(text).offload().regions == ()


def test_a_function_without_loops_that_is_named_is_refused() -> None:
    with pytest.raises(LoopxformError, match="no loop nest"):
        lx.loads("void f(int *a) { a[0] = 1; }")["f"].offload()


def test_statements_in_loops_of_a_scop_have_no_launches_of_their_own() -> None:
    text = "int g(void);\nvoid f(int *a)\n{\n  int i;\n#pragma scop\n  for (i = 0; i < 9; i++)\n"
    text += "  {\n    a[i] = 0;\n    if (g()) break;\n    a[i] = i;\n  }\n#pragma endscop\n}\n"
    assert lx.loads(text).offload().regions == ()
