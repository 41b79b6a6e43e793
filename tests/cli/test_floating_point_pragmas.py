"""What the source says of floating point: annotations of loopxform, and pragmas of compilers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from floating_texts import CALLS, QUOTIENTS, SUM, TILED

import loopxform as lx
from loopxform.cli import main
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import Level

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.c").write_text(QUOTIENTS)


PARTS = """
void f(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma loopxform fp(fast)
  for (int i = 0; i < n; i++)
    c[i] = a[i] / b[i] + a[i] * b[i];
  {
#pragma STDC FP_CONTRACT OFF
    for (int i = 1; i < n; i++)
      c[i - 1] += a[i] / b[i] + a[i] * b[i];
  }
}
"""
ANNOTATED = {
    "fp(fast)": ("ON", "LX_RELAXED"),
    "fp(strict)": ("OFF", "LX_EXACT"),
    "fp(reassociate)": ("ON", "LX_ROUNDED"),
    "tile(Tx=8) fp(strict)": ("OFF", "LX_EXACT"),
}
BOUNDS = {
    "--fp fast": True,
    "--fp contract": False,
    "--fp strict": False,
    "--cflags -O2": True,
    "--fp-contract off": True,
}


@pytest.mark.parametrize("place", ["void f", "  for"])
@pytest.mark.parametrize("said", ANNOTATED)
@pytest.mark.parametrize("command", ["tile", "offload"])
def test_annotations(command: str, said: str, place: str) -> None:
    contract, division = ANNOTATED[said]
    Path("f.c").write_text(QUOTIENTS.replace(place, f"#pragma loopxform {said}\n{place}"))
    assert main([command, "f.c", "-q", "--cflags", "-ffp-contract=fast"]) == 0
    assert f"FP_CONTRACT {contract}" in Path("f.cl").read_text()
    assert f".division = {division}\n" in Path("f_opencl.c").read_text()


@pytest.mark.parametrize("options", BOUNDS)
def test_the_command_line_bounds_the_source(options: str) -> None:
    """What is narrower counts; the options of a compiler bound nothing."""
    Path("f.c").write_text("#pragma loopxform fp(fast)\n" + QUOTIENTS.lstrip())
    assert main(["tile", "f.c", "-q", *options.split()]) == 0
    text = Path("f_opencl.c").read_text()
    fused = options not in ("--fp strict", "--fp-contract off")
    approximate = "LX_RELAXED" if fused else "LX_DEVICE"
    assert (f".division = {approximate}\n" in text) == BOUNDS[options]
    assert ("FP_CONTRACT ON" in Path("f.cl").read_text()) == fused


def test_the_source_narrows_the_command_line(capsys: Capture) -> None:
    Path("f.c").write_text(SUM.replace("void f", "#pragma loopxform fp(contract)\nvoid f"))
    reduce = ["tile", "f.c", "-q", "--recipe", "reduce"]
    for options in (["--fp", "fast"], ["--reassociate"], ["--cflags", "-ffast-math"]):
        assert main([*reduce, *options]) == 1
        assert "is not associative" in capsys.readouterr().err
    Path("f.c").write_text(SUM.replace("void f", "#pragma loopxform fp(reassociate)\nvoid f"))
    assert main(reduce) == 0
    assert main([*reduce, "--fp", "contract"]) == 1


def test_strict_loops_call_no_functions_of_devices(capsys: Capture) -> None:
    text = CALLS.replace("{}(a[i])", "expf(a[i])")
    Path("f.c").write_text(text.replace("  for", "#pragma loopxform fp(strict)\n  for"))
    for command in ("tile", "offload"):
        assert main([command, "f.c", "--dry-run"]) == 2
        assert "a device's expf may differ" in capsys.readouterr().err


def test_kernels_are_built_as_each_is_permitted() -> None:
    Path("f.c").write_text(PARTS)
    assert main(["offload", "f.c", "-q"]) == 0
    pragmas = [x[-3:] for x in Path("f.cl").read_text().splitlines() if "FP_CONTRACT" in x]
    assert pragmas == ["OFF", " ON", "OFF"]
    written = Path("f_opencl.c").read_text()
    programs = written.partition("lx_programs_f[] = {")[2].partition("};")[0]
    assert re.findall(r"(LX_\w+) }", programs) == ["LX_RELAXED", "LX_ROUNDED"]
    assert "#pragma STDC FP_CONTRACT OFF" in written
    f = lx.load("f.c")["f"]
    assert [k.fp.level for k in lx_plan(f).kernels] == ["fast", "contract"]
    assert [k.fp.level for k in lx_plan(f, "contract").kernels] == ["contract", "contract"]


def lx_plan(f: lx.Routine, level: Level | None = None) -> Plan:
    done = f.offload(fp=level)
    return emit.kernel(done.derivation, fp=done.fp)


def test_tiled_c_keeps_what_the_source_forbids() -> None:
    for said in ("", "#pragma STDC FP_CONTRACT OFF\n"):
        Path("f.c").write_text(said + QUOTIENTS.lstrip())
        assert main(["tile", "f.c", "-q", "--target", "openmp"]) == 0
        text = Path("f_openmp.c").read_text()
        assert ("#pragma STDC FP_CONTRACT OFF" in text) == bool(said)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("fp", "'fp' needs an argument"),
        ("fp()", "'fp' needs an argument"),
        ("fp(fats)", "'fats' is no level of floating point"),
        ("fp(fast) fp(loose)", "'loose' is no level"),
    ],
)
def test_annotations_that_say_nothing(said: str, why: str, capsys: Capture) -> None:
    Path("f.c").write_text(QUOTIENTS.replace("void f", f"#pragma loopxform {said}\nvoid f"))
    assert main(["tile", "f.c"]) == 2
    error = capsys.readouterr().err
    assert why in error
    assert "f.c:2:" in error
    assert "fp(fast)" in error
    assert not Path("f.cl").exists()


@pytest.mark.device
def test_parts_run_as_they_are_permitted() -> None:
    """The strict loop to the last bit, beside one that is not."""
    inner = "    for (int i = 1"
    text = PARTS.replace("#pragma STDC FP_CONTRACT OFF", "")
    text = text.replace(inner, f"#pragma loopxform fp(strict)\n{inner}")
    Path("f.c").write_text(text.replace("c[i - 1] +=", "c[i - 1] ="))
    f = lx.load("f.c")["f"]
    done = f.offload()
    kernel = done.compile()
    rng = np.random.default_rng(7)
    a, b = (rng.uniform(0.5, 1.5, 999).astype(np.float32) for _ in range(2))
    c = np.zeros(999, np.float32)
    kernel(999, a, b, c)
    assert np.array_equal(c[:-1], a[1:] / b[1:] + a[1:] * b[1:])
    assert np.isclose(c[-1], a[-1] / b[-1] + a[-1] * b[-1], rtol=1e-5)


def test_scripts_are_replayed_as_the_source_permits(capsys: Capture) -> None:
    Path("f.c").write_text(SUM)
    assert main(TILED) == 0
    script = json.loads(Path("p.json").read_text())
    del script["fp"]
    Path("p.json").write_text(json.dumps(script))
    replay = ["apply", "f.c", "--script", "p.json", "--emit", "opencl", "-o", "again"]
    assert main(replay) == 0
    for level in ("strict", "contract"):
        Path("f.c").write_text(SUM.replace("void f", f"#pragma loopxform fp({level})\nvoid f"))
        capsys.readouterr()
        assert main(replay) == 1
        assert "floating-point addition is not associative" in capsys.readouterr().err
    Path("f.c").write_text(SUM.replace("void f", "#pragma loopxform fp(fast)\nvoid f"))
    assert main(replay) == 0


def test_loops_that_are_permitted_different_things_stay_apart() -> None:
    two = """
