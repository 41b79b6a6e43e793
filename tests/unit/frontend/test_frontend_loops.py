"""Loop headers: what is accepted and how it reads, what is refused and why."""

from __future__ import annotations

import numpy as np
import pytest
from differential import assert_same, needs_compiler
from lowering import assumes, body, first, opaques, text

from loopxform.ir.nodes import For
from loopxform.ir.printer import expr_text, header_text
from loopxform.ir.visit import walk

ACCEPTED = [
    ("int i = 0; i < n; i++", "for (i = 0; i < n; i++)"),
    ("int i = 0; i <= n; ++i", "for (i = 0; i < n + 1; i++)"),
    ("int i = 0; i <= n - 1; i += 1", "for (i = 0; i < n; i++)"),
    ("int i = 0; n > i; i = i + 2", "for (i = 0; i < n; i += 2)"),
    ("int i = 0; n >= i; i = 3 + i", "for (i = 0; i < n + 1; i += 3)"),
    ("int i = 0; i != n; i++", "for (i = 0; i < n; i++)"),
    ("int i = n; i != 0; i--", "for (i = n; i > 0; i--)"),
    ("int i = n - 1; i >= 0; i--", "for (i = n - 1; i > -1; i--)"),
    ("int i = n; i > 0; i -= 4", "for (i = n; i > 0; i -= 4)"),
    ("int i = n; 0 < i; i = i - 1", "for (i = n; i > 0; i--)"),
    ("int i = 0; i + 1 < n; i++", "for (i = 0; i < n - 1; i++)"),
    ("int i = 0; i - 1 <= n; i++", "for (i = 0; i < n + 2; i++)"),
    ("int i = 0; i < n * n; i += sizeof(int)", "for (i = 0; i < n*n; i += 4)"),
    ("long i = 0; i < (long)n; i++", "for (i = 0; i < (long)n; i++)"),
    ("unsigned char i = 0; i < 100; i++", "for (i = 0; i < 100; i++)"),
    ("int i = 0; i < n && i < 4; i++", "for (i = 0; i < min(n, 4); i++)"),
    ("int i = 0; i <= n && 9 > i; i++", "for (i = 0; i < min(n + 1, 9); i++)"),
    ("int i = 0; i < n && i + 1 < n*n; i++", "for (i = 0; i < min(n, n*n - 1); i++)"),
    ("int i = n; i > 0 && i >= n - 4; i--", "for (i = n; i > max(0, n - 5); i--)"),
    # next to n, which may be INT_MAX, there may be no number
    ("int i = 0; i <= (n < 40 ? n : 40); i++", "for (i = 0; i < min(n, 40) + 1; i++)"),
    (
        "int i = 0; i <= (n - 1 < 8*n - 2 ? n - 1 : 8*n - 2); i++",
        "for (i = 0; i < min(n, 8*n - 1); i++)",
    ),
    ("int i = 0; i < (n > 4 ? n : 4); i++", "for (i = 0; i < (n > 4 ? n : 4); i++)"),
]


@pytest.mark.parametrize(("header", "expected"), ACCEPTED)
def test_accepted(header: str, expected: str) -> None:
    fn = body(f"for ({header}) a[0] += 1;")
    loop = first(fn, For)
    assert isinstance(loop, For)
    assert header_text(loop) == expected
    assert not opaques(fn)
    assert not fn.assumes


NEXT_TO_THE_LAST = [
    ("int i = 0; i <= n; i++", "i < n + 1", []),
    ("int i = 0; i <= n && i <= m; i++", "i < min(n + 1, m + 1)", ["n < most", "m < most"]),
    ("int i = 0; i < n && i <= m; i++", "i < min(n, m + 1)", ["m < most"]),
    ("int i = 0; i < n && i <= x; i++", "i < (x < n ? x + 1 : n)", []),
    ("int i = 0; i <= x && i <= n - 1; i++", "i < (x < n ? x + 1 : n)", []),
    ("int i = 9; i > n && i >= m; i--", "i > max(n, m - 1)", ["m > least"]),
    ("int i = 9; i > n && i >= x; i--", "i > (x > n ? x - 1 : n)", []),
    ("int i = 0; i + 1 < n; i++", "i < n - 1", ["n > least"]),
    ("int i = 0; i + 1 < x; i++", "i < (long long)x - 1", []),
    ("int i = 0; i < n && i <= s; i++", "i < min(n, s + 1)", []),
    ("unsigned i = 0; i < u && i <= v; i++", "i < min(u, v + 1)", ["asks"]),
    ("long i = 0; i <= w && i < n; i++", "i < min(w + 1, n)", ["w < most of long"]),
]
"""Headers, how they read, and what the numbers next to their bounds need to exist."""


