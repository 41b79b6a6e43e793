"""Flat arrays that become matrices, and those that must not."""

from __future__ import annotations

import pytest
from lowering import assumes, lower, parsed, shape

from loopxform.ir.printer import listing


def nest(statement: str, params: str, i: str = "int i = 0; i < m", j: str = "int j = 0; j < n"):  # type: ignore[no-untyped-def]
    return parsed(f"void f({params}) {{ for ({i}; i++) for ({j}; j++) {statement} }}")


P = "int m, int n, int ld, float *a, float *b, int *idx"

RECOVERED = [
    ("a[i*n + j] = 1;", ["n"], "a[i, j]", []),
    ("a[j + n*i] = 1;", ["n"], "a[i, j]", []),
    ("*(a + i*n + j) = 1;", ["n"], "a[i, j]", []),
    ("(&a[i*n])[j] = 1;", ["n"], "a[i, j]", []),
    ("a[i*ld + j] = 1;", ["ld"], "a[i, j]", ["n <= ld"]),
    ("a[j*ld + i] = 1;", ["ld"], "a[j, i]", ["m <= ld"]),
    ("a[(i + 2)*n + j] = 1;", ["n"], "a[i+2, j]", []),
    ("a[i*n + (n - 1 - j)] = 1;", ["n"], "a[i, n-j-1]", []),
    ("a[(m - 1 - i)*n + j] = 1;", ["n"], "a[m-i-1, j]", []),
    ("a[i*(n + 2) + j + 1] = 1;", ["n + 2"], "a[i, j+1]", []),
    ("a[(i*n + j)*3 + 2] = 1;", ["n", "3"], "a[i, j, 2]", []),
    ("a[(i*m + j)*n + i] = 1;", ["m", "n"], "a[i, j, i]", ["m <= n", "n <= m"]),
    ("a[(long)i*n + j] = 1;", ["n"], "a[i, j]", []),
    ("a[idx[i]*n + j] = 1;", ["n"], "a[idx[i], j]", []),
    ("{ a[i*n + j] = 1; a[j*n + j] = 2; }", ["n"], "a[j, j]", []),
    ("{ a[i*n + j] = 1; a[j*n + n - 1 - j] = 2; }", ["n"], "a[j, n-j-1]", []),
    ("a[i*n] = 1;", ["n"], "a[i, 0]", []),
    ("a[i*2*n + 3] = 1;", ["2*n"], "a[i, 3]", ["2 <= n"]),
    ("if (j > 0) a[i*n + j - 1] = 1;", ["n"], "a[i, j-1]", []),
    ("if (!(j < n - 1)) ; else a[i*n + j + 1] = 1;", ["n"], "a[i, j+1]", []),
    ("if (j >= n - 1) ; else a[i*n + j + 1] = 1;", ["n"], "a[i, j+1]", []),
]


@pytest.mark.parametrize(("statement", "inner", "access", "conditions"), RECOVERED)
def test_recovered(
    statement: str, inner: list[str] | None, access: str | None, conditions: list[str]
) -> None:
    (fn,) = nest(statement, P).unit.functions
    if inner is None or access is None:
        assert shape(fn, "a") == [None]
        return
    assert shape(fn, "a") == [None, *inner]
    assert access in listing(fn)
    assert assumes(fn) == conditions
    assert next(p for p in fn.params if p.name == "a").flat


def test_rows_that_are_no_multiple_of_their_parts() -> None:
    """Heads of hs numbers in rows of c: the rows are dimensions, where all heads fit in one."""
    head = "for (int h = 0; h < k; h++) for (int i = 0; i < hs; i++)"
    body = f"{head} a[b*t*c + s*c + h*hs + i] = 1;"
    (fn,) = parsed(
        "void f(int n, int t, int c, int k, int hs, float *a)"
        f"{{ for (int b = 0; b < n; b++) for (int s = 0; s < t; s++) {body} }}"
    ).unit.functions
    assert shape(fn, "a") == [None, "t", "c"]
    assert "a[b, s, h*hs+i]" in listing(fn)
    assert assumes(fn) == ["hs*k <= c"]


