"""Every form of a reduction, and what only looks like one."""

from __future__ import annotations

import pytest
from nests import decl, fn, loop, opaque, s, when

from loopxform import loads
from loopxform.analysis.reductions import reductions
from loopxform.analysis.verdict import judge
from loopxform.frontend import parse_file
from loopxform.ir.nodes import Function, Stmt

PARAMS = "n, t:float, u:float, c, d, x[], y[], k[]:int, C[n][n]"


def nest(*body: Stmt) -> Function:
    return fn(PARAMS, loop("i", 0, "n", *body))


FORMS = [
    (s("t += x[i]"), "+"), (s("t -= x[i]"), "+"), (s("t *= x[i]"), "*"),
    (s("t = t + x[i]"), "+"), (s("t = x[i] + t"), "+"), (s("t = t - x[i]"), "+"),
    (s("t = t * x[i]"), "*"), (s("t = x[i] + t + y[i]"), "+"),
    (s("c &= k[i]"), "&"), (s("c |= k[i]"), "|"), (s("c ^= k[i]"), "^"),
    (s("c = c & k[i]"), "&"), (s("c = k[i] | c"), "|"), (s("c = c ^ k[i]"), "^"),
    (s("c = c and k[i] > 0"), "&&"), (s("c = k[i] > 0 or c"), "||"),
    (s("t = fmin(t, x[i])"), "min"), (s("t = fminf(x[i], t)"), "min"),
    (s("t = fmax(t, x[i])"), "max"), (s("t = fmaxf(x[i], t)"), "max"),
    (s("t = x[i] if x[i] < t else t"), "min"),
    (s("t = t if x[i] < t else x[i]"), "max"), (s("t = x[i] if t < x[i] else t"), "max"),
    (s("t = t if t < x[i] else x[i]"), "min"), (s("t = x[i] if x[i] >= t else t"), "max"),
    (s("t = t if t >= x[i] else x[i]"), "max"), (s("t = t if x[i] > t else x[i]"), "min"),
    (when("x[i] > t", s("t = x[i]")), "max"), (when("t > x[i]", s("t = x[i]")), "min"),
    (when("x[i] <= t", s("t = x[i]")), "min"), (when("y[i] > 0", s("t += x[i]")), "+"),
    (s("c += k[i]"), "+"), (s("C[0, c] += x[i]"), "+"),
]  # fmt: skip


@pytest.mark.parametrize(("stmt", "op"), FORMS, ids=lambda x: x if isinstance(x, str) else "")
def test_recognised(stmt: Stmt, op: str) -> None:
    (found,) = reductions(nest(stmt), (0,))
    assert found.op == op
    assert found.array in ("t", "c", "C")


