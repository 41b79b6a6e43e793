"""Loops as people write them, in every recipe: directions, steps, counters read after the loop."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import assert_runs_agree
from tilings import tile

from loopxform import load, loads
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.ir.nodes import Param
from loopxform.schedule.params import Recipe, Tiles
from loopxform.verify.cref import CSource

SIZES = (
    {"P": 3, "M": 9, "U": 5, "N": 7},
    {"P": 1, "M": 8, "U": 4, "N": 8},
    {"P": 2, "M": 0, "U": 3, "N": 2},
)

PRODUCT = """
void f(int P, int M, int U, int N, float A[P][M][U], float B[U][N], float C[P][M][N])
{{
  int b, i, j, k;
  for ({b})
    for ({i})
      for ({j}) {{
        float acc = 0;
        for ({k})
          acc += A[b][i][k] * B[k][j];
        C[b][i][j] = {result};
      }}
}}
"""

UP = {
    "b": "b = 0; b < P; b++",
    "i": "i = 0; i < M; i++",
    "j": "j = 0; j < N; j++",
    "k": "k = 0; k < U; k++",
    "result": "acc",
}

FORMS = {
    "batch downwards": {"b": "b = P - 1; b >= 0; b--"},
    "batch downwards by 2": {"b": "b = P - 1; b >= 0; b -= 2"},
    "batch by 2 from 1": {"b": "b = 1; b < P; b += 2"},
    "rows downwards": {"i": "i = M - 1; i >= 0; i--"},
    "all downwards": {
        "b": "b = P - 1; b > -1; --b",
        "i": "i = M - 1; i > -1; i += -1",
        "j": "j = N - 1; 0 <= j; j = j - 1",
        "k": "k = U - 1; k >= 0; k--",
    },
    "rows by 3": {"i": "i = 0; i <= M - 1; i += 3"},
    "columns by 2 from 1": {"j": "j = 1; N > j; j += 2"},
    "sum by 2": {"k": "k = 0; k < U; k += 2"},
    "sum downwards by 2": {"k": "k = U - 1; k >= 0; k -= 2"},
    "counter read after its loop": {"result": "acc / (k + 1)"},
    "counter read after its loop downwards": {"k": "k = U - 1; k >= 0; k--", "result": "acc + k"},
}


@pytest.mark.device
@pytest.mark.parametrize("recipe", ["naive", "block", "register"])
@pytest.mark.parametrize("form", FORMS)
def test_runs_like_the_c_program(form: str, recipe: Recipe, tmp_path: Path) -> None:
    file = tmp_path / "f.c"
    file.write_text(PRODUCT.format(**(UP | FORMS[form])))
    fn = load(str(file))["f"].function
    plan = emit.kernel(tile(fn, Tiles(4, 4, 4, 2, 2), recipe).derivation, fp=SEPARATE)
    assert_runs_agree(plan, CSource(str(file)), SIZES, 7)


@pytest.mark.device
@pytest.mark.parametrize("recipe", ["naive", "block", "register"])
def test_parameters_that_count_loops(recipe: Recipe, tmp_path: Path) -> None:
    """Kernels declare the counter, and have no argument of its name."""
    text = PRODUCT.format(**UP).replace("int N,", "int N, int b, int i, int j, int k,")
    file = tmp_path / "f.c"
    file.write_text(text.replace("  int b, i, j, k;\n", ""))
    fn = load(str(file))["f"].function
    plan = emit.kernel(tile(fn, Tiles(4, 4, 4, 2, 2), recipe).derivation, fp=SEPARATE)
    sizes = tuple({**s, "b": 5, "i": -1, "j": 2, "k": 3} for s in SIZES)
    assert_runs_agree(plan, CSource(str(file)), sizes, 7)


def test_a_parameter_that_is_read_beside_the_loop_it_counts() -> None:
    """It is an argument of the kernel that reads it, and of no other."""
    text = (
        "void f(int n, int m, int i, float *restrict a) {\n for (int q = 0; q < n; q++) a[q] = i;\n"
    )
    text += " for (i = 0; i < m; i++) a[i] *= 2;\n}\n"
    first, second = emit.kernel(loads(text)["f"].offload(fp="strict").derivation).kernels[:2]
    assert [a.name for a in first.arguments if isinstance(a, Param)] == ["n", "i"]
    assert [a.name for a in second.arguments if isinstance(a, Param)] == ["m"]