ALTERNATING = [
    ("(i + c) % 2", True),
    ("(i + c & 1)", True),
    ("(i + c + 5) % 3", True),
    ("(i - c) % 2", False),  # -1, where i < c
    ("(i + m) % 2", False),
]


@pytest.mark.parametrize(("start", "recovered"), ALTERNATING)
def test_columns_that_begin_at_a_remainder(start: str, recovered: bool) -> None:
    loops = "for (int c = 0; c < 2; c++) for (int i = 0; i < n; i++)"
    loops += f" for (int j = 1 + {start}; j < n; j += 2)"
    fn = lower(f"void f(int n, int m, float *a) {{ {loops} a[i * n + j - 1] = 1; }}")
    assert (shape(fn, "a") == [None, "n"]) == recovered


UNDER = [
    ("if (j + k >= 1 && j + k <= n) a[i*n + j + k - 1] = 1;", "a[i, j+k-1]", []),
    ("if (!(j + k < 1 || j + k - 1 >= n)) a[i*n + j + k - 1] = 1;", "a[i, j+k-1]", []),
    ("int c = j + k - 1; if (c >= 0 && c < n) a[i*n + c] = 1;", "a[i, j+k-1]", []),
    ("int c = j + k - 1; if (c < 0 || n <= c) continue; a[i*n + c] = 1;", "a[i, j+k-1]", []),
    ("int r = i + k - 1; if (r >= 0) a[r*n + j] = 1;", "a[k+i-1, j]", []),
    ("b[j] = j + k >= 1 && j + k <= n ? a[i*n + j + k - 1] : 0;", "a[i, j+k-1]", []),
    ("b[j] = j + k < 1 ? 0 : j + k > n ? 0 : a[i*n + j + k - 1];", "a[i, j+k-1]", []),
    ("b[j] = j + k >= 1 && j + k <= n && a[i*n + j + k - 1] > 0;", "a[i, j+k-1]", []),
    ("b[j] = j + k < 1 || j + k > n || a[i*n + j + k - 1] > 0;", "a[i, j+k-1]", []),
    ("int c = j + k; if (c >= n) c = n - 1; b[j] = a[i*n + c];", "a[i, min(n - 1, j + k)]", []),
    ("int c = j - k; if (c < 0) c = 0; b[j] = a[i*n + c];", "a[i, max(0, j - k)]", []),
    ("int r = i - k; if (r < 0) r = 0; b[j] = a[r*n + j];", "a[max(0, i - k), j]", []),
    ("if (k == 0 && j == 0) ; else if (k == 0) a[i*n + j - 1] = 1;", "a[i, j-1]", []),
    ("if (k == 0 && j == n - 1) ; else if (k == 0) a[i*n + j + 1] = 1;", "a[i, j+1]", []),
    (
        "if (j == 0 && k == 0) ; else if (j == 0) b[i] = k; else if (k == 0) a[i*n + j - 1] = 1;",
        "a[i, j-1]",
        [],
    ),
    ("if (k == 0 && j == 0) ; else if (k == 1) a[i*n + j - 1] = 1;", None, []),
    ("if (k == 0 && j == 0) ; else a[i*n + j - 1] = 1;", None, []),
    ("if (k == 0 && j == 0) ; if (k == 0) a[i*n + j - 1] = 1;", None, []),
    ("if (j + k >= 1) a[i*n + j + k - 1] = 1;", None, []),
    ("if (j + k <= n) a[i*n + j + k - 1] = 1;", None, []),
    ("if (j + k >= 1 || j + k <= n) a[i*n + j + k - 1] = 1;", None, []),
    ("if (!(j + k >= 1 && j + k <= n)) a[i*n + j + k - 1] = 1;", None, []),
    ("b[j] = j + k >= 1 && j + k <= n ? 0 : a[i*n + j + k - 1];", None, []),
    ("b[j] = (j + k >= 1 && j + k <= n) || a[i*n + j + k - 1] > 0;", None, []),
    ("int c = j + k; if (c >= n) c = n; b[j] = a[i*n + c];", None, []),
    ("int c = j - k; if (c < 0) c = k - j - 2; b[j] = a[i*n + c];", None, []),
    ("int c = j + k - 1; if (c >= 0 && c < n) { c--; a[i*n + c] = 1; }", None, []),
]


