"""Scripts of steps: what is replayed is what was saved, and errors have a place in the script."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import loopxform as lx
from loopxform.cli import main

MM = str(Path(__file__).parents[2] / "corpus" / "mm.c")

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("contract", ["on", "off"])
def test_contraction_is_replayed(contract: str, tmp_path: Path) -> None:
    script = str(tmp_path / "steps.json")
    a, b, c = (str(tmp_path / x) for x in "abc")
    assert main(["tile", MM, "--json", script, "--fp-contract", contract, "-o", a, "-q"]) == 0
    assert main(["apply", MM, "--script", script, "--emit", "opencl", "-o", b]) == 0
    kernel = Path(a, "mm.cl").read_text()
    assert f"FP_CONTRACT {contract.upper()}" in kernel
    assert Path(b, "mm.cl").read_text() == kernel
    other = "on" if contract == "off" else "off"
    options = ["--script", script, "--emit", "opencl", "--fp-contract", other]
    assert main(["apply", MM, *options, "-o", c]) == 0
    assert f"FP_CONTRACT {other.upper()}" in Path(c, "mm.cl").read_text()


def test_a_script_is_saved_as_it_was_read(tmp_path: Path, capsys: Capture) -> None:
    script = tmp_path / "steps.json"
    assert (
        main(["tile", MM, "--json", str(script), "--fp-contract", "off", "-q", "-o", str(tmp_path)])
        == 0
    )
    assert main(["apply", MM, "--script", str(script), "--emit", "json"]) == 0
    assert capsys.readouterr().out == script.read_text()


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("{", "1:2", "not JSON: expecting property name"),
        ('{\n "steps": [1,]\n}', "2:14", "not JSON"),
        ("[]", "1:1", "the script has no list of steps"),
        ('{"steps": 3}', "1:1", "the script has no list of steps"),
        ('{"steps": [],\n  "stepz": 1}', "2:12", "a script has no 'stepz'"),
        ('{"steps": [],\n  "tiles": {"T": 0}}', "2:12", "not tile sizes"),
        ('{"steps": [],\n  "fp_contract": 1}', "2:18", '"fp_contract" is neither'),
        ('{"steps": [\n  3]}', "2:3", "not a step: 3"),
        ('{"steps": [\n  {"step": "turn"}]}', "2:13", "not a step"),
        ('{"steps": [\n  {"step": "unroll", "bogus": 1}]}', "2:23", "has no parameter 'bogus'"),
        ('{"steps": [\n  {"step": "interchange", "outer": "i"}]}', "2:5", "needs 'inner'"),
        (
            '{"steps": [{"step": "stripmine", "loop": "i", "size": "4"},\n'
            '  {"step": "stripmine", "loop": "q", "size": "4"}]}',
            "2:34",
            "there is no loop over 'q'",
        ),
        (
            '{"steps": [\n  {"step": "stripmine", "loop": "i", "size": "0"}]}',
            "2:47",
            "tile size '0' is not between",
        ),
    ],
)
def test_errors_have_a_place_in_the_script(
    text: str,
    place: str,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.json").write_text(text)
    assert main(["apply", MM, "--script", "s.json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"s.json:{place}: error: ")
    assert words in err.splitlines()[0]
    assert "^" in err
    assert "\n   = help: " in err


def test_a_script_that_is_not_text(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "s.json").write_bytes(b"\xff\xfe")
    assert main(["apply", MM, "--script", str(tmp_path / "s.json")]) == 2
    assert "is not text in UTF-8 [LX056]" in capsys.readouterr().err


def test_an_illegal_step_of_a_script_is_shown_in_the_program(
    tmp_path: Path, capsys: Capture
) -> None:
    steps = [{"step": "parallelise", "loop": "k"}]
    (tmp_path / "s.json").write_text(json.dumps({"steps": steps}))
    assert main(["apply", MM, "--script", str(tmp_path / "s.json")]) == 1
    assert capsys.readouterr().err.startswith(f"{MM}:")


def test_a_schedule_with_other_sizes(tmp_path: Path, capsys: Capture) -> None:
    """Replayed it is the same kernel; with other sizes that fit it is another, those that do not
    are refused with the constraint and its numbers."""
    script = str(tmp_path / "s.json")
    assert main(["tile", MM, "-o", str(tmp_path), "--json", script, "-q"]) == 0
    data = json.loads(Path(script).read_text())
    assert (data["recipe"], data["device"]) == ("register", "generic")
    assert data["constraints"][0] == {
        "what": "group size",
        "formula": "Ty*Tx",
        "most": 1024,
        "unit": "work-items",
    }
    for size in (16, 32):
        command = ["apply", MM, "--script", script, "--set", f"Tk={size}", "--emit", "opencl"]
        assert main([*command, "-o", str(tmp_path / f"{size}")]) == 0
    same, other = (
        (tmp_path / folder / "mm.cl").read_text().partition("#pragma")[2] for folder in ("16", "32")
    )
    assert same == (tmp_path / "mm.cl").read_text().partition("#pragma")[2]
    assert "#define Tk 32\n" in other
    capsys.readouterr()
    assert main(["apply", MM, "--script", script, "--set", "Tk=64", "-o", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert "the tile does not fit generic [LX030]" in err
    assert "4*(16*8 + 4)*64 + 4*64*16*8 = 66560 > 49152 bytes" in err
    assert "Tk=64" in err.splitlines()[2][err.splitlines()[3].index("^") :]


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        *((name, "generic") for name in ("mm", "gemm", "batched", "distances", "mm_at")),
        *(("batched", "h100"), ("mm", "pocl"), ("distances", "pocl")),
    ],
)
def test_constraints_count_what_the_plan_counts(name: str, limits: str) -> None:
    routine = next(iter(lx.load(f"corpus/{name}.c")))
    tiled = routine.tile(limits=limits)
    assert tiled.tiled.fitted is not None
    uses = tiled.tiled.fitted.needs.uses(tiled.sizes, tiled.limits)
    assert uses
    for use in uses:
        assert use.constraint.total(tiled.sizes) == use.total
        assert (use.constraint.broken(tiled.sizes) == "") == (use.total <= use.most)


@pytest.mark.parametrize(
    "rows",
    [
        4,
        [{"what": "x", "formula": "Ty"}],
        [{"what": "x", "formula": "Ty**2", "most": 4}],
        [{"what": "x", "formula": "open('f')", "most": 4}],
        [{"what": "x", "formula": "Ty +", "most": 4}],
        [{"what": "x", "formula": "1.5*Ty", "most": 4}],
        [{"what": "x", "formula": "Ty", "most": 4, "more": 1}],
    ],
)
def test_what_is_no_constraint(rows: object, tmp_path: Path, capsys: Capture) -> None:
    script = tmp_path / "s.json"
    script.write_text(json.dumps({"constraints": rows, "steps": []}))
    assert main(["apply", MM, "--script", str(script)]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"{script}:1:17: error: not a ")
    assert "[LX056]" in err


@pytest.mark.parametrize("emit", ["listing", "json"])
def test_a_constraint_of_a_size_that_is_not_there(
    emit: str, tmp_path: Path, capsys: Capture
) -> None:
    script = tmp_path / "s.json"
    rows = [{"what": "x", "formula": "4*Ty*Q", "most": 4}]
    script.write_text(json.dumps({"tiles": {"Ty": 2}, "constraints": rows, "steps": []}))
    assert main(["apply", MM, "--script", str(script), "--emit", emit]) == 2
    assert "a constraint names 'Q', which is no tile size" in capsys.readouterr().err
