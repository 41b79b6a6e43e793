"""Annotations as a user meets them: what each command makes of them, and the page about them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import Golden

import loopxform as lx
from loopxform.cli import main
from loopxform.cli.arguments.tile import options
from loopxform.schedule.requests import wish

Capture = pytest.CaptureFixture[str]
PAGE = Path(__file__).parents[2] / "docs" / "annotations.md"

MM = """\
void mm(int n, float A[n][n], float B[n][n], float C[n][n])
{
#pragma loopxform NOTE
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float acc = 0;
      for (int k = 0; k < n; k++)
        acc += A[i][k] * B[k][j];
      C[i][j] = acc;
    }
}
"""

TWO = """\
void f(int n, float *restrict a, float *restrict s)
{
  int i;
  float t;
#pragma loopxform FIRST
  for (i = 0; i < n; i++) {
    t = a[i];
    a[i] = t * t;
  }
#pragma loopxform SECOND
  for (i = 1; i < n; i++)
    s[i] = s[i - 1] + a[i];
}
"""

SUM = """\
void f(int n, int *restrict a, int *restrict s)
{
#pragma loopxform NOTE
  for (int i = 0; i < n; i++)
    s[0] += a[i];
}
"""


def two(first: str, second: str) -> str:
    return TWO.replace("FIRST", first).replace("SECOND", second)


def in_file(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.chdir(folder)
    Path("t.c").write_text(text)


# ---------------------------------------------------------------- parallel, check


@pytest.mark.parametrize(
    ("note", "holds"),
    [
        ("parallel", True),
        ("check", False),
        ("check(parallel)", False),
        ("check(privatizable)", True),
        ("check(reduction)", True),
    ],
)
def test_what_is_asserted_of_a_loop_with_a_private_scalar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, note: str, holds: bool
) -> None:
    in_file(tmp_path, monkeypatch, two(note, "ignore"))
    assert main(["check", "--format", "json", "t.c"]) == int(not holds)
    (f,) = json.loads(capsys.readouterr().out)["functions"]
    said = {"text": note, "line": 5, "column": 19, "loops": [6], "holds": holds}
    assert f["annotations"] == [said]
    assert main(["check", "--format", "sarif", "t.c"]) == int(not holds)
    results = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    kinds = [r["kind"] for r in results if r["ruleId"] in ("annotation", "LX400")]
    assert kinds == ["pass" if holds else "fail"]


@pytest.mark.parametrize("note", ["parallel", "check(privatizable)"])
@pytest.mark.parametrize("command", ["tile", "offload"])
def test_nothing_is_written_where_one_does_not_hold(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
    golden: Golden,
    command: str,
    note: str,
) -> None:
    in_file(tmp_path, monkeypatch, SUM.replace("NOTE", note))
    assert main([command, "t.c", "-o", "out"]) == 1
    assert not Path("out").exists()
    golden.check(capsys.readouterr().err)


def test_one_that_is_not_known_to_hold_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, golden: Golden
) -> None:
    body = "#pragma loopxform parallel\n  for (int i = 0; i < n; i++)\n    s[a[i]] = i;\n"
    in_file(tmp_path, monkeypatch, f"void f(int n, int *a, int *s)\n{{\n{body}}}\n")
    assert main(["offload", "t.c", "-o", "out"]) == 1
    golden.check(capsys.readouterr().err)


def test_in_front_of_a_function_every_outermost_loop_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    in_file(
        tmp_path, monkeypatch, "#pragma loopxform check(privatizable)\n" + two("ignore", "ignore")
    )
    assert main(["check", "t.c"]) == 1
    out = capsys.readouterr().out
    assert "check(privatizable) (line 1): holds" in out
    assert "check(privatizable) (line 1): does not hold" in out


def test_a_loop_that_is_not_modelled_has_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    body = "#pragma loopxform check(reduction)\n  while (a[0] > 0) a[0]--;\n"
    in_file(tmp_path, monkeypatch, f"void f(int *a)\n{{\n{body}}}\n")
    assert main(["check", "t.c"]) == 1
    assert "t.c:3:19: check(reduction): a while loop" in capsys.readouterr().out


# ---------------------------------------------------------------- assume, noalias


def test_what_is_assumed_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    text = MM.replace("NOTE", "assume(n > 4 && n % 8 == 0) noalias(C, A, B)")
    in_file(tmp_path, monkeypatch, text)
    assert main(["check", "--format", "json", "t.c"]) == 0
    (f,) = json.loads(capsys.readouterr().out)["functions"]
    pairs = [f"{x} do not overlap" for x in ("A and C", "B and C")]
    assert f["loops"][0]["assumes"] == [*pairs, "n > 4", "n % 8 == 0", "A and B do not overlap"]
    assert f["loops"][2]["assumes"] == ["n > 4", "n % 8 == 0", "A and B do not overlap"]


def test_a_condition_makes_a_loop_parallel() -> None:
    text = "void f(int n, int m, int *a) { for (int i = 0; i < n; i++) a[i + m] = a[i]; }"
    (without,) = lx.loads(text)["f"].check()
    (given,) = lx.loads("#pragma loopxform assume(m >= n)\n" + text)["f"].check()
    (weaker,) = lx.loads("#pragma loopxform assume(m >= n - 1)\n" + text)["f"].check()
    assert [v.parallel for v in (without, given, weaker)] == ["no", "yes", "no"]
    assert given.assumes == ("m >= n",)


# ---------------------------------------------------------------- tile


def test_sizes_of_the_annotation_and_of_the_command_line() -> None:
    f = lx.loads(MM.replace("NOTE", "tile(Ty=8, Tx=4, recipe=block, pad)"))["mm"]
    assert (f.tile().tiled.recipe, f.tile().sizes["Ty"], f.tile().sizes["Tx"]) == ("block", 8, 4)
    assert (f.tile(Ty=2).sizes["Ty"], f.tile(Ty=2).sizes["Tx"]) == (2, 4)
    assert f.tile(recipe="register").tiled.recipe == "register"
    (part,) = f.offload(Tx=16).parts
    assert part.tiled is not None
    assert (part.tiled.recipe, part.tiled.sizes["Ty"], part.tiled.sizes["Tx"]) == ("block", 8, 16)


def test_each_nest_as_it_is_annotated() -> None:
    loop = "  for (int i = 0; i < n; i++)\n    a[i] = 2 * b[i];\n"
    body = f"#pragma loopxform tile(Tx=32)\n{loop}  a[0] = 1;\n{loop}"
    head = "#pragma loopxform tile(Tx=64, Ty=1)\nvoid f(int n, float *a, float *b)\n"
    parts = lx.loads(f"{head}{{\n{body}}}\n")["f"].offload().parts
    sizes = [p.tiled.sizes for p in parts if p.tiled]
    assert [(s["Ty"], s["Tx"]) for s in sizes] == [(1, 32), (1, 64)]


def test_a_sequential_loop_that_one_group_reduces_is_tiled_as_annotated() -> None:
    loop = "#pragma loopxform tile(Tx=64)\n  for (int i = 0; i < n; i++)\n    t += a[i];\n"
    f = lx.loads(f"void f(int n, int *a, int *s)\n{{\n  int t = 0;\n{loop}  s[0] = t;\n}}\n")["f"]
    assert {p.tiled.sizes["Tx"] for p in f.offload().parts if p.tiled} == {64}


def test_the_annotated_function_is_the_one_that_is_tiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    other = MM.replace("mm", "other").replace("#pragma loopxform NOTE\n", "")
    in_file(tmp_path, monkeypatch, other + MM.replace("NOTE", "tile(recipe=block)"))
    assert main(["tile", "t.c", "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("mm: block tiling")
    Path("t.c").write_text(MM + "#pragma loopxform ignore\n" + other)
    assert main(["check", "t.c"]) == 2
    Path("t.c").write_text(MM.replace("NOTE", "parallel") + "#pragma loopxform ignore\n" + other)
    assert main(["tile", "t.c", "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("mm: register tiling")


def test_a_function_that_is_not_modelled_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    loop = "#pragma loopxform NOTE\n  for (int i = 0; i < n; i++) a[i] = 0;\n"
    old = f"void old(n, a, x) float *a, x;\n{{\n{loop}}}\n"
    in_file(tmp_path, monkeypatch, "")
    for note, status in (("tile(Tx=4)", 2), ("parallel", 2), ("ignore", 0)):
        text = MM.replace("#pragma loopxform NOTE\n", "") + old.replace("NOTE", note)
        Path("t.c").write_text(text)
        assert main(["tile", "t.c", "--dry-run", "--quiet"]) == status
        assert ("old-style (K&R) definition" in capsys.readouterr().err) == (status == 2)


@pytest.mark.parametrize(
    "note",
    [
        "tile(Tq=4)",
        "tile(Ty=many)",
        "tile(recipe=blok)",
        "tile(pad=3)",
        "tile(relayout(A))",
        "tile(recipe=reduce)",
        "tile(Ty=4096, Tx=4096)",
        "tile(Ty=4)\n#pragma loopxform tile(Tx=4)",
    ],
)
def test_tilings_that_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, golden: Golden, note: str
) -> None:
    in_file(tmp_path, monkeypatch, MM.replace("NOTE", note))
    status = main(["tile", "t.c", "-o", "out"])
    assert not Path("out").exists()
    err = capsys.readouterr().err
    assert status == (1 if "[LX401]" in err else 2)
    golden.check(err)


def test_the_command_line_has_the_same_options() -> None:
    """Every option of an annotation is one of `tile`, with the same value."""
    given = ["--Ty", "4", "--Rk", "3", "--recipe", "block", "--pad", "--separate-full-tiles"]
    args = options().parse_args(["t.c", *given, "--reassociate", "--relayout", "A:1,0"])
    made = wish(
        {
            "Ty": "4",
            "Rk": "3",
            "recipe": "block",
            "pad": "",
            "separate-full-tiles": "",
            "reassociate": "",
            "relayout": "A:1,0",
        }
    )
    assert (made.sizes, made.recipe) == ({"Ty": int(args.Ty)}, args.recipe)
    o = made.options
    assert (o.Rk, o.pad, o.separate_full_tiles, o.reassociate) == (3, True, True, True)
    assert o.relayout == (("A", "1,0"),)
    assert (args.pad, args.separate_full_tiles, args.reassociate) == (True, True, True)


# ---------------------------------------------------------------- ignore, scop


IGNORED = {
    "function": "#pragma loopxform ignore\n" + MM.replace("NOTE", "parallel"),
    "statement": two("check(privatizable)", "ignore"),
    "scop": TWO.replace("loopxform FIRST", "scop").replace("loopxform SECOND", "endscop"),
}


@pytest.mark.parametrize("name", ["statement", "scop"])
def test_what_is_left_alone_stays_beside_what_is_offloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, name: str
) -> None:
    in_file(tmp_path, monkeypatch, IGNORED[name])
    assert main(["offload", "t.c", "--function", "f", "-o", "out"]) == 0
    assert capsys.readouterr().out.startswith("f, lines 5 to 9: 1 kernel\n  line 6 ")
    calls = Path("out/t_opencl.c").read_text().count("if (!lx_try_")
    assert calls == 1


@pytest.mark.parametrize(
    ("text", "command"),
    [*((IGNORED[n], "tile") for n in IGNORED), (IGNORED["function"], "offload")],
    ids=[*(f"{n}-tile" for n in IGNORED), "function-offload"],
)
def test_what_is_left_alone_is_not_taken_to_the_device(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
    golden: Golden,
    text: str,
    command: str,
) -> None:
    in_file(tmp_path, monkeypatch, text)
    name = re.findall(r"void (\w+)\(", text)[0]
    assert main([command, "t.c", "--function", name, "-o", "out"]) == 2
    golden.check(capsys.readouterr().err)


def test_a_loop_that_is_annotated_and_stays_on_the_host_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, golden: Golden
) -> None:
    loop = "  for (int i = 0; i < n; i++)\n    a[i] = 0;\n"
    tiled = f"#pragma loopxform tile(Tx=8)\n{loop}"
    body = f"#pragma scop\n{loop}#pragma endscop\n{tiled}"
    in_file(tmp_path, monkeypatch, f"void f(int n, float *a)\n{{\n{body}}}\n")
    assert main(["offload", "t.c", "-o", "out"]) == 1
    assert not Path("out").exists()
    golden.check(capsys.readouterr().err)


def test_of_a_file_with_scops_what_is_annotated_is_offloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    loop = "  for (int i = 0; i < n; i++)\n    a[i] = 0;\n"
    bodies = {
        "none": loop,
        "scop": f"#pragma scop\n{loop}#pragma endscop\n",
        "tile": f"#pragma loopxform tile(Tx=8)\n{loop}",
    }
    made = (f"void {name}(int n, float *a)\n{{\n{body}}}\n" for name, body in bodies.items())
    in_file(tmp_path, monkeypatch, "".join(made))
    assert main(["offload", "t.c", "--dry-run"]) == 0
    heads = [line for line in capsys.readouterr().out.splitlines() if ": 1 kernel" in line]
    assert heads == ["scop: 1 kernel", "tile: 1 kernel"]


# ---------------------------------------------------------------- the page


def test_the_functions_of_the_page_are_offloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    page = PAGE.read_text()
    *_, relax, edges = re.findall(r"^```c\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    Path("edges.c").write_text(edges)
    assert main(["offload", "edges.c", "--dry-run", "--report"]) == 0
    assert "\n  kept      t  " in capsys.readouterr().out
    Path("relax.c").write_text(relax)
    assert main(["offload", "relax.c", "-q"]) == 0
    assert "LX_RELAXED }," in Path("relax_opencl.c").read_text()
    assert ".division = LX_EXACT\n" in Path("relax_opencl.c").read_text()
