"""How much of an array a function touches."""

from __future__ import annotations

import pytest
from nests import fn, loop, mm, s, skew, when
from tilings import Tiles, tile

from loopxform.analysis.extent import Extent, NoExtent, explain, extent
from loopxform.frontend import parse_file
from loopxform.ir.nodes import Function
from loopxform.ir.printer import expr_text


def text(f: Function, array: str) -> tuple[list[str], str | None, bool]:
    found = extent(f, array)
    assert isinstance(found, Extent), explain(f, array)
    when = None if found.when is None else expr_text(found.when)
    return [expr_text(u) for u in found.upper], when, found.corner


def why(f: Function, array: str) -> str:
    found = explain(f, array)
    assert isinstance(found, NoExtent)
    assert found.obstacle.code == "LX150"
    assert extent(f, array) is None
    return found.obstacle.message.partition(": ")[2]


def test_matrix_product() -> None:
    assert text(mm(), "A") == (["M", "U"], "M >= 1 && N >= 1 && U >= 1", True)
    assert text(mm(), "B") == (["U", "N"], "M >= 1 && N >= 1 && U >= 1", True)
    assert text(mm(), "C") == (["M", "N"], "M >= 1 && N >= 1", True)


def test_the_corner_of_a_box_that_ends_at_the_least_of_two() -> None:
    """A window that is cut at the end: taps[0] to taps[min(2, n)]."""
    inside = when("i + k <= n - 1", when("j + l <= n - 1", s("x[i, j] = taps[k, l]")))
    for var, end in (("l", 3), ("k", 3), ("j", "n"), ("i", "n")):
        inside = loop(var, 0, end, inside)
    f = fn("n, x[n][n], taps[][9]", inside)
    assert text(f, "taps") == (["min(3, n)", "min(3, n)"], "n >= 1", True)


def test_the_corner_of_a_box_may_be_untouched() -> None:
    assert text(skew(), "a") == (["M", "N"], "M >= 2 && N >= 2", False)


def test_the_last_element_where_the_corner_is_untouched() -> None:
    found = extent(skew(), "a")
    assert found is not None
    assert found.last is not None
    assert list(map(expr_text, found.last)) == ["M - 1", "N - 2"]


def test_an_element_that_is_read_says_that_rows_have_one() -> None:
    """Rows of a declared shape alone."""
    body = loop("i", 0, "n", s("t[i] = x[i, 0]"), loop("j", 0, "m", s("t[i] += x[i, j]")))
    assert text(fn("n, m, x[n][m], t[n]", body), "x") == (["n", "m"], "m >= 1 && n >= 1", True)
    assert text(fn("n, m, x[][9], t[n]", body), "x")[0] == ["n", "max(1, m)"]


def test_stencils_and_constants() -> None:
    f = fn("n, p[]", loop("i", 1, "n - 1", s("p[i] = p[i-1] + p[i+1]")))
    assert text(f, "p") == (["n"], "n >= 3", True)
    g = fn("n, p[]", loop("i", 0, "n", s("p[i] = p[i+1]")))
    assert text(g, "p") == (["n + 1"], "n >= 1", True)
    assert text(fn("p[]", s("p[4] = 1")), "p") == (["5"], None, True)
    h = fn("n, p[]", s("p[0] = 1"), loop("i", 0, "n", s("p[i] = 1")))
    assert text(h, "p") == (["max(1, n)"], None, True)


def test_two_sizes() -> None:
    f = fn("n, m, p[]", loop("i", 0, "n", s("p[i] = 0")), loop("i", 0, "m", s("p[i] = 0")))
    upper, when, _ = text(f, "p")
    assert (upper, set(when.split(" || ") if when else ())) == (["max(m, n)"], {"n >= 1", "m >= 1"})


