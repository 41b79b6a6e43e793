"""`bench`: what is timed was right before, and what the table and the pictures say of it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from loopxform.bench import measure
from loopxform.cli import main
from loopxform.codegen import render

CORPUS = Path(__file__).parents[2] / "corpus"
MM = str(CORPUS / "mm.c")
SMALL = ("--Ty", "4", "--Tx", "4", "--Tk", "4", "--Ry", "2", "--Rx", "2", "--repeat", "3")
AT = ("--sizes", "M=N=33,40", "--size", "U=17")

Capture = pytest.CaptureFixture[str]


def rows(out: str) -> list[list[str]]:
    """The words of the lines of a table, without the headings."""
    return [line.split() for line in out.splitlines() if re.match(r"  \S+ +.*\d\.\d{4} ", line)]


@pytest.mark.opencl
def test_the_table_of_the_three_variants(capsys: Capture) -> None:
    assert main(["bench", MM, *AT, *SMALL]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0].startswith("mm on ")
    assert lines[1:3] == [
        "  inputs        random from seed 20200608",
        "  launches      3 timed after 2, by OpenCL events",
    ]
    assert (
        "U=17, M=33, N=33: 2*M*N*U = 37.03 k operations on float, 8.844 k bytes to move, "
        "4.19 for each byte" in lines
    )
    assert lines.count("  compared      with your C, within the tolerance for contraction") == 2
    found = rows(out)
    assert [r[0] for r in found] == ["naive", "block", "register"] * 2
    for n, (_, median, least, most, rate, *_) in enumerate(found):
        assert float(least) <= float(median) <= float(most)
        work = 2 * 17 * (33 * 33 if n < 3 else 40 * 40)
        assert float(rate) == pytest.approx(work / float(median) / 1e6, rel=0.02, abs=0.06)
    assert {tuple(r[7:]) for r in found} == {
        ("Ty=4", "Tx=4"),
        ("Ty=4", "Tx=4", "Tk=4"),
        ("Ty=4", "Tx=4", "Tk=4", "Ry=2", "Rx=2"),
    }
    assert len({line.index("speed-up") for line in lines if "speed-up" in line}) == 1


@pytest.mark.device
def test_variations_of_what_a_variant_has(capsys: Capture) -> None:
    options = ("--variants", "naive,register,auto", "--vary", "Tk=2,4", "--fp-contract", "off")
    assert main(["bench", MM, "--size", "M=9,U=9,N=9", *SMALL, *options]) == 0
    out = capsys.readouterr().out
    assert "  compared      with your C, bit by bit\n" in out
    names = [re.split(r"  +", line.strip())[0] for line in out.splitlines()[6:]]
    assert names == ["naive", "register Tk=2 = auto Tk=2", "register Tk=4 = auto Tk=4"]


@pytest.mark.device
def test_a_variant_that_cannot_be_had_leaves_the_others_be(capsys: Capture) -> None:
    stencil = str(CORPUS / "nests" / "heat_2d.c")
    at = ("--size", "n=20,m=30,c=0.1", "--repeat", "2")
    assert main(["bench", stencil, *at, "--variants", "naive,reduce"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^  reduce +not timed: 0 sequential loops", out, re.MULTILINE)
    assert rows(out)[0][0] == "naive"
    assert main(["bench", stencil, *at, "--variants", "reduce"]) == 1
    assert rows(capsys.readouterr().out) == []


@pytest.mark.device
def test_a_wrong_kernel_is_not_timed(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill = render.fill

    def wrong(template: str, **values: object) -> str:
        made = fill(template, **values)
        return made.replace("* B_reg[", "+ B_reg[")

    monkeypatch.setattr(render, "fill", wrong)
    file = tmp_path / "out.json"
    assert main(["bench", MM, *AT, *SMALL, "--json", str(file)]) == 1
    out = capsys.readouterr().out
    assert re.search(r"^  register +DIFFERENT  C\[0\]\[0\] is ", out, re.MULTILINE)
    assert {r[0] for r in rows(out)} == {"naive", "block"}
    (naive, _, register) = json.loads(file.read_text())["results"][0]["rows"]
    assert naive["verified"]
    assert not register["verified"]
    assert register["wrong"].startswith("C[0][0]")
    assert "milliseconds" not in register


@pytest.mark.device
def test_where_the_c_takes_too_long_smaller_sizes_are_compared_with_it(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "LONGEST", 25_000)
    assert main(["bench", MM, "--size", "M=40,U=17,N=30", *SMALL]) == 0
    out = capsys.readouterr().out
    place = "with your C at M=20, U=17, N=30 (here it would take too long)"
    assert (
        f"  compared      {place}, within the tolerance for contraction; here with the naive kernel"
        in out
    )
    assert [r[0] for r in rows(out)] == ["naive", "block", "register"]


@pytest.mark.device
def test_kernels_for_certain_sizes_are_compared_where_these_are(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They run for no smaller ones."""
    monkeypatch.setattr(measure, "LONGEST", 25_000)
    made_for = ("--specialise", "M=40")
    assert main(["bench", MM, "--size", "M=40,U=17,N=30", *made_for, *SMALL]) == 0
    out = capsys.readouterr().out
    assert "with your C at M=20, U=17, N=30 (here it would take too long)" in out
    assert [r[0] for r in rows(out)] == ["naive", "block", "register"]