@pytest.mark.parametrize(("header", "reads", "needs"), NEXT_TO_THE_LAST)
def test_the_number_next_to_a_bound(header: str, reads: str, needs: list[str]) -> None:
    params = "int n, int m, short s, unsigned u, unsigned v, long w, const int *k, int *a"
    fn = body(f"int x = k[0]; for ({header}) a[0] += 1;", params)
    loop = first(fn, For)
    assert isinstance(loop, For)
    assert f"; {reads};" in header_text(loop)
    most = {"n <= 2147483646": "n < most", "m <= 2147483646": "m < most"}
    most |= {"n >= -2147483647": "n > least", "m >= -2147483647": "m > least"}
    most |= {"w <= 9223372036854775806": "w < most of long"}
    found = [most[expr_text(e)] for e in fn.representable]
    assert found + ["asks"] * (assumes(fn) == ["v <= 4294967294"]) == needs


LEFT_EARLY = [
    ("int i = 0; i <= n; i++", "i < n + 1", ["n <= 2147483646"]),
    ("int i = 0; i <= x; i++", None, []),
    ("int i = 0; i < x; i++", "i < x", []),
    ("int i = 9; i >= n; i--", "i > n - 1", ["n >= -2147483647"]),
    ("int i = 0; i != n; i++", "i < n", []),
    ("int i = 0; i != x; i++", None, []),
]


@pytest.mark.parametrize(("header", "reads", "needs"), LEFT_EARLY)
def test_a_loop_that_is_left_early(header: str, reads: str | None, needs: list[str]) -> None:
    text = f"int x = k[0]; for ({header}) {{ if (a[i] > 3) break; a[i] = 1; }}"
    fn = body(text, "int n, const int *k, int *a")
    loops = [s for _, s in walk(fn.body) if isinstance(s, For)]
    if reads is None:
        assert not loops, "a while loop asks what C asks"
        return
    assert f"; {reads};" in header_text(loops[0])
    assert [expr_text(e) for e in fn.representable] == needs
    assert assumes(fn) == (["n >= 0"] if "!=" in header else [])


SECOND = [
    ("i = 0; i < n && i < row[n - 1]; i++", ["0 < n"]),
    ("i = 0; i < n && i < 8 / n; i++", ["0 < n"]),
    ("i = m; i < n && i < row[n - 1]; i++", ["m < n"]),
    ("i = 9; i >= n && i >= row[0]; i--", ["9 >= n"]),
    ("i = 0; i < 8 && i < row[0]; i++", []),
    ("i = 0; i < 0 && i < row[0]; i++", None),
    ("i = 0; i < x && i < row[0]; i++", None),
]


@pytest.mark.parametrize(("header", "asked"), SECOND)
def test_a_second_bound_that_may_not_be_computed(header: str, asked: list[str] | None) -> None:
    """It is read where the loop begins before the first one: the arguments are asked."""
    text = f"int x = k[0]; for (int {header}) a[0] += 1;"
    fn = body(text, "int n, int m, const int *k, int *row, float *a")
    if asked is None:
        assert "does not compare 'i' with a bound" in opaques(fn)[0].reason
    else:
        assert not opaques(fn)
        assert assumes(fn) == asked


@needs_compiler
def test_the_nearest_of_several_bounds() -> None:
    source = """
    void up(int n, int m, int *a) { for (int i = 0; i <= n && m > i && i + 2 < 9; i++) a[i] += i; }
    void down(int n, int m, int *a) { for (long i = 9; i >= n && i > m; i -= 2) a[i] += 7; }
    """
    numbers = [(n, m) for n in range(11) for m in (0, 4, 12)]
    assert_same(source, *({"n": n, "m": m, "a": np.zeros(12)} for n, m in numbers))


