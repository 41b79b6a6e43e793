"""Functions of other files of a program: which are looked into, and what the verdicts say then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import loopxform as lx
from loopxform.api.check import checked
from loopxform.api.reading import load_of_program, program_of
from loopxform.frontend.syntax.globals import Globals, plain_declaration, signature, words

HEADER = """typedef struct vec { int n; double *x; } vec;
double norm(vec *v), get(const vec *v, int i);
void set(vec *v, int i, double x);
void report(int n);
"""
CALLER = """#include "vec.h"
void f(vec *v, int n, double *restrict y)
{
  for (int i = 0; i < n; i++) set(v, i, 2 * get(v, i));
  for (int i = 0; i < n; i++) y[i] = norm(v);
  for (int i = 0; i < n; i++) report(i);
}
"""
VECTORS = """#include "vec.h"
#include <math.h>
#include <stdio.h>
static const double scale = 2;
static int calls;
static double dot(vec *v) { double s = 0; for (int i = 0; i < v->n; i++) s += v->x[i]; return s; }
double norm(vec *v) { return scale * sqrt(dot(v)); }
double get(const vec *v, int i) { return v->x[i]; }
void set(vec *v, int i, double x) { v->x[i] = x; }
void report(int n) { calls++; printf("%d", n); }
"""


def judged(folder: Path, files: dict[str, str], name: str = "a.c") -> lx.CheckedFile:
    """The file `name`, with the others as its program."""
    for path, text in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    paths = [str(folder / path) for path in files if path.endswith(".c")]
    include = {"include": [str(folder)]}
    return checked(
        load_of_program(str(folder / name), program_of(paths, lambda _: include), **include)
    )


def answers(folder: Path, files: dict[str, str]) -> list[str]:
    return [v.parallel for v in judged(folder, files).loops]


def test_functions_of_another_file(tmp_path: Path) -> None:
    files = {"vec.h": HEADER, "a.c": CALLER, "vec.c": VECTORS}
    report = judged(tmp_path, files)
    assert [v.parallel for v in report.loops] == ["yes", "yes", "no"]
    names = ("dot", "get", "norm", "report", "set")
    assert report["f"].rests == tuple(f"{name} of {tmp_path / 'vec.c'}" for name in names)
    assert report["f"].json()["elsewhere"] == list(report["f"].rests)
    assert [f.name for f in report] == ["f"]


def one(callee: str, header: str = "") -> dict[str, str]:
    """A loop that calls `g` of another file."""
    text = '#include "g.h"\nvoid f(int n, double *y) { for (int i = 0; i < n; i++) y[i] = g(i); }\n'
    return {"g.h": header or "double g(int i);\n", "a.c": text, "g.c": callee}


G = '#include "g.h"\n'
TAKEN = {
    "one expression": one(f"{G}double g(int i) {{ return 2 * i; }}"),
    "a constant of the file": one(
        f"{G}static const int k = 3;\ndouble g(int i) {{ return k * i; }}"
    ),
    "a type of the file": one(
        f"{G}typedef struct {{ double a; }} box;\ndouble g(int i) {{ box b; b.a = i; return b.a; }}"
    ),
    "no prototype beside the definition": one("double g(int k) { return 2 * k; }"),
    "the old style": one("double g(i) int i; { return 2 * i; }", "double g();\n"),
    "static functions behind it": one(
        f"{G}static double h(int);\ndouble g(int i) {{ return h(i); }}\n"
        "static double h(int i) { return i; }"
    ),
    "files of one folder of two": {
        **one(f"{G}double g(int i) {{ return 2 * i; }}"),
        "other/g.c": "int printf(const char *, ...);\ndouble g(int i) { printf(0); return i; }",
    },
    "another program has one as well": {
        **one(f"{G}double g(int i) {{ return i; }}"),
        "a.c": G + "int main(int n, char **v) { static double y[99];\n"
        "for (int i = 0; i < n; i++) y[i] = g(i); return 0; }\n",
        "b.c": "double g(int i) { return 0; }\nint main(void) { return 0; }",
    },
}
LEFT = {
    "the other file has another type": one(
        "typedef float num;\ndouble g(num i) { return i; }",
        "typedef int num;\ndouble g(num i);\n",
    ),
    "the same name for something else": {
        **one("static int k; double g(int i) { return k; }"),
        "a.c": '#include "g.h"\nextern double k;\n'
        "void f(int n, double *y) { for (int i = 0; i < n; i++) y[i] = g(i); }\n",
    },
    "weak": one(f"{G}__attribute__((weak)) double g(int i) {{ return 2 * i; }}"),
    "static": one("static double g(int i) { return 2 * i; }"),
    "defined twice": {
        **one(f"{G}double g(int i) {{ return 2 * i; }}"),
        "h.c": "double g(int i) { return 3 * i; }",
    },
    "packed": one(f"{G}#pragma pack(1)\nstruct s {{ int i; }};\ndouble g(int i) {{ return i; }}"),
    "it sets a variable of its file": one(
        f"{G}static double last;\ndouble g(int i) {{ last = last * 2 + i; return last; }}"
    ),
    "it may set what others set": one(
        f"{G}static double *last;\ndouble g(int i) {{ last[i & 1] += 1; return last[0]; }}"
    ),
    "not declared": {**one(f"{G}double g(int i) {{ return i; }}"), "g.h": "\n"},
    "declared late": {
        **one("struct s { double a; }; double g(int i) { struct s x; x.a = i; return x.a; }"),
        "a.c": '#include "g.h"\nvoid f(int n, double *y)\n'
        "{ for (int i = 0; i < n; i++) y[i] = g(i); }\nstruct s { int a; };\n",
    },
}


@pytest.mark.parametrize("files", TAKEN.values(), ids=TAKEN)
def test_taken(tmp_path: Path, files: dict[str, str]) -> None:
    assert answers(tmp_path, files)[0] in ("yes", "privatizable")


@pytest.mark.parametrize("files", LEFT.values(), ids=LEFT)
def test_left(tmp_path: Path, files: dict[str, str]) -> None:
    assert answers(tmp_path, files)[0] in ("unknown", "no")


def test_other_rules_of_the_compiler(tmp_path: Path) -> None:
    files = one(f"{G}double g(int i) {{ return 2 * i; }}")
    for path, text in files.items():
        (tmp_path / path).write_text(text)
    flags = {"g.c": ["-fno-strict-aliasing"], "a.c": list[str]()}
    paths = [str(tmp_path / name) for name in flags]
    program = program_of(paths, lambda path: {"cflags": flags[Path(path).name]})
    (v,) = checked(load_of_program(paths[1], program)).loops
    assert v.parallel == "unknown"


def test_the_command_line(tmp_path: Path) -> None:
    for path, text in {"vec.h": HEADER, "a.c": CALLER, "vec.c": VECTORS}.items():
        (tmp_path / path).write_text(text)

    def said(*words: str) -> str:
        command = [sys.executable, "-m", "loopxform", "check", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout

    alone, program, folder = said("a.c"), said("a.c", "--program", "."), said(".", "-j", "2")
    assert alone.count("unknown") == 3
    assert (
        "with dot of vec.c, get of vec.c, norm of vec.c, report of vec.c, set of vec.c" in program
    )
    assert "unknown" not in program
    assert "with dot of vec.c, get of vec.c" in folder


def test_what_text_declares() -> None:
    text = """typedef struct s { int n; double *v; } S, *SP;
