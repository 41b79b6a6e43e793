"""Bad input: one diagnostic with place, caret and remedy, exit status 2, and no file touched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Golden

from loopxform.cli import main

MM = """void mm(int M, int U, int N, float A[M][U], float B[U][N], float C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float acc = 0;
      for (int k = 0; k < U; k++)
        acc += A[i][k] * B[k][j];
      C[i][j] = acc;
    }
}
"""
TWO = """void f(int n, float a[n]) { for (int i = 0; i < n; i++) a[i] = 0; }
void g(int n, float a[n]) { for (int i = 0; i < n; i++) a[i] = 1; }
"""

PLAN = ["tile", "--show-plan"]
"""Of one nest, where `tile` alone would write a whole function."""


def loop(body: str, declared: str = "") -> str:
    """A nest whose body is not modelled."""
    return f"""{declared}void f(int n, float a[n], float b[n])
{{
  for (int i = 0; i < n; i++) {{
    {body}
  }}
out:
  return;
}}
"""


def beside(nest: str) -> str:
    """A nest, and a loop that is not modelled."""
    return f"""void f(int n, float a[n])
{{
  for (int i = 1; i < n; i++) a[i] = 0;
  {nest}
}}
"""


CASES: dict[str, tuple[str, list[str]]] = {
    "function-twice": (TWO, ["check", "--function", "f", "--function", "g"]),
    "syntax-error": (
        "void f(int n, float a[n])\n{\n  for (int i = 0; i < n; i++\n    a[i] = 0;\n}\n",
        ["tile"],
    ),
    "missing-include": ('#include <stdio.h>\n#include "tables.h"\n' + MM, ["tile"]),
    "include-in-include": ('#include "here.h"\n' + MM, ["tile"]),
    "unknown-function": (MM, ["tile", "--function", "nope"]),
    "no-loop-nest": ("int g(int x)\n{\n  return x + 1;\n}\n", ["tile"]),
    "no-function": ("int x;\n", ["tile"]),
    "while": (beside("while (a[0] > 0) a[0] -= 1;"), PLAN),
    "do": (beside("do a[0] -= 1; while (a[0] > 0);"), PLAN),
    "goto": (loop("again: if (a[i] > 3) goto again;"), ["tile"]),
    "break": (loop("if (a[i] > 3) break;"), PLAN),
    "return": (loop("if (a[i] > 3) return;"), PLAN),
    "switch": (loop("switch (n) { case 1: a[i] = 0; case 2: a[i] = 1; }"), ["tile"]),
    "unknown-call": (loop("a[i] = f1(b[i]);", "float f1(float);\n"), ["tile"]),
    "undeclared-call": (loop("a[i] = f1(b[i]);"), ["tile"]),
    "bound-not-affine": (
        "void f(int n, float a[n])\n{\n  for (int i = 0; i < n; i++)\n"
        "    for (int j = 0; j < i * i; j++)\n      a[j] = i;\n}\n",
        PLAN,
    ),
    "bound-a-float": (beside("for (int j = 0; j < a[0]; j++) a[j + 1] = 1;"), PLAN),
    "tile-size-zero": (MM, ["tile", "--Ty", "0"]),
    "tile-size-negative": (MM, ["tile", "--Rx", "-3"]),
    "tile-size-negative-equals": (MM, ["tile", "--Rx=-3"]),
    "tile-size-word": (MM, ["tile", "--Tk", "many"]),
    "tile-size-fraction": (MM, ["tile", "--Tk", "1.5"]),
    "tile-size-nan": (MM, ["tile", "--Ry", "nan"]),
    "tile-size-huge": (MM, ["tile", "--Ry", "99999999999999999999"]),
    "tile-does-not-fit": (MM, ["tile", "--Ty", "64", "--Tx", "64"]),
    "no-registers-left": (MM, ["tile", "--Ry", "16", "--Rx", "16"]),
    "step-unknown-loop": (MM, ["apply", "--do", "interchange i q"]),
    "step-unknown": (MM, ["apply", "--do", "turn i"]),
    "step-size": (MM, ["apply", "--do", "stripmine i 0"]),
    "step-words": (MM, ["apply", "--do", "stripmine"]),
    "step-empty": (MM, ["apply", "--do", ""]),
    "pad-and-not": (MM, ["tile", "--pad", "--no-pad"]),
    "register-pipeline-and-not": (MM, ["tile", "--register-pipeline", "--no-register-pipeline"]),
    "unknown-option-before-others": (MM, ["tile", "--async-copy", "--Ty", "4"]),
    "async-one-buffer": (MM, ["tile", "--stages", "1", "--async-copies"]),
    "pack-many": (MM, ["tile", "--pack", "many"]),
    "script-missing": (MM, ["apply", "--script", "nowhere.json"]),
    "script-not-json": (MM, ["apply", "--script", "in.c"]),
    "two-functions": (TWO, ["tile"]),
    "output-a-file": (MM, ["tile", "-o", "in.c"]),
    "output-below-a-file": (MM, ["tile", "-o", "in.c/out"]),
    "define-a-number": (MM, ["tile", "-D", "1X"]),
    "define-nothing": (MM, ["tile", "-D", ""]),
    "define-half": (MM, ["tile", "-DOK", "-DF("]),
    "define-defined": (MM, ["tile", "-D", "defined=1"]),
    "undefine-a-value": (MM, ["tile", "-U", "X=1"]),
    "long-line": (
        "int" + " " * 300 + "x[] = { " + "1, " * 200 + "2 3" + ", 4" * 200 + " };\n",
        ["check"],
    ),
    "no-such-option": (MM, ["tile", "--bogus"]),
    "no-such-variant": (MM, ["tile", "--variant", "fast"]),
    "no-such-profile": (MM, ["tile", "--profile", "abacus"]),
    "profile-and-device": (MM, ["tile", "--profile", "h100", "--device", "0"]),
    "size-missing": (MM, ["run", "--size", "M=3"]),
    "size-not-a-number": (MM, ["run", "--size", "M=3,U=x"]),
    "size-unknown": (MM, ["run", "--size", "M=3,U=4,N=5,K=6"]),
    "size-an-array": (MM, ["run", "--size", "M=3,U=4,N=5,A=6"]),
    "size-beyond-int": (MM, ["run", "--size", "M=99999999999,U=4,N=5"]),
    "size-a-fraction": (MM, ["run", "--size", "M=3.5,U=4,N=5"]),
    "size-nan": (MM, ["run", "--size", "M=nan,U=4,N=5"]),
    "size-underscore": (MM, ["run", "--size", "M=1_0,U=4,N=5"]),
    "seed-negative": (MM, ["run", "--size", "M=3,U=4,N=5", "--seed", "-1"]),
    "repeat-zero": (MM, ["run", "--size", "M=3,U=4,N=5", "--repeat", "0"]),
    "size-negative": (MM, ["run", "--size", "M=3,U=4,N=-5"]),
    "two-nests": (
        "void f(int n, float a[n])\n{\n  for (int i = 0; i < n; i++)\n    a[i] = 0;\n"
        "  for (int i = 0; i < n; i++)\n    a[i] += 1;\n}\n",
        PLAN,
    ),
}


def shown(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("case", CASES)
def test_one_diagnostic_and_no_file(
    case: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    golden: Golden,
) -> None:
    text, (command, *options) = CASES[case]
    if command == "run":
        pytest.importorskip("pyopencl")
    monkeypatch.chdir(tmp_path)
    Path("in.c").write_text(text)
    Path("here.h").write_text('#include "gone.h"\n')
    before = shown(tmp_path)
    status = main([command, "in.c", *options])
    out, err = capsys.readouterr()
    assert status == 2
    assert out == ""
    assert shown(tmp_path) == before
    assert err.count("error: ") == 1
    assert "^" in err
    assert "\n   = " in err
    golden.check(err)


def test_a_failure_half_way_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last of three files cannot take its name: the other two are not there either."""
    (tmp_path / "mm.c").write_text(MM)
    out = tmp_path / "out"
    (out / "mm_opencl.h").mkdir(parents=True)
    (out / "mm.cl").write_text("old")
    assert main(["tile", str(tmp_path / "mm.c"), "-o", str(out)]) == 2
    assert "cannot write" in capsys.readouterr().err
    assert sorted(p.name for p in out.iterdir()) == ["mm.cl", "mm_opencl.h"]
    assert (out / "mm.cl").read_text() == "old"


