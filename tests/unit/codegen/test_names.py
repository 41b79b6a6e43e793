"""Names of the user's that mean something else in what is written: renamed, or refused."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.c.words import FUNCTIONS
from loopxform.errors import EmitError

MM = """FILE_SCOPE
void MM(int N, const float A[N][N], float C[N][N])
{
  for (int I = 0; I < N; I++)
    for (int j = 0; j < N; j++) {
      float ACC = SCALE;
      for (int k = 0; k < N; k++)
        ACC += A[I][k];
      C[I][j] = ACC;
    }
}
"""
ROLES = {"MM": "mm", "N": "n", "A": "a", "C": "c", "I": "i", "ACC": "acc"}
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]


def named(names: Mapping[str, str]) -> lx.Routine:
    """The program with names in roles; `global` is an array at file scope."""
    text = MM
    if name := names.get("global"):
        text = text.replace("FILE_SCOPE", f"extern float {name}[1];").replace("SCALE", f"{name}[0]")
    names = {**ROLES, **names}
    text = re.sub(r"\w+", lambda m: names.get(m.group(), m.group()), text)
    return lx.loads(text.replace("FILE_SCOPE", "").replace("SCALE", "0"), "t.c").routine()


def written(folder: Path, **names: str) -> None:
    small = named(names).tile(Ty=4, Tx=4, Tk=4, Ry=2, Rx=2)
    small.write(folder)
    for standard in ("c99", "gnu17"):
        command = ["cc", f"-std={standard}", *STRICT, "t_opencl.c"]
        subprocess.run(command, cwd=folder, check=True)


OPENCL = [
    "kernel",
    "global",
    "half",
    "float4",
    "get_global_id",
    "image2d_array_t",
    "barrier",
    "max",
]
OTHERS = ["status", "size", "device", "program", "name", "index", "y1", "exp", "item", "Ty", "c0"]


def turned(names: list[str], by: int) -> str:
    """The name at a place, counted round and round."""
    return names[by % len(names)]


@pytest.mark.opencl_sdk
@pytest.mark.parametrize("n", range(len(OPENCL + OTHERS)))
def test_names_that_are_free_in_c(n: int, tmp_path: Path) -> None:
    """Each of them in each role, two in a program, and two at file scope that OpenCL knows."""
    free = OPENCL + OTHERS
    scope = {"MM": turned(OPENCL, n + 3), "global": turned(OPENCL, n + 5)}
    names = {"A": turned(free, n), "ACC": turned(free, n + 1), **scope}
    assert len(set(names.values())) == 4
    written(tmp_path, **names)


KNOWN = [*OPENCL, "true", "CLK_LOCAL_MEM_FENCE", "FLT_MAX", "M_PI", "NULL"]


@pytest.mark.device
@pytest.mark.parametrize("first", range(len(KNOWN)))
def test_kernels_rename_what_opencl_knows(first: int) -> None:
    """Each of them in each role, five in a program."""
    known = KNOWN[first:] + KNOWN[:first]
    names = dict(zip(("N", "A", "I", "ACC", "global"), known))
    named(names).tile(Ty=4, Tx=4, Tk=4, Ry=2, Rx=2).compile()


MACROS = """struct s {{ int a; float {0}; }};
static float twice(float {1}) {{ float {2} = {1}; return {2} + {1}; }}
void mm(int M, int N, int U, const float A[restrict M][U], const float B[restrict U][N],
        float C[restrict M][N], float {3}, const struct s S[restrict M])
{{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {{
      float acc = {3};
      for (int k = 0; k < U; k++)
        acc += twice(A[i][k]) * B[k][j];
      C[i][j] = acc + S[i].{0};
    }}
}}
"""


@pytest.mark.parametrize(("limits", "first"), [("h100", 0), *(("generic", n) for n in range(4))])
def test_kernels_rename_what_their_macros_are_called(limits: str, first: int) -> None:
    """Those of sizes, which a whole program is built with, of what differs between variants, and
    what the texts of macros declare."""
    names = [("Ty", "LX_1", "lx_v", "LX_FORM")[(n + first) % 4] for n in range(4)]
    tiled = lx.loads(MACROS.format(*names), "t.c").routine("mm").tile(limits=limits)
    plan = emit.kernel(tiled.derivation)
    sizes = {name for k in plan.kernels for name, _ in k.macros}
    assert sizes > {"Ty", "LX_1", "LX_FORM"} or limits == "generic"
    for k in plan.kernels:
        for name in names:
            assert not re.search(rf"(\bfloat |\.){name}\b", k.text), k.text
    assert not re.search(r"\b(int|float) (Ty|LX_1|LX_FORM)\b", plan.shared), plan.shared


@pytest.mark.parametrize(
    ("role", "name"),
    [
        *(("N", n) for n in ("lx_queue", "cl_int", "clFinish", "mm_on_host", "INT_MAX", "size_t")),
        *(("A", n) for n in ("lx_state", "cl_mem", "bool", "stdin")),
        *(("I", n) for n in ("NULL", "bool", "size_t")),
        *(("ACC", n) for n in ("EOF", "true")),
        *(("MM", n) for n in ("main", "lx_tell", "memcpy", "y1", "sinf", "size_t")),
        *(("global", n) for n in ("lx_state", "mm_cl", "loopxform_use", "index", "log", "stderr")),
    ],
)
def test_names_that_are_taken_are_refused_at_their_place(role: str, name: str) -> None:
    with pytest.raises(EmitError) as e:
        _ = named({role: name}).tile(Ty=4, Tx=4, Tk=4, Ry=2, Rx=2).opencl
    meaning = "a function of C's library" if name in FUNCTIONS else "something else in the C file"
    assert meaning in e.value.message
    assert e.value.help == f"rename it, my_{name} for example"
    assert e.value.loc is not None


@pytest.mark.opencl_sdk
@pytest.mark.parametrize("name", ["lx_state", "cl_mem", "LX_MIN", "stdout_", "N_MAX", "M_ROWS"])
def test_local_names_are_more_free(name: str, tmp_path: Path) -> None:
    """They hide only what the user's own loops do not use."""
    written(tmp_path, I=name)
    written(tmp_path, ACC=name)