void f(int n, float *restrict a, const float *restrict b, float *restrict c)
{
#pragma loopxform fp(fast)
  for (int i = 0; i < n; i++)
    a[i] = a[i] / b[i];
  for (int i = 0; i < n; i++)
    c[i] = a[i] / b[i];
}
"""
    levels = {}
    for name, text in (("said", two), ("not", two.replace("#pragma loopxform fp(fast)\n", ""))):
        Path("f.c").write_text(text)
        levels[name] = [k.fp.level for k in lx_plan(lx.load("f.c")["f"]).kernels]
    assert levels == {"said": ["fast", "contract"], "not": ["contract"]}


def test_parts_of_a_function_are_permitted_what_is_said_of_it() -> None:
    loop = "  for (int i = 0; i < n; i++)\n    a[i] = a[i] / b[i];\n"
    head = "void f(int n, float *restrict a, const float *restrict b)\n"
    text = "#include <stdio.h>\nint m;\n#pragma loopxform fp(fast)\n" + head
    block = f"  {{\n#pragma STDC FP_CONTRACT OFF\n{loop}  }}\n"
    Path("f.c").write_text(f'{text}{{\n{loop}  printf("%f", a[0]);\n{block}}}\n')
    assert main(["offload", "f.c", "-q"]) == 0
    pragmas = [x[-3:] for x in Path("f.cl").read_text().splitlines() if "FP_CONTRACT" in x]
    assert pragmas == [" ON", "OFF"]
    assert Path("f_opencl.c").read_text().count('"", LX_RELAXED }') == 1