def test_scalars_that_the_function_sets_say_nothing() -> None:
    """The host computes sizes from what the caller gave."""
    decides = "a condition on data, or a bound that is not affine, decides"
    set_first = s("m = n * n"), loop("i", 0, "m", s("p[i] = 0"))
    assert why(fn("n, m, p[]", *set_first), "p") == decides
    known = s("m = n - 1"), loop("i", 0, "m", s("p[i] = 0"))
    assert text(fn("n, m, p[]", *known), "p")[0] == ["n - 1"]


def test_backwards_strided_triangular() -> None:
    back = fn("n, p[]", loop("i", "n - 1", -1, s("p[i] = 0"), step=-1))
    assert text(back, "p") == (["n"], "n >= 1", True)
    even = fn("n, p[]", loop("i", 0, "n", s("p[i] = 0"), step=2))
    assert text(even, "p") == (["2 * ((n + 1) / 2) - 1"], "n >= 1", True)
    triangle = fn("n, A[][n]", loop("i", 0, "n", loop("j", "i", "n", s("A[i, j] = 0"))))
    assert text(triangle, "A") == (["n", "n"], "n >= 1", True)
    lower = fn("n, A[][n]", loop("i", 0, "n", loop("j", 0, "i", s("A[i, j] = 0"))))
    assert text(lower, "A") == (["n", "n - 1"], "n >= 2", True)


def test_guards_count() -> None:
    f = fn("n, m, p[]", loop("i", 0, "n", when("i < m", s("p[i] = 0"))))
    assert text(f, "p") == (["min(m, n)"], "m >= 1 && n >= 1", True)
    both = loop("i", 0, "n", when("i < m", s("p[i] = 0"))), loop("i", 0, "k", s("p[i] = 0"))
    assert why(fn("n, m, k, p[]", *both), "p") == "its greatest index has no simple formula"
    g = fn("n, p[]", loop("i", 0, "n", when("i < 8", s("p[i] = 0"))), assumes=("n >= 10",))
    assert text(g, "p")[0] == ["8"]


@pytest.mark.parametrize(
    ("subscript", "reason"),
    [
        ("i - 1", "a subscript may be negative"),
        ("k[i]", "a subscript or its iterations are not affine"),
        ("i*i", "a subscript or its iterations are not affine"),
        ("m", "a subscript may be negative"),
    ],
)
def test_refusals(subscript: str, reason: str) -> None:
    assert why(fn("n, m, p[], k[]:int", loop("i", 0, "n", s(f"p[{subscript}] = 0"))), "p") == reason


def test_nothing_is_in_front_of_a_row() -> None:
    """The scalars are such that subscripts of rows are inside, where that can be."""
    rows = fn("n, k, l, A[n][n]", loop("i", 0, "n", loop("j", "k", "l", s("A[i, j - 1] = 0"))))
    assert isinstance(extent(rows, "A"), Extent)
    for lo, hi in ((0, "n"), (0, 1)):
        mistaken = loop("i", 0, "n", loop("j", lo, hi, s("A[i, j - 1] = 0")))
        assert why(fn("n, A[n][n]", mistaken), "A") == "a subscript may be negative"
    first = fn("n, k, l, A[n][n]", loop("i", "k", "l", loop("j", 0, "n", s("A[i - 1, j] = 0"))))
    assert why(first, "A") == "a subscript may be negative"


def test_scalars_are_such_that_subscripts_are_inside() -> None:
    """Where a dimension is declared and they alone decide."""
    row = fn("n, k, A[n][n]", loop("j", 0, "n", s("A[k, j] = 0")))
    assert text(row, "A") == (["k + 1", "n"], "k >= 0 && n >= k + 1", True)
    relaxed = loop("i", 0, "n", loop("j", 0, "n", s("B[i, j] = A[i, k] + A[k, j] + A[i, j]")))
    assert text(fn("n, k, A[n][n], B[n][n]", relaxed), "A")[0] == ["n", "n"]
    for subscript in ("i - 1", "k - i", "i - k"):
        wrong = fn("n, k, A[n]", loop("i", 0, "n", s(f"A[{subscript}] = 0")))
        assert why(wrong, "A") == "a subscript may be negative"


