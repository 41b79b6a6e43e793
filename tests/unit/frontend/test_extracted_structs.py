"""Loops apart from functions that hold structs, and that call functions which store no pointers."""

from __future__ import annotations

import pytest

import loopxform as lx

STRUCTS = """#include <stdio.h>
#include <string.h>
typedef struct node { int n, d[4]; unsigned char flag; double *x, *g; struct node **child; } node;
typedef struct { int n, m; double *w, *b, v[8]; struct node *of; } layer;
layer made(int n);
layer first;
double *given(int n);
void use(layer l), change(layer *l), fill(double *v);
double *kept;
"""

STORES = {
    "p->n = q->n; memcpy(p->d, q->d, 4 * sizeof(int)); p->flag = q->flag;": "yes",
    'for (int i = 0; i < 4; i++) p->d[i] = q->d[i]; printf("%d", q->n);': "yes",
    "double *t = q->x; p->x[0] = t[0];": "yes",
    "p->x = q->x;": "unknown",
    "*p = *q;": "unknown",
    "memcpy(p, q, sizeof *p);": "unknown",
    "memcpy(&p->x, &q->x, sizeof p->x);": "unknown",
    "double **t = &p->x; *t = q->x;": "unknown",
    "char *t = (char *)p, *s = (char *)q; for (int i = 0; i < 64; i++) t[i] = s[i];": "unknown",
    "kept = p->x; q->x = kept;": "unknown",
    "static double *t; t = p->x; q->x = t;": "unknown",
    "linked(p, q);": "unknown",
    "reshaped(p, q);": "unknown",
    "unknown(p, q);": "unknown",
}


def said(text: str) -> str:
    return lx.loads(STRUCTS + text)["f"].check()[-1].parallel


@pytest.mark.parametrize(("body", "verdict"), STORES.items())
def test_what_a_function_stores_may_make_pointers_the_same(body: str, verdict: str) -> None:
    text = f"""
    void unknown(node *p, const node *q);
    static void linked(node *p, const node *q) {{ p->x = q->x; }}
    static void reshaped(node *p, const node *q) {{
      {"reshaped(p, q);" if "reshaped" in body else body}
    }}
    void f(node *p, int n) {{
      node *q = p->child[0];
      reshaped(p, q);
      for (int i = 0; i < n; i++) p->x[i] = q->x[i + 1]; }}"""
    assert said(text) == verdict


KEPT = {
    "layer l = made(n); for (int i = 0; i < n; i++) l.w[i] = a[i];": "yes",
    "layer l = {0}; l.w = given(n); for (int i = 0; i < n; i++) l.w[i] = a[i]; use(l);": "yes",
    "layer l = made(n); use(l); for (int i = 0; i < l.n; i++) l.w[i] = l.b[i] + l.v[1];": "yes",
    "layer l = first; for (int i = 0; i < n; i++) l.w[i] = l.w[i + 1];": "no",
    "layer l = made(n); for (int i = 0; i < n; i++) l.w[i] = l.of->x[i];": "yes",
    "layer l = made(n); l.b = l.w; for (int i = 0; i < n; i++) l.w[i] = l.b[i + 1];": "unknown",
    "layer l = made(n); l.w = a; for (int i = 0; i < n; i++) l.w[i] = a[i + 1];": "unknown",
    "layer l = *ls; for (int i = 0; i < n; i++) l.w[i] = ls->w[i + 1];": "unknown",
    "layer l = made(n), k = l; for (int i = 0; i < n; i++) l.w[i] = k.w[i + 1];": "unknown",
    "layer l = made(n); change(&l); for (int i = 0; i < l.n; i++) l.w[i] = a[i];": "unknown",
    "layer l = made(n); fill(l.v); for (int i = 0; i < n; i++) l.w[i] = l.v[0];": "unknown",
    "layer l = made(n); double *t = l.v; for (int i = 0; i < n; i++) t[i] = l.v[i + 1];": "unknown",
    "layer l = made(n); for (int i = 0; i < n; i++) { l.w[i] = a[i]; l.w++; }": "unknown",
    "layer l = made(n); for (int i = 0; i < n; i++) { l.w[i] = l.m; l.m = a[i]; }": "unknown",
    "layer l = made(n); for (int i = 0; i < n; i++) { l.w[i] = a[i]; l.v[1] = 0; }": "unknown",
    "layer l = made(n); for (int i = 0; i < n; i++) { double *t = l.v; t[i] = l.w[i]; }": "unknown",
    "static layer l; l = made(n); for (int i = 0; i < n; i++) l.w[i] = a[i];": "unknown",
}


@pytest.mark.parametrize(("body", "verdict"), KEPT.items())
def test_structs_that_the_loop_only_reads(body: str, verdict: str) -> None:
    text = f"void f(int n, double *a, layer *ls) {{ {body} }}"
    assert said(text) == verdict