@pytest.mark.parametrize(("statement", "access", "conditions"), UNDER)
def test_what_conditions_say(statement: str, access: str | None, conditions: list[str]) -> None:
    (fn,) = nest(f"for (int k = 0; k < 3; k++) {{ {statement} }}", P).unit.functions
    assert shape(fn, "a") == [None, *(["n"] if access else [])], listing(fn)
    assert (access or "a[") in listing(fn)
    assert assumes(fn) == conditions


QUOTIENTS_ASKED = [
    ("if (j - j / 2 < n)", False),
    ("if (j + j / 2 >= 0 && j < n)", True),
    ("if (j - (j >> 1) < n)", False),
    ("if (j - j % 3 < n)", False),
    ("if (2 * j - j < n)", True),
]


@pytest.mark.parametrize(("condition", "recovered"), QUOTIENTS_ASKED)
def test_a_condition_on_a_variable_and_a_part_of_it_bounds_neither(
    condition: str, recovered: bool
) -> None:
    (fn,) = nest(f"{condition} a[i*n + j] = 1;", P, j="int j = 0; j < 2*n").unit.functions
    assert (shape(fn, "a") == [None, "n"]) == recovered


UNROLLED = [
    ("n - n % 4", [None, "n"]),
    ("n / 4 * 4", [None, "n"]),
    ("(n >> 2) * 4", [None, "n"]),
    ("(n >> 2) << 2", [None, "n"]),
    ("n - n % 8", [None, "n"]),
    ("n - n % 2", None),
    ("n & ~1", None),
    ("n & 3", None),
    ("n / 4 * 4 + 4", None),
    ("m / 4 * 4", None),
]


@pytest.mark.parametrize(("end", "recovered"), UNROLLED)
def test_columns_of_loops_that_leave_a_remainder(end: str, recovered: list[str] | None) -> None:
    """Four elements from every fourth one on, whose last is in front of the end of the row."""
    every = " ".join(f"a[i*n + j + {k}] = 1;" for k in range(4))
    loops = f"for (int i = 0; i < m; i++) for (int j = 0; j < end; j += 4) {{ {every} }}"
    fn = lower(f"void f(int m, int n, float *a) {{ int end = {end}; {loops} }}")
    unasked = not assumes(fn) and shape(fn, "a") == [None, "n"]
    assert unasked == (recovered is not None)


COLUMNS = [
    ("a[i*n] = a[i*n + n - 1];", ["a[i, 0]", "a[i, n-1]"], []),
    ("{ b[i] = a[i*n + 1]; b[j] = a[i*n + n - 2]; }", ["a[i, 1]", "a[i, n-2]"], ["2 <= n"]),
    ("a[i*n + ld] = 1;", ["a[i, ld]"], ["ld + 1 <= n", "0 <= ld"]),
]


@pytest.mark.parametrize(("statement", "accesses", "conditions"), COLUMNS)
def test_single_columns(statement: str, accesses: list[str], conditions: list[str]) -> None:
    (fn,) = nest(statement, P).unit.functions
    assert shape(fn, "a") == [None, "n"]
    assert all(x in listing(fn).replace("n - 1", "n-1").replace("n - 2", "n-2") for x in accesses)
    assert sorted(assumes(fn)) == sorted(conditions)