def test_conditions_on_sums_and_multiples_of_the_variable() -> None:
    source = """
    void sum(int n, int e, int *a) { for (int i = 0; e + i < n; i++) a[i] += 1; }
    void down(int n, int e, int *a) { for (int i = 15; i - e >= n + 3; i--) a[i] += 2; }
    void times(int n, int e, int *a) { for (int i = 0; i * 4 < n + e; i++) a[i] += 3; }
    void least(int n, int e, int *a) { for (int i = 15; n <= 3 * i; i--) a[i] += e; }
    void from(int n, int e, int *a) { for (int i = 0; e - i > n - 9; i++) a[i] += 4; }
    void back(int n, int e, int *a) { for (int i = 9; e + 9 - i <= n; i--) a[i & 15] += 5; }
    void left(int n, int e, int *a) { for (int i = 0; i < 12; i++) { if (n - i < e) break;
      a[i] = e; } }
    """
    numbers = [(n, e) for n in range(1, 11) for e in (-3, 0, 2)]
    assert_same(source, *({"n": n, "e": e, "a": np.zeros(16)} for n, e in numbers))
    least = -(1 << 31)
    none = """
    void none(int n, int e, int *a) { for (int i = 3; i + e < n; i++) a[i] = 1; }
    void some(int n, int e, int *a) { for (int i = 3; e - i > n && i < 9; i++) a[i] = 1; }
    """
    ends = ((least, 9), (least + 4, 2), (0, 5), (-7, 0))
    assert_same(none, *({"n": n, "e": e, "a": np.zeros(16)} for n, e in ends))


def test_the_nearest_of_unsigned_bounds() -> None:
    source = """
    void f(unsigned n, unsigned m, int *a) { for (unsigned i = 0; i < n && m > i; i++) a[i] += 1; }
    void g(unsigned n, unsigned m, int *a) {
      for (unsigned i = 0; i < (n < m ? n : m); i++) a[i] += 2;
      for (unsigned i = m > 9 ? 9 : m; i > (n > 3 ? n : 3); i--) a[i] += 3; }
    void h(unsigned n, unsigned m, int *a) { for (unsigned k = 0; k < n; k += 4)
      for (unsigned i = k; i < (k + 4 < n ? k + 4 : n); i++) a[i & 15] += m; }
    """
    numbers = [(n, m) for n in (0, 3, 12) for m in (0, 5, 4_000_000_000)]
    assert_same(source, *({"n": n, "m": m, "a": np.zeros(16)} for n, m in numbers))


REFUSED = [
    ("int i = 0; i * i < n; i++", "LX013", "does not compare 'i' with a bound"),
    ("int i = 0; i < n; i += n", "LX013", "the step is not a constant"),
    ("int i = 0; i < n; i *= 2", "LX013", "not advanced by a constant"),
    ("int i = 0; i < n; i += 0", "LX013", "the step is 0"),
    ("int i = 0; i < n; i--", "LX013", "counts away from its bound"),
    ("int i = 0; i != n; i += 2", "LX013", "must step by 1"),
    ("int i = 0; i == n; i++", "LX013", "does not compare"),
    ("int i = 0; ; i++", "LX013", "no condition"),
    ("float *p = a; p < b; p++", "LX013", "how far apart two pointers are is not known"),
    ("; n < 3;", "LX013", "no start value"),
    ("int i = 0; i < n && a[i] < 4; i++", "LX013", "does not compare"),
    ("int i = 0; i < n || i < 4; i++", "LX013", "does not compare"),
    ("int i = 0; i < n && i > 4; i++", "LX013", "counts away from its bound"),
    ("int i = 0; i < n && i < 4u; i++", "LX013", "does not compare"),
    ("unsigned i = 0; i < 4 && i < 8; i++", "LX013", "does not compare"),
    ("int i = 0; i < i + n; i++", "LX013", "does not compare"),
    ("int i = 0; i < n--; i++", "LX017", "-- inside an expression"),
    ("int i = 0; i < g(n); i++", "LX012", "calling 'g'"),
    ("float i = 0; i < n; i++", "LX013", "of type float counts a loop"),
    ("char i = -200; i < n; i++", "LX013", "may wrap around"),
    ("unsigned char i = 0; i < 300; i++", "LX013", "may wrap around"),
    ("unsigned char i = 0; i <= 255; i++", "LX013", "may wrap around"),
    ("unsigned char i = 0; i < 255; i += 2", "LX013", "may wrap around"),
    ("signed char i = 0; i >= -128; i--", "LX013", "may wrap around"),
    ("int i = 0; i < a[0]; i++", "LX013", "the bound is not an integer"),
    ("volatile int i = 0; i < n; i++", "LX016", "volatile"),
    ("int i = 0; i < (char)n; i++", None, None),
]


