"""Split: the iterations below a point, and the others."""

from __future__ import annotations

import pytest
from c_texts import COPY, DOWN, MM, TWO
from conftest import Golden
from deriving import assert_step, c, derived, refusal, start

from loopxform.errors import TransformError
from loopxform.transforms import Split, step
from loopxform.verify.inputs import make_inputs
from loopxform.verify.interp import Program

HALVES = c("for (int i = 0; i < n; i++) if (i < n / 2) a[i] = 1; else b[i] = 2;")
TWO_SIZES = "int n, int m, float a[n+9], float b[n+9]"

LISTINGS = {
    "half": (COPY, "split i n/2"),
    "first": (COPY, "split i lo+1"),
    "last": (COPY, "split i hi-1"),
    "anywhere": (c("for (int i = 0; i < n; i++) a[i] = i;", TWO_SIZES), "split i m"),
    "sum": (c("for (int i = 2; i < n; i++) a[i] = i;", TWO_SIZES), "split i m+3"),
    "least": (COPY, "split i min(n,4)"),
    "tile": (COPY, "split i hi/Ty*Ty"),
    "constants": (
        c("for (int i = 0; i < 8; i++) b[i] = i;", "float b[8]"),
        "split i 3",
    ),
    "guard": (HALVES, "split i n/2"),
    "guard-of-the-first": (
        c("for (int i = 0; i < n; i++) { if (i == 0) b[i] = 1; if (i > 0) b[i] = b[i - 1]; }"),
        "split i 1",
    ),
    "guarded-loop-goes": (
        c(
            "for (int i = 0; i < n; i++) { for (int j = 0; j < 3; j++) if (i >= m) a[i] += j; "
            "b[i] = 1; }",
            TWO_SIZES,
        ),
        "split i m",
    ),
    "part-without-a-body": (
        c("for (int i = 0; i < n; i++) if (i < m) a[i] = 1;", TWO_SIZES),
        "split i m",
    ),
    "declarations": (TWO, "split i#1 n/2"),
    "parallel": (COPY, "parallelise i", "split i n/2"),
    "stride": (c("for (int i = 1; i < n; i += 3) a[i] = i;"), "split i n/2"),
    "stride-that-meets-it": (c("for (int i = 1; i < n; i += 3) a[i] = i;"), "split i 7"),
    "stride-that-misses-it": (c("for (int i = 1; i < n; i += 3) a[i] = i;"), "split i 6"),
    "outer-variable": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = 1;",
            "int n, float A[n][n]",
        ),
        "split j i",
    ),
    "local": (
        c("int q; q = n / 3; for (int i = 0; i < n; i++) a[i] = 1;"),
        "split i q+1",
    ),
    "names-of-the-program": (
        c("for (int i = 0; i < n; i++) a[i] = i;", "int n, int lo, float a[n+9]"),
        "split i lo",
    ),
    "unsigned": (
        c("for (unsigned i = 0; i < n; i++) a[i] = i;", "unsigned n, float a[n]"),
        "split i n/2",
    ),
    "unsigned-difference": (
        c("for (unsigned i = 0; i < n; i++) a[i] = i;", "unsigned n, float a[n]"),
        "split i n-1",
    ),
    "in-an-else-branch": (
        c(
            "if (n > 6) b[0] = 2; else { b[1] = 1; for (int i = 0; i < n; i++) if (i < 2) "
            "a[i] = 1; else a[i] = 2; }",
            "int n, float a[n], float b[2]",
        ),
        "split i 2",
    ),
    "known-to-be-inside": (
        c("if (m > 0 && m < n) for (int i = 0; i < n; i++) a[i] = 1;", TWO_SIZES),
        "split i m",
    ),
    "of-a-difference-that-is-known": (
        c("if (n > 0) for (long i = 0; i < n; i++) a[i] = 1;", "long n, float a[n]"),
        "split i n-1",
    ),
    "and-fuse": (COPY, "split i n/2", "split i#2 n-1"),
}

