"""Elements of arrays that decide how often loops run, and numbers of the file, as variables of what
stands for the loops."""

from __future__ import annotations

import pytest
from test_outline import made, part, read

from loopxform.frontend.outline import Item
from loopxform.ir.nodes import Function

LOOP = "for (int i = 0; i < {}; i++) {}"
HEAD = (
    "static int size[3], other[9]; static double real[9]; typedef struct { double re; int n; } z;"
)


def call(parameters: str, bound: str, body: str, head: str = HEAD) -> str:
    """What is passed to the function that stands for a loop."""
    text = f"{head}\nvoid f({parameters}) {{ {LOOP.format(bound, body)} }}"
    return made(text, 0)[1]


@pytest.mark.parametrize(
    ("parameters", "bound", "body"),
    [
        ("double *x", "size[0]", "x[i] = size[0];"),
        ("double *x", "size[0] - 1", "for (int j = 0; j < size[0]; j++) x[j] = i;"),
        ("int *x", "size[0]", "other[i] = x[i];"),
        ("z *x", "size[0]", "x[i].re = i;"),
        ("int n", "size[0]", "real[i] = sqrt(n);"),
    ],
)
def test_elements_that_nothing_changes(parameters: str, bound: str, body: str) -> None:
    names = call(parameters, bound, body, "double sqrt(double);" + HEAD).split(", ")
    assert "size[0]" in names
    assert "size" not in names


def test_elements_behind_pointers() -> None:
    """They are there where the loop is sure to read them, or one behind them."""
    assert call("int *n, double *x", "*n", "x[i] = 0;") == "n[0], x"
    nest = "for (int j = 0; j < d[1]; j++) x[i + j] = 0;"
    assert call("int d[3], double *x", "d[2]", nest) in ("d[1], d[2], x", "d[2], d[1], x")
    assert "d[2]" not in call("int d[3], double *x", "d[1]", nest.replace("d[1]", "d[2]"))
    assert "d[0]" not in call("int *d, int n, double *x", "n", nest.replace("d[1]", "d[0]"))
    assert "d[0]" not in call("int *d, int n, double *x", "(n && n < d[0])", "x[i] = 0;")


COPIED = "int e; for (int i = 1; i <= n; i++) { e = *m; for (int j = 0; j < e; j++) x[i + j] = 0; }"
NUMBERS = "int n, int *m, double *x"


def passed(parameters: str, loop: str) -> list[str]:
    """The arguments that stand for a loop and its declarations, in order."""
    text = f"void f({parameters}) {{ {loop} }}"
    original = read(text)
    items: tuple[Item, ...] = original.definitions["f"].body.items
    region = original.region("f_1", original.definitions["f"], items[-1:])
    return sorted(original.outlined(region).arguments)


def test_a_parameter_that_is_but_a_number() -> None:
    """It is read where it is one, and the loop has an iteration."""
    assert passed(NUMBERS, COPIED) == ["(1 <= n) && m ? m[0] : 0", "n", "x"]
    ended = COPIED.replace("i <= n", "i < *n").replace("int i = 1", "long i = 0")
    asked = ["(0 < n[0]) && m ? m[0] : 0", "n[0]", "x"]
    assert passed("int *n, int *m, double *x", ended) == asked


@pytest.mark.parametrize(
    ("parameters", "loop"),
    [
        (NUMBERS, COPIED.replace("int e;", "int e = m[1];")),
        (NUMBERS, COPIED.replace("int e;", "int e; m++;")),
        (NUMBERS.replace("double *x", "int *x"), COPIED),
        (NUMBERS, COPIED.replace("int i = 1", "int i = n - 3")),
        (NUMBERS, COPIED.replace("int i = 1", "unsigned i = 1")),
        (NUMBERS, COPIED.replace("int i = 1", "short i = 1")),
        (NUMBERS, COPIED.replace("i <= n", "i <= (int)x[0]")),
        (NUMBERS, COPIED.replace("i <= n", "i <= n && i < 9")),
        (NUMBERS, COPIED.replace("i <= n; i++", "n > i; i++")),
    ],
)
def test_parameters_that_may_be_no_number(parameters: str, loop: str) -> None:
    assert not any("m[0]" in x for x in passed(parameters, loop))


