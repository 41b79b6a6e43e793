"""check --baseline: only what is new fails, wherever it has moved to."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pysarif
import pytest
from test_sarif import problems

from loopxform.cli import main

RACES = """\
#define RUN(x) for (int i = 1; i < n; i++) x[i] = x[i - 1]
void f(int n, float *restrict a, float *restrict b)
{
  int j;
#pragma omp parallel for
  for (int i = 1; i < n; i++) a[i] = a[i - 1];
#pragma omp parallel for
  for (int i = 1; i < n; i++) a[i] = a[i - 1];
#pragma omp parallel for
  RUN(b);
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (j = 0; j < n; j++) a[n * i + j] = 0;
}
void g(int n, int *restrict p, float *restrict a)
{
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[p[i]] = 1;
#pragma loopxform parallel
  for (int i = 1; i < n; i++) a[i] = a[i - 1];
}
"""
BROKEN = "void h(int n) { int x = ; }\n"
OMP = "#pragma omp parallel for\n"
FIFTH = f"{OMP}  for (int i = 2; i < n; i++) a[i] = 3 * a[i - 2];\n"
Capture = pytest.CaptureFixture[str]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> Run:
    """`check ARGS` in a folder with src/a.c, whose findings are in known.json."""

    def check(*args: str) -> tuple[int, str, str]:
        status = main(["check", *args])
        said = capsys.readouterr()
        return status, said.out, said.err

    monkeypatch.chdir(tmp_path)
    Path("src").mkdir()
    Path("src/a.c").write_text(RACES)
    assert check("src", "--write-baseline", "known.json") == (
        0,
        "wrote known.json: 6 findings\n",
        "",
    )
    return check


def concise(run: Run, *args: str, status: int) -> list[str]:
    """The lines, the sum last."""
    got, out, _ = run(*(args or ("src",)), "--baseline", "known.json", "--format", "concise")
    assert got == status, out
    return out.splitlines()


def total(new: int, known: int, gone: int) -> str:
    word = "finding" if new == 1 else "findings"
    return f"baseline known.json: {new} new {word}, {known} known, {gone} gone"


def entries() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(Path("known.json").read_text())["findings"]
    return found


def test_the_file_counts_what_is_alike_and_is_sorted(run: Run) -> None:
    text = Path("known.json").read_text()
    shown = [(e["function"], e["loop"], e["code"], e["about"], e["count"]) for e in entries()]
    assert shown == [
        ("f", "i", "LX300", "a", 2),
        ("f", "i", "LX300", "b", 1),
        ("f", "i", "LX301", "j", 1),
        ("g", "i", "LX310", "a", 1),
        ("g", "i", "LX400", "parallel", 1),
    ]
    assert {e["file"] for e in entries()} == {"src/a.c"}
    assert len(text.splitlines()) == len(shown) + 5  # a line each
    assert "line 6" not in text
    assert run("src", "--write-baseline", "known.json")[1] == "wrote known.json: 6 findings\n"
    assert Path("known.json").read_text() == text


TWICE = RACES.split("  RUN(b);")[0].partition("int j;\n")[2].rsplit("#pragma", 1)[0]
"""Two loops that are alike."""
ONE = TWICE[: len(TWICE) // 2]
EDITS: dict[str, tuple[str, list[int], int, int]] = {
    "lines move": (
        "\n/* moved */\n" + RACES.replace("  int j;", "  int k = 0;\n\n  int j;"),
        [],
        6,
        0,
    ),
    "line ends": (RACES.replace("\n", "\r\n"), [], 6, 0),
    "text changes": (RACES.replace("a[i] = a[i - 1];", "a[i]  =  2 * a[i - 1];"), [], 6, 0),
    "one more alike": (RACES.replace(TWICE, TWICE + ONE), [10], 6, 0),
    "another before those alike": (RACES.replace(TWICE, FIFTH + TWICE), [6], 6, 0),
    "one less alike": (RACES.replace(TWICE, ONE), [], 5, 1),
    "in a deeper loop": (
        RACES.replace("  RUN(b);", "  for (int k = 0; k < 2; k++) RUN(b);"),
        [10],
        5,
        1,
    ),
    "in another function": (RACES.replace("void g(", "void G("), [18, 19], 4, 2),
    "unreadable elsewhere": (RACES + "\n" + BROKEN, [23], 6, 0),
    "function unreadable": (RACES.replace("  int j;", "  int j = ;"), [4], 2, 0),
    "all gone": ("int nothing;\n", [], 0, 6),
    "empty": ("", [], 0, 6),
}
"""The text, lines with what is new, how many are known, how many are gone."""


@pytest.mark.parametrize("edit", EDITS)
def test_what_is_known_stays_known(run: Run, edit: str) -> None:
    text, lines, known, gone = EDITS[edit]
    Path("src/a.c").write_bytes(text.encode())
    status, out, err = run("src", "--baseline", "known.json", "--format", "github")
    data = json.loads(run("src", "--baseline", "known.json", "--format", "json")[1])["baseline"]
    assert [x["line"] for x in data["new"]] == lines
    assert (data["known"], sum(e["count"] for e in data["gone"])) == (known, gone)
    assert out.splitlines()[-1] == total(len(lines), known, gone)
    unread = "readable" in edit
    assert status == (2 if unread else 1 if [x for x in lines if x != 18] else 0)
    assert bool(err) == unread
    assert out.count("::notice file=known.json,line=") == len(data["gone"])


def test_a_renamed_file_takes_its_entries_along(run: Run) -> None:
    Path("src/a.c").rename("src/b c,%.c")
    assert concise(run, status=0) == [total(0, 6, 0)]
    Path("src/a.c").write_text(RACES)  # a copy is no renamed file
    assert concise(run, "src/a.c", "src/b c,%.c", status=1)[-1] == total(6, 6, 0)
    Path("src/a.c").unlink()
    assert run("src", "--write-baseline", "known.json")[1] == "wrote known.json: 6 findings\n"
    assert {e["file"] for e in entries()} == {"src/b c,%.c"}


def test_files_that_were_not_looked_at_stay(run: Run) -> None:
    Path("src/b.c").write_text("void f(int n, float *restrict a)\n{\n" + FIFTH + "}\n")
    assert concise(run, "src/b.c", status=1)[-1] == total(1, 0, 0)
    assert concise(run, "src/a.c", "--function", "g", status=0)[-1] == total(0, 2, 0)
    assert concise(run, "src/a.c", "--line", "6", status=0)[-1] == total(0, 1, 0)
    out = run("src/b.c", "--write-baseline", "known.json")[1]
    assert out == "wrote known.json: 1 finding (1 new, 0 gone); 6 of what was not checked\n"
    assert concise(run, status=0) == [total(0, 7, 0)]
    Path("src/a.c").unlink()
    assert concise(run, "src/b.c", status=0)[-1] == total(0, 1, 6)
    out = run("src/b.c", "--write-baseline", "known.json")[1]
    assert out == "wrote known.json: 1 finding (0 new, 6 gone)\n"


def test_paths_are_relative_to_the_baseline(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ci").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "src")
    run("src", "--write-baseline", "ci/known.json")
    assert '"file": "../src/a.c"' in Path("ci/known.json").read_text()
    monkeypatch.chdir(tmp_path / "ci")
    for path in ("../src", "../link/a.c", str(tmp_path / "src")):
        assert concise(run, path, status=0) == [total(0, 6, 0)]


def test_what_cannot_be_read_can_be_known(run: Run) -> None:
    Path("src/b.c").write_text("int x\n")
    Path("src/a.c").write_text(RACES + BROKEN + "void i(int n) { int y = ; }\n")
    run("src", "--write-baseline", "known.json")
    assert concise(run, status=0) == [total(0, 9, 0)]
    Path("src/a.c").write_text(RACES + BROKEN)
    Path("src/b.c").write_text("int x;\n")
    assert concise(run, status=0)[-1] == total(0, 7, 2)
    Path("src/a.c").write_text(RACES + "\n" + BROKEN.replace("x", "z"))
    status, _, err = run("src", "--baseline", "known.json")
    assert (status, err.splitlines()[0].split(" error")[0]) == (2, "src/a.c:23:25:")


def test_what_is_no_matter_of_the_text_is_never_known(run: Run) -> None:
    status, out, err = run("src", "none.c", "--write-baseline", "new.json")
    assert (status, out, Path("new.json").exists()) == (2, "", False)
    assert "no such file: none.c" in err
    assert concise(run, "src", "none.c", status=2) == [total(0, 6, 0)]


LATE = """\
void f(int n, float *restrict a)
{
#pragma omp parallel for
  for (int i = 1; i < n; i++) a[i] = a[i - 1];
}
"""


def test_what_there_was_no_time_for_is_not_gone(run: Run) -> None:
    head = "".join(f"for (int i{n} = 0; i{n} < n; i{n}++) " for n in range(12))
    total = " + ".join(f"{3 + n}*i{n}" for n in range(12))
    nest = f"{head} a[({total}) % 977] = a[({total}) / 7];"
    Path("src/a.c").write_text(LATE)
    run("src", "--write-baseline", "known.json")
    Path("src/a.c").write_text(LATE.replace("a[i] = a[i - 1];", nest))
    limit = ("--time-limit", "0.8")
    status, out, _ = run("src", "--baseline", "known.json", "--format", "json", *limit)
    data = json.loads(out)
    reasons = [r["code"] for x in data["functions"][0]["loops"] for r in x["reasons"]]
    assert "LX104" in reasons
    assert (status, data["baseline"]["gone"]) == (0, [])
    said = run("src", "--write-baseline", "known.json", *limit)[1]
    assert said.endswith("; 1 of what was not checked\n")


def test_the_report_ends_with_what_is_new(run: Run) -> None:
    Path("src/a.c").write_text(RACES.replace(TWICE, FIFTH + ONE))
    status, out, _ = run("src", "--baseline", "known.json")
    assert (status, out.splitlines()[-1]) == (0, total(0, 6, 0))  # one in the place of another
    Path("src/a.c").write_text(RACES.replace(TWICE, TWICE + FIFTH))
    status, out, _ = run("src", "--baseline", "known.json")
    *_, legend, new, last = out.splitlines()
    assert (status, last) == (1, total(1, 6, 0))
    assert new.startswith("src/a.c:10:31: error: race on 'a': ")
    assert legend.startswith("(= in one iteration")


def test_processes_answer_alike(run: Run) -> None:
    for n in range(3):
        Path(f"src/b{n}.c").write_text(RACES if n else BROKEN)
    for form in ("json", "sarif", "github"):
        told = [
            run("src", "--baseline", "known.json", "--format", form, "-j", j) for j in ("1", "2")
        ]
        assert told[0] == told[1]
        assert told[0][0] == 2
    wrote = [run("src", "--write-baseline", f"{j}.json", "-j", j) for j in ("1", "2")]
    assert Path("1.json").read_text() == Path("2.json").read_text()
    assert [w[0] for w in wrote] == [0, 0]


def test_sarif_has_the_state_of_what_fails(run: Run) -> None:
    Path("src/a.c").write_text(
        RACES.replace(TWICE, TWICE + ONE).replace(f"{OMP}  RUN(b);\n", "") + BROKEN
    )
    status, out, _ = run(
        *("src", "--baseline", "known.json", "--format", "sarif", "--sarif", "wrong.sarif")
    )
    log, wrong = json.loads(out), json.loads(Path("wrong.sarif").read_text())
    assert status == 2
    assert problems(log, pysarif.SarifLog) == problems(wrong, pysarif.SarifLog) == []
    states = [
        (r.get("baselineState"), r["ruleId"], r["level"])
        for r in log["runs"][0]["results"]
        if r["kind"] == "fail"
    ]
    known = [("unchanged", "LX300", "error")] * 2 + [("new", "LX300", "error")]
    known += [("unchanged", "LX301", "error")]
    known += [("unchanged", "LX310", "warning"), ("unchanged", "LX400", "error")]
    assert states == [*known, ("absent", "LX300", "error")]
    assert all("baselineState" not in r for r in log["runs"][0]["results"] if r["kind"] != "fail")
    gone = log["runs"][0]["results"][-1]["locations"][0]
    assert gone["physicalLocation"]["artifactLocation"]["uri"] == "src/a.c"
    assert gone["logicalLocations"] == [{"name": "f", "kind": "function"}]
    assert [r["ruleId"] for r in wrong["runs"][0]["results"]] == [rule for _, rule, _ in known]


BAD = {
    "empty": ("", 240, "1:1", "Expecting value"),
    "no JSON": ("x", 240, "1:1", "this is no JSON"),
    "foreign": ('{"version": "2.1.0", "runs": []}', 240, "1:1", "not a baseline of loopxform"),
    "a list": ("[]", 240, "1:1", "not a baseline of loopxform"),
    "newer": ('{\n"loopxform_baseline": 2, "all": 0}', 241, "2:23", "has format 2"),
    "no version": ('{"loopxform_baseline": true}', 240, "1:1", "not a baseline"),
    "no findings": ('{"loopxform_baseline": 1}', 240, "1:1", "no list 'findings'"),
    "no object": ('{"loopxform_baseline": 1, "findings": [3]}', 240, "1:40", "an object"),
    "no function": (
        '{"loopxform_baseline": 1, "findings": [\n {"file": "a.c"}]}',
        *(240, "2:2", "no text 'function'"),
    ),
    "merge": ('{\n"findings": [\n<<<<<<< HEAD\n]', 240, "3:1", "resolve the merge"),
    "binary": ("\udcff\udcfe\0", 240, "1:1", "this is no JSON"),
    "deep": ("[" * 100_000, 240, "1:1", "nested too deeply"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_baseline_is_refused_and_kept(run: Run, case: str) -> None:
    text, code, place, said = BAD[case]
    Path("bad.json").write_text(text, errors="surrogateescape")
    before = Path("bad.json").read_bytes()
    for option in ("--baseline", "--write-baseline") if text else ("--baseline",):
        status, out, err = run("src", option, "bad.json")
        assert (status, out, err.count("error:")) == (2, "", 1)
        assert err.startswith(f"bad.json:{place}: error: ")
        assert said in err
        assert f"[LX{code}]" in err
        assert Path("bad.json").read_bytes() == before


def test_counts_and_levels_are_checked(run: Run) -> None:
    good = Path("known.json").read_text()
    for old, new in (('"count": 2', '"count": 0'), ('"level": "error"', '"level": "x"')):
        Path("known.json").write_text(good.replace(old, new, 1))
        status, _, err = run("src", "--baseline", "known.json")
        assert (status, err.splitlines()[0].split(" error")[0]) == (2, "known.json:4:1:")
    first = good.splitlines()[3]
    doubled = good.replace("\n", "\r\n").replace(first, f"{first}\r\n{first}")  # by a merge
    Path("known.json").write_text("\ufeff" + doubled)
    assert concise(run, status=0)[-1] == total(0, 6, 2)


EXCLUDED = (
    "--baseline none.json",
    "--baseline src",
    "--write-baseline src",
    "--write-baseline src/a.c",
    "--write-baseline known.json --baseline known.json",
    "--write-baseline known.json --format json",
    "--write-baseline known.json --function f",
    "--baseline known.json --stats",
    "--stats --sarif x.sarif",
    "--sarif src/a.c",
)


@pytest.mark.parametrize("words", EXCLUDED)
def test_options_that_mean_nothing(run: Run, words: str) -> None:
    status, _, err = run("src/a.c", *words.split())
    assert status == 2
    assert err.count("error:") == 1
    assert Path("src/a.c").read_text() == RACES


def test_the_project_names_it(run: Run) -> None:
    """From any folder; the command line outranks it, and what writes it does not read it."""
    Path("loopxform.toml").write_text('\nbaseline = "known.json"\n')
    assert run("src", "--format", "concise") == (0, f"{total(0, 6, 0)}\n", "")
    assert run("src", "--baseline", "none")[0] == 1
    assert run("src", "--no-config")[0] == 1
    assert run("src", "--stats")[0] == 1
    Path("known.json").unlink()
    status, _, err = run("src")
    assert status == 2
    assert err.startswith("loopxform.toml:2:12: error: cannot read the baseline 'known.json': ")
    assert run("src", "--write-baseline", "known.json")[0] == 0
    Path("src/own").mkdir()
    Path("src/own/b.c").write_text(RACES)
    Path("src/own/loopxform.toml").write_text('baseline = "known.json"')
    status, out, err = run("src")
    assert (status, out) == (2, "")
    assert "several values of baseline: known.json, src/own/known.json" in err
    assert run("src", "--baseline", "known.json", "--format", "concise")[0] == 1
