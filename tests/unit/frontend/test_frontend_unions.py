"""Members in unions, and in structs without a name: arrays of their own where the file mentions no
other name for their memory."""

from __future__ import annotations

import pytest

import loopxform as lx

TYPES = """
typedef unsigned short ush;
struct node { union { ush freq, code; } fc; union { ush dad; short depth; } dl; };
struct block { union { struct { float d, m; }; short both[4]; }; signed char q[32]; };
struct flags { struct { float a, b; }; unsigned bit : 3; };
struct sized { union { int n, m; } size; float a[9]; };
union bits { float f; int i; };
extern int some(void);
"""

VERDICTS = {
    # numbers of one type are one number under several names
    "void f(struct node *p, int n) { for (int i = 0; i < n; i++) p[i].fc.freq = i; }": "yes",
    """void f(struct node *p, int n) {
      for (int i = 1; i < n; i++) p[i].fc.code = p[i - 1].fc.freq; }""": "no",
    """void f(struct node *p, int n) {
      for (int i = 0; i < n; i++) p[i].fc.code = p[i].fc.freq + 1; }""": "yes",
    # others are unknown where the file mentions both
    """void f(struct node *p, int n) {
      for (int i = 1; i < n; i++) p[i].dl.dad = p[i - 1].dl.depth; }""": "unknown",
    """short g(struct node *p) { return p->dl.depth; }
    void f(struct node *p, int n) { for (int i = 1; i < n; i++) p[i].dl.dad = 0; }""": "unknown",
    "void f(struct node *p, int n) { for (int i = 1; i < n; i++) p[i].dl.dad = 0; }": "yes",
    # members of a struct without a name
    """void f(struct block *p, float *restrict y, int n) {
      for (int i = 0; i < n; i++) for (int j = 0; j < 32; j++)
        y[i * 32 + j] = p[i].q[j] * p[i].d + p[i].m; }""": "yes",
    """void f(struct block *p, int n) {
      for (int i = 1; i < n; i++) p[i].d = p[i - 1].m; }""": "yes",
    """void f(struct block *p, int n) {
      for (int i = 1; i < n; i++) { p[i].d = p[i - 1].m; p[i].both[1] = 0; } }""": "unknown",
    "void f(struct flags *p, int n) { for (int i = 1; i < n; i++) p[i].a = p[i - 1].b; }": "yes",
    # a union itself
    "void f(union bits *p, int n) { for (int i = 1; i < n; i++) p[i].f = p[i - 1].f; }": "no",
    """void f(union bits *p, int n) {
      for (int i = 1; i < n; i++) { p[i].i = 3; p[i - 1].f += 1; } }""": "unknown",
    """void f(float *p, int n) {
      for (int i = 1; i < n; i++) { union bits u; u.f = p[i]; p[i] = u.f * 2; } }""": "yes",
    """void f(float *p, int n) {
      for (int i = 1; i < n; i++) { union bits u; u.f = p[i]; p[i] = u.i; } }""": "yes",
    # copies as a whole are not taken apart: they may hold more than is mentioned
    """void f(union bits *p, union bits *q, int n) {
      for (int i = 1; i < n; i++) { p[i] = q[i]; q[i].f = 0; } }""": "unknown",
    """void f(struct flags *p, struct flags *q, int n) {
      for (int i = 1; i < n; i++) { p[i] = q[i]; q[i].a = 0; } }""": "unknown",
    """void f(struct node *p, struct node *q, int n) {
      for (int i = 1; i < n; i++) { p[i].fc = q[i].fc; } }""": "unknown",
    # the address of one is that of the others
    """void g(short *); void f(struct node *p, int n) {
      for (int i = 1; i < n; i++) { p[i].dl.dad = 0; g(&p[i].dl.depth); } }""": "unknown",
}


@pytest.mark.parametrize(("text", "verdict"), VERDICTS.items())
def test_verdicts(text: str, verdict: str) -> None:
    assert lx.loads(TYPES + text)["f"].check()[0].parallel == verdict


def test_a_number_in_a_union_is_none_that_the_caller_gave() -> None:
    """The end of the loop is set under another name, to what leaves it one iteration."""
    text = """
    struct sized one;
    void f(float *a, float *b, int k) {
      float *p = k ? a + some() : b;
      one.size.m = 1;
      for (int i = 0; i < one.size.n; i++) p[0] = i; }"""
    assert lx.loads(TYPES + text)["f"].check()[0].parallel == "unknown"


def test_pointers_to_what_a_union_of_the_file_holds() -> None:
    text = """union bits { float f; int i; } all; struct { union bits b; int plain; } some;
    void f(float *p) { for (int k = 0; k < all.i; k++) p[k] = some.b.i + some.plain; }"""
    (found,) = lx.loads(text)["f"].check()
    apart = ("p and all.i do not overlap", "p and some.b.i do not overlap")
    assert (found.parallel, found.assumes) == ("yes", apart)