@pytest.mark.parametrize(
    ("front", "first"),
    [
        ("x -= 1 + n;", "&x[1]"),
        ("x += 1;", "x"),
        ("", "x"),
    ],
)
def test_columns_that_are_counted_from_1(front: str, first: str) -> None:
    loop = "for (int i = 1; i <= n; i++) for (int j = 1; j <= n; j++) x[i + j * n] = 0;"
    assert passed("int n, double *x", f"{front} {loop}") == sorted(["n", first])


def test_static_variables_that_each_call_sets() -> None:
    """Nobody reads what is left in them; another call may read what it does not set."""
    loop = "for (i = 0; i < n; i++) { t = i; x[i] = t; }"
    head = "static int i; static double t;"
    assert passed("int n, double *x", f"{head} {loop}") == ["n", "x"]
    kept = f"static int i; static double t; x[n] = t; {loop}"
    assert passed("int n, double *x", kept) == ["&t", "n", "x"]


@pytest.mark.parametrize(
    ("parameters", "bound", "body"),
    [
        ("int *x", "size[0]", "x[i] = 0;"),
        ("int *n, int *x", "*n", "x[i] = 0;"),
        ("int n", "size[0]", "size[n] = 0;"),
        ("char *x", "size[0]", "x[i] = 0;"),
        ("z *x", "size[0]", "x[i].n = 0;"),
        ("int n", "size[n]", "real[i] = 0;"),
        ("int n", "n", "real[i] = size[0];"),
        ("double *x", "size[0]", "g(x);"),
        ("double *x", "x[0]", "other[i] = 0;"),
    ],
)
def test_elements_that_may_change(parameters: str, bound: str, body: str) -> None:
    text = f"void g(double *);\n{HEAD}\nvoid f({parameters}) {{ {LOOP.format(bound, body)} }}"
    original = read(text)
    items: tuple[Item, ...] = original.definitions["f"].body.items
    region = original.region("f_1", original.definitions["f"], items)
    assert not any("[" in x for x in original.outlined(region).arguments)


def test_strict_aliasing_decides() -> None:
    head = f'{HEAD}\n#pragma GCC optimize("no-strict-aliasing")'
    assert "size[0]" not in call("double *x", "size[0]", "x[i] = 0;", head)


def test_a_number_of_the_file_comes_back() -> None:
    text = """static double t; double *p;
      void f(int n, double *x) { for (int i = 0; i < n; i++) { t = i; x[i] = t; } }
      double g(void) { return t; }"""
    assert made(text, 0)[1] == "n, x, &t"


def test_a_number_of_the_file_that_is_scratch() -> None:
    text = """static double t;
      void f(int n, double *x) { for (int i = 0; i < n; i++) { t = i; x[i] = t; } }
      double g(double *x) { t = x[0]; return t * t; }"""
    assert made(text, 0)[1] == "n, x"
    again = text.replace("x[i] = t; }", "x[i] = t; } x[0] = t;")
    assert made(again, 0)[1] == "n, x, &t"


@pytest.mark.parametrize(
    "text",
    [
        "double t; void f(int n, double *x) { LOOP }",
        "static double t; double *p = &t; void f(int n, double *x) { LOOP }",
        "static volatile double t; void f(int n, double *x) { LOOP }",
        "static double t; double h(void) { return t; }\n"
        "void f(int n, double *x) { for (int i = 0; i < n; i++) { t = i; x[i] = h(); } }",
    ],
)
def test_a_number_of_the_file_that_others_may_reach(text: str) -> None:
    loop = "for (int i = 0; i < n; i++) { t = i; x[i] = t; }"
    fn, arguments = part(text.replace("LOOP", loop), 0)
    assert not isinstance(fn, Function) or "t" not in {p.name for p in fn.params}
    assert "&t" not in arguments


def test_scratch_is_set_before_it_is_read_everywhere() -> None:
    text = """static double t; void g(double *x) { STATEMENTS }
      void f(int n, double *x) { for (int i = 0; i < n; i++) { t = i; x[i] = t; } }"""
    for statements, is_scratch in {
        "t = x[1]; x[0] = t;": True,
        "x[0] = t;": False,
        "if (x[0] > 0) t = 1; x[0] = t;": False,
        "for (int k = 0; k < 3; k++) { t = k; x[k] = t; }": True,
        "for (int k = 0; k < 3; k++) { x[k] = t; t = k; }": False,
        "t = 1; f(3, x); x[0] = t;": False,
        "t += 1;": False,
    }.items():
        whole = "void f(int n, double *x);\n" + text.replace("STATEMENTS", statements)
        assert (made(whole, 0)[1] == "n, x") == is_scratch, statements
