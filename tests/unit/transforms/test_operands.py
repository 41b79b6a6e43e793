"""Copies of what nests read: no more of an array than kernels are given, whatever is known of it
after other steps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopxform.frontend import parse_file
from loopxform.ir.nodes import Function
from loopxform.ir.printer import listing
from loopxform.transforms import PackOperands, SplitFloats, Unfold, step

TEXT = """
void f(int n, int m, const float a[restrict n + 9][m], const float b[restrict m][n],
       float y[restrict n][n], float z[restrict n])
{{
  for (int e = 0; e < n; e++)
    z[e] = a[{0}][0];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {{
      float s = 0;
      for (int k = 0; k < m; k++)
        s += a[i][k] * b[k][j];
      y[i][j] = s;
    }}
}}
"""
COPIES = {
    "split-floats i 2 a,b fast": "a_b[n, ",
    "pack-operands i 4 a,b": "a_p[n, ",
    "relayout a 1,0": "a_t[max(m, 1), max(n, 1)]",
    "unfold i a 1*0": "a_m[m*n]",
}


def program(row: str) -> Function:
    return parse_file("f.c", text=TEXT.format(row)).unit.functions[0]


@pytest.mark.parametrize("text", COPIES)
def test_no_more_is_copied_than_kernels_are_given(text: str) -> None:
    """Of `a` its first n rows, as the program that steps began with says."""
    fn, copying = replace(program("e * e / (e + 1)"), start=program("e")), step(text)
    if isinstance(copying, PackOperands | SplitFloats | Unfold):
        fn = replace(fn, assumes=copying.open_questions(fn))
    assert not copying.check(fn)
    assert COPIES[text] in listing(copying.rewrite(fn))
