"""Elements that are subscripts, in calls from Python: out of range, they are an error before
anything runs."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import loopxform as lx
from loopxform import compiler
from loopxform.errors import ArgumentError, DeviceError

TEXT = """
struct csr { int n, m; int *key; };
struct hit { int key; float w; };
static const int T[4] = {3, 2, 1, 0};
int G[8];
void guard(int n, int m, const int a[n], int h[restrict m])
{ for (int i = 0; i < n; i++) if (a[i] >= 0 && a[i] < m) h[a[i]]++; }
void nested(int n, int m, int k, const int q[n], const int p[k], int h[restrict m])
{ for (int i = 0; i < n; i++) if (q[i] != 9 && p[q[i]] != 7) h[p[q[i]]]++; }
void bins(int n, int r, int c, const int x[n], const int y[n], int h[restrict r][c])
{ for (int i = 0; i < n; i++) h[x[i]][y[i]]++; }
void sort(int n, int m, const int a[n], int out[restrict n], int start[restrict m])
{
  for (int k = 0; k < m; k++) start[k] = 0;
  for (int i = 0; i < n; i++) start[a[i]]++;
  int s = 0;
  for (int k = 0; k < m; k++) { int c = start[k]; start[k] = s; s += c; }
  for (int i = 0; i < n; i++) { out[start[a[i]]] = a[i]; start[a[i]]++; }
}
void own(int n, const int a[n], int out[restrict 16])
{
  int h[16];
  for (int k = 0; k < 16; k++) h[k] = 0;
  for (int i = 0; i < n; i++) h[a[i]]++;
  for (int k = 0; k < 16; k++) out[k] = h[k];
}
void table(int n, const int a[n], int out[restrict n])
{ for (int i = 0; i < n; i++) out[i] = T[a[i]]; }
void real(int n, int m, float s, const float x[n], int h[restrict m])
{ for (int i = 0; i < n; i++) { int k = (int)(x[i]*s); if (k < m) h[k]++; } }
void bytes(int n, const unsigned char a[n], int h[restrict 256])
{ for (int i = 0; i < n; i++) h[a[i]]++; }
void chase(int n, const int next[n], int at, int out[restrict 1])
{ int c = 0; while (at != 0) { at = next[at]; c++; } out[0] = c; }
void member(const struct csr *s, int h[restrict s->m])
{ for (int i = 0; i < s->n; i++) h[s->key[i]]++; }
void wide(int n, int m, const unsigned long a[n], int h[restrict m])
{ for (int i = 0; i < n; i++) h[a[i]]++; }
void hits(int n, int m, const struct hit a[n], float h[restrict m])
{ for (int i = 0; i < n; i++) h[a[i].key] = a[i].w; }
void file(int n, const int a[n])
{ for (int i = 0; i < n; i++) G[a[i]]++; }
void maybe(int n, const int p[n], float y[restrict n])
{ for (int i = 0; i < n; i++) if (p[i]) y[i + 1] = p[i]; }
void rows(int r, int nnz, int m, const int row[r + 1], const int col[nnz], const float x[m],
          float y[restrict r])
{
  for (int i = 0; i < r; i++) {
    float s = 0;
    for (int k = row[i]; k < row[i + 1]; k++) s += x[col[k]];
    y[i] = s;
  }
}
"""


def ints(*values: int) -> Any:
    return np.array(values, np.int32)


def floats(*values: float) -> Any:
    return np.array(values, np.float32)


def zeros(*shape: int) -> Any:
    return np.zeros(shape, np.int32)


GOOD: dict[str, tuple[Any, ...]] = {
    "guard": (4, 3, ints(1, 2, -1, 7), zeros(3)),
    "nested": (4, 3, 3, ints(0, 1, 9, 2), ints(0, 2, 7), zeros(3)),
    "bins": (2, 2, 3, ints(0, 1), ints(2, 1), zeros(2, 3)),
    "sort": (5, 3, ints(2, 1, 0, 1, 2), zeros(5), zeros(3)),
    "own": (2, ints(1, 15), zeros(16)),
    "table": (2, ints(0, 3), zeros(2)),
    "real": (3, 4, 4.0, floats(0.1, 0.9, 2), zeros(4)),
    "bytes": (2, np.array([0, 255], np.uint8), zeros(256)),
    "chase": (3, ints(0, 0, 1), 2, zeros(1)),
    "wide": (2, 3, np.array([0, 2], np.uint64), zeros(3)),
    "hits": (1, 3, np.array([(2, 1.5)], [("key", "i4"), ("w", "f4")]), floats(0, 0, 0)),
    "maybe": (3, ints(1, 1, 0), floats(0, 0, 0)),
    "rows": (2, 3, 4, ints(0, 1, 3), ints(0, 3, 1), floats(1, 2, 3, 4), floats(0, 0)),
}
LAST = {
    "guard": [0, 1, 1],
    "nested": [1, 0, 1],
    "bins": [[0, 0, 1], [0, 1, 0]],
    "sort": [1, 3, 5],
    "own": [0, 1, *[0] * 13, 1],
    "table": [3, 0],
    "real": [1, 0, 0, 1],
    "bytes": [1, *[0] * 254, 1],
    "chase": [2],
    "wide": [1, 0, 1],
    "hits": [0, 0, 1.5],
    "maybe": [0, 1, 1],
    "rows": [1, 6],
}
BAD = [
    ("nested", {3: ints(0, 3, 9, 2)}, "p[q[i]] is outside of p at i = 1: q[i] is 3, and p has 3"),
    ("nested", {4: ints(0, 3, 7)}, "h[p[q[i]]] is outside of h at i = 1: p[q[i]] is 3"),
    ("bins", {4: ints(2, 3)}, "h[x[i]][y[i]] is outside of h at i = 1: y[i] is 3, and there are 3"),
    ("bins", {3: ints(0, -1)}, "h[x[i]][y[i]] is outside of h at i = 1: x[i] is -1"),
    ("sort", {2: ints(2, 1, 0, 1, 3)}, "start[a[i]] is outside of start at i = 4: a[i] is 3"),
    ("own", {1: ints(1, 16)}, "h[a[i]] is outside of h at i = 1: a[i] is 16, and h has 16"),
    ("table", {1: ints(0, -2)}, "T[a[i]] is outside of T at i = 1: a[i] is -2, and T has 4"),
    ("real", {3: floats(0.1, np.nan, 2)}, "h[k] is outside of h at i = 1: k is -2147483648"),
    ("chase", {1: ints(0, 5, 1)}, "next[at] is outside of next: at is 5, and next has 3"),
    ("wide", {2: np.array([0, 2**64 - 1], np.uint64)}, "i = 1: a[i] is 18446744073709551615"),
    ("hits", {2: np.array([(3, 1)], [("key", "i4"), ("w", "f4")])}, "a[i].key is 3, and h has 3"),
    ("maybe", {1: ints(0, 0, 1)}, "y[i + 1] is outside of y at i = 2: i + 1 is 3, and y has 3"),
    ("rows", {3: ints(0, 1, 4)}, "col[k] is outside of col at i = 1, k = 3: k is 3, and col has 3"),
    ("rows", {4: ints(0, 4, 1)}, "x[col[k]] is outside of x at i = 1, k = 1: col[k] is 4"),
]  # fmt: skip


@cache
def compiled(name: str) -> Any:
    return lx.loads(TEXT)[name].offload().compile()


@pytest.mark.device
@pytest.mark.parametrize("case", GOOD)
def test_keys_in_range(case: str) -> None:
    given = [x.copy() if isinstance(x, np.ndarray) else x for x in GOOD[case]]
    compiled(case)(*given)
    assert given[-1].tolist() == LAST[case]


@pytest.mark.device
@pytest.mark.parametrize(("case", "other", "why"), BAD)
def test_keys_out_of_range(case: str, other: dict[int, Any], why: str) -> None:
    given = [other.get(n, x) for n, x in enumerate(GOOD[case])]
    before = given[-1].copy()
    with pytest.raises(ArgumentError) as raised:
        compiled(case)(*given)
    assert why in str(raised.value)
    assert raised.value.code == "LX233"
    assert np.array_equal(given[-1], before)


@pytest.mark.device
def test_keys_behind_pointers_of_structs_and_in_the_file() -> None:
    program = lx.loads(TEXT)["member"]
    s = np.zeros(1, program.dtype("s"))
    s["n"], s["m"], h = 2, 3, zeros(3)
    compiled("member")(s, h, s_key=ints(2, 2))
    assert h.tolist() == [0, 0, 2]
    with pytest.raises(ArgumentError, match=r"s->key\[i\] is 3, and h has 3"):
        compiled("member")(s, h, s_key=ints(2, 3))
    with pytest.raises(ArgumentError, match=r"G\[a\[i\]\] is outside of G at i = 0: a\[i\] is 8"):
        compiled("file")(1, ints(8), G=zeros(8))


@pytest.mark.opencl
def test_keys_on_the_device() -> None:
    import pyopencl as cl
    import pyopencl.array as device

    queue = cl.CommandQueue(cl.create_some_context(interactive=False))
    bins = lx.loads(TEXT)["bins"].offload().compile(queue=queue)
    x, y, h = (device.to_device(queue, a) for a in GOOD["bins"][3:])
    bins(2, 2, 3, x, y, h)
    assert h.get().tolist() == LAST["bins"]
    with pytest.raises(ArgumentError, match=r"y\[i\] is 3, and there are 3"):
        bins(2, 2, 3, x, device.to_device(queue, ints(2, 3)), h)


def test_types_that_keep_subscripts_inside_need_no_look() -> None:
    assert compiled("bytes")._keys is None


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "find", lambda: None)
    with pytest.raises(DeviceError, match=r"data decide what h\[a\[i\]\] is") as raised:
        lx.loads(TEXT)["own"].offload().compile()
    assert raised.value.code == "LX234"
