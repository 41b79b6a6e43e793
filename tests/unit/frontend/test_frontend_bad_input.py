"""Whatever the input, the answer is a diagnostic with a place, never a traceback."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from lowering import parsed

from loopxform import budget
from loopxform.errors import InputError
from loopxform.frontend import parse_file

BAD = [
    ("void f(int n) { n = ; }", "syntax error: invalid expression", "1:21"),
    ("void f(int n) {\n  n = 1\n}\n", "syntax error before '}'", "3:1"),
    ("void f(int n) { n = 1;", "the file ends inside a declaration", "1:22"),
    ("void f(int n) { /* n = 1;\n}", "unterminated comment", "1:17"),
    ("}", "syntax error before '}'", "1:1"),
    ("void f(fp *a) { a[0] = 1; }", "unknown type name 'fp'", "1:8"),
    ("void f(int n) {\n  real x = n;\n}", "unknown type name 'real'", "2:3"),
    ("void f(int n) {\n  n = (size_t)n;\n}", "unknown type name 'size_t'", "2:8"),
    ("#if 1\nint x;", "unterminated #if 1", "1:1"),
    ("#endif\n", "misplaced #endif", "1:1"),
    ("#if (1 +\n#endif", "the condition cannot be evaluated", "1:1"),
    ("int a;\n  #error no\n", "#error no", "2:3"),
    ("#bogus\n", "unknown directive #bogus", "1:1"),
    ('#include "no.h"\n', "include file 'no.h' not found", "1:10"),
    ("#define F(a) a\nint x = F(1, 2);", "macro F requires 1 arguments but was passed 2", "2:1"),
    ("int x = ??(;", "trigraphs are not read", "1:9"),
    ("#ifdef B\\\n5\n#endif\nint x;", "continued on the next line is not read", "1:8"),
    ("#if A && \\\n  B\\\n5\n#endif\nint x;", "continued on the next line is not read", "2:3"),
    ("int f(a) float a; { return a; }", "f: an old-style (K&R) definition", "1:5"),
    ("int x = 09;", "syntax error: invalid octal constant", "1:9"),
    ("int x = 1 $ 2;", "syntax error before '$'", "1:11"),
    ("void f(int n) { n = n ?: 1; }", "syntax error: invalid expression", "1:24"),
    ("int f(int gr\u00f6sse) { return 1; }", "'\u00f6' is no letter of a name here", "1:13"),
    ("int a<:2:>;", "'<:' is not read", "1:6"),
    ("void f(int n) {\n  switch (n) { case 1 ... 9: n = 1; }\n}", "'...' between the", "2:23"),
    ("double f(void) { return 1.0iF; }", "'iF' makes a complex number", "1:28"),
    ("a \\\n / \\\n* b", None, None),
    ("int x; /\\\n* no */", "a comment mark is split over two lines", "1:8"),
    ("void f(int n) { n = " + "(" * 4000 + "1" + ")" * 4000 + "; }", "nested too deeply", None),
    ("void f(int n) " + "{" * 3000 + "}" * 3000, "nested too deeply", None),
    ("int f(int n) { return " + "-" * 3000 + "n; }", None, None),
]


@pytest.mark.parametrize(("text", "message", "place"), BAD)
def test_bad(text: str, message: str | None, place: str | None) -> None:
    with pytest.raises(InputError) as caught:
        parsed(text)
    if message is None:
        return
    assert message in caught.value.message
    assert caught.value.loc is not None
    if place is not None:
        assert f"{caught.value.loc.line}:{caught.value.loc.column}" == place
        first, *rest = caught.value.render().splitlines()
        assert first.startswith(f"t.c:{place}: error: ")
        assert any("^" in line for line in rest)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        parse_file(str(tmp_path / "no.c"))
    with pytest.raises(InputError, match="is a directory"):
        parse_file(str(tmp_path))
    (tmp_path / "binary.c").write_bytes(bytes(range(256)))
    with pytest.raises(InputError, match="is binary, not C"):
        parse_file(str(tmp_path / "binary.c"))


def test_empty_files_have_no_functions() -> None:
    for text in ("", "\n\n", "/* nothing */", ";", "int x;", "void f(int);", "#pragma once"):
        out = parsed(text)
        assert out.unit.functions == ()
        assert not out.problems


GOOD = "void good(int n, float *a)\n{\n  a[n] = 1;\n}\n"
BROKEN = [
    ("void bad(fp *a) { a[0] = 1; }\n", "unknown type name 'fp'"),
    (
        "void bad(int n)\n{\n  for (int i = 0; i < n; i++\n    n = 1;\n}\n",
        "syntax error before 'n'",
    ),
    ("void bad(int n) { n = ; }\n", "syntax error: invalid expression"),
    ("int bad(a) float a; { return a; }\n", "bad: an old-style (K&R) definition"),
    ("void bad(int n) { n = " + "(" * 900 + "1" + ")" * 900 + "; }\n", "nested too deeply"),
    ("void bad(int n) { n = " + "+".join("n" * 3000) + "; }\n", "'bad' is nested too deeply"),
]


@pytest.mark.parametrize(("bad", "message"), BROKEN)
def test_a_broken_function_leaves_the_others(bad: str, message: str) -> None:
    for text in (bad + GOOD, GOOD + bad, "#define X\n" + bad + GOOD):
        out = parsed(text)
        assert [f.name for f in out.unit.functions] == ["good"]
        (problem,) = out.problems
        assert message in problem.message
        assert out.failed["bad"] is problem
        loc = out.unit.functions[0].origin.loc
        assert loc is not None
        assert text.splitlines()[loc.line - 1].startswith("void good")


@pytest.mark.parametrize("bad", ["bad { return; }\n", "int bad { n = 1; }\n"])
def test_a_body_without_parameters_is_no_function(bad: str) -> None:
    for text in (f"int n;\n{bad}{GOOD}", f"{GOOD}{bad}", bad):
        try:
            (problem,) = parsed(text).problems
        except InputError as e:
            problem = e
        assert problem.message == "syntax error before '{'"


def test_several_broken_declarations() -> None:
    out = parsed("int a = ;\nfp b;\n" + GOOD + "int c = ?;\n")
    assert len(out.problems) == 3
    assert [p.loc.line for p in out.problems if p.loc] == [1, 2, 7]


def test_many_faults_cost_their_declarations_and_no_more() -> None:
    """Types, structs and constants from before a fault are known behind it, at their places."""
    bad = "void bad{n}(int n) {{ n = ; }}\n"
    good = "typedef struct {{ real x; }} s{n};\nvoid good{n}(s{n} *p, real q) {{ p[N].x = q; }}\n"
    pairs = (bad.format(n=n) + good.format(n=n) for n in range(120))
    out = parsed("typedef float real; enum { N = 3 };" + "".join(pairs))
    assert [p.loc.line for p in out.problems if p.loc] == [3 * n + 1 for n in range(120)]
    functions = out.unit.functions
    assert [f.name for f in functions] == [f"good{n}" for n in range(120)]
    assert [f.origin.loc.line for f in functions if f.origin.loc] == [3 * n + 3 for n in range(120)]
    assert all(str(f.params[1].type) == "float" for f in functions)


def test_what_a_dropped_declaration_declared_is_not_guessed() -> None:
    out = parsed("enum { N = 3 ? : 4 };\nvoid f(float *a) { a[0] = N; }\n")
    from lowering import opaques

    assert len(out.problems) == 1
    assert opaques(out.unit.functions[0])[0].reason == "'N' is not declared"


SEED = """#include <stdio.h>
#define N 4
typedef float real;
static real A[N][2*N];
void f(int n, real *x, unsigned m)
{
  int i; /* c */
  for (i = 0; i < n; i++) { real t = x[i] * 2.0f; if (t > A[i][1]) A[i][0] += t; else x[m] = -t; }
  while (n--) x[n] = (real)sqrt(x[n]);
}
"""


def test_random_damage_never_escapes_as_another_exception() -> None:
    rng = random.Random(7)
    for _ in range(400):
        text = SEED
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(text))
            piece = rng.choice(
                [
                    "",
                    "{",
                    "}",
                    "(",
                    ")",
                    ";",
                    "*",
                    "#",
                    '"',
                    "'",
                    "int ",
                    "&",
                    "\\\n",
                    "[",
                    "é",
                    "0x",
                    "/*",
                    "=",
                ]
            )
            text = text[:at] + piece + text[at + rng.randint(0, 3) :]
        assert all(rendered(text))


def rendered(text: str) -> list[str]:
    """The diagnostics of a file."""
    try:
        return [e.render() for e in parsed(text).problems]
    except InputError as e:
        return [e.render()]


@pytest.mark.parametrize("text", [t for t, message, _ in BAD if message])
def test_every_refusal_says_what_to_do(text: str) -> None:
    with pytest.raises(InputError) as e:
        parsed(text)
    assert e.value.help


@pytest.mark.parametrize(
    "bad",
    [
        ["void bad(int n) { for (int i = 0; i < n; i++ { } }"],
        ["void bad(int n) { n = (1; }", "void worse(int n) { n = 1); }"],
        ["void old(a, n) float *a; int n; { a[n] = ; }"],
        ["void old(a, n) float *a; int n; { a[n] = (1; }", "void bad(int n) { n = ; }"],
        ["int old(n)\n int n;\n{\n return (n; }", "void bad(int n) {\n n = ; }"],
        ["int x[] = { 1, (2 };", "void bad(int n) { n = ; }"],
        ["int bad(int n { return 0; }"],
        ["int bad(int a[3] { return 0; }", "int worse(struct s { int x; } s, int n { return n; }"],
    ],
)
def test_a_bad_function_hides_no_other(bad: list[str]) -> None:
    for text in (GOOD + "\n".join(bad), "\n".join(bad) + "\n" + GOOD):
        found = parsed(text)
        assert [f.name for f in found.unit.functions] == ["good"]
        assert len(found.problems) == len(bad)


def test_faults_between_types_take_no_longer_than_others() -> None:
    text = "".join(f"int b{n}(int n) {{ return n }}\ntypedef int T{n};\n" for n in range(600))
    with budget.within(budget.Budget.of(seconds=10)):
        out = parsed(text + "void good(T599 n, T0 *a) { a[0] = n; }\n")
    assert len(out.problems) == 600
    assert [f.name for f in out.unit.functions] == ["good"]
