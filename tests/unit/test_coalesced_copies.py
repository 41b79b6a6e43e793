"""Copies of scalars that are carried through an iteration: which are the scalar, and which not."""

from __future__ import annotations

import numpy as np
import pytest

import loopxform as lx
from loopxform.analysis.verdict import judge
from loopxform.ir.nodes import Function
from loopxform.ir.printer import listing
from loopxform.prepare.coalesced_copies import with_coalesced_copies
from loopxform.verify.interp import run

TEXT = """\
void f(int n, const double *x, double *y)
{{
  double s = 1, p = 2;
  for (int i = 0; i < n; i++) {{ {body} }}
  y[0] = s; y[1] = p;
}}
"""
MERGED = {
    "double t = s; t += x[i]; s = t;": "s += x[i];",
    "double t = s + x[i], u = t; s = u;": "s = s + x[i];",
    "double t = s, u = p; t += x[i]; u *= t; s = t; p = u;": "s += x[i]; p *= s;",
    "double t = s, u = p; t += x[i]; u *= x[i]; s = t; p = u;": "s += x[i]; p *= x[i];",
    "double t = s; if (x[i] > 0) t = x[i]; s = t;": "if (x[i] > 0) s = x[i];",
    "double t = p, u = t; s = u;": "s = p;",
    "double t = s; t += x[i]; double d = t; p = d * d;": "d = s; d += x[i]; p = d*d;",
}
KEPT = (
    "p = s; p += x[i]; s = p;",  # p is read behind the loop
    "double t = s; t += x[i]; s = t; p += t;",
    "double t = s; t += x[i]; p += s; s = t;",
    "float t = s; t += x[i]; s = t;",
    "double t = s + x[i]; p = s; s = t;",
    "double t; if (x[i] > 0) t = s; else t = p; s = t;",
    "double t = 2 * t + s; s = t;",
    "double t = p * x[i]; s = t;",  # nothing is carried
)


def both(body: str) -> tuple[Function, Function]:
    fn = lx.loads(TEXT.format(body=body))["f"].function
    return fn, with_coalesced_copies(fn)


@pytest.mark.parametrize("body", MERGED)
def test_merged(body: str) -> None:
    fn, merged = both(body)
    lines = [x.strip() for x in listing(merged).splitlines() if x.startswith("  ")]
    assert " ".join(lines) == MERGED[body]
    x, found = np.array([1.5, -2, 3]), []
    for each in (fn, merged):
        y = np.zeros(2)
        run(each, {"n": 3, "x": x, "y": y})
        found.append(y.tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("body", KEPT)
def test_kept(body: str) -> None:
    fn, merged = both(body)
    assert merged == fn


def test_structs_that_functions_return_are_summed_up() -> None:
    text = """\
    typedef struct { double x, y; } v;
    static v add(v a, v b) { a.x += b.x; a.y += b.y; return a; }
    void f(int n, const v *p, double *out)
    {
      v sum = {0};
      for (int i = 0; i < n; i++) sum = add(sum, p[i]);
      out[0] = sum.x + sum.y;
    }
    """
    fn = lx.loads(text)["f"].function
    assert [v.parallel for v in judge(fn)] == ["no"]
    assert [v.parallel for v in judge(with_coalesced_copies(fn))] == ["reduction"]