@pytest.mark.parametrize(("header", "code", "reason"), REFUSED)
def test_refused(header: str, code: str | None, reason: str | None) -> None:
    fn = body(f"for ({header}) {{ for (int k = 0; k < n; k++) b[k] = 1; }}")
    if code is None:
        assert assumes(fn) == ["n <= 127", "n >= 0"]
        return
    found = opaques(fn)[0]
    assert found.code == code
    assert reason is not None
    assert reason in found.reason
    assert found.loop
    assert any(isinstance(s, For) for s in found.body), "the loop inside can still be judged"


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        ("for (int i = 0; i < n; i++) i += n;", "'i' is modified in the body"),
        ("for (int i = 0; i < n; i++) { a[i] = 0; if (a[i] > 1) i++; }", "'i' is modified"),
        ("int i; for (i = 0; i < n; i++) for (i = 0; i < n; i++) a[i] = 0;", "'i' is modified"),
        ("for (int i = 0; i < n; i++) n = n - 1;", "reads 'n', which the body modifies"),
        ("int m = n; for (int i = 0; i < m; i++) g(&m);", "address of 'm' is taken in the loop"),
        (
            "int m = n; g(&m); for (int i = 0; i < m; i++) g(0);",
            "a call in the body may modify 'm'",
        ),
        ("int i; int *p = &i; for (i = 0; i < n; i++) *p = 0;", "writing to 'p' may modify 'i'"),
    ],
)
def test_modified(statements: str, reason: str) -> None:
    assert any(reason in o.reason and o.loop for o in opaques(body(statements)))


def test_bound_in_an_array_the_body_writes() -> None:
    fn = body("for (int i = 0; i < x[0]; i++) x[i] = 1;", "int *x")
    assert "reads 'x', which the body modifies" in opaques(fn)[0].reason
    fn = body("for (int i = x[0]; i < x[1]; i++) y[i] = 1;", "int *x, float *y")
    assert not opaques(fn)


UNSIGNED = [
    ("size_t i = 0; i < n; i++", "size_t n", [], None),
    ("size_t i = 0; i < n - 1; i++", "size_t n", ["n >= 1"], None),
    ("size_t i = 0; i <= n - 1; i++", "size_t n", ["n >= 1"], None),
    ("size_t i = 0; i < n - 1 - m; i++", "size_t n, size_t m", [], None),
    ("size_t i = 0; i <= n - 1 - m; i++", "size_t n, size_t m", [], "unsigned difference may wrap"),
    ("size_t i = 0; i <= *b - 1; i++", "size_t *b", [], "unsigned difference may wrap"),
    ("size_t i = 0; i + 1 < n; i++", "size_t n", ["n >= 1"], None),
    ("size_t i = n - 1; i > 0; i--", "size_t n", ["n >= 1"], None),
    ("int i = n - 1; i >= 0; i--", "unsigned n", ["n >= 1", "n - 1 <= 2147483647"], None),
    ("unsigned i = m - k > 0 ? m - k : 0; i < n; i++", "unsigned n, int m, int k", [], None),
    ("size_t i = n; i > 0; i--", "size_t n", [], None),
    ("size_t i = n; i >= 0; i--", "size_t n", [], "may wrap around below zero"),
    ("size_t i = n; i > 0; i -= 2", "size_t n", [], "may wrap around below zero"),
    ("size_t i = n; i > 1; i -= 2", "size_t n", [], None),
    ("size_t i = n; i >= 1; i--", "size_t n", [], None),
    ("size_t i = n; i >= 2; i -= 3", "size_t n", [], "may wrap around below zero"),
    ("size_t i = n; i >= m; i--", "size_t n, size_t m", ["m >= 1"], None),
    ("size_t i = n; i > m; i--", "size_t n, size_t m", [], None),
    ("size_t i = n; i > m; i -= 3", "size_t n, size_t m", ["m >= 2"], None),
    ("size_t i = n; i >= *b; i--", "size_t n, size_t *b", [], "may wrap around below zero"),
    ("size_t i = 0; i < n; i++", "int n", ["n >= 0"], None),
    ("int i = 0; i < n; i++", "size_t n", [], None),
    ("int i = -1; i < n; i++", "size_t n", [], "signed start is converted"),
    ("unsigned i = m; i < n; i++", "unsigned n, int m", ["m >= 0"], None),
    ("int i = n; i > 0; i--", "size_t n", ["n <= 2147483647"], None),
    ("unsigned i = 1; i != n; i++", "unsigned n", [], "may pass its bound"),
    ("unsigned i = 0; i != n; i++", "unsigned n", [], None),
    ("short i = 0; i != n; i++", "int n", ["0 <= n", "n <= 32767"], None),
    ("signed char i = 5; i != n; i++", "int n", ["5 <= n", "n <= 127"], None),
    ("long i = 0; i < n; i++", "unsigned n", [], None),
    ("int i = 0; i < n; i++", "unsigned char n", [], None),
]