REFUSED = {
    "e reads s": s("t = t + x[i] * t"),
    "the other way round": s("t = x[i] - t"),
    "division": s("t = x[i] / t"),
    "histogram of its own values": s("k[k[i]] += 1"),
    "rounded at each step": s("c += x[i]"),
    "guard reads s": when("t > 0", s("t += x[i]")),
    "wrong comparison": s("t = x[i] if x[i] < y[i] else t"),
    "an else": when("x[i] > t", s("t = x[i]"), orelse=(s("u = 0"),)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_not_recognised(case: str) -> None:
    assert [r for r in reductions(nest(REFUSED[case]), (0,)) if r.array != "u"] == []


def test_other_uses_disqualify() -> None:
    assert reductions(nest(s("t += x[i]"), s("y[i] = t")), (0,)) == ()
    assert reductions(nest(s("t += x[i]"), s("t = 0")), (0,)) == ()
    assert reductions(nest(s("t += x[i]"), s("t *= y[i]")), (0,)) == ()
    assert reductions(nest(s("t += x[i]"), opaque()), (0,)) == ()
    assert reductions(nest(s("c += 1"), loop("j", 0, "c", s("x[j] = 1"))), (0,)) == ()
    assert reductions(nest(s("t += u"), s("u = t")), (0,)) == ()


def test_several_at_once() -> None:
    found = reductions(
        nest(s("t += x[i]", "S0"), s("u = fmax(u, x[i])", "S1"), s("t += y[i]", "S2")), (0,)
    )
    assert [(r.var, r.op, r.labels) for r in found] == [
        ("t", "+", ("S0", "S2")),
        ("u", "max", ("S1",)),
    ]


def test_an_element_that_does_not_change_with_the_loop() -> None:
    f = fn(
        PARAMS,
        loop("i", 0, "n", loop("j", 0, "n", loop("k", 0, "n", s("C[i, j] += x[k]", "S0")))),
    )
    assert [(r.var, r.array) for r in reductions(f, (0, 0, 0))] == [("C[i, j]", "C")]
    assert [(r.var, r.fixed) for r in reductions(f, (0, 0))] == [("C", False)]
    outer = fn(PARAMS, loop("k", 0, "n", loop("j", 0, "n", s("C[0, j] += x[k]"))))
    assert [r.op for r in reductions(outer, (0,))] == ["+"]


def test_elements_chosen_by_the_iteration() -> None:
    (found,) = reductions(nest(s("x[k[i]] += 1")), (0,))
    assert (found.var, found.array, found.op, found.fixed) == ("x", "x", "+", False)
    assert reductions(nest(s("x[k[i]] += 1"), s("x[0] = 1")), (0,)) == ()
    assert reductions(nest(s("x[k[i]] += 1"), s("y[i] = x[i]")), (0,)) == ()
    assert reductions(nest(s("x[k[i]] += 1"), s("x[i] *= 2")), (0,)) == ()


LOCATED = {
    "first of the largest": ("x[i] > t", "t = x[i]", "c = i", "max", "argmax"),
    "last of the largest": ("x[i] >= t", "t = x[i]", "c = i", "max", "argmax"),
    "the other way round": ("t > x[i]", "t = x[i]", "c = i + d", "min", "argmin"),
}


@pytest.mark.parametrize("case", LOCATED)
def test_extremum_with_its_place(case: str) -> None:
    cond, value, place, op, arg = LOCATED[case]
    found = reductions(nest(when(cond, s(value), s(place))), (0,))
    assert [(r.var, r.op) for r in found] == [("t", op), ("c", arg)]
    swapped = reductions(nest(when(cond, s(place), s(value))), (0,))
    assert [(r.var, r.op) for r in swapped] == [("t", op), ("c", arg)]


def test_extremum_with_two_indices() -> None:
    body = when("C[i, j] > t", s("t = C[i, j]"), s("c = i"), s("d = j"))
    f = fn(PARAMS, loop("i", 0, "n", loop("j", 0, "n", body)))
    for path in ((0,), (0, 0)):
        found = [(r.var, r.op) for r in reductions(f, path)]
        assert found == [("t", "max"), ("c", "argmax"), ("d", "argmax")]


def test_what_only_looks_like_an_extremum_with_its_place() -> None:
    keep = when("x[i] > t", s("t = x[i]"), s("c = i"))
    assert reductions(nest(keep, s("y[i] = t")), (0,)) == ()
    assert reductions(nest(keep, s("y[i] = c")), (0,)) == ()
    assert reductions(nest(keep, s("c = d")), (0,)) == ()
    assert reductions(nest(keep, s("t = fmax(t, y[i])")), (0,)) == ()
    counted = when("x[i] > t", s("t = x[i]"), s("c = c + 1"))
    assert [(r.var, r.op) for r in reductions(nest(counted), (0,))] == [("c", "+")]
    chained = when("x[i] > t", s("u = t"), s("t = x[i]"))
    assert reductions(nest(chained), (0,)) == ()
    rounded = fn("n, c, t:float, k[]:int", loop("i", 0, "n",
        when("k[i] > t", s("t = k[i]"), s("c = i"))))  # fmt: skip
    assert reductions(rounded, (0,)) == ()


SHOWN = [
    "int y = 0; if (x[i] > m) { m = x[i]; y = 3; } b[i] = y;",
    "k = 0; if (x[i] > m) { m = x[i]; k = i; } b[i] = k;",
    "k = 0; if (x[i] > m) { m = x[i]; k = i; }",
    "if (x[i] > m) { m = x[i]; k = i; } if (x[i] < 0) k = -1;",
]


@pytest.mark.parametrize("body", SHOWN)
def test_which_iterations_find_a_new_extremum_depends_on_their_order(body: str) -> None:
    """With an extremum of each thread, more iterations find one: `k` and `b` show which."""
    text = f"""int f(int n, const int *restrict x, int *restrict b) {{
      int m = 0, k = 0;
      for (int i = 0; i < n; i++) {{ {body} }}
      return m + k; }}"""
    (f,) = parse_file("f.c", text=text).unit.functions
    assert [v.parallel for v in judge(f)] == ["unknown"]


def test_storage_of_the_iteration_is_no_reduction() -> None:
    assert reductions(nest(decl("v"), s("v += x[i]")), (0,)) == ()


def rows(body: str) -> list[str]:
    text = f"void f(int n, double x[2 * n + 2], double w[n][n], const int p[n]) {{ {body} }}"
    (f,) = parse_file("f.c", text=text).unit.functions
    return [v.parallel for v in judge(f)]


@pytest.mark.parametrize(
    ("inner", "verdict"),
    [
        ("for (int k = 0; k < i; k++) x[i] -= w[i][k] * x[k];", "reduction"),
        ("for (int k = i + 1; k < n; k++) x[i] = x[i] + x[k];", "reduction"),
        ("for (int k = 0; k < i; k++) if (x[k] > x[i]) x[i] = x[k];", "reduction"),
        ("for (int k = 0; k < i; k++) { x[i] += x[k]; w[i][k] = x[k]; }", "reduction"),
        ("for (int k = 0; k < i; k++) { x[i] += x[k]; w[i][k] = x[i]; }", "no"),
        ("for (int k = 0; k <= i; k++) x[i] -= w[i][k] * x[k];", "no"),
        ("for (int k = 0; k < n; k++) x[i] += x[k];", "no"),
        ("for (int k = 0; k < i; k++) x[i] += x[p[k]];", "no"),
        ("for (int k = 0; k < i; k++) { x[i] += x[k]; x[k] = 0; }", "no"),
        ("for (int k = 1; k < i; k++) { x[i] += x[k]; x[k] = x[k - 1]; }", "no"),
    ],
)
def test_other_elements_may_be_read(inner: str, verdict: str) -> None:
    outer, found = rows(f"for (int i = 0; i < n; i++) {inner}")
    assert outer in ("no", "unknown")
    assert found == verdict


START = "m is not NaN before the loop"

NUMBERS = [
    ("m = m > a[i] ? m : a[i];", ["no a[i] is NaN", START]),
    ("m = a[i] < m ? a[i] : m;", ["no a[i] is NaN", START]),
    ("if (a[i] > m) m = a[i];", ["no a[i] is NaN", START]),
    ("if (fabs(a[i]) > m) { m = fabs(a[i]); k = i; }", ["no fabs(a[i]) is NaN", START]),
    (
        "m = m > a[i] ? m : a[i]; m = m > b[i] ? m : b[i];",
        ["no a[i] is NaN", "no b[i] is NaN", START],
    ),
    ("m = fmax(m, a[i]);", []),
    ("k = k > p[i] ? k : p[i];", []),
    ("m += a[i];", []),
]


@pytest.mark.parametrize(("body", "assumes"), NUMBERS)
def test_an_extremum_by_comparison_is_one_of_numbers(body: str, assumes: list[str]) -> None:
    params = "int n, const double *restrict a, const double *restrict b, const int *restrict p"
    library = "double fmax(double, double); double fabs(double);"
    loop = f"for (int i = 0; i < n; i++) {{ {body} }}"
    routine = loads(
        f"{library} double f({params}) {{ double m = 0; int k = 0; {loop} return m + k; }}"
    )["f"]
    (found,) = routine.check()
    assert (found.parallel, list(found.assumes)) == ("reduction", assumes)


def test_an_openmp_extremum_is_proven_for_numbers() -> None:
    text = """
    double f(int n, const double *restrict a)
    {
      double m = 0;
    #pragma omp parallel for reduction(max:m)
      for (int i = 0; i < n; i++) m = m > a[i] ? m : a[i];
      return m;
    }
    """
    (claim,) = loads(text)["f"].audit()
    assert (claim.proven, claim.assumes) == (True, ("no a[i] is NaN", START))


COMPARED = [
    ("int m", "unsigned u[n]", "if (u[i] > m) m = u[i];", None),
    ("int m", "unsigned u[n]", "if (m > u[i]) m = u[i];", None),
    ("long m", "unsigned long u[n]", "m = u[i] < m ? m : u[i];", None),
    ("int m", "int u[n]", "if (7u > m) m = 7u;", None),
    ("unsigned m", "int u[n]", "if (u[i] > m) m = u[i];", True),
    ("long m", "unsigned u[n]", "if (u[i] > m) m = u[i];", True),
    ("int m", "unsigned short u[n]", "if (u[i] > m) m = u[i];", True),
]


@pytest.mark.parametrize(("accumulator", "array", "update", "proven"), COMPARED)
def test_extrema_compared_without_sign_do_not_begin_at_the_smallest_signed_number(
    accumulator: str, array: str, update: str, proven: bool | None
) -> None:
    """Each thread begins with INT_MIN, which is 2147483648 where it is compared with an unsigned
    number, and stays there."""
    clause = "min" if "m > u" in update else "max"
    text = f"""
    long f(int n, const {array})
    {{
      {accumulator} = 0;
    #pragma omp parallel for reduction({clause}:m)
      for (int i = 0; i < n; i++) {update}
      return m;
    }}
    """
    routine = loads(text)["f"]
    ((verdict,), (claim,)) = routine.check(), routine.audit()
    assert (verdict.parallel == "reduction", claim.proven) == (proven is True, proven)


CHAINS = [
    ("unsigned", "^", "s = s ^ a[i] ^ i;"),
    ("int", "&&", "s = s && a[i] > 0 && a[i] < 9;"),
    ("int", "||", "s = s || a[i] > 9 || i == 3;"),
    ("int", "|", "s = a[i] | s | 8;"),
    ("double", "+", "s = s + a[i] * 2 - b[i];"),
    ("double", "+", "s = a[i] + s - b[i];"),
]


@pytest.mark.parametrize(("type", "op", "update"), CHAINS)
def test_chains_of_one_operator_are_updates(type: str, op: str, update: str) -> None:
    text = f"""
    double f(int n, const int a[n], const int b[n])
    {{
      {type} s = 1;
    #pragma omp parallel for reduction({op}:s)
      for (int i = 0; i < n; i++) {update}
      return s;
    }}
    """
    routine = loads(text)["f"]
    ((verdict,), (claim,)) = routine.check(), routine.audit()
    assert (verdict.parallel, claim.proven) == ("reduction", True)


@pytest.mark.parametrize("update", ["s = a[i] - s - b[i];", "s = a[i] - (b[i] + s);", "s = s - s;"])
def test_chains_that_turn_the_sign_are_none(update: str) -> None:
    loop = f"for (int i = 0; i < n; i++) {update}"
    text = f"int f(int n, int s, int a[n], int b[n]) {{ {loop} return s; }}"
    (verdict,) = loads(text)["f"].check()
    assert verdict.parallel == "no"
