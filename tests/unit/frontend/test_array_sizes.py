"""Arrays that are as long as their initialiser."""

from __future__ import annotations

import pytest
from pycparser import c_ast

import loopxform as lx
from loopxform.frontend.syntax.parsing import parse
from loopxform.frontend.syntax.places import Places

SIZES = {
    "int t[] = {1, 2, 3};": "3",
    "int t[] = {1, {2}, 3 + 4,};": "3",
    "double t[][2] = {{1, 2}, {3}};": "2",
    'const char *t[] = {"a", "b"};': "2",
    "enum e {X, Y} t[] = {X, Y};": "2",
    "typedef unsigned char byte; byte t[] = {1, 2};": "2",
    "struct s {int a, b;} t[] = {{1, 2}, {3}};": "2",
    'struct s {const char *a; int b;} t[] = {{"x", 1}, {"y", 2}};': "2",
    "int t[4] = {1, 2};": "4",
    # what holds several elements, or one of several values
    "int t[] = {[3] = 1};": None,
    "int t[] = {};": None,
    'char t[] = "abc";': None,
    'char t[] = {"abc"};': None,
    'char t[] = {{"abc"}};': None,
    "double t[][2] = {1, 2, 3};": None,
    "struct s {int a, b;} t[] = {1, 2, 3, 4};": None,
    "struct s {int a, b;} t[] = {{1, 2}, 3, 4};": None,
    "typedef struct {int a, b;} s; s t[] = {1, 2, 3, 4};": None,
    "typedef int three[3]; three t[] = {1, 2, 3, 4};": None,
    "typedef int s; void f(void) { typedef struct {int a, b;} s; } s t[] = {1, 2};": None,
}


@pytest.mark.parametrize(("text", "size"), SIZES.items())
def test_sizes(text: str, size: str | None) -> None:
    tree = parse(text, Places(["t.c"], {}))
    (found,) = (d for d in tree.ast.ext if isinstance(d, c_ast.Decl) and d.name == "t")
    assert getattr(found.type.dim, "value", None) == size


def test_loops_over_tables_are_judged() -> None:
    text = """void f(int *o) { static const int t[] = {1, 2, 3};
      for (int i = 0; i < (int)(sizeof t / sizeof t[0]); i++) o[i] = t[i]; }"""
    assert lx.loads(text)["f"].check()[0].parallel == "yes"