def test_conditions_on_what_rows_are_made_of() -> None:
    """As im2col has them: h - k + 1 rows in steps, and pixels inside of h rows."""
    text = """void f(int n, int h, int w, int k, int s, int pad, float *a)
    {
      int oh = (h - k)/s + 1, ow = (w - k)/s + 1;
      for (int c = 0; c < n; c++) for (int y = 0; y < oh; y++) for (int x = 0; x < ow; x++) {
        int row = y*s - pad;
        if (row >= 0 && row < h) a[(c*oh + y)*ow + x] = 1; else a[(c*oh + y)*ow + x] = 0;
      }
    }"""
    (fn,) = parsed(text).unit.functions
    assert shape(fn, "a") == [None, "(h - k) / s + 1", "(w - k) / s + 1"]


HALVES = [
    ("j < n/2", "{ float t = a[i*n + j]; a[i*n + j] = a[i*n + n-1-j]; a[i*n + n-1-j] = t; }", True),
    ("j < n >> 1", "a[i*n + n - 1 - j] = 1;", True),
    ("j < n/3", "a[i*n + 2*j] = 1;", True),
    ("j < n/2", "a[i*n + 2*j] = 1;", True),
    ("j < n/2", "a[i*n + 3*j] = 1;", False),
    ("j <= n/2", "a[i*n + j] = 1;", False),
]


@pytest.mark.parametrize(("end", "statement", "known"), HALVES)
def test_parts_of_a_row(end: str, statement: str, known: bool) -> None:
    """Where a loop to n/2 runs at all, n is at least twice its variable."""
    (fn,) = nest(statement, P, j=f"int j = 0; {end}").unit.functions
    recovered = shape(fn, "a") == [None, "n"]
    assert (recovered and not assumes(fn)) == known


WINDOW = "int oc, int h, int w, int k, int yy, float *a"
WINDOWS = [
    ("oh", "a[(o*oh + y)*ow + x]", "a[o, y, x]", []),
    ("oh", "a[((oc - 1 - o)*oh + oh - 1 - y)*ow + x]", "a[oc-o-1, h-y-k, x]", []),
    ("yy", "a[(o*oh + y)*ow + x]", "a[o, y, x]", ["k + yy <= h + 1"]),
    ("h", "a[(o*oh + y)*ow + x]", None, []),
]


@pytest.mark.parametrize(("rows", "element", "access", "conditions"), WINDOWS)
def test_sizes_that_are_differences(
    rows: str, element: str, access: str | None, conditions: list[str]
) -> None:
    """Rows of h - k + 1 elements: no condition under which nothing runs makes them rows."""
    loops = f"for (int o = 0; o < oc; o++) for (int y = 0; y < {rows}; y++)"
    body = (
        f"int oh = h - k + 1, ow = w - k + 1; {loops} for (int x = 0; x < ow; x++) {element} = 1;"
    )
    (fn,) = parsed(f"void f({WINDOW}) {{ {body} }}").unit.functions
    assert assumes(fn) == conditions
    if access is None:
        assert shape(fn, "a") == [None]
    else:
        assert access in listing(fn)


KEPT = [
    ("a[i*(n - ld) + j] = 1;", "the column in [i*n-i*ld+j] is not shown"),
    ("a[i*n + j - 1] = 1;", "the column in [i*n+j-1] is not shown to be inside a row of n"),
    ("a[i*n + j + 1] = 1;", "the column in [i*n+j+1] is not shown to be inside a row of n"),
    ("a[i*n + j + ld] = 1;", "the column in [i*n+j+ld] is not shown"),
    ("{ a[i*n + j] = 1; a[i*m + j] = 2; }", "rows of different lengths are used"),
    ("a[i*j] = 1;", "two varying numbers are multiplied in the subscript"),
    ("a[i*(i + 1)/2 + j] = 1;", None),
    ("{ int k = 2*j; a[i*n + k] = 1; }", "rows of different lengths are used"),
    ("{ ld = i; a[i*ld + j] = 1; }", "two varying numbers are multiplied in the subscript"),
    ("idx[idx[i]*n + j] = 1;", "it is indexed by itself"),
]


