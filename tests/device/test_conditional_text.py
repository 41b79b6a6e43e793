"""Functions with conditionals: the text that is read has its loops on the device, and a build with
other macros does what the user's own text does."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest
from c_project import STRICT, assert_both_print, build_both, require_opencl

import loopxform as lx
from loopxform.api.splice import OffloadedFile

PROGRAM = """#include <stdio.h>
#include <stdlib.h>
#ifdef UNUSED
static void unused(int n, double *x) { for (int i = 0; i < n; i++) x[i] = 0; }
#endif
static int scale = 7;
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 30;
#if WIDE
  double *x = malloc(n * sizeof(double));
#else
  float *x = malloc(n * sizeof(float));
#endif
  for (int i = 0; i < n; i++) {
#ifdef TWICE
    x[i] = 2 * i;
#else
    x[i] = i;
#endif
  }
#if !WIDE
  for (int i = 0; i < n; i++) x[i] += 3;
#endif
#ifdef OTHER_SCALE
  int scale = 5;
#endif
  for (int i = 0; i < n; i++) x[i] *= 2;
#ifdef FROM_ONE
  for (int i = 1; i < n; i++) {
#else
  for (int i = 0; i < n; i++) {
#endif
    x[i] -= 1;
  }
#ifdef VERBOSE
  printf("%d elements\\n", n);
#endif
  for (int i = 0; i < n; i++) printf("%g ", scale * (double)x[i]);
  free(x);
  return 0;
}
"""

EVERY = ("WIDE", "TWICE", "OTHER_SCALE", "FROM_ONE", "VERBOSE", "UNUSED")


def assert_same(folder: Path, made: OffloadedFile, defines: tuple[str, ...]) -> str:
    """What the written file and the user's print with these macros; returns what is said."""
    made.write(folder)
    quiet = ("-Wno-unused-function", "-Wno-unused-variable")
    build_both(folder, *STRICT, *quiet, *(f"-D{d}" for d in defines))
    return assert_both_print(folder).stderr


def offloaded(folder: Path, text: str, defines: tuple[str, ...] = ()) -> OffloadedFile:
    user = folder / "user.c"
    user.write_text(text)
    return lx.load(user, define=defines).offload(contract=False)


@pytest.mark.parametrize(
    ("read", "parts"),
    [((), 1), (("WIDE=1", "TWICE", "FROM_ONE"), 1), (("OTHER_SCALE", "UNUSED"), 3)],
)
def test_each_configuration(tmp_path: Path, read: tuple[str, ...], parts: int) -> None:
    require_opencl()
    made = offloaded(tmp_path, PROGRAM, read)
    assert [r.region.owner.name for r in made.regions].count("main") == parts
    assert not [e for _, e in made.left if "partly inside" in e.message]
    assert "on the device" in assert_same(tmp_path, made, read)
    for other in EVERY:
        if other not in {x.partition("=")[0] for x in read}:
            said = assert_same(tmp_path, made, (*read, other))
            assert ("on the device" in said) == (other == "UNUSED")
    for one in read:
        assert_same(tmp_path, made, tuple(x for x in read if x != one))


OPENMP = """\
#include <stdio.h>
int main(void)
{
  int a[40], n = 40;
  printf("begin\\n");
#ifdef OPEN // threads
#ifndef SERIAL
#pragma omp parallel for \\
    shared(a)
#endif
#endif
  for (int i = 0; i < n; i++)
    a[i] = 3 * i;
  printf("%d\\n", a[7]);
#ifdef OPEN
  n--;
#pragma omp parallel for
#endif
  for (int i = 0; i < n; i++)
    a[i] += i;
  printf("%d\\n", a[39]);
  return 0;
}
"""


@pytest.mark.parametrize(("read", "parts"), [((), 2), (("OPEN",), 2), (("OPEN", "SERIAL"), 2)])
def test_conditionals_around_pragmas(tmp_path: Path, read: tuple[str, ...], parts: int) -> None:
    require_opencl()
    made = offloaded(tmp_path, OPENMP, read)
    assert len(made.regions) == parts
    for defines in ((), ("OPEN",), ("OPEN", "SERIAL")):
        made.write(tmp_path)
        for more in ((), ("-fopenmp",)):
            quiet = ("-Wno-unknown-pragmas", *more)
            build_both(tmp_path, *STRICT, *quiet, *(f"-D{d}" for d in defines))
            said = assert_both_print(tmp_path).stderr
            assert ("on the device" in said) == (defines == read)


def test_conditionals_outside_of_a_function_are_none_of_it(tmp_path: Path) -> None:
    require_opencl()
    text = "#ifdef A\nvoid g(int n, double *x) { for (int i = 0; i < n; i++) x[i] = 3; }\n#endif\n"
    text += "static void f(int n, double *x) { for (int i = 0; i < n; i++) x[i] = 2; }\n"
    text += "int main(void) { double x[9]; f(9, x); return x[8] != 2; }\n"
    made = offloaded(tmp_path, text, ("A",))
    assert [r.region.owner.name for r in made.regions] == ["g", "f"]
    assert "on the device" in assert_same(tmp_path, made, ("A",))
    assert "on the device" in assert_same(tmp_path, made, ())


