"""Annotations of the source: what is read, what they govern, what is refused."""

from __future__ import annotations

from textwrap import dedent

import pytest
from conftest import Golden
from lowering import parsed

from loopxform.errors import InputError
from loopxform.frontend import Parsed
from loopxform.ir.annotations import Annotation, left_alone
from loopxform.ir.nodes import For
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import at

HEAD = "void f(int n, unsigned u, long m, float x, float *a, float *b)\n{\n  int k = n;\n"
LOOP = "  for (int i = 0; i < n; i++)\n    a[i] = b[i];\n"


def found(text: str, name: str = "f") -> tuple[Annotation, ...]:
    return parsed(text).annotations[name]


def in_function(pragma: str) -> str:
    return f"{HEAD}{pragma}\n{LOOP}}}\n"


def lines(read: Parsed, name: str = "f") -> list[tuple[str, list[int]]]:
    """Each annotation as it is written, with the lines of what it governs."""
    fn = next(f for f in read.unit.functions if f.name == name)
    out = []
    for a in read.annotations[name]:
        locs = [at(fn, p).origin.loc for p in a.paths]
        out.append((a.text, [loc.line for loc in locs if loc]))
    return out


def test_each_governs_the_statement_that_follows() -> None:
    read = parsed(
        """\
        void f(int n, float *a)
        {
        #pragma loopxform parallel
        #pragma omp parallel for
        #pragma loopxform tile(Ty=16, pad), check(reduction)
          for (int i = 0; i < n; i++)
        #pragma loopxform ignore
            for (int j = 0; j < n; j++)
              a[i] += j;
        #pragma loopxform ignore
          a[0] = 1;
        #pragma loopxform check
          while (a[0] < 9) a[0]++;
        }
        """
    )
    assert lines(read) == [
        ("parallel", [6]),
        ("tile(Ty=16, pad)", [6]),
        ("check(reduction)", [6]),
        ("ignore", [8]),
        ("ignore", [11]),
        ("check", [13]),
    ]
    tiled = read.annotations["f"][1]
    assert tiled.options == (("Ty", "16"), ("pad", ""))
    assert (str(tiled.loc), tiled.width) == ("t.c:5:19", 4)


def test_those_in_front_of_a_function_are_of_that_function() -> None:
    read = parsed(
        """\
        #pragma loopxform ignore
        #pragma once_upon a time
        void f(int n, float *a) { for (int i = 0; i < n; i++) a[i] = 0; }
        #pragma loopxform assume(n > 0)
        static int later;
        void g(int n, float *a) { for (int i = 0; i < n; i++) a[i] = 0; }
        """
    )
    assert [(a.verb, a.whole) for a in read.annotations["f"]] == [("ignore", True)]
    assert [a.text for a in read.annotations["g"]] == ["assume(n > 0)"]
    f, g = read.unit.functions
    assert f.assumes == ()
    assert list(map(expr_text, g.assumes)) == ["n > 0"]


def test_macros_hold_annotations_and_their_arguments() -> None:
    read = parsed(
        """\
        #define SIZE 16
        #define Ty 99
        #define check(x) no
        #define DO_PRAGMA(x) _Pragma(#x)
        #define EACH _Pragma("loopxform tile(Ty=4)") for (int i = 0; i < n; i++)
        void f(int n, float *a)
        {
        #pragma loopxform tile(Ty=SIZE) assume(n % SIZE == 0) \\
            check
          for (int i = 0; i < n; i++) a[i] = 0;
          EACH a[i] += 1;
          DO_PRAGMA(loopxform parallel)
          for (int i = 0; i < n; i++) a[i] += 2;
        }
        """
    )
    assert lines(read) == [
        ("tile(Ty=16)", [10]),
        ("assume(n % 16 == 0)", []),
        ("check", [10]),
        ("tile(Ty=4)", [11]),
        ("parallel", [13]),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n > 0", ["n > 0"]),
        ("0 <= n - 3 && (n + 2 * m < 100 || m == -1)", ["0 <= n - 3", "n + 2*m < 100 || m == -1"]),
        ("u > 3 && u != 4", ["u > 3", "u != 4"]),
        ("n / 4 >= m % 8 && 0x10 < n", ["n/4 >= m % 8", "16 < n"]),
        ("K < n && n > g", ["3 < n", "n > g"]),
        ("-n < 5", ["0 - n < 5"]),
    ],
)
def test_conditions(text: str, expected: list[str]) -> None:
    pragma = f"#pragma loopxform assume({text})\n  a[0] = g;"
    read = parsed("enum { K = 3 };\nstatic int g;\n" + in_function(pragma))
    assert list(map(expr_text, read.unit.functions[0].assumes)) == expected


def test_a_scop_is_what_stands_between() -> None:
    """Also where an early return is a condition around what follows."""
    read = parsed(
        """\
        void f(int n, float *a)
        {
          a[0] = 1;
          for (int i = 0; i < n; i++) a[i] = 0;
        #pragma scop
          for (int i = 0; i < n; i++) a[i] += 1;
          if (n > 9) return;
          for (int i = 0; i < n; i++) a[i] += 2;
        #pragma endscop
          for (int i = 0; i < n; i++) a[i] += 3;
        }
        """
    )
    assert lines(read) == [("scop", [6, 8])]