@pytest.mark.parametrize(("header", "params", "conditions", "reason"), UNSIGNED)
def test_unsigned(header: str, params: str, conditions: list[str], reason: str | None) -> None:
    params = params.replace("size_t", "unsigned long")
    header = header.replace("size_t", "unsigned long")
    fn = body(f"for ({header}) a[0] += 1;", f"{params}, float *a")
    assert assumes(fn) == conditions
    assert [reason in o.reason for o in opaques(fn) if reason] == ([True] if reason else [])
    assert bool(opaques(fn)) == bool(reason)


@needs_compiler
def test_unsigned_differences_mean_the_same() -> None:
    source = """
    void up(unsigned n, int *a) { for (unsigned i = 0; i < n - 1; i++) a[i] += i; }
    void last(unsigned n, int *a) { for (unsigned i = 0; i <= n - 1; i++) a[i] += i; }
    void down(unsigned n, int *a) { for (unsigned i = n - 1; i > 0; i--) a[i] += i; }
    void by_two(unsigned n, int *a) { for (unsigned i = n; i >= 2; i -= 2) a[i] += i; }
    void to_n(unsigned n, int *a) { for (unsigned i = 11; i >= n; i--) a[i] += i; }
    void to_zero(unsigned n, int *a) { for (int i = n - 1; i >= 0; i--) a[i] += i; }
    void read(unsigned n, int *a) {
      n = n + a[11] - 1;
      for (unsigned i = 0; i < n - 1; i++) a[i] = 1;
    }
    """
    assert_same(source, *({"n": n, "a": np.zeros(12)} for n in (2, 3, 11)))


NARROW = [
    ("unsigned char i = 0; i < n; i++", "int n", ["n <= 255"]),
    ("unsigned char i = 0; i <= n; i++", "unsigned char n", ["n <= 254"]),
    ("unsigned char i = 0; i < n; i++", "unsigned char n", []),
    ("unsigned char i = 0; i + 2 < n; i += 3", "int n", ["n <= 255"]),
    ("signed char i = n; i >= m; i -= 4", "int n, int m", ["n <= 127", "n >= -128", "m >= -124"]),
    ("short i = 0; i < n - 1; i++", "int n", ["n - 1 <= 32767"]),
    ("unsigned short i = 5; i < n; i++", "unsigned n", ["n <= 65535"]),
]


@pytest.mark.parametrize(("header", "params", "conditions"), NARROW)
def test_narrow_counters_ask_that_they_reach_the_bound(
    header: str, params: str, conditions: list[str]
) -> None:
    fn = body(f"for ({header}) a[0] += 1;", f"{params}, float *a")
    assert assumes(fn) == conditions
    assert not opaques(fn)


def test_narrow_counters_whose_bound_the_arguments_do_not_tell() -> None:
    fn = body("for (unsigned char i = 0; i < x[0]; i++) a[i] = 1;", "int *x, float *a")
    assert "'i' of type unsigned char may wrap around" in opaques(fn)[0].reason


@needs_compiler
def test_narrow_counters_mean_the_same() -> None:
    source = """
    int up(int n, int *a) { unsigned char i; for (i = 0; i < n; i++) a[i] += i; return i; }
    int last(int n, int *a) { unsigned char i; for (i = 3; i <= n - 1; i++) a[i] += i; return i; }
    int threes(int n, int *a)
    { unsigned char i; for (i = 0; i + 2 < n; i += 3) a[i] += i; return i; }
    int down(int n, int *a)
    { signed char i; for (i = n; i > -90; i -= 3) a[i + 128] += i; return i; }
    """
    assert_same(source, *({"n": n, "a": np.zeros(300)} for n in (-3, 0, 1, 7, 120, 127)))


