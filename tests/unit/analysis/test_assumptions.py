"""What verdicts take for granted is said."""

from __future__ import annotations

from nests import fn, mm, s

from loopxform.analysis.assumptions import assumptions
from loopxform.analysis.verdict import judge
from loopxform.frontend import CppOptions, parse_file
from loopxform.ir.nodes import Function


def read(text: str) -> Function:
    (found,) = parse_file("t.c", CppOptions(), text=text).unit.functions
    return found


def test_arrays_are_taken_to_be_apart() -> None:
    assert assumptions(mm()) == ("A and C do not overlap", "B and C do not overlap")
    assert assumptions(fn("restrict a[], restrict b[]", s("a[0] = b[0]"))) == ()
    assert assumptions(fn("restrict a[], b[]", s("a[0] = b[0]"))) == ("a and b do not overlap",)


def test_objects_of_the_file_are_apart_and_pointers_of_the_file_are_not() -> None:
    loop = "void f(void) { for (int i = 0; i < 9; i++) a[i] = b[i]; }"
    assert assumptions(read(f"float a[9], b[9]; {loop}")) == ()
    assert assumptions(read(f"float *a, b[9]; {loop}")) == ("a and b do not overlap",)
    assert assumptions(read(f"float *a, *b; {loop}")) == ("a and b do not overlap",)


def test_a_pointer_may_reach_a_variable_of_the_file() -> None:
    loop = "for (int i = 0; i < 9; i++) x[i] = s*x[i];"
    assert assumptions(read(f"float s; void f(float *x) {{ {loop} }}")) == (
        "x and s do not overlap",
    )
    assert assumptions(read(f"int s; void f(float *x) {{ {loop} }}")) == ()
    assert assumptions(read(f"const float s = 2; void f(float *x) {{ {loop} }}")) == ()
    assert assumptions(read(f"float s; void f(char *x) {{ {loop} }}")) == (
        "x and s do not overlap",
    )
    assert assumptions(read(f"float s; void f(float *restrict x) {{ {loop} }}")) == ()
    assert assumptions(read(f"float s, x[9]; void f(void) {{ {loop} }}")) == ()


def test_a_loop_lists_the_conditions_on_its_sizes() -> None:
    fn = read(
        """void f(int n, int m, int s, float *a, float *b) {
             for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i*s + j] = 1;
             for (int i = 0; i < n; i++) b[i] = 2; }"""
    )
    first, second, third = judge(fn)
    assert first.assumes == ("m <= s",)
    assert second.assumes == ("m <= s",)
    assert third.assumes == ()


def test_a_number_behind_a_pointer_may_be_one_of_the_file() -> None:
    head = "struct S { int n; float f; }; struct S gs; int g; static int own; float w;"
    for number, asked in (
        ("gs.n", ("s.n and gs.n do not overlap",)),
        ("g", ("s.n and g do not overlap",)),
        ("own", ()),
        ("w", ()),
        ("gs.f", ()),
    ):
        loop = f"for (int i = 0; i < s->n; i++) {{ {number} = 2; x[i] = 1; }}"
        found = read(f"{head} void f(struct S *s, float *restrict x) {{ {loop} }}")
        assert tuple(a for a in assumptions(found) if "x" not in a.split()) == asked
