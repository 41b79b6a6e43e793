"""What a function of a file depends on, places in texts, and facts that move."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from same_as_check import edits, incremental, whole

from loopxform.lsp.actions import is_canonical
from loopxform.lsp.analysis import Analysis
from loopxform.lsp.facts import Finding, FunctionFacts, moved
from loopxform.lsp.pieces import Dependences, pieces
from loopxform.lsp.texts import Text
from loopxform.source import Loc

ROOT = Path(__file__).parents[2]

FILE = """\
#include <math.h>
#define SCALE factor
typedef double real;
static double factor, *rows[4];
static const real table[] = { 1, 2 };

static real twice(real x) { return 2 * x; } /* { */

void uses(int n, real *a)
{
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    a[i] = SCALE * twice(a[i]);
}

void sets(void) { rows[0] = &factor; }
void alone(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 0; }
int main(void) { sets(); return 0; }
"""

DEPENDS = {
    "twice": {"twice", 3, 5},
    "uses": {"uses", "twice", "sets", 3, 4, 5},
    "sets": {"sets", 4},
    "alone": {"alone"},
    "main": {"main"},
}
"""The functions, and the lines of other declarations, that each function depends on."""


def test_what_functions_depend_on() -> None:
    found = pieces(FILE)
    assert [p.name for p in found.items] == ["", "", "", *DEPENDS]
    assert [d.line for d in found.directives] == [1, 2]
    d = Dependences(found)
    names = {n: p.name or p.line for n, p in enumerate(found.items)}
    assert {names[n]: {names[k] for k in d.of(n)} for n in names if found.items[n].name} == DEPENDS


FAR = {
    "errno": "void h(void) { errno = 0; uses(0, 0); }\n",
    "assembly": 'void h(void) { __asm__("nop"); }\n',
    "a macro": "#define LOST errno\nvoid h(void) { LOST = 0; }\n",
}


@pytest.mark.parametrize("case", FAR)
def test_words_that_mean_something_for_others(case: str) -> None:
    found = pieces(FILE + FAR[case])
    d = Dependences(found)
    (h,) = (n for n, p in enumerate(found.items) if p.name == "h")
    assert all(h in d.of(n) for n, p in enumerate(found.items) if p.name in ("uses", "alone"))


def test_a_file_whose_braces_do_not_match() -> None:
    found = pieces(
        FILE.replace("double *a) { for", "double *a)\n{ { for").replace("= 0; }", "= 0;\n}")
    )
    names = [p.name for p in found.items if p.name]
    assert names == [*DEPENDS]


HEADERS = {
    "int i = 0; i < n; i++": True,
    "i = n - 1; 0 <= i; --i": True,
    "size_t i = lo(a); i >= m[2]; i -= 2 * k": True,
    "unsigned long i = 0; i < n; i = i + 4": True,
    "i = 0; i <= d && i < n; i++": False,
    "i = 0, j = 1; i < n; i++": False,
    "i = 0; i < n; i++, j++": False,
    "; i < n; i++": False,
    "i = 0; i < n;": False,
    "i = 0; j < n; i++": False,
    "i = 1; i < n; i *= 2": False,
    "i = 0; i < (n ? n : m); i++": False,
}
"""Whether a compiler takes a pragma on a loop with such a header. (It would take the last one.)"""


def test_headers_that_openmp_takes() -> None:
    assert {h: is_canonical(h) for h in HEADERS} == HEADERS


UNITS = {"utf-8": 7, "utf-16": 5, "utf-32": 4}


@pytest.mark.parametrize("units", UNITS)
def test_places(units: str) -> None:
    """A form feed ends no line, a carriage return does; columns count in units."""
    text = Text("a\fb\r\n/*\U0001f600*/ x\rc", units)
    assert [text.line(n) for n in range(4)] == ["a\fb", "/*\U0001f600*/ x", "c", ""]
    at = text.text.index("*/")
    assert text.place(at) == (1, UNITS[units] - 1)
    assert text.offset(1, UNITS[units] - 1) == at
    assert text.offset(1, 99) == text.text.index("\rc")
    changed = text.replaced((1, UNITS[units] - 1), (2, 0), "*/\n")
    assert changed.text == "a\fb\r\n/*\U0001f600*/\nc"
    assert text.place_of(Loc("x.c", 2, 4)) == (1, UNITS[units] - 1)
    assert text.replaced((9, 0), (9, 0), "!").text.endswith("c!")


def test_texts_that_name_lines_move() -> None:
    said = "line 5 writes it, lines 6, 17 read it; line 5 of x.h does not"
    facts = FunctionFacts("f", (), (Finding(Loc("x.c", 5, 1), 1, "hint", "LX101", said),))
    (found,) = moved(facts, "x.c", lambda n: n + 10).findings
    assert found.message == "line 15 writes it, lines 16, 27 read it; line 5 of x.h does not"
    assert found.loc == Loc("x.c", 15, 1)


def _agree(path: Path, count: int, seed: int) -> int:
    """Compares the answers after edits; returns how many were compared."""
    text, analysis, compared = path.read_text(), Analysis(), 0
    for n, version in enumerate([text, *edits(text, count, random.Random(seed))]):
        found, wanted = incremental(analysis, str(path), version), whole(str(path), version)
        if wanted is not None:
            compared += 1
            assert found == wanted, f"{path}, version {n}"
    return compared


FEW = ("races/regions.c", "files/until_still.c", "programs/c89_filter.c")


def test_what_is_said_after_edits_is_what_check_says() -> None:
    assert sum(_agree(ROOT / "corpus" / name, 4, 7) for name in FEW) >= 8


@pytest.mark.slow
@pytest.mark.parametrize("part", range(3))
def test_what_is_said_after_edits_is_what_check_says_everywhere(part: int) -> None:
    folders = ("files", "races", "programs", "vectorisation", "domains")
    every = sorted(p for f in folders for p in (ROOT / "corpus" / f).rglob("*.c"))
    assert sum(_agree(p, 3, n) for n, p in enumerate(every[part::8])) >= 8


BODY = """\
  for (int i = 1; i < n; i++)
    k += i, a[k] = a[k - 1];
  for (int i = 0; i < n; i++)
    a[i] = LAST;
"""


def test_lines_of_headers_stay_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "body.h").write_text(BODY)
    path, analysis = str(tmp_path / "body.c"), Analysis()
    head = '#define LAST a[9]\nstatic void f(int n, int k, int *a)\n{\n#include "body.h"\n}\n'
    more = "void g(int n, int *a)\n{\n  for (int i = 0; i < n; i++)\n    a[i] = 0;\n}\n"
    for text in (head + more, "\n\n" + head + more, head + "\n" + more, "\n" + head + more * 1):
        found = incremental(analysis, path, text)
        assert found == whole(path, text)
        assert len(found[0]) == 3