@pytest.mark.parametrize(("statement", "reason"), KEPT)
def test_kept_flat(statement: str, reason: str | None) -> None:
    out = nest(statement, P)
    assert shape(out.unit.functions[0], "a") == [None]
    assert shape(out.unit.functions[0], "idx") == [None]
    assert [reason in str(n) for n in out.notes if reason] == ([True] if reason else [])
    assert not assumes(out.unit.functions[0])


def test_negative_start_is_not_a_column() -> None:
    out = nest("a[i*n + j] = 1;", P, j="int j = -1; j < n")
    assert shape(out.unit.functions[0], "a") == [None]
    out = nest("a[i*n + j] = 1;", P, j="int j = ld - i; j < n")
    assert shape(out.unit.functions[0], "a") == [None], "ld - i may be negative"
    out = nest("a[i*n + j] = 1;", P, j="int j = ld - m; j < n")
    assert shape(out.unit.functions[0], "a") == [None], "ld may be less than m"


def test_a_margin_is_asked_for() -> None:
    """Columns that begin at an argument are columns where that is not negative."""
    (fn,) = nest("a[i*n + j] = 1;", P, j="int j = ld; j < n - ld").unit.functions
    assert shape(fn, "a") == [None, "n"]
    assert assumes(fn) == ["0 <= ld"]
    (fn,) = nest("a[i*n + j] = 1;", P, j="int j = m; j < n").unit.functions
    assert shape(fn, "a") == [None, "n"], "no i is less than m <= 0"


def test_triangular_and_descending_loops() -> None:
    (fn,) = nest("a[i*n + j] = 1;", P, j="int j = i; j < n").unit.functions
    assert shape(fn, "a") == [None, "n"]
    fn = lower(
        """void f(int n, float *a) { for (int i = n - 1; i >= 0; i--)
             for (int j = n - 1; j > i; j--) a[i*n + j] = 1; }"""
    )
    assert shape(fn, "a") == [None, "n"]
    assert assumes(fn) == []


def test_all_accesses_must_agree() -> None:
    out = nest("a[i*n + j] = a[i*n + j + 1];", P)
    assert shape(out.unit.functions[0], "a") == [None]
    assert "a[i*n+j]" in listing(out.unit.functions[0])


def test_an_access_in_an_unmodelled_loop_counts_too() -> None:
    out = parsed(
        """void f(int n, float *a) { for (int i = 0; i < n; i++) a[i*n] = 1;
             int k = 0; while (k < n*n + 1) { a[k] = 2; k++; } }"""
    )
    assert shape(out.unit.functions[0], "a") == [None]


BY_NUMBER = [
    ("for (int t = 0; t < m*n; t++) a[t] = 0;", "a[t/n, t%n] = 0"),
    ("for (int t = 0; t < m*n; t++) a[t] = b[t] + a[t];", "a[t/n, t%n] = b[t] + a[t/n, t%n]"),
    ("memset(a, 0, m * n * sizeof(float));", "a[k/n, k%n] = 0"),
    # It does not begin or end with a row, elements are passed on, or data name them.
    ("for (int t = 1; t < m*n; t++) a[t] = 0;", None),
    ("for (int t = 0; t < m*n + 1; t++) a[t] = 0;", None),
    ("for (int t = 0; t < m*n; t++) a[t + 1] = 0;", None),
    ("float s = 0; for (int t = 0; t < m*n; t++) s += a[t]; *b = s;", None),
    ("for (int t = 0; t < m*n; t++) b[(int)a[t]] += 1;", None),
]


@pytest.mark.parametrize(("statements", "becomes"), BY_NUMBER)
def test_elements_by_number(statements: str, becomes: str | None) -> None:
    loops = "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) a[i*n + j] += 1;"
    fn = lower(f"#include <string.h>\nvoid f({P}) {{ {statements} {loops} }}")
    assert (shape(fn, "a") == [None, "n"]) is (becomes is not None)
    assert becomes is None or becomes in listing(fn)
    assert assumes(fn) == ([] if becomes is None else ["n >= 1"])


