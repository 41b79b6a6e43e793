"""Cases of `bench_loops.py`: rows that are normalised, and attention, whose middle part is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from loop_cases import REORDERED, Arrays, Case


def _rows(
    body: str, expected: Callable[[Arrays], Arrays], length: int = 2048, **options: Any
) -> Case:
    """2^25 elements, in rows of that length."""

    def arguments(random: np.random.Generator, n: int) -> Arrays:
        x = random.random((n, length), dtype=np.float32)
        return {"n": n, "m": length, "x": x, "y": np.zeros((n, length), np.float32)}

    params = "int n, int m, const float x[restrict n][m], float y[restrict n][m]"
    text = f"#include <math.h>\nvoid f({params}) {{ for (int i = 0; i < n; i++) {{ {body} }} }}"
    return Case(text, arguments, lambda n: 8.0 * n * length, expected, (1 << 25) // length, options)


NORM = """float s = 0, q = 0;
  for (int j = 0; j < m; j++) s += x[i][j];
  float mean = s / m;
  for (int j = 0; j < m; j++) q += (x[i][j] - mean) * (x[i][j] - mean);
  float scale = 1 / sqrtf(q / m + 1e-5f);
  for (int j = 0; j < m; j++) y[i][j] = (x[i][j] - mean) * scale;"""
SOFTMAX = """float top = x[i][0], s = 0;
  for (int j = 0; j < m; j++) if (x[i][j] > top) top = x[i][j];
  for (int j = 0; j < m; j++) s += expf(x[i][j] - top);
  for (int j = 0; j < m; j++) y[i][j] = expf(x[i][j] - top) / s;"""
STORED = """float top = x[i][0], s = 0;
  for (int j = 1; j < m; j++) if (x[i][j] > top) top = x[i][j];
  for (int j = 0; j < m; j++) { y[i][j] = expf(x[i][j] - top); s += y[i][j]; }
  for (int j = 0; j < m; j++) y[i][j] /= s;"""


def _normed(a: Arrays) -> Arrays:
    x = a["x"].astype(float)
    centred = x - x.mean(1, keepdims=True)
    return {"y": centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)}


def _softmax(a: Arrays) -> Arrays:
    e = np.exp(a["x"].astype(float) - a["x"].max(1, keepdims=True))
    return {"y": e / e.sum(1, keepdims=True)}


def _attention(**options: Any) -> Case:
    """Heads of 2048 queries and keys, 64 wide: products, softmax of rows, products."""

    def arguments(random: np.random.Generator, n: int) -> Arrays:
        given = {x: random.random((n, 2048, 64), dtype=np.float32) for x in "qkv"}
        scores = np.zeros((n, 2048, 2048), np.float32)
        return {"h": n, "n": 2048, "d": 64, **given, "s": scores, "y": np.zeros_like(given["q"])}

    def expected(a: Arrays) -> Arrays:
        scores = a["q"] @ a["k"].transpose(0, 2, 1) / np.float32(8)
        e = np.exp(scores - scores.max(2, keepdims=True))
        return {"y": (e / e.sum(2, keepdims=True)) @ a["v"]}

    shape = "[restrict h][n][d]"
    params = f"int h, int n, int d, const float q{shape}, const float k{shape}, "
    params += f"const float v{shape}, float s[restrict h][n][n], float y{shape}"
    text = f"#include <math.h>\nvoid f({params}) {{ {ATTENTION} }}"
    moved = 4 * 4.0 * 2048 * 64
    return Case(text, arguments, lambda n: n * moved, expected, 32, options)


ATTENTION = """float scale = 1 / sqrtf(d);
  for (int b = 0; b < h; b++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
    float t = 0;
    for (int c = 0; c < d; c++) t += q[b][i][c] * k[b][j][c];
    s[b][i][j] = t * scale; }
  for (int b = 0; b < h; b++) for (int i = 0; i < n; i++) {
    float top = s[b][i][0], sum = 0;
    for (int j = 1; j < n; j++) if (s[b][i][j] > top) top = s[b][i][j];
    for (int j = 0; j < n; j++) { s[b][i][j] = expf(s[b][i][j] - top); sum += s[b][i][j]; }
    for (int j = 0; j < n; j++) s[b][i][j] /= sum; }
  for (int b = 0; b < h; b++) for (int i = 0; i < n; i++) for (int c = 0; c < d; c++) {
    float t = 0;
    for (int j = 0; j < n; j++) t += s[b][i][j] * v[b][j][c];
    y[b][i][c] = t; }"""


def _attention_scratch(**options: Any) -> Case:
    """The three nests, whose scores nobody reads after a call."""
    case = _attention(**options)
    return replace(case, text=case.text.replace("void f", "#pragma loopxform scratch(s)\nvoid f"))


def _attention_rows(**options: Any) -> Case:
    """The same a query at a time, with its scores in an array of the iteration."""
    case = _attention(**options)
    shape = "[restrict h][n][d]"
    params = f"int h, int n, int d, float scale, const float q{shape}, const float k{shape}, "
    params += f"const float v{shape}, float y{shape}"
    text = f"#include <math.h>\nvoid f({params}) {{ {ATTENTION_ROWS} }}"

    def arguments(random: np.random.Generator, n: int) -> Arrays:
        given = case.arguments(random, n)
        del given["s"]
        return {**given, "scale": 0.125}

    return replace(case, text=text, arguments=arguments)


ATTENTION_ROWS = """for (int b = 0; b < h; b++) for (int i = 0; i < n; i++) {
    float w[n], top = -INFINITY, sum = 0;
    for (int j = 0; j < n; j++) {
      float t = 0;
      for (int c = 0; c < d; c++) t += q[b][i][c] * k[b][j][c];
      w[j] = t * scale;
      if (w[j] > top) top = w[j]; }
    for (int j = 0; j < n; j++) { w[j] = expf(w[j] - top); sum += w[j]; }
    for (int c = 0; c < d; c++) {
      float t = 0;
      for (int j = 0; j < n; j++) t += w[j] * v[b][j][c];
      y[b][i][c] = t / sum; } }"""


LENGTHS = (16, 64, 128, 256, 512, 1024, 4096, 8192, 16384, 32768, 65536)
CASES: dict[str, Case] = {
    "norm": _rows(NORM, _normed),
    "norm-any-order": _rows(NORM, _normed, **REORDERED),
    "softmax": _rows(SOFTMAX, _softmax),
    "softmax-any-order": _rows(SOFTMAX, _softmax, **REORDERED),
    **{f"norm-{m}": _rows(NORM, _normed, m) for m in LENGTHS},
    **{f"norm-{m}-any-order": _rows(NORM, _normed, m, **REORDERED) for m in LENGTHS},
    **{f"softmax-{m}": _rows(SOFTMAX, _softmax, m) for m in LENGTHS},
    **{f"softmax-{m}-any-order": _rows(SOFTMAX, _softmax, m, **REORDERED) for m in LENGTHS},
    "softmax-stored-any-order": _rows(STORED, _softmax, 4096, **REORDERED),
    "attention": _attention(),
    "attention-any-order": _attention(**REORDERED),
    "attention-scratch-any-order": _attention_scratch(**REORDERED),
    "attention-rows": _attention_rows(),
    "attention-rows-any-order": _attention_rows(**REORDERED),
}
TORCH: dict[str, Callable[[Any, Arrays], Any]] = {
    **dict.fromkeys(
        (name for name in CASES if name.startswith("norm")),
        lambda torch, x: torch.nn.functional.layer_norm(x["x"], (x["m"],)),
    ),
    **dict.fromkeys(
        (name for name in CASES if name.startswith("softmax")),
        lambda torch, x: torch.softmax(x["x"], 1),
    ),
    **dict.fromkeys(
        (name for name in CASES if name.startswith("attention")),
        lambda torch, x: torch.nn.functional.scaled_dot_product_attention(
            *(x[n][None] for n in "qkv")
        ),
    ),
}