def test_a_loop_around_that_counts_from_zero_makes_a_start_non_negative() -> None:
    loops = "for (int i = 0; i < m; i++) for (unsigned j = i; j < n; j++) a[j] = 0;"
    assert not opaques(body(loops, "unsigned n, int m, float *a"))
    loops = loops.replace("i = 0", "i = -1")
    assert opaques(body(loops, "unsigned n, int m, float *a"))


def test_globals_as_bounds() -> None:
    from lowering import parsed

    def reasons(rest: str) -> list[str]:
        fn = parsed(f"int n; int h(void); {rest}").unit.functions[0]
        return [o.reason for o in opaques(fn) if o.loop]

    assert not reasons("void f(float *a) { for (int i = 0; i < n; i++) a[i] = 0; }")
    assert not reasons("void f(int *a) { for (int i = 0; i < n; i++) a[i] = 0; }")
    (why,) = reasons("void f(void) { int *a = &n; for (int i = 0; i < n; i++) a[0] = 0; }")
    assert why == "writing to 'a' may modify 'n', whose address is taken"
    (why,) = reasons("void f(float *a) { for (int i = 0; i < n; i++) h(); }")
    assert why == "a call in the body may modify the global 'n'"


LIVE = [
    ("int i; for (i = 0; i < n; i++) a[i] = 0; b[0] = i;", [True]),
    ("int i; for (i = 0; i < n; i++) a[i] = 0;", [False]),
    ("int i; for (i = 0; i < n; i++) a[i] = i; for (i = 0; i < n; i++) b[i] = i;", [False, False]),
    ("int i; for (i = 0; i < n; i++) a[i] = 0; for (i = i; i < n; i++) b[i] = 0;", [True, False]),
    ("int i = 0, t; for (t = 0; t < n; t++) { b[t] = i; for (i = 0; i < n; i++) a[i] = 0; }",
     [False, True]),
    ("int i, t; for (t = 0; t < n; t++) { for (i = 0; i < n; i++) a[i] = i; }", [False, False]),
    ("int i; for (i = 0; i < n; i++) a[i] = 0; i = 3; b[0] = i;", [False]),
    ("int i; for (i = 0; i < n; i++) a[i] = 0; if (n) i = 3; b[0] = i;", [True]),
    ("int i; for (i = 0; i < n; i++) a[i] = 0; i = n > i; b[0] = i;", [True]),
    ("int i; for (i = 0; i < n; i++) a[i] = 0; i += 3; b[0] = i;", [True]),
    ("int i, t; for (t = 0; t < n; t++) { for (i = 0; i < n; i++) a[i] = i; i = t; b[t] = i; }",
     [False, False]),
    ("int i = 0, t; for (t = 0; t < n; t++) { b[t] = i; i = 0; "
     "for (i = 0; i < n; i++) a[i] = 0; }", [False, True]),
    ("for (int i = 0; i < n; i++) a[i] = i;", [False]),
    ("int i; again: for (i = 0; i < n; i++) a[i] = i; if (n) goto again;", [False]),
]  # fmt: skip


@pytest.mark.parametrize(("statements", "expected"), LIVE)
def test_live_out(statements: str, expected: list[bool]) -> None:
    from loopxform.ir.visit import loops, walk

    fn = body(statements)
    found = [s.loop.live_out for s in loops(fn)]
    found = found or [s.live_out for _, s in walk(fn.body) if isinstance(s, For)]
    assert found == expected


def test_nested_loops_with_one_name() -> None:
    got = text("for (int i = 0; i < n; i++) for (int i = 0; i < 3; i++) a[i] = 0;")
    assert got == "for (i = 0; i < n; i++) for (i_2 = 0; i_2 < 3; i_2++) a[i_2] = 0;"


def test_sibling_loops_keep_their_name() -> None:
    got = text("for (int i = 0; i < n; i++) a[i] = 0; for (int i = 0; i < n; i++) b[i] = 0;")
    assert got == "for (i = 0; i < n; i++) a[i] = 0; for (i = 0; i < n; i++) b[i] = 0;"


def test_a_loop_that_shadows_a_variable_is_renamed() -> None:
    got = text("float i = 3; for (int i = 0; i < n; i++) a[i] = 0; b[0] = i;")
    assert got == "i = 3; for (i_2 = 0; i_2 < n; i_2++) a[i_2] = 0; b[0] = i;"
    got = text("for (int n = 0; n < 4; n++) a[n] = 0;")
    assert got == "for (n_2 = 0; n_2 < 4; n_2++) a[n_2] = 0;"