typedef struct { double a; } box;
struct later;
enum e { A, B = 3 };
extern double f(int n, double (*g)(int)) __attribute__((pure));
static const double t[] = {1, 2}, u = 4;
int (*fp)(int), *q, arr[3][4];
unsigned h(x, y) double x; int y; { return A; }
double k(S *s) { s->n = 1; return f(2, 0); }
"""
    declared = [sorted(p.declares) for p in Globals(text).pieces]
    assert declared == [
        ["S", "SP", "struct s"], ["box"], [], ["A", "B", "enum e"], ["f"], ["t", "u"],
        ["arr", "fp", "q"], ["h"], ["k"],
    ]  # fmt: skip
    assert "n" not in Globals(text).functions["k"].mentions


@pytest.mark.parametrize(
    ("text", "types"),
    {
        "extern double f(), g();": (("double",), None),
        "double g(a, b) double *a, *b;": (("double",), None),
        "double g(const num *a, int n)": (("double",), ("const", "num", "*", ",", "int", ",")),
        "double g(const num *, int);": (("double",), ("const", "num", "*", ",", "int", ",")),
        "vec *f(), *g();": (("vec", "*"), None),
        "double g(int (*h)(int))": None,
    }.items(),
)
def test_signatures(text: str, types: object) -> None:
    assert signature(words(text), "g") == types


def test_declarations_without_values() -> None:
    said = plain_declaration(words("static int e = 3, f[2] = {1, 2}, *p;"), "extern")
    assert said == "extern int e, f [ 2 ], * p;"
    assert plain_declaration(words("static struct { int a; } s;"), "extern") is None
