"""Programs of several nests: one kernel each, in order, arrays between them on the device."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import derived

from loopxform.codegen import emit, launches
from loopxform.errors import EmitError

TURNED = """\
void f(int n, int m, float a[restrict n][m], float b[restrict m][n])
{
  float t[m][n];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      t[j][i] = a[i][j];
  for (int p = 0; p < m; p++)
    for (int q = 0; q < n; q++)
      b[p][q] = t[p][q] - t[p][0];
}
"""

STEPS = (
    *("parallelise i", "parallelise p", "stripmine i 4", "stripmine p 4"),
    *("map ii group.x", "map pp group.x", "map i thread.x", "map p thread.x"),
)


def test_text(golden: Golden) -> None:
    done = derived(TURNED, *STEPS)
    made = emit.opencl(done, stem="f", origin="f.c", version="test", contract=False)
    golden.check(made.files["f.cl"], "two-nests")


def test_plan() -> None:
    done = derived(TURNED, *STEPS)
    plan = emit.kernel(done)
    assert [k.name for k in plan.kernels] == ["lx_f", "lx_f_2"]
    assert [b.param.name for b in plan.buffers] == ["a", "b"]
    assert [b.param.name for b in plan.temporaries] == ["t"]
    assert [k.groups({"n": 9, "m": 5}) for k in plan.kernels] == [(3, 1, 1), (2, 1, 1)]
    const = "__global const float *restrict"
    assert [k.text.count(const) for k in plan.kernels] == [1, 1]


def test_a_nest_under_a_condition() -> None:
    text = TURNED.replace("  for (int p", "  if (m > 7)\n  for (int p")
    first, second = emit.kernel(derived(text, *STEPS)).kernels
    assert first.groups({"n": 9, "m": 5}) == (3, 1, 1)
    assert second.groups({"n": 9, "m": 5}) == (0, 0, 0)
    assert second.groups({"n": 9, "m": 8}) == (2, 1, 1)


@pytest.mark.parametrize(
    ("old", "new", "steps", "why"),
    [
        ("  for (int p", "  b[0][0] = 1;\n  for (int p", STEPS, "a statement stands beside"),
        ("  for (int p", "  if (a[0][0] > 0)\n  for (int p", STEPS, "a statement stands beside"),
        ("", "", STEPS[:3:2] + STEPS[4:5] + STEPS[6:7], "the loop over 'p' stands beside"),
        ("", "", (), "no loop of 'f' is mapped"),
        ("float t[m][n];", "int k = m; float t[k][n];", STEPS, "a statement stands beside"),
    ],
)
def test_what_no_kernel_runs(old: str, new: str, steps: tuple[str, ...], why: str) -> None:
    done = derived(TURNED.replace(old, new), *steps)
    with pytest.raises(EmitError, match=why):
        emit.kernel(done)


def test_arrays_of_unknown_size() -> None:
    """Its extent is computed where no kernel runs."""
    done = derived(TURNED.replace("float t[m][n];", "int k = m; float t[k][n];"))
    with pytest.raises(EmitError, match="how large 't' is"):
        launches.temporaries(done.function)
