"""Cases of `bench_loops.py`: layouts of records and images, updates by key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from loop_cases import Arrays

Drawn = Callable[[np.random.Generator, int], Arrays]
Row = tuple[str, str, str, Drawn, Callable[[int], float], Callable[[Arrays], Arrays], int]
"""A name, parameters and body of a function, its arguments, bytes moved, results, and the size."""

KEYS = 1 << 16
RECORD = "struct p { float x, y, z; };"
RECORDS = np.dtype([("x", np.float32), ("y", np.float32), ("z", np.float32)])
EACH = "for (int i = 0; i < n; i++)"
BOTH = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
SWAP = """for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) {
  float t = a[i][j]; a[i][j] = a[j][i]; a[j][i] = t; }"""
COLUMNS = """for (int u = 0; u < 3; u++) for (int v = 0; v < 3; v++)
  for (int i = 0; i < n - 2; i++) for (int j = 0; j < n - 2; j++)
    c[u][v][i][j] = a[i + u][j + v];"""
SORT = """for (int i = 0; i < n; i++) for (int k = 0; k < 8; k++) for (int j = 0; j < 7 - k; j++)
  if (a[i][j] > a[i][j + 1]) { int t = a[i][j]; a[i][j] = a[i][j + 1]; a[i][j + 1] = t; }"""
LEAST = f"{EACH} if (v[i] < low[key[i]]) low[key[i]] = v[i];"
BY_KEY = "int n, int m, const int key[restrict n], const {0} v[restrict n], {0} low[restrict m]"
PLANES = "uint8_t r[restrict n], uint8_t g[restrict n], uint8_t b[restrict n]"
PIXELS = f"int n, uint8_t a[restrict 3 * n], {PLANES}"
MEMBERS = (
    "int n, struct p p[restrict n], float x[restrict n], float y[restrict n], float z[restrict n]"
)


def _bytes(random: np.random.Generator, shape: Any) -> np.ndarray[Any, Any]:
    drawn: np.ndarray[Any, Any] = random.integers(0, 256, shape, dtype=np.uint8)
    return drawn


def _members(random: np.random.Generator, n: int) -> Arrays:
    p = np.zeros(n, RECORDS)
    for m in "xyz":
        p[m] = random.random(n, dtype=np.float32)
    return {"n": n, "p": p, **{m: random.random(n, dtype=np.float32) for m in "xyz"}}


def _pixels(random: np.random.Generator, n: int) -> Arrays:
    return {"n": n, "a": _bytes(random, 3 * n), **{x: _bytes(random, n) for x in "rgb"}}


def _squares(kind: Any, *names: str) -> Drawn:
    def arguments(random: np.random.Generator, n: int) -> Arrays:
        return {"n": n, **{x: random.integers(0, 256, (n, n)).astype(kind) for x in names}}

    return arguments


def _windows(random: np.random.Generator, n: int) -> Arrays:
    columns = np.zeros((3, 3, n - 2, n - 2), np.float32)
    return {**_squares(np.float32, "a")(random, n), "c": columns}


def _unfolded(x: Arrays) -> Arrays:
    windows = np.lib.stride_tricks.sliding_window_view(x["a"], (3, 3))
    return {"c": np.moveaxis(windows, (2, 3), (0, 1))}


def _keyed(kind: Any, *, counts: bool = False) -> Drawn:
    def arguments(random: np.random.Generator, n: int) -> Arrays:
        key = random.integers(0, KEYS, n, dtype=np.int32)
        v = random.integers(0, 1 << 20, n).astype(kind)
        out = {"n": n, "m": KEYS, "key": key, "v": v, "low": np.full(KEYS, 1 << 21, kind)}
        return out | {"c": np.zeros(KEYS, np.int32)} if counts else out

    return arguments


def _least(x: Arrays) -> Arrays:
    low = x["low"].copy()
    np.minimum.at(low, x["key"], x["v"])
    return {"low": low}


def _edges(random: np.random.Generator, n: int) -> Arrays:
    m = n // 16
    u, v = (random.integers(0, m, n, dtype=np.int32) for _ in range(2))
    d, w = (random.integers(0, 1000, k, dtype=np.int32) for k in (m, n))
    return {"n": n, "m": m, "u": u, "v": v, "w": w, "d": d, "e": d.copy()}


def _relaxed(x: Arrays) -> Arrays:
    e = x["e"].copy()
    np.minimum.at(e, x["v"], x["d"][x["u"]] + x["w"])
    return {"e": e}


def _pairs(random: np.random.Generator, n: int) -> Arrays:
    return {"n": n, "a": _bytes(random, n), "b": _bytes(random, n), "h": np.zeros((64, 64), "i4")}


def _counted(x: Arrays) -> Arrays:
    bins = (x["a"] >> 2).astype(int) * 64 + (x["b"] >> 2)
    return {"h": np.bincount(bins, minlength=4096).reshape(64, 64)}


def rows() -> Iterator[Row]:
    """The cases."""
    yield (
        *("aos-to-soa", MEMBERS, f"{EACH} {{ x[i] = p[i].x; y[i] = p[i].y; z[i] = p[i].z; }}"),
        *(_members, lambda n: 24.0 * n, lambda a: {m: a["p"][m] for m in "xyz"}, 1 << 25),
    )
    yield (
        *("soa-to-aos", MEMBERS, f"{EACH} {{ p[i].x = x[i]; p[i].y = y[i]; p[i].z = z[i]; }}"),
        *(_members, lambda n: 24.0 * n, lambda a: {f"p.{m}": a[m] for m in "xyz"}, 1 << 25),
    )
    yield (
        *("rgb-planes", PIXELS, f"{EACH} {{ r[i] = a[3*i]; g[i] = a[3*i+1]; b[i] = a[3*i+2]; }}"),
        *(_pixels, lambda n: 6.0 * n, lambda x: {c: x["a"]["rgb".index(c) :: 3] for c in "rgb"}),
        1 << 26,
    )
    yield (
        *("planes-rgb", PIXELS, f"{EACH} {{ a[3*i] = r[i]; a[3*i+1] = g[i]; a[3*i+2] = b[i]; }}"),
        *(_pixels, lambda n: 6.0 * n),
        *(lambda x: {"a": np.stack([x[c] for c in "rgb"], 1).ravel()}, 1 << 26),
    )
    yield (
        "bytes-saturating",
        "int n, const uint8_t a[restrict n][n], uint8_t b[restrict n][n]",
        f"{BOTH} {{ int s = a[i][j] + b[i][j]; b[i][j] = s > 255 ? 255 : s; }}",
        *(_squares(np.uint8, "a", "b"), lambda n: 3.0 * n * n),
        *(lambda x: {"b": np.minimum(x["a"].astype(int) + x["b"], 255).astype(np.uint8)}, 16384),
    )
    yield (
        *("complex-lengths", "int n, const float a[restrict 2 * n], float y[restrict n]"),
        f"{EACH} y[i] = sqrtf(a[2*i] * a[2*i] + a[2*i + 1] * a[2*i + 1]);",
        lambda r, n: {"n": n, "a": r.random(2 * n, dtype="f4"), "y": np.zeros(n, "f4")},
        *(lambda n: 12.0 * n, lambda x: {"y": np.hypot(x["a"][::2], x["a"][1::2])}, 1 << 26),
    )
    yield (
        *("in-place-transposition", "int n, float a[restrict n][n]", SWAP),
        *(_squares(np.float32, "a"), lambda n: 8.0 * n * n, lambda x: {"a": x["a"].T}, 8192),
    )
    yield (
        "im2col",
        "int n, const float a[restrict n][n], float c[restrict 3][3][n - 2][n - 2]",
        *(COLUMNS, _windows, lambda n: 40.0 * n * n, _unfolded, 4096),
    )
    yield (
        "histogram-2d",
        "int n, const uint8_t a[restrict n], const uint8_t b[restrict n], int h[restrict 64][64]",
        f"{EACH} h[a[i] >> 2][b[i] >> 2]++;",
        *(_pairs, lambda n: 2.0 * n, _counted, 1 << 27),
    )
    yield (
        *("min-by-key", BY_KEY.format("int"), LEAST),
        *(_keyed(np.int32), lambda n: 8.0 * n, _least, 1 << 25),
    )
    yield (
        *("float-min-by-key", BY_KEY.format("float"), LEAST),
        *(_keyed(np.float32), lambda n: 8.0 * n, _least, 1 << 25),
    )
    yield (
        *("count-and-min", f"{BY_KEY.format('int')}, int c[restrict m]"),
        f"{EACH} {{ int k = key[i]; c[k]++; if (v[i] < low[k]) low[k] = v[i]; }}",
        *(_keyed(np.int32, counts=True), lambda n: 8.0 * n),
        *(lambda x: {**_least(x), "c": np.bincount(x["key"], minlength=KEYS)}, 1 << 25),
    )
    yield (
        "relax-edges",
        "int n, int m, const int u[restrict n], const int v[restrict n], const int w[restrict n], "
        "const int d[restrict m], int e[restrict m]",
        f"{EACH} {{ int t = d[u[i]] + w[i]; if (t < e[v[i]]) e[v[i]] = t; }}",
        *(_edges, lambda n: 12.0 * n, _relaxed, 1 << 25),
    )
    yield (
        *("sorted-eights", "int n, int a[restrict n][8]", SORT),
        lambda r, n: {"n": n, "a": r.integers(0, 1000, (n, 8), dtype=np.int32)},
        *(lambda n: 64.0 * n, lambda x: {"a": np.sort(x["a"], axis=1)}, 1 << 23),
    )


TORCH: dict[str, Callable[[Any, Arrays], Any]] = {
    "rgb-planes": lambda _, x: x["a"].view(-1, 3).t().contiguous(),
    "planes-rgb": lambda torch, x: torch.stack([x["r"], x["g"], x["b"]], 1),
    "complex-lengths": lambda torch, x: torch.abs(torch.view_as_complex(x["a"].view(-1, 2))),
    "in-place-transposition": lambda _, x: x["a"].copy_(x["a"].t().clone()),
    "im2col": lambda torch, x: torch.nn.functional.unfold(x["a"][None, None], 3),
    "histogram-2d": lambda torch, x: torch.bincount(
        (x["a"].int() >> 2) * 64 + (x["b"].int() >> 2), minlength=4096
    ),
    "min-by-key": lambda _, x: x["low"].scatter_reduce_(0, x["key"].long(), x["v"], "amin"),
    "float-min-by-key": lambda _, x: x["low"].scatter_reduce_(0, x["key"].long(), x["v"], "amin"),
    "relax-edges": lambda _, x: x["e"].scatter_reduce_(
        0, x["v"].long(), x["d"][x["u"].long()] + x["w"], "amin"
    ),
    "sorted-eights": lambda torch, x: torch.sort(x["a"], 1),
}