def test_no_opencl_device(tmp_path: Path) -> None:
    """In a process of its own, whose OpenCL loader finds nothing."""
    pytest.importorskip("pyopencl")
    (tmp_path / "mm.c").write_text(MM)
    done = subprocess.run(
        [sys.executable, "-m", "loopxform", "run", "mm.c", "--size=M=1,U=1,N=1", "--device", "0"],
        cwd=tmp_path,
        env={**os.environ, "OCL_ICD_VENDORS": str(tmp_path / "nowhere")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert lines[0].endswith("error: there is no OpenCL platform [LX050]")
    assert lines[2].index("--device 0") + 9 == lines[3].index("^")
    assert lines[-1].startswith('   = help: pip install "pyopencl[pocl]"')


def test_arrays_larger_than_the_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyopencl")
    monkeypatch.chdir(tmp_path)
    Path("mm.c").write_text(MM)
    assert main(["run", "mm.c", "--size", "M=2147483647,U=1,N=2147483647"]) == 2
    err = capsys.readouterr().err
    assert "error: the run needs 73786976" in err
    assert "4 copies of A[2147483647][1], B[1][2147483647], C[2147483647][2147483647]" in err


def test_a_script_nested_without_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mm.c").write_text(MM)
    Path("deep.json").write_text("[" * 100_000)
    assert main(["apply", "mm.c", "--script", "deep.json"]) == 2
    assert "nested too deeply [LX056]" in capsys.readouterr().err


def test_not_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["frobnicate", "mm.c"]) == 2
    assert "'frobnicate' is not a command [LX020]" in capsys.readouterr().err
    assert main([]) == 2
