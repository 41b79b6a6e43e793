"""The numbers of a witness are values of the types that they belong to."""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.analysis.matrix import matrix

WITHIN = [
    ("unsigned n", "a[i + n] = a[i + 5];", "no"),
    ("unsigned n, unsigned m", "a[i + n] = a[i + m];", "no"),
    ("unsigned char n", "a[i + n] = a[i + 250];", "no"),
    ("signed char n, unsigned short m", "a[i + n] = a[i + m + 90];", "no"),
    ("short n", "a[i + n] = a[i - 32700];", "no"),
    ("_Bool n", "a[i + n] = a[i + 1];", "no"),
    # They would meet for values that the type does not have.
    ("unsigned n", "a[i] = a[i + n + 100];", "yes"),
    ("unsigned char n", "a[i + n] = a[i + 400];", "yes"),
    ("short n", "a[i + n] = a[i + 33000];", "yes"),
    ("int n", "a[i + n] = a[i + 3000000000];", "unknown"),
]


@pytest.mark.parametrize(("sizes", "body", "answer"), WITHIN)
def test_witnesses_have_values_of_their_types(sizes: str, body: str, answer: str) -> None:
    loop = f"for (int i = 0; i < 100; i++) {body}"
    routine = lx.loads(f"void f({sizes}, int *restrict a) {{ {loop} }}")["f"]
    (found,) = routine.check()
    assert found.parallel == answer
    types = {p.name: p.type for p in routine.function.params}
    for row in (r for m in matrix(routine.function) for r in m.rows if r.point):
        assert not row.point.beyond(types)
