"""Which macros decide the text of a function: those of what it is made of, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

import loopxform as lx
from loopxform.ir.decisions import Line

HEADER = """#ifndef UTIL_H
#define UTIL_H
#ifndef WIDTH
#define WIDTH 4
#endif
#ifdef SINGLE
typedef float real;
#else
typedef double real;
#endif
#ifdef OTHER
#include "other.h"
#endif
#endif
"""
FILE = """#include "util.h"
#ifdef DEBUG
#define LOG(x) x
#else
#define LOG(x)
#endif
#ifdef OLD
extern double scale OF((int x, int width));
#endif
#ifdef __cplusplus
extern "C" {
#endif
enum {
#ifdef MANY
  COUNT = 100
#else
  COUNT = 10
#endif
};
struct pair {
#ifdef WIDE
  double first, second;
#else
  int first, second;
#endif
};
#define PASTE(a, b) a##b
static int (twice)(int x)
{
#ifdef THRICE
  return 3 * x;
#endif
  return 2 * x;
}
void plain(int n, int *x) { for (int i = 0; i < n; i++) x[i] = i; }
void wide(int n, int *x) { for (int i = 0; i < n; i++) x[i] = WIDTH; }
void reals(int n, real *x) { for (int i = 0; i < n; i++) x[i] = i; LOG(x[0] = 1;) }
void calls(int n, int *x) { for (int i = 0; i < n; i++) x[i] = twice(i); }
void counts(int *x) { for (int i = 0; i < COUNT; i++) x[i] = i; }
void pairs(int n, struct pair *x) { for (int i = 0; i < n; i++) x[i].first = i; }
void scales(int n, double *x) { for (int i = 0; i < n; i++) x[i] = scale(i, n); }
void inside(int n, int *x)
{
  for (int i = 0; i < n; i++)
#ifdef BACK
    x[n - 1 - i] = i;
#else
    x[i] = i;
#endif
}
void pasted(int n, int *x) { for (int i = 0; i < n; i++) x[i] = PASTE(WID, TH); }
"""
DECIDED = {
    "plain": "",
    "wide": "WIDTH",
    "reals": "SINGLE DEBUG",
    "calls": "THRICE",
    "counts": "MANY",
    "pairs": "WIDE",
    "scales": "OLD",
    "inside": "BACK",
    "pasted": "UTIL_H WIDTH SINGLE OTHER DEBUG OLD MANY WIDE THRICE BACK",
}


MACROS = """
#define UNUSED __attribute__((unused))
#define API
#ifdef FAST
static const int step UNUSED = 3;
typedef float real API;
#else
static const int step UNUSED = 4;
typedef double real API;
#endif
#define limit lib_limit
#ifdef SMALL
enum { limit = 3 };
#else
enum { limit = 4 };
#endif
#define DECLARE(x, v) static const int x = v
#ifdef WIDE
DECLARE(width, 3);
#else
DECLARE(width, 5);
#endif
void attribute(int n, int *a) { for (int i = 0; i < n; i++) a[i] = step; }
void type(int n, real *a) { for (int i = 0; i < n; i++) a[i] = 1; }
void renamed(int n, int *a) { for (int i = 0; i < n; i++) a[i] = lib_limit; }
void declared(int n, int *a) { for (int i = 0; i < n; i++) a[i] = width; }
void none(int n, int *a) { for (int i = 0; i < n; i++) a[i] = 1; }
"""
BY_MACROS = {
    "attribute": "FAST",
    "type": "FAST",
    "renamed": "SMALL",
    "declared": "WIDE",
    "none": "",
}


@pytest.mark.parametrize("name", BY_MACROS)
def test_macros_in_declarations(name: str) -> None:
    """One may stand behind the name that is declared, or for it, or around it."""
    decisions = lx.loads(MACROS)[name].decisions
    named = [n for e in decisions if not isinstance(e, Line) for n in e.names]
    assert named == BY_MACROS[name].split()


@pytest.mark.parametrize("name", DECIDED)
def test_what_decides_a_function(name: str, tmp_path: Path) -> None:
    """What an unread header holds is not known: OTHER may decide all; so may what is pasted."""
    (tmp_path / "util.h").write_text(HEADER)
    (tmp_path / "f.c").write_text(FILE)
    decisions = lx.load(tmp_path / "f.c")[name].decisions
    assert not any(isinstance(e, Line) for e in decisions)
    named = " ".join(n for e in decisions if not isinstance(e, Line) for n in e.names)
    expected = DECIDED[name] if name == "pasted" else f"OTHER {DECIDED[name]}"
    assert sorted(named.split()) == sorted(expected.split())
