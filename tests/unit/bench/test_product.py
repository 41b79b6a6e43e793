"""Which nests are matrix products; others are refused with the place and the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopxform import load, loads
from loopxform.bench.product import product_of
from loopxform.errors import UnsupportedC, quoting
from loopxform.ir.printer import expr_text

CORPUS = Path(__file__).parents[3] / "corpus"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mm", "M x U A, U x N B"),
        ("mm_accumulate", "M x U A, U x N B"),
        ("mm_at", "M x U A', U x N B"),
        ("mm_bt", "M x U A, U x N B'"),
        ("mm_c89", "M x 20 A, 20 x 26 B"),
        ("mm_flat", "M x U A, U x N B"),
        ("mm_ikj", "M x U A, U x N B, added to C"),
        ("mm_macro", "19 x 22 A, 22 x 13 B"),
    ],
)
def test_products_of_the_corpus(name: str, said: str) -> None:
    p = product_of(load(CORPUS / f"{name}.c").routine().function)
    m, n, k = (expr_text(e) for e in (p.m, p.n, p.k))
    a, b = (f"{x.array}{chr(39) * x.transposed}" for x in (p.a, p.b))
    assert f"{m} x {k} {a}, {k} x {n} {b}{', added to C' * p.adds}" == said


def of(body: str, params: str = "float A[n][n], float B[n][n], float C[n][n]") -> str:
    return f"void f(int n, {params})\n{{\n{body}\n}}\n"


def nest(statement: str, k: str = "int k = 0; k < n; k++", before: str = "C[i][j] = 0;") -> str:
    return of(
        "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++) {\n"
        f"      {before}\n      for ({k})\n        {statement}\n    }}"
    )


PLAIN = "C[i][j] += A[i][k] * B[k][j];"


@pytest.mark.parametrize(
    ("text", "reason", "line"),
    [
        (nest(PLAIN, "int k = 0; k <= i; k++"), "the loop over 'k' has other ends", 6),
        (nest(PLAIN, "int k = 1; k < n; k++"), "the loop over 'k' does not count from 0", 6),
        (nest(PLAIN, before="C[i][j] = 1;"), "a statement is no part of one", 5),
        (nest(PLAIN, before="C[i][i] = 0;"), "the subscripts are not those of one", 5),
        (nest("C[i][j] += A[i][k] + B[k][j];"), "adds a product of two elements", 1),
        (nest("C[i][j] += A[i][k] * C[k][j];"), "three loops over two matrices", 1),
        (nest("C[i][j] += A[i][k] * B[k][i];"), "the subscripts are not those of one", 7),
        (nest("if (k > 2) C[i][j] += A[i][k] * B[k][j];"), "more in it than loops and sums", 7),
        (nest("C[i][j] += 2 * A[i][k] * B[k][j];"), "adds a product of two elements", 1),
        (
            of(
                "  for (int i = 0; i < n; i++) {\n    float s = 0;\n"
                "    for (int j = 0; j < n; j++) {\n      for (int k = 0; k < n; k++)\n"
                "        s += A[i][k] * B[k][j];\n      C[i][j] = s;\n    }\n  }"
            ),
            "the sum is not set to zero right before its loop",
            1,
        ),
        (
            of(
                "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n"
                "      for (int k = 0; k < n; k++)\n        C[i][j] += A[i][k] * B[k][j];",
                "double A[n][n], float B[n][n], float C[n][n]",
            ),
            "its numbers are not all float, or all double",
            1,
        ),
    ],
)
def test_what_is_none_is_refused_with_the_reason(text: str, reason: str, line: int) -> None:
    file = loads(text)
    with pytest.raises(UnsupportedC) as e, quoting(file.parsed.sources):
        product_of(file["f"].function)
    assert e.value.loc is not None
    assert reason in e.value.message
    assert (e.value.code, e.value.loc.line) == ("LX068", line)
    assert "leave out --against" in e.value.render()


def test_zeroing_in_loops_of_its_own_counts_where_they_cover_c() -> None:
    zero = "  for (int p = 0; p < n; p++)\n    for (int q = 0; q < {}; q++)\n      C[p][q] = 0;\n"
    sums = "  for (int i = 0; i < n; i++)\n    for (int k = 0; k < n; k++)\n"
    sums += f"      for (int j = 0; j < n; j++)\n        {PLAIN}"
    assert not product_of(loads(of(zero.format("n") + sums))["f"].function).adds
    assert product_of(loads(of(sums))["f"].function).adds
    with pytest.raises(UnsupportedC, match="a statement is no part of one"):
        product_of(loads(of(zero.format("n - 1") + sums))["f"].function)
