"""Verdicts on loops that are judged as what they mean: rows and cursors of C89 functions, places of
extrema, products of sizes."""

from __future__ import annotations

import pytest

from loopxform import loads

HEAD = """
struct part { int w, h; };
typedef unsigned char byte;
"""

POINTERS = {
    # Set in each iteration, declared in front.
    "void f(byte **in, byte **out, int n, int m) { register byte *p, *q; int r, c;"
    " for (r = 0; r < n; r++) { p = in[r]; q = out[r];"
    " for (c = 0; c < m; c++) *q++ = p[c]; } }": "yes",
    "void f(byte *in, byte *out, int n, int m) { byte *p, *q; int r, c;"
    " for (r = 0; r < n; r++) { p = in + r * m; q = out + r * m;"
    " for (c = 0; c < m; c++) *q++ = *p++; } }": "yes",
    "void f(struct part *v, int n) { struct part *c; int i;"
    " for (i = 0; i < n; i++) { c = &v[i]; c->w = c->h; } }": "yes",
    # Read after the loop.
    "int f(byte *in, byte *out, int n, int m) { byte *p = in, *q; int r, c;"
    " for (r = 0; r < n; r++) { p = in + r * m; q = out + r * m;"
    " for (c = 0; c < m; c++) q[c] = p[c]; } return *p; }": "privatizable",
    # What the iteration before has left is read.
    "void f(byte *in, byte *out, int n, int m) { byte *q = out; int r, c;"
    " for (r = 0; r < n; r++) { q[0] = 1; q = out + r * m;"
    " for (c = 0; c < m; c++) q[c] = in[c]; } }": "no",
    "void f(byte *in, byte *out, int n, int m) { byte *p = in; int r, c;"
    " for (r = 0; r < n; r++) { if (in[r]) p = out + r * m;"
    " for (c = 0; c < m; c++) p[c] = 0; } }": "unknown",
    "void f(byte *in, byte *out, int n, int m) { byte *p = in; int r, c;"
    " for (r = 0; r < n; r++) { if (in[r]) goto skip; p = out + r * m; skip:"
    " for (c = 0; c < m; c++) p[c] = 0; } }": "unknown",
    "void f(int n, double *p, double *q) { if (n > 9) goto end; q = p + n; end:"
    " for (int i = 0; i < n; i++) q[i] = p[i]; }": "unknown",
    # Parameters that are set first.
    "void f(int n, double *p, double *q) { q = p + n;"
    " for (int i = 0; i < n; i++) q[i] = p[i]; }": "yes",
    "void f(int n, double *p, double *q) { q = p + 1;"
    " for (int i = 0; i < n; i++) q[i] = p[i]; }": "no",
}

PLACES = {
    "if (a[i] > a[best]) best = i;": "reduction",
    "if (a[best] >= a[i]) best = i; s += a[i];": "reduction",
    "if (a[i] > a[best]) { best = i; s++; }": "unknown",
    "if (a[i] > a[best]) best = i; b[i] = best;": "unknown",
    "if (a[i] > a[best]) best = i; a[i] = 0;": "unknown",
}

PRODUCTS = {
    "int y = i / w, x = i % w; o[x * h + y] = a[i];": ("yes", ("1 <= w",)),
    "o[i % w * h + i / w] = a[i];": ("yes", ("1 <= w",)),
    "int y = i / w; o[y] = a[i];": ("unknown", ()),
    "int y = i / w, x = i % w; if (x > 0) o[x * h + y] = o[x * h - h + y];": ("unknown", ()),
}

STRIDES = {
    "o[i * s + j * t] = 0;": ("yes", ("1 <= t",)),
    "o[i * s + j * b[0]] = 0;": ("yes", ("o and b do not overlap", "1 <= b[0]")),
    # another stride in each iteration around
    "o[i * s + j * b[i]] = 0;": ("unknown", ("o and b do not overlap",)),
}

ROWS = {
    "c[y * w + x][k] = k;": ("yes", ()),
    "c[y * m + x][k] = k;": ("yes", ("w <= m",)),
    "c[y * w + 2 * x][k] = k;": ("unknown", ()),
}


def first(text: str) -> tuple[str, tuple[str, ...]]:
    """The verdict on the first loop of a text, and what it takes for granted."""
    (v, *_) = next(iter(loads(HEAD + text, "t.c"))).check()
    return v.parallel, v.assumes


@pytest.mark.parametrize("text", POINTERS)
def test_pointers(text: str) -> None:
    assert first(text)[0] == POINTERS[text]


@pytest.mark.parametrize("body", PLACES)
def test_places_of_extrema(body: str) -> None:
    head = "int f(int n, int *restrict a, int *restrict b) { int best = 0, s = 0;"
    text = f"{head} for (int i = 1; i < n; i++) {{ {body} }} return best + s; }}"
    assert first(text)[0] == PLACES[body]


def test_an_extremum_of_reals_is_none_with_nan() -> None:
    head = "int f(int n, const float *a) { int k = 0; for (int i = 1; i < n; i++)"
    v, assumes = first(f"{head} if (a[i] > a[k]) k = i; return k; }}")
    assert (v, assumes) == ("reduction", ("no a[i] is NaN", "no NaN is at k before the loop"))


@pytest.mark.parametrize("body", PRODUCTS)
def test_products(body: str) -> None:
    head = "void f(int w, int h, float *restrict o, const float *restrict a)"
    assert first(f"{head} {{ for (int i = 0; i < w * h; i++) {{ {body} }} }}") == PRODUCTS[body]


@pytest.mark.parametrize("body", STRIDES)
def test_strides(body: str) -> None:
    head = "void f(int n, int m, int s, int t, float *o, const int *b)"
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    found = loads(f"{head} {{ {loops} {body} }}")["f"].check()[1]
    assert (found.parallel, found.assumes) == STRIDES[body]


@pytest.mark.parametrize("body", ROWS)
def test_rows(body: str) -> None:
    head = "void f(int w, int h, int m, float (*c)[3]) { for (int y = 0; y < h; y++)"
    inner = "for (int x = 0; x < w; x++) for (int k = 0; k < 3; k++)"
    assert first(f"{head} {inner} {body} }}") == ROWS[body]
