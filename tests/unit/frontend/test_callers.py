"""Array parameters have the elements of the arrays that all callers pass."""

from __future__ import annotations

import pytest
from test_outline import read

from loopxform.frontend.outline import Region
from loopxform.ir.nodes import Const, Function

ARRAYS = (
    "static double a[100], b[10 * 9], c[100], wide[50][4]; static float small[30]; int counts[7];"
)


def shapes(text: str) -> dict[str, int]:
    """The elements that the parameters of `f` have, where that is known, in its loop."""
    original = read(f"{ARRAYS}\n{text}")
    owner = original.definitions["f"]
    region: Region = original.region("f_1", owner, owner.body.items)
    part = original.lower([region])["f_1"]
    function = getattr(part, "function", None)
    assert isinstance(function, Function), part
    sized = [p for p in function.params if p.shape and isinstance(p.shape[0], Const)]
    return {p.name: int(p.shape[0].value) for p in sized if isinstance(p.shape[0], Const)}


LOOP = "for (int i = 0; i < n; i++) x[k[i]] = i;"
F = "static void f(int n, int *k, double *x)"
WIDE = "static void f(int n, int *k, double (*x)[4])"


def whole(text: str) -> str:
    """With what the words stand for."""
    return (
        text.replace("LOOP", LOOP)
        .replace("F ", f"{F} ")
        .replace("F;", f"{F};")
        .replace("WIDE", WIDE)
    )


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("F { LOOP } void g(int *k) { f(3, k, a); }", {"x": 100}),
        ("static void f(int n, int k[], double x[]) { LOOP }\n"
         "void g(void) { f(3, counts, a); f(4, counts, c); }", {"k": 7, "x": 100}),
        # of two sizes each call passes its own
        ("static void f(int n, int k[], double x[]) { LOOP }\n"
         "void g(void) { f(3, counts, a); f(4, counts, b); }", {"k": 7}),
        ("F; void g(int *k) { f(3, k, a); }\n"
         "void f(int n, int *k, double *x) { LOOP }", {"x": 100}),
        ("WIDE { for (int i = 0; i < n; i++) x[k[i]][0] = i; }\n"
         "void g(int *k) { f(3, k, wide); }", {"x": 50}),
    ],
)  # fmt: skip
def test_all_calls_pass_arrays_of_the_file(text: str, sizes: dict[str, int]) -> None:
    assert shapes(whole(text)) == sizes


@pytest.mark.parametrize(
    "text",
    [
        "void f(int n, int *k, double *x) { LOOP } void g(int *k) { f(3, k, a); }",
        "F { LOOP } void g(int *k) { f(3, k, a + 1); }",
        "F { LOOP }\nvoid g(int *k, double *y) { f(3, k, a); f(3, k, y); }",
        "F { LOOP }\nvoid g(int *k, double *a) { f(3, k, a); }",
        "F { LOOP }\n"
        "void g(int *k) { void (*p)(int, int *, double *) = f; f(3, k, a); p(3, k, b); }",
        "F { LOOP }\n"
        "static void (*table[])(int, int *, double *) = {f}; void g(int *k) { f(3, k, a); }",
        "static void f(int n, int *k, float *x) { LOOP } void g(int *k) { f(3, k, (void *)a); }",
        "F { x = b + 80; LOOP } void g(int *k) { f(3, k, a); }",
        "F { LOOP }",
    ],
)
def test_what_is_passed_is_not_known(text: str) -> None:
    assert shapes(whole(text)) == {}
