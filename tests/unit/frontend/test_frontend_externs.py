"""Variables of other files that functions declare: one each, in whatever block the name stands."""

from __future__ import annotations

import pytest
from lowering import opaques, parsed

from loopxform.analysis.verdict import judge
from loopxform.ir.nodes import Function


def last(text: str) -> Function:
    return parsed(text).unit.functions[-1]


CARRIED = [
    "void f(int n, int *a) { for (int i = 0; i < n; i++) { extern int z; a[i] = z; z = i; } }",
    "void f(int n, int *a) { extern int z; for (int i = 0; i < n; i++) { a[i] = z; z = i; } }",
    "void f(int n, int *a) { for (int i = 0; i < n; i++) { extern int z[]; a[i] = *z; *z = i; } }",
    "void f(int n, int *a)"
    "{ for (int i = 0; i < n; i++) { extern int z[4], y; a[i] = z[1]; z[1] = i; } }",
    # A name of the function hides it, and is hidden.
    "void f(int n, int *a)"
    "{ int z = 3; for (int i = 0; i < n; i++) { extern int z; a[i] = z; z = i; } a[0] = z; }",
    # Another block, and a function that stands in the place of a call.
    "void f(int n, int *a) { for (int i = 0; i < n; i++)"
    "{ { extern int z; a[i] = z; } { extern int z; z = i; } } }",
    "void g(int x) { extern int z; z = x; } int h(void) { extern int z; return z; }"
    "void f(int n, int *a) { for (int z = 0; z < n; z++) { a[z] = h(); g(z); } }",
    "static int z; void f(int n, int *a)"
    "{ for (int i = 0; i < n; i++) { extern int z; a[i] = z; z = i; } }",
    "typedef int z; void f(int n, int *a)"
    "{ for (int i = 0; i < n; i++) { extern int z; a[i] = z; z = i; } }",
]


@pytest.mark.parametrize("text", CARRIED)
def test_the_loop_carries_what_it_keeps(text: str) -> None:
    fn = last(text)
    assert [v.parallel for v in judge(fn)] == ["no"]
    assert next(p for p in fn.objects if p.name == "z").is_global


def test_a_name_of_the_function_is_its_own_again_behind_the_block() -> None:
    fn = last("int f(int n) { int z = n; { extern int z; z = 2; } z = z + 1; return z; }")
    assert [p.name for p in fn.globals] == ["z"]
    assert {s.target.name for s in fn.body if hasattr(s, "target")} == {"z", "z_2"}  # type: ignore[union-attr]


def test_a_type_of_the_function_is_not_modelled() -> None:
    loop = "for (int i = 0; i < n; i++) { extern T z; z = i; }"
    text = f"void f(int n, int *a) {{ typedef int T; {loop} }}"
    (only,) = opaques(last(text))
    assert only.reason == "'z' has type extern int, which is not modelled"


def test_a_function_declared_in_a_block_is_no_variable() -> None:
    text = "void f(int n, int *a) { for (int i = 0; i < n; i++) { int g(int); a[i] = g(i); } }"
    assert [s.reason for s in opaques(last(text))] == ["the effects of calling 'g' are not known"]
