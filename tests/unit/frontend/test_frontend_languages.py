"""Files in other languages than C are named as such, once, and C is left alone."""

from __future__ import annotations

import pytest

from loopxform import budget
from loopxform.errors import InputError, LoopxformError
from loopxform.frontend.parse import parse_file

LOOP = "void f(int n, float *a) { for (int i = 0; i < n; i++) a[i] = 0; }\n"

FOREIGN = [
    # name, text, language, line and column
    ("v.c", "/* std::x */\nvoid f() { std::sort(a, b); }\n", "C++", (2, 12)),
    ("v.cpp", "struct P { int x; P() : x(0) {} };\n", "C++", (1, 19)),
    ("t.h", "template <class T> T twice(T x) { return 2 * x; }\n", "C++", (1, 1)),
    ("n.c", "int a;\n\nnamespace lib { int b; }\n", "C++", (3, 1)),
    ("k.cu", "__global__ void add(float *a) { a[threadIdx.x] += 1; }\n", "CUDA", (1, 1)),
    ("l.c", LOOP + "void g(float *a) { f<<<1, 32>>>(32, a); }\n", "CUDA", (2, 21)),
    (
        "k.cl",
        "kernel void add(global int *a) { a[get_global_id(0)]++; }\n",
        "OpenCL C",
        (1, 1),
    ),
    ("s.f90", "subroutine s(n)\n integer :: n\nend subroutine\n", "Fortran", (1, 1)),
    ("old.f", "C     a comment\n      SUBROUTINE S(N)\n      END\n", "Fortran", (2, 7)),
    ("p.py", "def f(n):\n    return n\n", "Python", (1, 1)),
    ("a.s", "main:\n\tret\n", "assembly", (1, 1)),
]


def unread(name: str, text: str) -> tuple[LoopxformError, ...]:
    """What cannot be read of a file."""
    try:
        return parse_file(name, text=text).problems
    except InputError as e:
        return (e,)


@pytest.mark.parametrize(
    ("name", "text", "language", "place"), FOREIGN, ids=[f[0] for f in FOREIGN]
)
def test_the_language_is_named(name: str, text: str, language: str, place: tuple[int, int]) -> None:
    (error,) = unread(name, text)
    assert error.message == f"{name} is {language}, not C"
    assert error.notes[0].startswith("as C: ")
    assert error.help
    assert error.loc is not None
    assert (error.loc.line, error.loc.column) == place


C = [
    ("strings.c", 'char *s = "std::sort <<< namespace x {"; /* __kernel */\nint a = ;\n'),
    ("both.h", '#ifdef __cplusplus\nnamespace x {\nextern "C" {\n#endif\nint f(;\n'),
    (
        "names.c",
        "int class, template;\nint f(void) { return class < template; }\nint a = ;\n",
    ),
    ("shifts.c", "int f(int a, int b) { return a << b >> 2; }\nint a = ;\n"),
]


@pytest.mark.parametrize(("name", "text"), C, ids=[c[0] for c in C])
def test_mistakes_in_c_are_told_as_such(name: str, text: str) -> None:
    errors = unread(name, text)
    assert errors
    assert not any("not C" in e.message for e in errors)


def test_c_under_another_name_is_read() -> None:
    assert parse_file("loops.cpp", text=LOOP).unit.functions[0].name == "f"


def test_a_large_file_with_many_problems_is_asked_once() -> None:
    """Neither problems nor blank lines are multiplied by the length of the file."""
    text = "\n" * 20_000 + "".join(f"void f{n}(int n) {{ n = ; }}\n" for n in range(40)) + LOOP
    with budget.within(budget.Budget.of(seconds=10)) as limits:
        assert len(parse_file("f.c", text=text).problems) == 40
        limits.spend()
