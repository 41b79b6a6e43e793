"""check: questions about steps and requirements, one line of the file, a limit of time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loopxform.cli import main

MM = str(Path(__file__).parents[2] / "corpus" / "mm.c")
Capture = pytest.CaptureFixture[str]


def check(*options: str) -> int:
    return main(["check", MM, *options])


def test_a_step_that_is_legal(capsys: Capture) -> None:
    assert check("--can", "interchange i j", "--can", "stripmine k 32") == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == (
        "interchange i j: yes (if A and C do not overlap, B and C do not overlap); "
        "no direction vector has '<' for i and '>' for j"
    )
    assert second.startswith("stripmine k 32: yes; the same iterations in the same order")


def test_a_step_that_is_not_legal(capsys: Capture) -> None:
    assert check("--can", "parallelise k") == 1
    out = capsys.readouterr().out
    assert out.startswith("parallelise k: no; ")
    assert "is carried by the loop over 'k' [LX101]" in out
    assert "witness: k=0 and k=1" in out


def test_a_step_that_says_nothing_meaningful(capsys: Capture) -> None:
    for text, reason in (("frob i", "'frob' is not a step"), ("unroll x", "no loop over 'x'")):
        assert check("--can", text) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert reason in err


def test_requirements(capsys: Capture) -> None:
    assert check("--require", "parallel:5", "--require", "reduction:8") == 0
    assert check("--require", "parallel:5", "--require", "parallel:8") == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "parallel:8: no; the verdict on the loop over 'k' is reduction (+ of acc)"
    for bad in ("parallel", "fast:5", "parallel:x", "parallel:99"):
        assert check("--require", bad) == 2
        assert "error: " in capsys.readouterr().err


def test_answers_as_json(capsys: Capture) -> None:
    assert check("--can", "parallelise k", "--require", "parallel:6", "--format", "json") == 1
    answers = json.loads(capsys.readouterr().out)["answers"]
    assert [(a["question"], a["holds"]) for a in answers] == [
        ("parallelise k", False),
        ("parallel:6", True),
    ]
    granted = ["A and C do not overlap", "B and C do not overlap"]
    assert [a["assumes"] for a in answers] == [[], granted]


APART = "void f(int n, float *a, float *b, float *c)\n{ %s }"

ASSUMED = [
    ("parallelise i", "for (int i = 0; i < n; i++) a[i] = b[i];", ["a and b do not overlap"]),
    ("parallelise i", "for (int i = 0; i < n; i++) a[i] = 2 * a[i];", []),
    ("stripmine i 4", "for (int i = 0; i < n; i++) a[i] = b[i];", []),
    # Only what is changed counts.
    ("parallelise i", "for (int i = 0; i < n; i++) a[i] = 1; for (int j = 0; j < n; j++)"
     " b[j] = c[j];", []),
    ("parallelise j", "for (int i = 0; i < n; i++) { c[i] = b[i]; for (int j = 0; j < n; j++)"
     " a[j] = i; }", []),
    ("fuse i j", "for (int i = 0; i < n; i++) a[i] = 1; for (int j = 0; j < n; j++) b[j] = 2;",
     ["a and b do not overlap"]),
]  # fmt: skip


@pytest.mark.parametrize(("step", "body", "granted"), ASSUMED)
def test_what_a_legal_step_takes_for_granted(
    step: str, body: str, granted: list[str], tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "t.c"
    file.write_text(APART % body)
    assert main(["check", str(file), "--can", step]) == 0
    said = capsys.readouterr().out.partition(f"{step}: yes")[2].partition(";")[0]
    assert said == (f" (if {', '.join(granted)})" if granted else "")
    assert main(["check", str(file), "--can", step, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["answers"][0]["assumes"] == granted


JUMPS = [
    ("if (b[i] < 0) break;", "a break"),
    ("if (b[i] < 0) return;", "a return that is not the last statement"),
    ("if (b[i] < 0) goto end;", "a goto"),
    ("for (int j = 0; j < 3; j++) if (b[j] < 0) goto end;", "a goto"),
    ("while (b[i] > 9) { b[i]--; if (b[i] < 0) goto end; }", "a goto"),
    ("if (b[i] > 0) { in: a[i]++; } if (a[i] == 3) goto in;", "the label 'in'"),
]


@pytest.mark.parametrize(("jump", "reason"), JUMPS)
def test_a_loop_that_is_left_early_is_not_reshaped(
    jump: str, reason: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "t.c"
    loop = f"for (int i = 0; i < n; i++) {{ {jump} a[i] = 2; }}"
    file.write_text(APART % f"{loop} end: a[0] = 1;")
    for step in ("stripmine i 4", "split i 3", "normalise i", "unroll i 2", "bounding-box i long"):
        assert main(["check", str(file), "--can", step]) == 1
        said = capsys.readouterr().out
        assert f"how far the loop over 'i' runs is not known before: {reason}" in said


def test_a_loop_inside_one_that_is_left_early_is_reshaped(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "t.c"
    inner = "for (int j = 0; j < n; j++) { int k = 0; while (k < 9) { if (a[k] > 0) break; k++; } }"
    loop = f"for (int i = 0; i < n; i++) {{ if (a[i] < 0) break; {inner} }}"
    file.write_text(APART % loop)
    assert main(["check", str(file), "--can", "stripmine j 4", "--can", "split j 3"]) == 0
    assert "no;" not in capsys.readouterr().out


def test_the_loops_of_one_line(capsys: Capture) -> None:
    assert check("--line", "8", "--format", "json") == 0
    (fn,) = json.loads(capsys.readouterr().out)["functions"]
    assert [loop["var"] for loop in fn["loops"]] == ["k"]
    assert check("--line", "7") == 2
    assert "loops begin on line 5, 6, 8" in capsys.readouterr().err


def test_a_limit_of_time(tmp_path: Path, capsys: Capture) -> None:
    assert check("--time-limit", "60") == 0
    head = "".join(f"for (int i{n} = 0; i{n} < n; i{n}++) " for n in range(12))
    total = " + ".join(f"{3 + n}*i{n}" for n in range(12))
    file = tmp_path / "hard.c"
    file.write_text(f"void f(int n, float *a) {{ {head} a[({total}) % 977] = a[({total}) / 7]; }}")
    capsys.readouterr()
    assert main(["check", str(file), "--time-limit", "0.8", "--format", "json"]) == 0
    (fn,) = json.loads(capsys.readouterr().out)["functions"]
    assert "LX104" in {r["code"] for loop in fn["loops"] for r in loop["reasons"]}


def test_a_question_that_takes_too_long_is_unknown(tmp_path: Path, capsys: Capture) -> None:
    """One diagnostic would say that the file is bad; the answer is that there is none."""
    jumps = "".join(
        f"L{k}: k++; if (a[k] > {k}) goto L{k * 7 % 60}; a[k] = {k};\n" for k in range(60)
    )
    loop = "for (int i = 0; i < n; i++) a[i] = 1;"
    file = tmp_path / "t.c"
    file.write_text(f"void f(int n, int *a)\n{{ int k = 0;\n{loop}\n{jumps} }}\n")
    asked = ["--can", "reverse i", "--require", "parallel:3", "--time-limit", "0.2"]
    assert main(["check", str(file), *asked]) == 1
    can, require, why = capsys.readouterr().out.splitlines()
    late = "time limit: too hard to analyse within it; --time-limit allows more"
    assert can == f"reverse i: unknown; {late}"
    assert require == "parallel:3: unknown; the verdict on the loop over 'i' is unknown"
    assert why.strip() == late
    assert main(["check", str(file), *asked, "--format", "json"]) == 1
    answers = json.loads(capsys.readouterr().out)["answers"]
    assert [(a["holds"], a["unknown"]) for a in answers] == [(False, True)] * 2
