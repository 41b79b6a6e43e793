"""`--fp`: what is permitted, in what is written, refused, run and told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from floating_texts import CALLS, QUOTIENTS, SUM, TILED

import loopxform as lx
from loopxform.cli import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.c").write_text(QUOTIENTS)


@pytest.mark.parametrize(
    ("options", "contract", "division"),
    [
        ("", "ON", "LX_ROUNDED"),
        ("--fp strict", "OFF", "LX_EXACT"),
        ("--fp contract", "ON", "LX_ROUNDED"),
        ("--fp reassociate", "ON", "LX_ROUNDED"),
        ("--fp fast", "ON", "LX_RELAXED"),
        ("--fp fast --fp-contract off", "OFF", "LX_DEVICE"),
        ("--cflags -O2 -ffast-math", "ON", "LX_RELAXED"),
        ("--cflags -ffp-contract=off", "OFF", "LX_ROUNDED"),
        ("--cflags -frounding-math", "OFF", "LX_EXACT"),
        ("--fp contract --cflags -ffast-math", "ON", "LX_ROUNDED"),
    ],
)
@pytest.mark.parametrize("command", ["tile", "offload"])
def test_what_is_written(command: str, options: str, contract: str, division: str) -> None:
    assert main([command, "f.c", "-q", *options.split()]) == 0
    assert f"#pragma OPENCL FP_CONTRACT {contract}" in Path("f.cl").read_text()
    assert f".division = {division}\n" in Path("f_opencl.c").read_text()


def test_strict_asks_nothing_of_devices_where_nothing_is_divided() -> None:
    Path("f.c").write_text(QUOTIENTS.replace(" / ", " - "))
    assert main(["tile", "f.c", "-q", "--fp", "strict"]) == 0
    assert ".division = LX_ROUNDED\n" in Path("f_opencl.c").read_text()


@pytest.mark.parametrize("name", ["expf", "sinf", "powf", "fmaxf"])
@pytest.mark.parametrize("command", ["tile", "offload", "run"])
def test_strict_refuses_functions_of_devices(command: str, name: str, capsys: Capture) -> None:
    call = "{}(a[i], b[i])" if name in ("powf", "fmaxf") else "{}(a[i])"
    Path("f.c").write_text(CALLS.replace("{}(a[i])", call.format(name)))
    size = ["--size", "n=64"] if command == "run" else []
    assert main([command, "f.c", "--fp", "strict", *size]) == 2
    said = capsys.readouterr().err
    for part in ("f.c:6:", name, "[LX071]", "--fp contract"):
        assert part in said
    assert not Path("f.cl").exists()
    assert main([command, "f.c", "--fp", "contract", *size]) == 0


@pytest.mark.parametrize("name", ["sqrtf", "fabsf", "floorf", "fmaf"])
def test_strict_takes_functions_that_are_exact(name: str) -> None:
    call = "fmaf(a[i], b[i], a[i])" if name == "fmaf" else f"{name}(a[i])"
    Path("f.c").write_text(CALLS.replace("{}(a[i])", call))
    assert main(["tile", "f.c", "-q", "--fp", "strict"]) == 0


def test_tiled_c_calls_your_own_library() -> None:
    text = CALLS.replace("{}(a[i])", "expf(a[i])")
    Path("f.c").write_text(text)
    assert main(["tile", "f.c", "-q", "--target", "openmp", "--fp", "strict"]) == 0


@pytest.mark.parametrize("other", ["--fp-contract on", "--reassociate"])
def test_strict_and_its_opposite(other: str, capsys: Capture) -> None:
    assert main(["tile", "f.c", "--fp", "strict", *other.split()]) == 2
    said = capsys.readouterr().err
    assert f"--fp strict and {other} say the opposite [LX020]" in said
    assert not Path("f.cl").exists()


def test_an_unknown_level(capsys: Capture) -> None:
    assert main(["tile", "f.c", "--fp", "sloppy"]) == 2
    assert "strict" in capsys.readouterr().err


def test_scripts_say_what_is_permitted(capsys: Capture) -> None:
    assert main(["tile", "f.c", "-q", "--fp", "fast", "--json", "p.json"]) == 0
    assert json.loads(Path("p.json").read_text())["fp"] == "fast"
    for options, division in (((), "LX_RELAXED"), (("--fp", "contract"), "LX_ROUNDED")):
        Path("again").mkdir(exist_ok=True)
        words = ["apply", "f.c", "--script", "p.json", "--emit", "opencl", "-o", "again", *options]
        assert main(words) == 0
        assert f".division = {division}\n" in Path("again/f_opencl.c").read_text()
    Path("p.json").write_text('{"fp": "loose", "steps": []}')
    assert main(["apply", "f.c", "--script", "p.json"]) == 2
    assert '"fp" is one of strict, contract, reassociate, fast' in capsys.readouterr().err


@pytest.mark.device
@pytest.mark.parametrize(
    ("level", "said"),
    [
        ("strict", "identical to your C's"),
        ("contract", "within the tolerance for contraction, to your C's"),
        ("fast", "contraction and sums in another order and the device's /, to your C's"),
    ],
)
def test_runs(level: str, said: str, capsys: Capture) -> None:
    assert main(["run", "f.c", "--size", "n=1000", "--fp", level]) == 0
    assert said in capsys.readouterr().out


def test_the_plan_says_what_more_would_gain(capsys: Capture) -> None:
    Path("f.c").write_text(SUM)
    assert main(["tile", "f.c", "--profile", "h100", "--show-plan", "--dry-run", "-q"]) == 0
    shown = capsys.readouterr().out
    head = "  floating point   contract; needed: strict\n"
    assert f"{head}    reassociate    --recipe reduce, 0." in shown
    words = ["tile", "f.c", "--show-plan", "--dry-run", "-q", "--fp", "reassociate"]
    for recipe, level in (("1-d", "strict"), ("reduce", "reassociate"), ("auto", "reassociate")):
        assert main([*words, "--recipe", recipe]) == 0
        shown = capsys.readouterr().out
        assert f"  floating point   reassociate; needed: {level}\n" in shown


NBODY = Path(__file__).parents[2] / "corpus" / "nests" / "nbody.c"


@pytest.mark.parametrize("command", ["tile", "offload"])
def test_summaries_say_what_fast_would_gain(command: str, capsys: Capture) -> None:
    Path("f.c").write_text(NBODY.read_text())
    words = [command, "f.c", "--profile", "h100", "--dry-run"]
    assert main(words) == 0
    said = "2 quotients and square roots of floats as accurate as the device has them, 0."
    assert said in capsys.readouterr().out
    assert main([*words, "--fp", "fast"]) == 0
    assert "--fp fast" not in capsys.readouterr().out


def test_scripts_say_what_the_kernels_need() -> None:
    texts = {"strict": QUOTIENTS, "contract": CALLS.replace("{}(a[i])", "expf(a[i])")}
    for needed, text in texts.items():
        Path("f.c").write_text(text)
        assert main(["tile", "f.c", "-q", "--fp", "contract", "--json", "p.json"]) == 0
        assert json.loads(Path("p.json").read_text())["fp_needed"] == needed
    Path("f.c").write_text(SUM)
    assert main(TILED) == 0
    assert json.loads(Path("p.json").read_text())["fp_needed"] == "reassociate"
    assert main(["apply", "f.c", "--script", "p.json", "--emit", "opencl", "-o", "again"]) == 0


REORDERING = ["-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"]


def test_permission_lets_a_reduction_run_in_parallel(capsys: Capture) -> None:
    total = "void f(int n, const float *restrict a, float *restrict s)\n"
    total += "{\n  float t = 0;\n  for (int i = 0; i < n; i++)\n    t += a[i];\n  *s = t;\n}\n"
    Path("f.c").write_text(total)
    assert main(["offload", "f.c", "--dry-run"]) == 1
    err = capsys.readouterr().err
    assert "'t' would be rounded differently [LX062]" in err
    assert "help: allow it: --fp reassociate" in err
    for options in (["--fp", "reassociate"], ["--cflags", *REORDERING]):
        assert main(["offload", "f.c", "--dry-run", *options]) == 0
        assert "partial results" in capsys.readouterr().out


def test_python() -> None:
    f = lx.load("f.c")["f"]
    for level, contract in (("strict", "OFF"), ("fast", "ON")):
        assert f"FP_CONTRACT {contract}" in f.tile(fp=level).kernel
        assert f"FP_CONTRACT {contract}" in f.offload(fp=level).kernel
    assert "FP_CONTRACT OFF" in f.tile(fp="reassociate", contract=False).kernel
    with pytest.raises(lx.ArgumentError, match="fp"):
        f.tile(fp="loose")


@pytest.mark.parametrize(
    "text",
    [
        "void f(int n, float x[n], const float a[n]) { for (int i = 0; i < n; i++) x[i] /= a[i]; }",
        "static float g(float x) { x /= 3.0f; return x; }\n"
        "void f(int n, float x[n]) { for (int i = 0; i < n; i++) x[i] = g(x[i]); }",
    ],
)
def test_quotients_in_assignments_count(text: str) -> None:
    Path("f.c").write_text(text)
    assert main(["tile", "f.c", "-q", "--fp", "strict"]) == 0
    assert ".division = LX_EXACT\n" in Path("f_opencl.c").read_text()


def test_strict_and_its_opposite_in_python() -> None:
    with pytest.raises(lx.ArgumentError, match="say the opposite"):
        lx.load("f.c")["f"].tile(fp="strict", reassociate=True)


def test_strict_holds_for_the_steps_of_a_script(capsys: Capture) -> None:
    """What was saved with permission is not replayed without."""
    Path("f.c").write_text(SUM)
    assert main(TILED) == 0
    capsys.readouterr()
    replay = ["apply", "f.c", "--script", "p.json", "--emit", "opencl", "-o", "again"]
    assert main(replay) == 0
    for level in ("strict", "contract"):
        assert main([*replay, "--fp", level]) == 1
        assert "floating-point addition is not associative" in capsys.readouterr().err
    script = json.loads(Path("p.json").read_text())
    Path("p.json").write_text(json.dumps({**script, "fp": "strict"}))
    assert main(replay) == 1
    del script["fp"]
    Path("p.json").write_text(json.dumps(script))
    assert main(replay) == 0
    Path("f.c").write_text(SUM.replace("float", "int"))
    assert main([*replay, "--fp", "strict"]) == 0


def test_strict_holds_for_annotations(capsys: Capture) -> None:
    loop = "  for (int i"
    Path("f.c").write_text(
        SUM.replace(loop, f"#pragma loopxform tile(recipe=reduce, reassociate)\n{loop}", 1)
    )
    assert main(["tile", "f.c", "-q"]) == 0
    for command, why in (("tile", "is not associative"), ("offload", "cannot be met")):
        assert main([command, "f.c", "--dry-run", "--fp", "strict"]) == 1
        assert why in capsys.readouterr().err


@pytest.mark.device
def test_what_an_annotation_permits_is_no_difference(capsys: Capture) -> None:
    loop = "  for (int i"
    Path("f.c").write_text(
        SUM.replace(loop, f"#pragma loopxform tile(recipe=reduce, reassociate)\n{loop}", 1)
    )
    assert main(["run", "f.c", "--size", "n=33,m=1001"]) == 0
    assert "within the tolerance for sums in another order" in capsys.readouterr().out
