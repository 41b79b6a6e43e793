"""Every construct knows its line and column in the user's file."""

from __future__ import annotations

from pathlib import Path

import pytest
from lowering import body, lower, opaques, parsed

from loopxform.ir.nodes import Assign, Decl, For, Function, If
from loopxform.ir.visit import loads, stmt_exprs, walk

C = """\
#define N 10
#define AT(x, y) x[(y) + 0]
void f(int n,
       float *a)  /* comment */
{
  int i; // more
  for (i = 0; i < N; i++) {  float t = a[N - 1]; /* x */ if (t > a[i])
      AT(a, i) = -t * a[i];
    #pragma omp simd
    for (int k = 0; k < n; k++) a[k] += t;
  }
}
"""


def places(fn: Function, kind: type) -> list[str]:
    found = (s for _, s in walk(fn.body) if isinstance(s, kind))
    return [f"{s.origin.loc.line}:{s.origin.loc.column}" for s in found if s.origin.loc]


def test_places() -> None:
    fn = lower(C)
    assert places(fn, For) == ["7:3", "10:5"]
    assert places(fn, If) == ["7:58"]
    assert places(fn, Decl) == ["6:7", "7:36"]
    assert places(fn, Assign) == ["7:36", "8:10", "10:33"]
    assert [str(p.origin.loc) for p in fn.params] == ["t.c:3:12", "t.c:4:15"]
    assert str(fn.origin.loc) == "t.c:3:6"
    found = [x.origin.loc for _, s in walk(fn.body) for e in stmt_exprs(s) for x in loads(e)]
    assert [f"{x.line}:{x.column}" for x in found if x] == [
        "7:40", "7:66", "8:10", "8:23", "10:33",
    ]  # fmt: skip


REFUSALS = [
    ("a[0] = 1 + foo(n);", 12, "LX012"),
    ("a[b[0]] = n;", 3, "LX014"),
    ("a[0] = n ? a[1] : 1.0L;", 19, "LX015"),
    ("n = n && *a++;", 11, "LX017"),
    ("n = - bar(2);", 7, "LX012"),
    ("n = (n, 2);", 6, "LX017"),
    ("n = &a == 0;", 5, "LX014"),
    ("while (n) n /= 2;", 1, "LX011"),
    ("do n--; while (n);", 1, "LX011"),
    ("switch (n) { case 1: n = 2; default: n = 1; }", 1, "LX011"),
    ("for (int i = 0; i < n; i *= 2) ;", 1, "LX013"),
    ("out: n = 1;", 1, "LX011"),
    ('asm ("nop");', 1, "LX016"),
]


@pytest.mark.parametrize(("statement", "column", "code"), REFUSALS)
def test_a_refusal_is_at_what_is_refused(statement: str, column: int, code: str) -> None:
    fn = lower(f"void f(int n, float *a, float *b)\n{{\n{statement}\n}}\n")
    found = opaques(fn)[0]
    assert (found.code, str(found.origin.loc)) == (code, f"t.c:3:{column}")
    assert found.text == statement


def test_an_unmodelled_loop_is_at_its_for_and_names_the_line_that_is_the_reason() -> None:
    fn = lower(
        "void f(int n, float *a)\n{\n  for (int i = 0; i < n; i++) {\n    i += a[i] > 0;\n  }\n}\n"
    )
    (found,) = opaques(fn)
    assert str(found.origin.loc) == "t.c:3:3"
    assert found.reason == "'i' is modified in the body of its loop (line 4)"


def test_columns_count_characters_of_utf8(tmp_path: Path) -> None:
    from loopxform.frontend import parse_file

    file = tmp_path / "u.c"
    file.write_bytes("void f(int n) { /* größe */ n = 1; }".encode())
    assert places(parse_file(str(file)).unit.functions[0], Assign) == ["1:29"]
    file.write_bytes("void f(int n) { /* größe */ n = 1; }".encode("latin-1"))
    assert places(parse_file(str(file)).unit.functions[0], Assign) == ["1:29"]


@pytest.mark.parametrize("newline", ["\r\n", "\n"])
def test_line_ends_and_odd_characters_do_not_shift_lines(newline: str) -> None:
    text = "void f(int n)\n{\f\v\x1c\u2028\n\tn = 1;\n}\n".replace("\n", newline)
    assert places(lower(text), Assign) == ["3:2"]


def test_the_file_is_named_as_the_user_gave_it() -> None:
    out = parsed("#define X\nvoid f(int n) { n = 1; }", file="dir/../m.c")
    assert str(out.unit.functions[0].origin.loc) == "dir/../m.c:2:6"
    assert out.dependencies == ("dir/../m.c",)


def test_every_statement_of_a_one_line_function_has_a_place() -> None:
    fn = body("for (int i = 0; i < n; i++) { int t = i; a[t] = t; }")
    assert all(s.origin.loc is not None for _, s in walk(fn.body))


def test_macro_calls_of_several_lines_do_not_shift_lines() -> None:
    text = """#define PAIR(a, b) a, b
#define LIST(a, ...) a, __VA_ARGS__
#define NAMED(a, rest...) a, ## rest
int u[] = { LIST(1,
  2 +
  3, 4
  ), NAMED(1,
  2
  ), LIST(1, LIST(
  2,
  3)) };
int t[] = { PAIR(1 +
  2, 3), PAIR(4,
  5
  + 6) };
void f(int n)
{
  n = 1;
}
"""
    assert places(lower(text), Assign) == ["18:3"]