def test_what_is_left_alone() -> None:
    text = """\
        void f(int n, float *a)
        {
          a[0] = 1;
          for (int i = 0; i < n; i++) a[i] = 0;
        #pragma scop
          for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) a[j] += 1;
        #pragma loopxform ignore
            for (int j = 0; j < n; j++) a[j] += 2;
          }
        #pragma endscop
        }
        """
    read = parsed(text)
    (fn,), known = read.unit.functions, read.annotations["f"]
    asked = {(0,): None, (1,): "scop", (2,): "ignore", (2, 0): None, (2, 1): "ignore"}
    for path, verb in asked.items():
        why = left_alone(known, path, at(fn, path))
        assert (why.verb if why else None) == verb
    inside = at(fn, (2, 1))
    assert isinstance(inside, For)
    assert left_alone(known, (2, 1, 0), inside.body[0]) is not None


def test_those_of_a_function_whose_body_takes_the_place_of_a_call() -> None:
    read = parsed(
        """\
        static void row(int n, float *a)
        {
        #pragma loopxform tile(Tx=8) check assume(n > 0)
          for (int j = 0; j < n; j++) a[j] = 0;
        }
        void f(int n, float *a) { for (int i = 0; i < n; i++) row(n, &a[i * n]); }
        """
    )
    assert lines(read) == [("tile(Tx=8)", [4])]
    assert [a.verb for a in read.annotations["row"]] == ["tile", "check", "assume"]


def test_other_pragmas_are_not_ours() -> None:
    assert found(in_function("#pragma GCC ivdep\n#pragma scopes\n#pragma loopxformer x")) == ()


REFUSED = {
    "nothing": "#pragma loopxform",
    "unknown": "#pragma loopxform til(Ty=3)",
    "unknown-far": "#pragma loopxform vectorize",
    "no-word": "#pragma loopxform parallel, 3",
    "open": "  #pragma   loopxform   parallel   tile(Ty=3",
    "argument": "#pragma loopxform parallel(3)",
    "no-argument": "#pragma loopxform assume",
    "empty-argument": "#pragma loopxform noalias()",
    "local": "#pragma loopxform assume(n > 0 && k > 0)",
    "float": "#pragma loopxform assume(x > 0)",
    "array": "#pragma loopxform assume(a > 0)",
    "product": "#pragma loopxform assume(n*n > 0)",
    "no-comparison": "#pragma loopxform assume(n)",
    "call": "#pragma loopxform assume(abs(n) > 3)",
    "syntax": "#pragma loopxform assume(n >)",
    "undeclared": "#pragma loopxform assume(q > 1)",
    "unsigned": "#pragma loopxform assume(u - 1 > 2)",
    "mixed-signs": "#pragma loopxform assume(n > 0 && u > n)",
    "negative-unsigned": "#pragma loopxform assume(u > -1)",
    "divisor": "#pragma loopxform assume(n / 0 > 2)",
    "variable-divisor": "#pragma loopxform assume(n % n == 2)",
    "large-number": "#pragma loopxform assume(n * 3000000000 > 2)",
    "unsigned-number": "#pragma loopxform assume(n < 3u)",
    "large-product": "#pragma loopxform assume(n * 2000000000 * 2000000000 > 2)",
    "changed": "#pragma loopxform assume(m > 2)\n  m = 3;",
    "one-array": "#pragma loopxform noalias(a)",
    "no-array": "#pragma loopxform noalias(a, n)",
    "no-name": "#pragma loopxform noalias(a, b[2])",
    "verdict": "#pragma loopxform check(fast)",
    "no-value": "#pragma loopxform tile(Ty=)",
    "twice": "#pragma loopxform tile(Ty=3, Ty=4)",
    "no-loop": "#pragma loopxform parallel\n  k = 3;",
    "no-statement": "  {\n    k = 3;\n#pragma loopxform ignore\n  }",
    "open-scop": "#pragma scop",
    "no-scop": "#pragma endscop",
    "two-scops": "#pragma scop\n#pragma scop",
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, golden: Golden) -> None:
    with pytest.raises(InputError) as e:
        parsed(in_function(REFUSED[name]))
    assert (e.value.code, e.value.status) == ("LX066", 2)
    golden.check(e.value.render() + "\n")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("#pragma loopxform parallel\nvoid f(int n) { }\n", "t.c:1:19: error: 'parallel' stands"),
        ("void f(int n) { }\n#pragma scop\n", "t.c:2:9: error: 'scop' stands in front of no func"),
        ("#pragma loopxform assume(g > 0)\nint g;\nvoid f(int n) { }\n", "t.c:1:26: error: assume"),
    ],
)
def test_refused_in_front_of_functions(text: str, place: str) -> None:
    with pytest.raises(InputError) as e:
        parsed(dedent(text))
    assert e.value.render().startswith(place)


@pytest.mark.parametrize(
    ("assumed", "expected"),
    [
        ("ld >= m", ["ld >= m"]),
        ("ld > m + 3", ["ld > m + 3"]),
        ("m < ld", ["m < ld"]),
        ("ld >= m - 1", ["m <= ld", "ld >= m - 1"]),
        ("m > 2", ["m <= ld", "m > 2"]),
        ("ld == m", ["m <= ld", "ld == m"]),
    ],
)
def test_what_an_assumption_says_is_not_asked_twice(assumed: str, expected: list[str]) -> None:
    read = parsed(
        f"""\
        void f(int n, int m, int ld, const float *a, float *b)
        {{
        #pragma loopxform assume({assumed})
          for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
              b[i * ld + j] = a[i * ld + j];
        }}
        """
    )
    assert sorted(map(expr_text, read.unit.functions[0].assumes)) == sorted(expected)