def test_a_file_inside_of_a_conditional(tmp_path: Path) -> None:
    """What is written stands behind the definitions that headers ask for."""
    require_opencl()
    text = "#ifndef NOTHING\n#define _GNU_SOURCE\n#include <stdio.h>\n#include <string.h>\n"
    text += "static void f(int n, char *x) { for (int i = 0; i < n; i++) x[i] = 'a'; }\n"
    text += "#ifdef A\nstatic int a[9];\n"
    text += "int main(void) { for (int i = 0; i < 9; i++) a[i] = 7; return a[8]; }\n"
    text += "#else\nint main(void) { char x[9]; f(9, x); return memrchr(x, 'a', 9) != x + 8; }\n"
    text += "#endif\n#else\nint main(void) { return 3; }\n#endif\n"
    for read in ((), ("A",)):
        made = offloaded(tmp_path, text, read)
        assert len(made.regions) == 1 + len(read)
        for built in ((), ("A",), ("NOTHING",)):
            runs = not built or (built == ("A",) and built == read)
            assert ("on the device" in assert_same(tmp_path, made, built)) == runs


def test_what_the_compiler_computes(tmp_path: Path) -> None:
    """No text stands for `__has_builtin`, which the file defines for compilers without it."""
    require_opencl()
    text = "#include <stdio.h>\n#ifndef __has_builtin\n#define __has_builtin(x) 0\n#endif\n"
    text += "#if !defined(SLOW) && __has_builtin(__builtin_bswap32)\n#define K 2\n#else\n"
    text += "#define K 3\n#endif\n#define SLOW 1\n"
    text += "static void f(int n, int *x) { for (int i = 0; i < n; i++) x[i] = K; }\n"
    text += 'int main(void) { int x[9]; f(9, x); printf("%d\\n", x[8]); return 0; }\n'
    made = offloaded(tmp_path, text)
    assert "on the device" in assert_same(tmp_path, made, ())


REFUSED = {
    "the head": (
        "#ifdef A\nstatic void f(int n, double *x) {\n#else\nvoid f(int n, double *x) {\n#endif\n"
        "  for (int i = 0; i < n; i++) x[i] = 2; }\n",
        "a conditional is partly inside of the function, partly outside",
    ),
    "a definition": (
        "void f(int n, double *x) {\n#define A 1\n#if A\n"
        "  for (int i = 0; i < n; i++) x[i] = 2;\n#endif\n}\n",
        "the condition may have another answer in front of the function",
    ),
    "an include": (
        "void f(int n, double *x) {\n#include <stddef.h>\n"
        "  for (int i = 0; i < n; i++) x[i] = 2;\n}\n",
        "a file is included inside the function",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    text, why = REFUSED[case]
    made = offloaded(tmp_path, text)
    assert not made.regions
    assert [e.message for _, e in made.left] == [why]


# ---------------------------------------------------------------- random text


class Writer:
    """Random statements of a function of `n`, `x` and `y`, with conditionals anywhere: whatever
    the macros are, it is C."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def condition(self) -> str:
        name = self.random.choice("ABC")
        return self.random.choice([f"#ifdef {name}", f"#ifndef {name}", f"#if defined({name})"])

    def element(self) -> str:
        a, b = self.random.choice(["xy", "yx", "xx"])
        return f"{a}[i] += {b}[i] * t + {self.random.randrange(5)};"

    def either(self, one: list[str], other: list[str]) -> list[str]:
        return [self.condition(), *one, "#else", *other, "#endif"]

    def body(self) -> list[str]:
        kind = self.random.randrange(3)
        if kind == 0:
            return self.either([self.element()], [self.element(), self.element()])
        return [self.element()] if kind == 1 else [self.condition(), self.element(), "#endif"]

    def loop(self) -> list[str]:
        head = "for (int i = 0; i < n; i++) {"
        match self.random.randrange(4):
            case 0:
                other = f"for (int i = {self.random.randrange(1, 4)}; i < n; i++) {{"
                return [*self.either([head], [other]), *self.body(), "}"]
            case 1:
                more = [self.element(), "}", head]
                return [head, *self.body(), self.condition(), *more, "#endif", *self.body(), "}"]
            case _:
                return [head, *self.body(), "}"]

    def statements(self, depth: int) -> list[str]:
        out: list[str] = []
        for _ in range(self.random.randrange(2, 5)):
            kind = self.random.randrange(7)
            if kind == 0 and depth:
                out += self.either(self.statements(depth - 1), self.statements(depth - 1))
            elif kind == 1:
                out += [self.condition(), f"t += {self.random.randrange(3)};", "#endif"]
            elif kind == 2 and depth:
                inside = [f"int t = {self.random.randrange(9)};", *self.statements(0)]
                out += ["{", self.condition(), inside[0], "#endif", *inside[1:], "}"]
            else:
                out += self.loop()
        return out

    def program(self) -> str:
        own = [self.condition(), f"int t = {self.random.randrange(2, 9)};", "#endif"]
        return "\n".join(
            [
                "#include <stdio.h>",
                "static int t = 1;",
                "int main(void)",
                "{",
                "int n = 9, k = 0;",
                "int x[9] = {1, 2, 3}, y[9] = {4, 5, 6};",
                *self.statements(1),
                *own,
                *self.statements(1),
                'for (k = 0; k < n; k++) printf("%d %d ", x[k], y[k]);',
                'printf("%d", t);',
                "return 0;",
                "}",
                "",
            ]
        )


@pytest.mark.parametrize("seed", range(6))
def test_random_conditionals(tmp_path: Path, seed: int) -> None:
    require_opencl()
    text = Writer(seed).program()
    some = [d for d, is_given in zip("ABC", format(seed % 8, "03b")) if is_given == "1"]
    made = offloaded(tmp_path, text, tuple(some))
    for given in product(*([(), (d,)] for d in "ABC")):
        defines = tuple(d for several in given for d in several)
        said = assert_same(tmp_path, made, defines)
        assert "on the device" in said or list(defines) != some or not made.regions
