"""How kernels are laid out: no token changes but braces that C does not need."""

from __future__ import annotations

from textwrap import indent

import pytest

from loopxform.codegen.opencl.layout import hinted, in_rows, joined, parameters_of, unbraced

BRACES = {
    "one-statement": ("for (;;) {\n  a = 1;\n}", "for (;;)\n  a = 1;"),
    "loops": (
        "for (;;) {\n  LX_UNROLL for (;;) {\n    a = 1;\n  }\n}",
        "for (;;)\n  LX_UNROLL for (;;)\n    a = 1;",
    ),
    "comment": ("if (x) {\n  /* why */\n  a = 1;\n}", "if (x)\n  /* why */\n  a = 1;"),
    "condition": ("for (;;) {\n  if (x) {\n    a = 1;\n  }\n}", "for (;;)\n  if (x)\n    a = 1;"),
    "return": ("if (x) {\n  return y;\n}", "if (x)\n  return y;"),
    "macro-condition": ("LX_IF(LX_1, at < 4) {\n  a = 1;\n}", "LX_IF(LX_1, at < 4)\n  a = 1;"),
}
KEPT = {
    "several": "for (;;) {\n  a = 1;\n  b = 2;\n}",
    "declaration": "if (x) {\n  const int y = 1;\n}",
    "declaration-of-a-struct": "if (x) {\n  lx_point p = q[0];\n}",
    "declaration-of-a-vector": "if (x) {\n  float4 v;\n}",
    "several-in-a-macro": "if (x) {\n  LX_SPREAD(4, tile, c0, c1, v);\n}",
    "else": "if (x) {\n  a = 1;\n} else {\n  a = 2;\n}",
    "else-inside": "if (x) {\n  if (y) {\n    a = 1;\n  } else {\n    a = 2;\n  }\n}",
    "forms": "if (x) {\n#if LX_FORM == 0\n  a = 1;\n#endif\n}",
    "block": "{\n  a = 1;\n}",
    "empty": "for (;;) {\n}",
    "nested-several": "for (;;) {\n  for (;;) {\n    a = 1;\n    b = 2;\n  }\n  c = 3;\n}",
}


@pytest.mark.parametrize("case", BRACES)
def test_braces_around_one_statement_are_left_out(case: str) -> None:
    text, wanted = BRACES[case]
    assert unbraced(text) == wanted


@pytest.mark.parametrize("case", KEPT)
def test_other_braces_stay(case: str) -> None:
    assert unbraced(KEPT[case]) == KEPT[case]


def test_hints_stand_in_front_of_their_loops() -> None:
    text = "  #pragma unroll\n  for (;;)\n#pragma unroll\n  for (;;)\n#pragma unroll\n  while (1)"
    wanted = "  LX_UNROLL for (;;)\n  LX_UNROLL for (;;)\n#pragma unroll\n  while (1)"
    assert hinted(text) == wanted


def test_declarations_of_one_type_share_a_line() -> None:
    apart = ("const int a = 1;", "const int b = f(2, 3);", "const uint c = 4;")
    arrays = ("float x[2][Ry];", "float y[2][Rx];", "__local float t[4];")
    shared = ("const int a = 1, b = f(2, 3);", "const uint c = 4;", "float x[2][Ry], y[2][Rx];")
    text, wanted = "\n".join((*apart, *arrays)), "\n".join((*shared, arrays[-1]))
    assert joined(indent(text, "  ")) == indent(wanted, "  ")
    far = f"  const int a = {'1 + ' * 20}1;\n  const int b = {'1 + ' * 20}1;"
    assert joined(far) == far
    two = "  int a = 1; f();\n  int b = 2;"
    assert joined(two) == two


def test_parameters_are_put_in_rows_and_found_again() -> None:
    parameters = [f"__global const float *restrict array_{n}" for n in range(7)]
    head = in_rows("void k", parameters)
    assert max(map(len, head.splitlines())) <= 100
    assert len(head.splitlines()) == 4
    assert list(parameters_of(head[len("void k(") : -1])) == parameters
    assert in_rows("void k", []) == "void k()"
