"""Steps that `check` names for loops which dependences keep in order as they are written."""

from __future__ import annotations

import pytest

from loopxform import loads
from loopxform.cli.check_text import named

HEAD = "void f(int n, int m, float a[99], float b[99], const float c[99], float d[99])"


def verdict(body: str):
    routine = loads(f"{HEAD} {{ {body} }}")["f"]
    return routine, next(v for v in routine.check() if v.depth == 0)


MADE = {
    # What a later iteration overwrites.
    "for (int i = 0; i < n; i++) a[i] = a[i + 1] + c[i];": ("node-split a i",),
    "for (int i = n; i >= 0; i--) a[i + 1] = a[i] + c[i];": ("node-split a i",),
    "for (int i = 0; i < n; i++) { a[i] *= c[i]; b[i] += a[i + 1] * d[i]; }": ("node-split a i",),
    # Statements in another order.
    "for (int i = 0; i < n; i++) { a[i + 1] = c[i]; d[i] = a[i] * 2; }": (
        "distribute i reordered",
    ),
    "for (int i = 1; i < n; i++) { a[i] = b[i - 1] + c[i]; b[i] = a[i + 1] * d[i]; }": (
        "distribute i reordered",
    ),
    # Scalars in closed form; one that has what the iteration before set.
    "int k = -1; for (int i = 0; i < n; i++) { k++; a[k] = c[i]; }": ("substitute k i",),
    "int k = 0; for (int i = 0; i < n; i++) { a[i] = c[i] + c[k]; k = i; }": (),
    # The element that all others read, and those at the other end.
    "for (int i = 0; i < n; i++) a[i] = a[0];": ("split i 1",),
    "for (int i = 0; i < 50; i++) a[i] = a[49 - i] + c[i];": ("split i 49/2+1",),
    # Dependences that nothing takes away.
    "for (int i = 1; i < n; i++) a[i] = a[i - 1] * a[i - 1] + c[i];": (),
    "for (int i = 1; i < n; i++) { a[i] = b[i - 1] * c[i]; b[i] = a[i] * a[i] - d[i]; }": (),
    "for (int i = 0; i < n; i++) a[i] = a[(int)c[i]];": (),
}


@pytest.mark.parametrize("body", MADE)
def test_steps_that_make_a_loop_parallel(body: str) -> None:
    routine, v = verdict(body)
    assert v.parallel in ("no", "unknown")
    assert v.after == MADE[body]
    if v.after:  # they are legal as they are named
        routine.apply(*v.after)


def test_how_it_is_said() -> None:
    _, v = verdict("for (int i = 0; i < n; i++) a[i] = a[i + 1] + c[i];")
    assert named(v) == "; parallel after 'node-split a i' (if a and c do not overlap)"
    assert v.json()["after"] == ["node-split a i"]
