"""OpenMP pragmas: their words and clauses, their places, and the statements they govern."""

from __future__ import annotations

import pytest

from loopxform.frontend import parse_file
from loopxform.frontend.pragmas.openmp import directive, parts_of
from loopxform.ir.directives import Directive
from loopxform.ir.nodes import Assign, For
from loopxform.ir.visit import at


def read(c: str) -> tuple[tuple[Directive, ...], object]:
    parsed = parse_file("t.c", text=c)
    return parsed.directives["f"], parsed.unit.functions[0]


def one(c: str) -> Directive:
    found, _ = read(c)
    (d,) = found
    return d


@pytest.mark.parametrize(
    ("text", "words", "clauses"),
    [
        ("omp parallel for", ("parallel", "for"), []),
        ("omp for ordered(2) nowait", ("for",), [("ordered", "2"), ("nowait", None)]),
        ("omp critical (lock)", ("critical",), [("critical", "lock")]),
        ("omp ordered", ("ordered",), []),
        ("omp atomic update", ("atomic",), [("update", None)]),
        (
            "omp target teams distribute parallel for simd map(tofrom: a[0:n]), safelen(8)",
            ("target", "teams", "distribute", "parallel", "for", "simd"),
            [("map", "tofrom: a[0:n]"), ("safelen", "8")],
        ),
        ("omp target update from(a)", ("target", "update"), [("from", "a")]),
        ("omp parallel if(f(a, b) > 2) for", ("parallel",), [("if", "f(a, b) > 2"), ("for", None)]),
        ("omp parallel private(a", ("parallel",), [("private", "a")]),
    ],
)
def test_words_and_clauses(text: str, words: tuple[str, ...], clauses: list[object]) -> None:
    found = directive(text)
    assert found is not None
    assert found[0] == words
    assert [(c.name, c.argument) for c in found[1]] == clauses


def test_other_pragmas_are_not_openmp() -> None:
    assert directive("GCC ivdep") is None
    assert directive("ompx parallel") is None


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("reduction(+: a, h[0:n])", ("+", ["a", "h"], None)),
        ("reduction(inscan, max: m)", ("max", ["m"], None)),
        ("linear(j)", ("", ["j"], 1)),
        ("linear(val(j, k): 3)", ("", ["j", "k"], 3)),
        ("lastprivate(conditional: x)", ("conditional", ["x"], None)),
        ("schedule(monotonic: static, 0x10)", ("static", [], 16)),
        ("collapse(2)", ("", [], 2)),
        ("if(parallel: 0)", ("", [], 0)),
        ("safelen(n)", ("", [], None)),
    ],
)
def test_arguments(clause: str, expected: tuple[str, list[str], int | None]) -> None:
    found = directive(f"omp for {clause}")
    assert found is not None
    number = {"2": 2, "3": 3, "0": 0, "0x10": 16}.get
    assert parts_of(found[1][0], number) == expected


def test_a_continued_pragma_with_macros_keeps_its_line() -> None:
    d = one(
        "#define DEPTH 2\n#define BOTH collapse(DEPTH)\nvoid f(int n, double a[n][n]) {\n"
        "  #pragma omp parallel for \\\n     BOTH private(n)\n"
        "  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = 0;\n}\n"
    )
    assert d.text == "parallel for collapse(2) private(n)"
    assert d.loc is not None
    assert (d.loc.line, d.loc.column) == (4, 3)
    assert [c.number for c in d.clauses] == [2, None]


def test_the_operator_form() -> None:
    d = one(
        "#define PAR(x) _Pragma(#x)\nvoid f(int n, double *a) {\n"
        '  _Pragma("omp simd safelen(4)")\n  for (int i = 0; i < n; i++) a[i] = 0;\n}\n'
    )
    assert (d.words, d.clauses[0].number, d.loc and d.loc.line) == (("simd",), 4, 3)


NESTED = """
void f(int n, double *a, double *b) {
  double s = 0;
  #pragma omp parallel
  {
    #pragma omp for nowait
    for (int i = 0; i < n; i++) a[i] = i;
    #pragma omp barrier
    #pragma omp critical (lock)
    { s += a[0]; b[0] = s; }
  }
  #pragma omp barrier
}
"""


def test_what_directives_govern() -> None:
    found, fn = read(NESTED)
    region, loop, barrier, critical, last = found
    kinds = [[type(at(fn, p)) for p in d.paths] for d in found]  # type: ignore[arg-type]
    assert kinds == [[For, Assign, Assign], [For], [], [Assign, Assign], []]
    assert region.paths[0] == loop.paths[0] == barrier.after
    assert critical.paths == region.paths[1:]
    assert last.after == critical.paths[-1]


def test_a_pragma_names_the_variables_of_its_scope() -> None:
    d = one(
        "void f(int n, double *a) { double t = 0; { double t;\n"
        "#pragma omp parallel for private(t)\n"
        "for (int i = 0; i < n; i++) { t = i; a[i] = t; } } a[0] = t; }"
    )
    assert d.variables("private") == {"t_2"}
    assert "t" in d.later
    assert "t_2" not in d.later


def test_a_value_used_in_the_next_round_of_a_loop_around_is_used_later() -> None:
    d = one(
        "void f(int n, double *a) { double t = 0, u = 0; for (int k = 0; k < n; k++) { a[k] = t;\n"
        "#pragma omp parallel for private(t, u)\n"
        "for (int i = 0; i < n; i++) { t = i; u = t; a[i] = u; } } }"
    )
    assert {"t", "u"} & d.later == {"t"}


def test_threadprivate_of_the_file_comes_first() -> None:
    found, _ = read(
        "double t;\n#pragma omp threadprivate(t)\nvoid f(int n, double *a) {\n#pragma omp simd\n"
        "for (int i = 0; i < n; i++) a[i] = t; }"
    )
    assert [(d.words, d.variables("threadprivate")) for d in found] == [
        (("threadprivate",), {"t"}),
        (("simd",), frozenset()),
    ]