def test_batched_and_transposed() -> None:
    fn = lower(
        """void f(int B, int M, int U, const float *A, float *T) {
             for (int b = 0; b < B; b++) for (int i = 0; i < M; i++) for (int k = 0; k < U; k++)
               T[(b*U + k)*M + i] = A[(b*M + i)*U + k]; }"""
    )
    assert listing(fn).splitlines()[-1].strip() == "T[b, k, i] = A[b, i, k];"
    assert (shape(fn, "A"), shape(fn, "T")) == ([None, "M", "U"], [None, "U", "M"])


def test_constant_strides_need_a_proof() -> None:
    loops = "for (int i = 0; i < {m}; i++) for (int j = 0; j < {n}; j++)"
    proven = lower(f"void f(float *a) {{ {loops.format(m=9, n=8)} a[i*8 + j] = 1; }}")
    assert shape(proven, "a") == [None, "8"]
    wide = lower(f"void f(float *a) {{ {loops.format(m=9, n=9)} a[i*8 + j] = 1; }}")
    assert shape(wide, "a") == [None]
    open_end = lower(f"void f(int n, float *a) {{ {loops.format(m=9, n='n')} a[i*8 + j] = 1; }}")
    assert shape(open_end, "a") == [None]
    assert assumes(open_end) == []
    sized = lower(f"float a[64]; void f(void) {{ {loops.format(m=8, n=8)} a[i*8 + j] = 1; }}")
    assert shape(sized, "a") == ["8", "8"]


def test_stencil_with_a_constant_width() -> None:
    fn = lower(
        """void f(float *a, const float *b) { for (int i = 1; i < 63; i++)
             for (int j = 1; j < 63; j++)
               a[i*64 + j] = b[(i-1)*64 + j - 1] + b[(i+1)*64 + j + 1]; }"""
    )
    assert listing(fn).splitlines()[-1].strip() == "a[i, j] = b[i-1, j-1] + b[i+1, j+1];"


def test_vectors_stay_vectors() -> None:
    fn = lower("void f(int n, float *a) { for (int i = 0; i < n; i++) a[2*i] = a[2*i + 1]; }")
    assert shape(fn, "a") == [None]
    assert fn.params[1].flat


def test_a_local_that_only_names_a_product_of_arguments() -> None:
    fn = lower(
        """void f(int w, int h, unsigned char *p) { const int pitch = 3*w;
             for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) for (int c = 0; c < 3; c++)
               p[y*pitch + x*3 + c] = 0; }"""
    )
    assert shape(fn, "p") == [None, "w", "3"]


def test_a_shape_that_no_arguments_could_have_is_refused() -> None:
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    done = parsed(f"void f(int n, float *a) {{ int m = n/2; {loops} a[i*m + j] = 1; }}")
    assert shape(done.unit.functions[0], "a") == [None]
    assert assumes(done.unit.functions[0]) == []
    (note,) = done.notes
    assert "not shown to be inside a row of n/2" in note.message


def test_a_difference_of_unsigned_numbers_is_not_a_column_by_its_type() -> None:
    loops = "for (size_t i = 0; i < n; i++) for (size_t j = 0; j < n; j++)"
    statement = "{ a[i*n + (n - 1 - j)] = 1; a[i*n - j] = 2; }"
    fn = lower(f"#include <stddef.h>\nvoid f(size_t n, float *a) {{ {loops} {statement} }}")
    assert shape(fn, "a") == [None]


def test_an_unsigned_remainder_of_a_difference_is_refused() -> None:
    from lowering import opaques

    fn = lower("void f(unsigned i, float *a) { a[(i - 1) % 8] = 0; }")
    assert opaques(fn)[0].code == "LX019"
    assert not opaques(lower("void f(unsigned i, float *a) { a[(i + 1) % 8] = 0; a[i - 1] = 0; }"))


def test_casts_that_change_a_subscript_are_refused() -> None:
    from lowering import opaques

    assert opaques(lower("void f(long i, float *a) { a[(int)i] = 0; }"))[0].code == "LX019"
    assert not opaques(lower("void f(float x, float *a) { a[(int)x] = 0; }"))
