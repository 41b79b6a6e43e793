"""Loops whose step is a variable, as loops over the number of the iteration."""

from __future__ import annotations

import pathlib
import subprocess
from typing import Any

import pytest
from differential import needs_compiler
from pycparser import c_ast, c_generator, c_parser

import loopxform as lx
from loopxform.frontend.desugar.names import Fresh
from loopxform.frontend.desugar.structured import structure
from loopxform.frontend.syntax.tree import every

HEAD = "extern double a[99], b[99]; double *get(int);\n"

VERDICTS = {
    "for (int i = 0; i < n; i += s) a[i] += b[i];": "yes",
    "int i; for (i = n; i > 0; i = i - s) a[3] += b[i];": "reduction",
    "for (int i = 0; n >= i; i += s) a[i] += a[i + 1];": "yes",
    "for (int i = n - 1; i < 90; i += s) a[3] += b[i];": "reduction",
    "for (int i = 0; i < n; i += 2 * s) a[i / 2] = b[i];": "yes",
    "for (int i = 1; i < n; i += s) a[i] += a[0];": "yes",
    # the step is another one later on, or of another type; the other way; out in the middle
    "for (int i = 0; i < n; i += s) { a[i] = b[i]; s = 2; }": "no",
    "for (int i = 0; i < n; i += k) a[i] = b[i];": "unknown",
    "for (int i = 0; i < n; i -= s) a[i] = b[i];": "unknown",
    "for (unsigned i = 0; i < u; i += u) a[i] = b[i];": "unknown",
    "for (int i = 0; i < n; i += s) { if (i == n - 3) break; a[i] = b[i]; }": "unknown",
}


@pytest.mark.parametrize(("loop", "verdict"), VERDICTS.items())
def test_verdicts(loop: str, verdict: str) -> None:
    text = f"{HEAD}void f(int n, int s, long k, unsigned u) {{ {loop} }}"
    assert lx.loads(text)["f"].check()[0].parallel == verdict


def test_what_is_assumed_and_of_which_variable() -> None:
    (found,) = lx.loads(f"{HEAD}void f(int n, int s) {{ {next(iter(VERDICTS))} }}")["f"].check()
    assert (found.var, found.assumes) == ("i", ("1 <= s",))


def test_what_is_reduced_names_no_counter_that_the_text_does_not_have() -> None:
    loops = "for (int i = 0; i < n; i += s) for (int j = 0; j < n; j += s)"
    text = f"void f(int n, int s, float *restrict x, const float *restrict y) {{ {loops} "
    for update, name in (
        ("x[i + 1] += y[j];", "x[...]"),
        ("if (y[j] > x[i + 1]) x[i + 1] = y[j];", "x[...]"),
        ("x[3] += y[j];", "x[3]"),
    ):
        found = lx.loads(f"{text} {update} }}")["f"].check()[1]
        assert [r.var for r in found.reductions] == [name]
        assert "iteration" not in " ".join(found.assumes)


ENDS = {
    "for (i = 0; i < n; i += s) a[i] = 1; return i;": ["i"],
    "for (i = 0; i < n; i += s) for (j = 0; j < n; j++) a[i + j % s] = 1; return i + j;": [
        "j",
        "i",
    ],
    "for (i = 0; i < n; i += s) { for (j = 0; j < 3; j++) a[3 * i + j] = 1; } return i;": ["i"],
    "for (i = 0; i < n; i += s) a[i] = 1; return 0;": [],
    "for (i = 0; i < n; i += s) a[i] = 1; for (i = 0; i < n; i++) a[i]++; return 0;": [],
}


@pytest.mark.parametrize(("body", "ends"), ENDS.items())
def test_the_counter_is_read_afterwards(body: str, ends: list[str]) -> None:
    text = f"{HEAD}int f(int n, int s) {{ int i, j = 0; {body} }}"
    found = lx.loads(text)["f"].check()[0]
    if found.parallel != "unknown":
        assert (found.parallel, list(found.copies)) == ("privatizable" if ends else "yes", ends)


LOOPS = [
    "int i; for (i = lo; i < hi; i += s) { x[count++] = i; }",
    "int i; for (i = lo; i <= hi; i = i + s) { x[count++] = i; }",
    "int i = 3; for (i = hi - 1; i > lo; i -= s) { x[count++] = i; }",
    "int i; for (i = lo + 1; hi >= i; i += s) { x[count++] = i; }",
    "int i; for (i = hi; i >= lo; i = i - s) { x[count++] = i; }",
    "int i; for (i = lo; i < hi; i += 2 * s) { x[count++] = i; }",
]


@needs_compiler
@pytest.mark.parametrize("loop", LOOPS)
def test_the_iterations_are_the_same(loop: str, tmp_path: pathlib.Path) -> None:
    """Of steps above zero; and there is none where the loop has none, whatever the step."""
    name = "int {}(int lo, int hi, int s, int *x) {{ int count = 0; {} return 100 * count + i; }}"
    parsed: Any = c_parser.CParser().parse(name.format("counted", loop))
    (node,) = parsed.ext
    structure(node, frozenset(), Fresh(), strides=True)
    assert any(isinstance(x, c_ast.TernaryOp) for x in every(node))
    again = c_generator.CGenerator().visit(node).replace("@", "_")
    text = f"""
    #include <string.h>
    {name.format("plain", loop)}
    {again}
    int main(void) {{
      for (int lo = -3; lo < 4; lo++)
        for (int hi = -3; hi < 9; hi++)
          for (int s = -2; s < 5; s++) {{
            int x[64] = {{0}}, y[64] = {{0}};
            if (s < 1 && lo <= hi) continue;
            if (plain(lo, hi, s, x) != counted(lo, hi, s, y)) return 1;
            if (memcmp(x, y, sizeof x)) return 2;
          }}
      return 0;
    }}"""
    file, app = tmp_path / "strides.c", tmp_path / "strides"
    file.write_text(text)
    subprocess.run(["cc", "-std=c11", "-o", app, file], check=True)
    assert subprocess.run([app]).returncode == 0