def test_never_touched() -> None:
    assert why(fn("n, p[]"), "p") == "it is never touched"


GUARDED = {
    "covered by the condition": ("if (a[i] > m) m = a[i];", "n"),
    "covered elsewhere": ("if (m > 0) m = a[i]; else m += 2*a[i]; b[i] = a[i];", "n"),
    "a smaller part": ("if (m > 0 && i > 2) m = a[i]; b[i] = a[i];", "n"),
    "only under data": ("if (b[i] > 0) m = a[i];", None),
    "more than elsewhere": ("if (b[i] > 0) m = a[i + 1]; b[i] = a[i];", None),
    "behind &&": ("if (b[i] > 0 && a[i] > 0) m = 1;", None),
    "behind ||": ("if (b[i] > 0 || a[i] > 0) m = 1;", None),
    "in an arm of ?:": ("m = b[i] > 0 ? a[i] : m;", None),
    "in an affine && and elsewhere": ("if (i < 3 && a[i] > 0) m = 1; b[i] = a[i];", "n"),
}


@pytest.mark.parametrize(("statement", "upper"), GUARDED.values(), ids=GUARDED)
def test_what_may_be_touched_counts_where_it_is_touched_anyway(
    statement: str, upper: str | None
) -> None:
    loop = f"for (int i = 0; i < n; i++) {{ {statement} }}"
    text = f"void f(int n, float m, float *a, float *b) {{ {loop} }}"
    (fn,) = parse_file("t.c", text=text).unit.functions
    found = extent(fn, "a")
    assert (found and expr_text(found.upper[0])) == upper


@pytest.mark.parametrize("flag", ["m > 1", "m * m", "m > 1 && n > 2"])
@pytest.mark.parametrize("statement", ["if (flag) b[i] = a[i];", "b[i] = flag ? a[i] : 2;"])
def test_what_a_flag_guards_may_not_be_touched(flag: str, statement: str) -> None:
    """The flag has one value, which only a run tells: not every value that it could have."""
    body = f"int flag = {flag}; for (int i = 0; i < n; i++) {{ {statement} }}"
    text = f"void f(int n, int m, float *a, float *b) {{ {body} }}"
    (fn,) = parse_file("t.c", text=text).unit.functions
    assert why(fn, "a") == "a condition on data, or a bound that is not affine, decides"


DECLARED = {
    "under data": ("if (b[i] > 0) m = a[i][2];", ["n", "3"]),
    "less than declared": ("if (b[i] > 0 && i < 3) m = a[i][2];", ["min(3, n)", "3"]),
    "indirect": ("m = a[p[i]][i % 2];", ["n", "min(2, n)"]),
}


@pytest.mark.parametrize(("statement", "upper"), DECLARED.values(), ids=DECLARED)
def test_a_declared_shape_says_what_exists(statement: str, upper: list[str]) -> None:
    loop = f"for (int i = 0; i < n; i++) {{ {statement} }}"
    text = f"void f(int n, float m, float a[n][7], float *b, int *p) {{ {loop} }}"
    (fn,) = parse_file("t.c", text=text).unit.functions
    found = extent(fn, "a")
    assert found is not None
    assert [expr_text(u) for u in found.upper] == upper


def test_tiles_end_where_the_least_of_their_limits_is() -> None:
    """The rows of A from N on are not touched where M > N."""
    (f,) = parse_file(
        "t.c",
        text="void f(int M, int U, int N, const float A[M][U],"
        " const float B[N][U], float C[restrict M][N])"
        "{ for (int i = 0; i < M; i++) for (int j = i; j < N; j++)"
        " for (int k = 0; k < U; k++) C[i][j] += A[i][k] * B[j][k]; }",
    ).unit.functions
    tiled = tile(f, Tiles(Ty=4, Tx=4, Tk=4, Ry=2, Rx=2), "register").function
    assert text(f, "A")[0] == ["min(M, N)", "U"]
    assert text(tiled, "A")[0] == ["min(M, N)", "U"]
