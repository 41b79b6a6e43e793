"""A pointer to an element of a matrix leads through all of its rows: it is no name of one row."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_project import assert_both_print, build_both, require_opencl

import loopxform as lx

FLAT = """#include <stdio.h>
static int A[20][20];
static void filled(int n)
{
  int *p = START;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      ELEMENT = 3 * i + j;
}
int main(void)
{
  int sum = 0;
  filled(20);
  filled(7);
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 20; j++)
      sum += A[i][j] * (i ^ j);
  printf("%d\\n", sum);
  return 0;
}
"""


@pytest.mark.parametrize("start", ["&A[0][0]", "A[0]", "*A", "(int *)A", "&A[0][0] + 0"])
@pytest.mark.parametrize("element", ["p[i * 20 + j]", "*(p + i * 20 + j)", "(p + i * 20)[j]"])
def test_all_rows_through_a_pointer(tmp_path: Path, start: str, element: str) -> None:
    require_opencl()
    user = tmp_path / "user.c"
    user.write_text(FLAT.replace("START", start).replace("ELEMENT", element))
    made = lx.load(user).offload()
    made.write(tmp_path)
    build_both(tmp_path, "-std=gnu11", "-w")
    assert assert_both_print(tmp_path).stderr.count("on the device") >= 1


@pytest.mark.parametrize(
    "body",
    [
        "int *p = &A[0][0]; for (int i = 1; i < 20; i++) A[1][i] = p[19 + i];",
        "int *p = A[0]; for (int i = 1; i < n; i++) A[1][i] = *(p + 19 + i);",
        "int *p = *A, *q = p + n; for (int i = 1; i < 20; i++) A[1][i] = q[i];",
        "for (int i = 1; i < 20; i++) A[1][i] = (&A[0][0])[19 + i];",
        "for (int i = 1; i < 20; i++) A[1][i] = *(A[0] + 19 + i);",
        "for (int i = 1; i < 20; i++) A[1][i] = *(*A + 19 + i);",
    ],
)
def test_a_row_that_is_reached_from_another(body: str) -> None:
    (found,) = lx.loads(f"int A[20][20]; void f(int n) {{ {body} }}")["f"].check()
    assert found.parallel == "unknown"


@pytest.mark.parametrize(
    "body",
    [
        "int *p = A[n]; for (int i = 1; i < 20; i++) p[i] = A[1][i];",
        "int *p = &A[n][0]; for (int i = 1; i < 20; i++) p[i] = 3;",
        "int (*p)[20] = A; for (int i = 1; i < 20; i++) p[i][i] = i;",
        "for (int i = 1; i < 20; i++) (*A)[i] = A[1][i];",
        "for (int i = 1; i < 20; i++) *(A[i] + i) = A[i][0];",
        "int *p = A[2]; for (int i = 1; i < 20; i++) A[i][4] = p[3];",
    ],
)
def test_names_of_rows(body: str) -> None:
    (found,) = lx.loads(f"int A[20][20]; void f(int n) {{ {body} }}")["f"].check()
    assert found.parallel in ("yes", "unknown")
    assert all("all rows" not in r.message for r in found.reasons)
