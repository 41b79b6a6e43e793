"""Arrays whose size is made of variables that may have changed since: what stands for loops is
passed how many elements they have."""

from __future__ import annotations

import pytest
from test_outline import made

LOOP = "for (int i = 0; i < n; i++) {}"


@pytest.mark.parametrize(
    ("parameters", "before", "body", "arguments", "prototype"),
    [
        (
            "int n",
            "int a[n][n]; n = 3;",
            "a[i][i] = 1;",
            "n, sizeof a / sizeof a[0], sizeof a[0] / sizeof a[0][0], a",
            "int n, long a_size, long a_size_, int a[a_size][a_size_]",
        ),
        (
            "int n",
            "int a[size + 1];",
            "a[i] = 1;",
            "n, sizeof a / sizeof a[0], a",
            "int n, long a_size, int a[a_size]",
        ),
        (
            "int n, int a[n][size]",
            "n = 3;",
            "a[i][1] = 1;",
            "n, sizeof a[0] / sizeof a[0][0], a",
            "int n, long a_size, int a[][a_size]",
        ),
        ("int n, int m", "int a[m];", "a[i] = 1;", "n, m, a", "int n, int m, int a[m]"),
        (
            "int n, double a_size",
            "int a[size];",
            "a[i] = a_size;",
            "n, a_size, sizeof a / sizeof a[0], a",
            "int n, double a_size, long a_size_, int a[a_size_]",
        ),
    ],
)
def test_sizes(parameters: str, before: str, body: str, arguments: str, prototype: str) -> None:
    loop = LOOP.format(body)
    text = f"int size; void f({parameters}) {{ {before} {loop} }}"
    signature, call, _ = made(text, before.count(";"))
    assert (call, signature) == (arguments, f"void f_1({prototype})")


def test_sizeof_is_that_of_the_array() -> None:
    text = """int size; void f(int n, long *x) { int a[size][2]; size = n;
      for (int i = 0; i < n; i++) x[i] = a[i][0] + sizeof a + sizeof a[0]; }"""
    _, call, body = made(text, 2)
    assert call == "n, sizeof a / sizeof a[0], x, a"
    assert "a_size" in body
    assert "size]" not in body.replace("a_size]", "")
