"""Steps of loops that are local constants: numbers wherever they stand."""

from __future__ import annotations

import pytest
from lowering import body, opaques, text

LOOP = "for (int i = 0; i < n; i += T) a[i] = T;"
PLAIN = "for (i = 0; i < n; i += 4) a[i] = 4;"

MEANS = [
    (f"const int T = 4; {LOOP}", PLAIN),
    (f"int T = 4; {LOOP}", PLAIN),
    (f"const long T = 4; {LOOP.replace('= T;', '= 1;')}", PLAIN.replace("= 4;", "= 1;")),
    ("int T = 4; for (int i = n; i > 0; i = i - T) a[i] = 1;",
     "for (i = n; i > 0; i -= 4) a[i] = 1;"),
]  # fmt: skip


@pytest.mark.parametrize(("statements", "expected"), MEANS)
def test_a_step_that_is_a_constant(statements: str, expected: str) -> None:
    assert text(statements, "int n, int *a") == expected


CHANGED = [
    f"int T = 4; {LOOP} T = 5;",
    f"int T = 4; int *q = &T; *q = 2; {LOOP}",
    f"int T = n; {LOOP}",
    f"static int T = 4; {LOOP}",
    f"{{ int T = 4; a[0] = T; }} int T = n; {LOOP}",
    f"int T = 4294967298; {LOOP}",  # 2, as most compilers have it
    "int T = 0xFFFFFFFF; for (int i = n; i > 0; i += T) a[i] = T;",
]


@pytest.mark.parametrize("statements", CHANGED)
def test_a_step_that_may_be_another_number(statements: str) -> None:
    assert opaques(body(statements, "int n, int *a"))
