"""Programs of several nests: one kernel each, in order, arrays between them on the device."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import derived

from loopxform.analysis.host_scalars import host_scalars
from loopxform.codegen import emit
from loopxform.codegen.host import control
from loopxform.codegen.host.temporaries import temporaries
from loopxform.errors import EmitError
from loopxform.floating_point import SEPARATE

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
    made = emit.opencl(done, stem="f", origin="f.c", version="test", fp=SEPARATE)
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
        temporaries(done.function)


IN_TIME = """\
void f(int T, int n, float x, float a[restrict n], float b[restrict n])
{
  int h = n / 2;
  float s;
  for (int t = 0; t < T; t++) {
    for (int i = t; i < n; i++)
      b[i] = a[i] * x;
    h = h - 1;
    if (t % 2 == 0)
      for (int p = 0; p < h; p++)
        a[p] = b[p] + h;
  }
}
"""

MAPPED = (
    *("parallelise i", "parallelise p", "stripmine i 4", "stripmine p 4"),
    *("map ii group.x", "map pp group.x", "map i thread.x", "map p thread.x"),
)


def test_control_flow_of_the_host(golden: Golden) -> None:
    plan = emit.kernel(derived(IN_TIME, *MAPPED))
    golden.check("\n".join(control.lines(plan)) + "\n")


def test_scalars_of_the_host_are_arguments() -> None:
    first, second = emit.kernel(derived(IN_TIME, *MAPPED)).kernels
    assert [p.name for p in first.changing] == ["t"]
    assert [p.name for p in second.changing] == ["h"]
    assert "const int h" in second.text
    assert first.groups({"n": 9, "t": 2}) == (2, 1, 1)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("h = h - 1;", "a[0] = t;", "a statement stands beside"),
        ("h = h - 1;", "s = a[t];", "a statement stands beside"),
        ("h = h - 1;", "for (int q = 1; q < n; q++) a[q] = a[q - 1];", "the loop over 'q' stands"),
        ("t % 2 == 0", "a[t] > 0", "a statement stands beside"),
        ("t % 2 == 0", "s > 0", "a statement stands beside"),
    ],
)
def test_what_the_host_cannot_do(old: str, new: str, why: str) -> None:
    done = derived(IN_TIME.replace(old, new), *MAPPED)
    with pytest.raises(EmitError, match=why):
        emit.kernel(done)


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("h = h - 1;", "h = h - 1u;", "h"),
        ("h = h - 1;", "h = h - t * 1L;", "h"),
        ("h = h - 1;", "h = h - (int)x;", "h"),
        ("a[i] * x;", "a[i] * x; s = 1;", None),
    ],
)
def test_what_is_no_scalar_of_the_host(old: str, new: str, name: str | None) -> None:
    """Numbers that may wrap around, or are cut short; and what kernels set."""
    known = host_scalars(derived(IN_TIME.replace(old, new)).function)
    assert {"T", "n", "x"} <= known
    assert name not in known
    assert "s" not in known


def test_a_scalar_that_kernels_would_share() -> None:
    text = IN_TIME.replace("float s;", "float s; int k;").replace("b[p] + h", "b[p] + s")
    with pytest.raises(EmitError, match="'s' is a scalar that the kernel of the loop over 'pp'"):
        emit.kernel(derived(text, *MAPPED))


def test_a_condition_that_only_sets_scalars_of_the_host() -> None:
    text = IN_TIME.replace("h = h - 1;", "if (T > 3) h = h - 1; else if (t > n) h = 0;")
    plan = emit.kernel(derived(text, *MAPPED))
    assert "  h = 0;" in "\n".join(control.lines(plan))
