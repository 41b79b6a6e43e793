"""Elements of arrays that the caller gave, in bounds: any numbers, as parameters are."""

from __future__ import annotations

import pytest

from loopxform import loads

SUM = "a[i] = a[i - 1] * a[i - 1] + 1;"

NESTS = {
    "int n[3]; void f(double *a) { for (int i = 1; i < n[1]; i++) %s }": "no",
    "void f(const int *n, double *a) { for (int i = 1; i < n[0] - 2; i++) %s }": "no",
    "void f(long n[2][2], double *a) { for (int i = 1; i < n[1][0]; i++) %s }": "no",
    # Set before, or by a call; each iteration another element; what the file says it is.
    "int n[3]; void f(double *a) { n[1] = 1; for (int i = 1; i < n[1]; i++) %s }": "unknown",
    "int n[3]; void g(void); void f(double *a) { g(); for (int i = 1; i < n[1]; i++) %s }": (
        "unknown"
    ),
    "void f(int m, int *n, double *a) { for (int i = 1; i < n[m]; i++) %s }": "unknown",
    "void f(short *n, double *a) { for (int i = 1; i < n[1]; i++) %s }": "unknown",
    "static const int n[2] = {1, 1}; void f(double *a) { for (int i = 1; i < n[1]; i++) %s }": (
        "unknown"
    ),
}


@pytest.mark.parametrize("text", NESTS)
def test_recurrences_up_to_an_element(text: str) -> None:
    (v,) = loads(text % SUM)["f"].check()
    assert v.parallel == NESTS[text]


ROWS = """
int grid[3]; double cv[20], us[20][20], out[20][20];
void f(void) {
  int i, j;
  for (j = 1; j < grid[1] - 1; j++) {
    for (i = 0; i < grid[0]; i++) cv[i] = us[j][i];
    for (i = %s; i < grid[%d]%s; i++) out[j][i] = cv[i - 1] + cv[i + 1];
  }
}
"""


@pytest.mark.parametrize(
    ("read", "after"),
    [(("1", 0, " - 1"), ("expand cv j",)), (("1", 2, " - 1"), ()), (("1", 0, ""), ())],
)
def test_rows_of_each_iteration(read: tuple[str, int, str], after: tuple[str, ...]) -> None:
    outer, *_ = loads(ROWS % read)["f"].check()
    assert outer.parallel == "no"
    assert outer.after == after