@pytest.mark.device
def test_a_kernel_that_is_wrong_at_large_sizes_only_is_found(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text of the kernel is right for up to 32 columns."""
    monkeypatch.setattr(measure, "LONGEST", 10_000)
    fill = render.fill

    def wrong(template: str, **values: object) -> str:
        made = fill(template, **values)
        return made.replace("* B_reg[", "* (N > 32 ? 2 : 1) * B_reg[")

    monkeypatch.setattr(render, "fill", wrong)
    options = ("--size", "M=40,U=17,N=40", "--variants", "register")
    assert main(["bench", MM, *options, *SMALL]) == 1
    out = capsys.readouterr().out
    assert re.search(r"^  register +DIFFERENT  C\[0\]\[0\] is ", out, re.MULTILINE)
    assert "(M=" not in out, "it is right where the C was run"


@pytest.mark.device
def test_an_array_that_is_added_to_has_its_values_again_for_each_launch(capsys: Capture) -> None:
    text = str(CORPUS / "mm_ikj.c")
    at = ("--size", "M=20,U=10,N=30", "--fp-contract", "off", "--warmup", "0")
    assert main(["bench", text, *at, *SMALL]) == 0
    assert [r[0] for r in rows(capsys.readouterr().out)] == ["naive", "block", "register"]


@pytest.mark.device
def test_a_nest_without_floating_point_has_bytes_in_a_second(capsys: Capture) -> None:
    life = str(CORPUS / "nests" / "game_of_life.c")
    at = ("--size", "h=40,w=50", "--repeat", "2")
    assert main(["bench", life, *at, "--variants", "naive,stencil"]) == 0
    out = capsys.readouterr().out
    assert "h=40, w=50: no floating-point operations, " in out
    assert re.search(r" +- +\d+\.\d +1\.00  ", out)
    assert main(["bench", life, *at, "--roofline", "r.svg"]) == 2
    assert "has no floating-point operations to draw a roofline of" in capsys.readouterr().err


@pytest.mark.device
def test_structs(capsys: Capture) -> None:
    bodies = str(CORPUS / "nests" / "nbody_structs.c")
    options = ("--size", "n=40", "--repeat", "2", "--variants", "naive,1-d")
    assert main(["bench", bodies, *options]) == 0
    assert [r[0] for r in rows(capsys.readouterr().out)] == ["naive", "1-d"]


# ---------------------------------------------------------------- others


@pytest.mark.device
def test_a_program_of_others(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "prog").write_text("import sys; print('ready'); print(float(sys.argv[1]) * 2, 1e3)")
    command = f"'{sys.executable}' '{tmp_path / 'prog'}' {{U}}"
    options = ("--variants", "naive", "--command", command)
    assert main(["bench", MM, "--size", "M=9,U=8,N=9", "--repeat", "2", *options]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.split()[1:4] == ["508.0000", "16.0000", "1000.0000"]
    assert last.endswith("  times itself, not verified")


@pytest.mark.device
@pytest.mark.clblast
def test_clblast(capsys: Capture) -> None:
    for name in ("mm", "mm_at", "mm_bt", "mm_ikj", "mm_flat"):
        text = str(CORPUS / f"{name}.c")
        options = ("--size", "M=33,U=20,N=41", "--variants", "naive", "--against", "clblast")
        assert main(["bench", text, *options, "--repeat", "2"]) == 0
        assert [r[0] for r in rows(capsys.readouterr().out)] == ["naive", "clblast"]


@pytest.mark.device
@pytest.mark.parametrize(
    ("file", "options", "words"),
    [
        ("gemm.c", ("--against", "clblast"), "more than the sum is stored [LX068]"),
        ("mm.c", ("--variants", "fast"), "there is no variant 'fast' [LX020]"),
        ("mm.c", ("--vary", "Ti=1"), "'Ti=1' is not NAME=VALUE,... [LX023]"),
        ("mm.c", ("--plot", "bars.gif"), "'bars.gif' is no picture [LX023]"),
        ("mm.c", ("--repeat", "0"), "--repeat must be a whole number from 1 to"),
        ("mm.c", ("--sizes", "Q=1"), "'Q' is not a scalar of mm [LX054]"),
        ("mm.c", ("--sizes", "none.txt"), "cannot read the sizes in 'none.txt': No such file"),
        ("mm.c", ("--command", "prog {Q}"), "there is no size 'Q' [LX023]"),
        ("mm.c", ("--command", "./no-such-program"), "cannot be run: there is no such program"),
    ],
)
def test_refusals(
    file: str,
    options: tuple[str, ...],
    words: str,
    capsys: Capture,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["bench", str(CORPUS / file), "--size", "M=4,U=4,N=4", *options]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert "   = help: " in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.opencl
def test_cublas_is_for_nvidia(capsys: Capture) -> None:
    options = ("--size", "M=4,U=4,N=4", "--device", "Portable", "--against", "cublas")
    assert main(["bench", MM, *options]) == 2
    err = capsys.readouterr().err
    assert "error: cublas runs on NVIDIA devices, and this is " in err
    assert "   = help: choose one with --device, or use --against clblast" in err


# ---------------------------------------------------------------- files


@pytest.mark.device
def test_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    files = ("--json", "b.json", "--plot", "bars.svg", "--roofline", "roof.svg")
    assert main(["bench", MM, *AT, *SMALL, *files, "--command", "echo {M}"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-3:] == ["wrote b.json", "wrote bars.svg", "wrote roof.svg"]
    assert re.search(r"^  roof +[\d.]+ GB/s, [\d.]+ GFLOP/s in float", out, re.MULTILINE)
    data = json.loads(Path("b.json").read_text())
    assert data["schema_version"] == 1
    assert (data["function"], data["seed"], data["repeat"]) == ("mm", 20200608, 3)
    first, second = data["results"]
    assert first["sizes"] == first["verified_at"] == {"U": 17, "M": 33, "N": 33}
    assert (first["operations"], first["bytes"]) == (2 * 33 * 33 * 17, 4 * (2 * 33 * 17 + 33 * 33))
    names = [r["name"] for r in second["rows"]]
    assert names == ["naive", "block", "register", "echo"]
    assert [r["verified"] for r in second["rows"]] == [True, True, True, False]
    assert all(len(r["milliseconds"]) == 3 for r in second["rows"][:3])
    peak = data["peak"]
    intensity = first["operations"] / first["bytes"]
    assert first["roof"] == min(peak["gflops"]["float"], peak["bandwidth"] * intensity)
    bars = re.findall(r">([^<]*)</text>", Path("bars.svg").read_text())
    speedups = [f"x{r['speedup']:.2f}" for m in (first, second) for r in m["rows"][1:]]
    assert {"(17, 33, 33)", "(17, 40, 40)", "GFLOP/s", *names, *speedups} <= set(bars)
    roof = re.findall(r">([^<]*)</text>", Path("roof.svg").read_text())
    most = f"{peak['gflops']['float']:.0f} GFLOP/s in float, {peak['bandwidth']:.0f} GB/s"
    assert {most, "operations for each byte, every array moved once", *names} <= set(roof)


@pytest.mark.device
def test_a_png_and_json_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ("--variants", "naive", "--repeat", "2", "--plot", "bars.PNG", "--json", "-")
    assert main(["bench", MM, "--size", "M=9,U=8,N=9", *options]) == 0
    assert Path("bars.PNG").read_bytes().startswith(b"\x89PNG")
    out, err = capsys.readouterr()
    assert json.loads(out)["results"][0]["rows"][0]["name"] == "naive"
    assert err.startswith("mm on ")


@pytest.mark.device
def test_pictures_need_matplotlib(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    file = tmp_path / "bars.svg"
    assert main(["bench", MM, "--size", "M=9,U=8,N=9", "--plot", str(file)]) == 2
    err = capsys.readouterr().err
    assert "error: --plot needs matplotlib, which cannot be imported: " in err
    assert '   = help: pip install "loopxform[plot]" brings it' in err
    assert not file.exists()
