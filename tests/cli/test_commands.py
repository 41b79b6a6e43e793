"""The commands as a user runs them: what is printed, what is written, what is returned."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Golden

from loopxform import __version__
from loopxform.cli import main
from loopxform.cli.commands import COMMANDS
from loopxform.codes import CODES
from loopxform.transforms import STEPS

ROOT = Path(__file__).parents[2]
MM = str(ROOT / "corpus" / "mm.c")
SMALL = ["--Ty", "4", "--Tx", "4", "--Tk", "4", "--Ry", "2", "--Rx", "2"]

Capture = pytest.CaptureFixture[str]


def run(*argv: str | Path) -> int:
    return main([str(a) for a in argv])


# ---------------------------------------------------------------- tile


def test_tile_writes_three_files_and_says_what_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, golden: Golden
) -> None:
    monkeypatch.chdir(ROOT)
    assert (
        run("tile", "corpus/mm.c", "--Ty", "16", "--Rx", "4", "-o", tmp_path / "new" / "out") == 0
    )
    out = capsys.readouterr().out
    written = sorted(p.name for p in (tmp_path / "new" / "out").iterdir())
    assert written == ["mm.cl", "mm_opencl.c", "mm_opencl.h"]
    golden.check(out.replace(str(tmp_path), "TMP"))


def test_the_kernel_of_the_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    monkeypatch.chdir(ROOT)
    assert run("tile", "corpus/mm.c", "--Ty", "16", "--Rx", "4", "-o", tmp_path, "-q") == 0
    golden.check((tmp_path / "mm.cl").read_text())


def test_the_derivation_of_the_seed(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, golden: Golden
) -> None:
    monkeypatch.chdir(ROOT)
    assert run("tile", "corpus/mm.c", "--show-steps", "--dry-run", "-q") == 0
    golden.check(capsys.readouterr().out)


@pytest.mark.parametrize("variant", ["naive", "block", "register"])
def test_variants(variant: str, capsys: Capture, golden: Golden) -> None:
    assert run("tile", MM, "--variant", variant, "--dry-run") == 0
    golden.check(capsys.readouterr().out)


def test_a_nest_that_does_not_fit_is_mapped_naively_and_says_why(
    tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "copy.c").write_text(
        "void f(int n, float a[n], float b[n])\n{ for (int i = 0; i < n; i++) a[i] = 2 * b[i]; }\n"
    )
    assert run("tile", tmp_path / "copy.c", "-o", tmp_path) == 0
    out = capsys.readouterr().out
    assert out.startswith("f: one work-item per iteration")
    assert "note: no array is invariant to one of the parallel loops" in out
    assert run("tile", tmp_path / "copy.c", "-o", tmp_path, "--variant", "register") == 2


def test_names_of_the_users_that_are_names_of_tile_sizes(tmp_path: Path, capsys: Capture) -> None:
    text = Path(MM).read_text()
    for old, new in (("M", "Tx"), ("A", "Ry"), ("acc", "Tk"), ("i", "Ty")):
        text = re.sub(rf"\b{old}\b", new, text)
    (tmp_path / "clash.c").write_text(text)
    for variant in ("naive", "block", "register"):
        assert run("run", tmp_path / "clash.c", "--size", "Tx=9,U=7,N=5", "--variant", variant) == 0
        assert "45 elements of C are identical" in capsys.readouterr().out


def test_openmp_compiles_and_means_the_same(tmp_path: Path) -> None:
    assert run("tile", MM, "--target", "openmp", "-o", tmp_path, "-q", *SMALL) == 0
    (tmp_path / "main.c").write_text(
        """#include <stdio.h>