REFUSALS = {
    "written": (
        c("for (int i = 0; i < n; i++) { a[i] = m; m = 3; }", TWO_SIZES),
        "split i m",
    ),
    "counted": (
        c(
            "int k = 2; for (int i = 0; i < n; i++) for (k = 0; k < 3; k++) a[i] = k; a[0] = k;",
            TWO_SIZES,
        ),
        "split i k",
    ),
    "not-set": (c("int q; for (int i = 0; i < n; i++) a[i] = 1; q = 2; a[0] = q;"), "split i q"),
    "set-on-one-path": (
        c("int q; if (n > 3) q = 1; for (int i = 0; i < n; i++) a[i] = 1;"),
        "split i q",
    ),
    "own-variable": (COPY, "split i i"),
    "inner-variable": (MM, "split i k"),
    "array": (COPY, "split i a"),
    "element": (COPY, "split i a[0]"),
    "real": (c("for (int i = 0; i < n; i++) a[i] = x;", "int n, float x, float a[n]"), "split i x"),
    "unknown-name": (COPY, "split i q"),
    "call": (COPY, "split i f(n)"),
    "number": (COPY, "split i 1.5"),
    "too-large": (COPY, "split i 99999999999"),
    "comment": (COPY, "split i n#"),
    "power": (COPY, "split i n**2"),
    "unbalanced": (COPY, "split i (n"),
    "division": (c("for (int i = 0; i < n; i++) a[i] = i;", TWO_SIZES), "split i n/m"),
    "remainder": (COPY, "split i n%0"),
    "overflow": (COPY, "split i n*n*n"),
    "overflow-of-long": (
        c("for (long i = 0; i < n; i++) a[i] = 1;", "long n, float a[n]"),
        "split i n-1",
    ),
    "wraps": (
        c("for (unsigned long i = 0; i < n; i++) a[i] = 1;", "unsigned long n, float a[n]"),
        "split i n-1",
    ),
    "signs-mix": (
        c("for (unsigned long i = 0; i < n; i++) a[i] = 1;", "unsigned long n, int m, float a[n]"),
        "split i m",
    ),
    "before": (COPY, "split i lo"),
    "behind": (COPY, "split i n"),
    "downwards": (DOWN, "split i n/2"),
    "read-after": (c("int i; for (i = 0; i < n; i++) a[i] = 1; b[0] = i;"), "split i n/2"),
    "bound-changes": (
        c("for (int i = m; i < n; i++) { a[i] = 1; m = 0; }", TWO_SIZES),
        "split i n/2",
    ),
    "mapped": (COPY, "parallelise i", "map i group.x", "split i n/2"),
    "ambiguous": (TWO, "split i n/2"),
    "unknown": (COPY, "split x 2"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps, sizes=(0, 1, 2, 3, 5, 8)))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


@pytest.mark.parametrize("lo", [-2, 0, 1])
@pytest.mark.parametrize("step_", [1, 2, 3])
@pytest.mark.parametrize("point", ["m", "m-1", "lo+m", "hi-m", "(m+n)/2", "max(m,2)*2-3"])
def test_every_point_keeps_the_order(lo: int, step_: int, point: str) -> None:
    """Points before, on, between and behind the iterations; b records their order."""
    body = f"int q = 0; for (int i = {lo}; i < n; i += {step_}) {{ b[q] += i; q += 1; }} a[0] = q;"
    first, _ = start(c(body, "int m, int n, float a[1], float b[40]"))
    after = first.then(Split("i", point)).function
    before = Program(first.function), Program(after)
    for m in range(-5, 9):
        for n in range(-3, 8):
            runs = [make_inputs(first.function, {"m": m, "n": n}, 3) for _ in before]
            for program, args in zip(before, runs):
                program.run(args)
            assert all((runs[0][k] == runs[1][k]).all() for k in "ab"), (m, n)


@pytest.mark.parametrize("point", ["n - 1", "", "n" * 300, "(" * 150 + "n" + ")" * 150, "n\u00b2"])
def test_points_that_are_not_read(point: str) -> None:
    before, _ = start(COPY)
    with pytest.raises(TransformError) as e:
        before.then(Split("i", point))
    assert e.value.obstacles[0].code == "LX025"


def test_the_written_step_is_read_back() -> None:
    assert step(str(Split("i", "min(n,4)-1"))) == Split("i", "min(n,4)-1")


def test_parts_can_be_fused_again() -> None:
    """Only loops with the same iterations fuse."""
    halves = derived(COPY, "split i n/2")
    with pytest.raises(TransformError):
        halves.then(step("fuse i"))
