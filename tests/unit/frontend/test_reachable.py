"""What some statements need of the declarations of a file."""

from __future__ import annotations

import pytest
from lowering import parsed
from pycparser.c_parser import CParser

import loopxform as lx
from loopxform.frontend.outline.reachable import Declarations

FILE = """
typedef unsigned long size;
typedef struct node { struct edge *first; size count; } node;
struct edge { node *to; double weight; };
struct alone { int x; };
enum colour { RED, GREEN = 3 };
union bits { struct alone a; double d; };
int other(struct alone *p);
double length(const struct edge *e);
extern int table[GREEN];
int unused[RED + 7];
int table[GREEN];
void f(node *n) { }
void g(size n) { }
"""


NAMES = ["size", "node", "edge", "alone", "colour", "bits", "other", "length", "extern", "unused"]
NAMES += ["table", "f", "g"]


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("x = 1;", "bits alone"),
        ("x = RED;", "colour bits alone"),
        ("table[0] = 1;", "extern table colour bits alone"),
        ("length(0);", "length edge node size bits alone"),
        ("struct alone s;", "bits alone"),
        ("f(0);", "f node edge size bits alone"),
        ("size s;", "size bits alone"),
    ],
)
def test_needed(statement: str, wanted: str) -> None:
    *external, made = CParser().parse(f"{FILE} void h(void) {{ {statement} }}").ext
    found = {NAMES[n] for n in Declarations(external).needed([made.body])}
    assert found == set(wanted.split())


HEADERS = """#include <stdio.h>
#include <stdlib.h>
#include <math.h>
struct grid { int rows, columns; double *cells; };
static double scale(double x) { return 2 * x; }
static int counter;
int main(void)
{
  struct grid g = {3, 4, malloc(12 * sizeof(double))};
  for (int i = 0; i < g.rows * g.columns; i++)
    g.cells[i] = scale(i);
  printf("%g\\n", g.cells[5]);
  return counter;
}
"""


def test_parts_are_as_they_are_with_all_declarations(monkeypatch: pytest.MonkeyPatch) -> None:
    few = lx.loads(HEADERS).offload(fp="strict").files
    monkeypatch.setattr(Declarations, "needed", lambda d, _: set(range(len(d.external))))
    assert lx.loads(HEADERS).offload(fp="strict").files == few
    assert parsed(HEADERS).unit.functions