void mm(int M, int U, int N, float A[M][U], float B[U][N], float C[M][N]);
void user_mm(int M, int U, int N, float A[M][U], float B[U][N], float C[M][N]);
int main(void)
{
  static float a[13 * 9], b[9 * 11], c[2][13 * 11];
  for (int n = 0; n < 13 * 9; n++) a[n] = n * 0.37f;
  for (int n = 0; n < 9 * 11; n++) b[n] = n * 0.11f;
  mm(13, 9, 11, (void *)a, (void *)b, (void *)c[0]);
  user_mm(13, 9, 11, (void *)a, (void *)b, (void *)c[1]);
  for (int n = 0; n < 13 * 11; n++) if (c[0][n] != c[1][n]) return 1;
  return 0;
}
"""
    )
    plain = ["cc", "-O1", "-ffp-contract=off"]
    subprocess.run([*plain, "-Dmm=user_mm", "-c", MM, "-o", tmp_path / "u.o"], check=True)
    strict = ["-std=c99", "-fopenmp", "-Wall", "-Wextra", "-pedantic", "-Werror"]
    files = ["mm_openmp.c", "main.c", "u.o", "-o", "app", "-lm"]
    subprocess.run([*plain, *strict, *files], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "app"], check=True)


def test_output_is_deterministic(tmp_path: Path) -> None:
    texts = set()
    for seed in ("0", "1", "7"):
        out = tmp_path / seed
        command = [sys.executable, "-m", "loopxform", "tile", "corpus/gemm.c", "-o", str(out)]
        env = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            command, cwd=ROOT, env=env, capture_output=True, text=True, check=True
        )
        files = "".join(p.read_text() for p in sorted(out.iterdir()))
        texts.add(done.stdout.replace(str(out), "") + files)
    assert len(texts) == 1


def test_standard_input(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "loopxform", "tile", "-", "-o", tmp_path, "-q"],
        input=Path(MM).read_text(),
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "stdin.cl",
        "stdin_opencl.c",
        "stdin_opencl.h",
    ]


def test_depfile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sizes.h").write_text("#define N 12\n")
    Path("my f.c").write_text(
        '#include "sizes.h"\nvoid f(float a[N]) { for (int i = 0; i < N; i++) a[i] = 1; }\n'
    )
    assert run("tile", "my f.c", "-MD", "-q", "-o", "out") == 0
    rule = (tmp_path / "out" / "my f.d").read_text()
    assert (
        rule
        == "out/my\\ f.cl out/my\\ f_opencl.c out/my\\ f_opencl.h: my\\ f.c sizes.h\n\nsizes.h:\n"
    )
    assert shutil.which("make")
    Path("Makefile").write_text("all: out/my\\ f.cl\n\t@true\n-include out/my\\ f.d\n")
    assert subprocess.run(["make", "-q"], check=False).returncode in (0, 1)


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m loopxform tile {MM} --show-steps --dry-run | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "Listing 1: mm\n"


# ---------------------------------------------------------------- run


@pytest.mark.device
def test_run_verifies_against_the_users_c(capsys: Capture) -> None:
    assert run("run", MM, "--size", "M=33,U=17,N=29", "--Ty", "8", "--Tx", "8") == 0
    out = capsys.readouterr().out
    assert "inputs        M=33, U=17, N=29, random from seed" in out
    assert "verified      957 elements of C are identical to your C's" in out


@pytest.mark.device
def test_run_with_contraction_allows_for_it(capsys: Capture) -> None:
    assert run("run", MM, "--size", "M=9,U=17,N=5", "--fp-contract", "on") == 0
    assert "within the tolerance for contraction" in capsys.readouterr().out


@pytest.mark.device
def test_a_wrong_kernel_is_found(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference is another program: every element differs, the status is 1."""
    from loopxform.codegen import render

    fill = render.fill
    monkeypatch.setattr(render, "fill", lambda t, **v: fill(t, **v).replace("+= A", "-= A"))
    assert run("run", MM, "--size", "M=3,U=4,N=5") == 1
    out = capsys.readouterr().out
    assert "DIFFERENT     C[0][0]" in out
    assert "verified" not in out


# ---------------------------------------------------------------- apply


def test_apply_prints_the_listing(capsys: Capture) -> None:
    assert run("apply", MM, "--do", "stripmine i 64", "--do", "interchange i j") == 0
    assert capsys.readouterr().out == (
        "for (ii = 0; ii < M; ii += 64)\n"
        "  for (j = 0; j < N; j++)\n"
        "    for (i = ii; i < min(M, ii + 64); i++)\n"
        "      acc = 0;\n"
        "      for (k = 0; k < U; k++)\n"
        "        acc += A[i, k] * B[k, j];\n"
        "      C[i, j] = acc;\n"
    )


def test_an_illegal_step_is_refused_with_a_witness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, golden: Golden
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("skew.c").write_text(
        "void f(int n, float a[n + 1][n + 1])\n{\n  for (int i = 0; i < n; i++)\n"
        "    for (int j = 0; j < n; j++)\n      a[i + 1][j] = a[i][j + 1] + 1;\n}\n"
    )
    before = sorted(os.listdir())
    for step in ("interchange i j", "parallelise i", "distribute i"):
        assert run("apply", "skew.c", "--do", step, "-o", "out") in (1, 2)
    assert sorted(os.listdir()) == before
    out, err = capsys.readouterr()
    assert out == ""
    golden.check(err)


@pytest.mark.parametrize("variant", ["naive", "block", "register"])
def test_a_saved_derivation_replays_to_the_same_files(variant: str, tmp_path: Path) -> None:
    script = tmp_path / "steps.json"
    a, b = tmp_path / "a", tmp_path / "b"
    assert run("tile", MM, "--variant", variant, "--json", script, "-o", a, "-q") == 0
    assert run("apply", MM, "--script", script, "--emit", "opencl", "-o", b) == 0
    for path in a.iterdir():
        assert path.read_text() == (b / path.name).read_text()
    keys = set(json.loads(script.read_text())) - {"constraints"}
    assert keys == {"recipe", "device", "fp", "fp_contract", "fp_needed", "tiles", "steps"}


def test_apply_to_c_and_json(capsys: Capture) -> None:
    assert run("apply", MM, "--do", "parallelise i", "--emit", "c") == 0
    assert "#pragma omp parallel for" in capsys.readouterr().out
    assert run("apply", MM, "--tile", "T=8", "--do", "stripmine i T", "--emit", "json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["tiles"] == {"T": 8}
    assert data["steps"] == [{"step": "stripmine", "loop": "i", "size": "T", "outer": ""}]


# ---------------------------------------------------------------- check


def test_check_text(monkeypatch: pytest.MonkeyPatch, capsys: Capture, golden: Golden) -> None:
    monkeypatch.chdir(ROOT)
    assert run("check", "corpus/mm.c") == 0
    golden.check(capsys.readouterr().out)


def test_check_json_is_the_contract(capsys: Capture) -> None:
    assert run("check", MM, "--format", "json") == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["schema_version"], data["file"]) == (1, MM)
    (fn,) = data["functions"]
    assert (fn["name"], fn["line"]) == ("mm", 3)
    assert [(x["line"], x["column"], x["var"], x["depth"], x["parallel"]) for x in fn["loops"]] == [
        (5, 3, "i", 0, "yes"),
        (6, 5, "j", 1, "yes"),
        (8, 7, "k", 2, "reduction"),
    ]
    assert fn["loops"][0]["assumes"] == ["A and C do not overlap", "B and C do not overlap"]
    assert fn["loops"][2]["reductions"] == [{"var": "acc", "op": "+"}]
    rows = [d for d in fn["dependences"] if d["kind"] == "flow" and d["reduction"] == "+"]
    assert [(d["array"], d["loops"], d["direction"]) for d in rows] == [
        ("acc", ["i", "j", "k"], ["=", "=", "<"])
    ]
    assert rows[0]["source"] == rows[0]["sink"] == {"statement": "S1", "file": MM, "line": 9}
    assert rows[0]["witness"]


# ---------------------------------------------------------------- the others


def test_help_and_version(capsys: Capture) -> None:
    assert run("--version") == 0
    assert capsys.readouterr().out == f"loopxform {__version__}\n"
    assert run("--help") == 0
    overview = capsys.readouterr().out
    for command in COMMANDS:
        assert f"  {command} " in overview
        assert run(command, "--help") == 0
        assert f"usage: loopxform {command}" in capsys.readouterr().out


def test_explain_knows_every_step_and_code(capsys: Capture) -> None:
    for name in (*STEPS, *CODES):
        assert run("explain", name) == 0
        assert len(capsys.readouterr().out) > 30
    assert run("explain") == 0
    assert capsys.readouterr().out == "".join(f"  {kind.usage}\n" for kind in STEPS.values())


def test_every_code_of_the_source_is_explained() -> None:
    used: set[str] = set()
    for path in (ROOT / "loopxform").rglob("*.py"):
        if path.name != "codes.py":
            used |= set(re.findall(r'"(LX\d{3})"', path.read_text()))
    assert used == set(CODES)


@pytest.mark.device
def test_devices(capsys: Capture) -> None:
    assert run("devices") == 0
    out = capsys.readouterr().out
    assert "work-items a group" in out
    assert "  h100 " in out


WRONG_CLAIM = """\
void rows(int n, float a[n][n], float *restrict s)
{
  int i, j;
  #pragma omp parallel for
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      a[i][j] = i;
  #pragma omp parallel for private(j)
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      s[i] += a[i][j];
}
"""


def test_check_audits_openmp(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "rows.c"
    path.write_text(WRONG_CLAIM)
    assert run("check", path) == 1
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "omp parallel for (line 4): wrong" in lines
    at = lines.index("omp parallel for (line 4): wrong")
    assert lines[at + 1].endswith("i=0 and i=1 (n=2) (line 6) [LX301]")
    assert lines[at + 2] == "cure: private(j)"
    assert "omp parallel for private(j) (line 8): proven, if a and s do not overlap" in lines
    assert run("check", path, "--format", "json") == 1
    loops = json.loads(capsys.readouterr().out)["functions"][0]["loops"]
    assert [x.get("openmp", {}).get("proven", "none") for x in loops] == [
        False,
        "none",
        True,
        "none",
    ]
    path.write_text(WRONG_CLAIM.replace("for\n", "for private(j)\n"))
    assert run("check", path) == 0


@pytest.mark.opencl
def test_devices_without_a_c_compiler() -> None:
    command = [sys.executable, "-m", "loopxform", "devices"]
    environment = {**os.environ, "CC": "no-such-compiler"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "kernels cannot run as C: no C compiler: no-such-compiler not found" in done.stdout
    assert "  h100 " in done.stdout


def test_former_steps_warn_in_a_line(capsys: Capture) -> None:
    assert main(["apply", MM, "--do", "demote acc"]) == 0
    assert (
        capsys.readouterr().err == "warning: the step 'demote' is called 'scalar-to-memory' now\n"
    )
    assert main(["explain", "unguard"]) == 0
    said = capsys.readouterr()
    assert said.err == "warning: the step 'unguard' is called 'clamp-edges' now\n"
    assert said.out.startswith("clamp-edges NAME,NAME,...\n")
