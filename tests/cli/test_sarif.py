"""check --format sarif: valid by the model that pysarif made of the schema, and meaningful."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pysarif
import pytest

from loopxform.cli import main

SOURCE = """#include <stdio.h>
void f(int n, float *restrict a, float *restrict b, int *p)
{
  int j;
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      a[n * i + j] = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    b[i] = 1;
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    b[p[i]] = 1;
  for (int i = 1; i < n; i++)
    b[i] = b[i - 1];
  for (int i = 1; i < n; i++)
    b[i] = b[i - 1];
}
"""
Capture = pytest.CaptureFixture[str]
Json = dict[str, Any]


def problems(value: Any, kind: Any, where: str = "log") -> list[str]:
    """Where JSON does not fit a dataclass made from the schema: keys, required ones, enumerations,
    types."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return []
    if origin in (typing.Union, types.UnionType):
        tried = [problems(value, k, where) for k in inner if k is not type(None)]
        return min(tried, key=len)
    if origin is typing.Literal:
        return [] if value in inner else [f"{where}: {value!r} is none of {inner}"]
    if origin is list:
        if not isinstance(value, list):
            return [f"{where}: not a list"]
        return [p for n, v in enumerate(value) for p in problems(v, inner[0], f"{where}[{n}]")]
    if dataclasses.is_dataclass(kind):
        return _object(value, kind, where)
    fits = isinstance(value, kind) and not (kind in (int, float) and isinstance(value, bool))
    return [] if fits else [f"{where}: {value!r} is not {kind.__name__}"]


def _object(value: Any, kind: Any, where: str) -> list[str]:
    if kind.__name__ == "PropertyBag":
        return [] if isinstance(value, dict) else [f"{where}: not an object"]
    hints = typing.get_type_hints(kind)
    fields = {_camel(f.name): f for f in dataclasses.fields(kind)}
    out = [f"{where}.{key} is not in the schema" for key in value if key not in fields]
    for key, f in fields.items():
        needed = f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
        if key in value:
            out += problems(value[key], hints[f.name], f"{where}.{key}")
        elif needed:
            out.append(f"{where}.{key} is missing")
    return out


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    name = first + "".join(word.capitalize() for word in rest)
    return f"${name}" if name == "schema" else name


def sarif(capsys: Capture, *args: str, status: int) -> Json:
    assert main(["check", "--format", "sarif", *args]) == status
    out: Json = json.loads(capsys.readouterr().out)
    assert problems(out, pysarif.SarifLog) == []
    (run,) = out["runs"]
    names = [r["id"] for r in run["tool"]["driver"]["rules"]]
    assert len(set(names)) == len(names)
    for r in run["results"]:
        assert names[r["ruleIndex"]] == r["ruleId"]
        assert r["kind"] == "fail" or r["level"] == "none"
        for place in (*r["locations"], *r.get("relatedLocations", ())):
            physical = place["physicalLocation"]["artifactLocation"]
            assert run["artifacts"][physical["index"]]["location"]["uri"] == physical["uri"]
    prints = [r["partialFingerprints"]["primaryLocationLineHash"] for r in run["results"]]
    assert len(set(prints)) == len(prints)
    return typing.cast(Json, run)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("a b.c").write_text(SOURCE)
    return "a b.c"


def test_verdicts_and_claims(file: str, capsys: Capture) -> None:
    run = sarif(capsys, file, status=1)
    found = [(r["ruleId"], r["kind"], r["level"], _line(r)) for r in run["results"]]
    assert found == [
        ("loop-yes", "pass", "none", 6),
        ("loop-yes", "pass", "none", 7),
        ("loop-yes", "pass", "none", 10),
        ("loop-unknown", "open", "none", 13),
        ("loop-no", "informational", "none", 15),
        ("loop-no", "informational", "none", 17),
        ("LX301", "fail", "error", 7),
        ("openmp-claim", "pass", "none", 9),
        ("LX310", "fail", "warning", 14),
    ]
    race = run["results"][6]
    assert race["message"]["text"].endswith("at i=0 and i=1 (n=2). Cure: private(j).")
    assert race["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 5
    assert run["results"][0]["properties"]["loop"]["parallel"] == "yes"
    assert unquote(run["artifacts"][0]["location"]["uri"]) == file
    assert run["invocations"] == [{"executionSuccessful": True}]
    region = race["locations"][0]["physicalLocation"]["region"]
    assert region == {
        "startLine": 7,
        "startColumn": 5,
        "snippet": {"text": "    for (j = 0; j < n; j++)"},
    }


def _line(result: Json) -> int:
    found: int = result["locations"][0]["physicalLocation"]["region"]["startLine"]
    return found


def test_fingerprints_stay_when_lines_move(file: str, capsys: Capture) -> None:
    before = sarif(capsys, file, status=1)["results"]
    Path(file).write_text("/* a comment */\n\n" + SOURCE)
    after = sarif(capsys, file, status=1)["results"]
    assert [_line(r) + 2 for r in before] == [_line(r) for r in after]
    assert [r["partialFingerprints"] for r in before] == [r["partialFingerprints"] for r in after]


def test_what_cannot_be_read_is_a_notification(file: str, capsys: Capture) -> None:
    Path("bad.c").write_text("void g(int n)\n{ int x = ; }\n")
    run = sarif(capsys, file, "bad.c", status=2)
    assert len(run["results"]) == 9
    (invocation,) = run["invocations"]
    assert not invocation["executionSuccessful"]
    (note,) = invocation["toolExecutionNotifications"]
    assert (note["descriptor"]["id"], note["level"]) == ("LX001", "error")
    assert note["locations"][0]["physicalLocation"]["region"]["startLine"] == 2


def test_there_is_a_log_where_nothing_can_be_read(file: str, capsys: Capture) -> None:
    Path(file).write_text("int x")
    for name in (file, "none.c"):
        run = sarif(capsys, name, "--sarif", "log.sarif", status=2)
        assert (run["results"], run["invocations"][0]["executionSuccessful"]) == ([], False)
        assert json.loads(Path("log.sarif").read_text())["runs"] == [run]


def test_questions(file: str, capsys: Capture) -> None:
    run = sarif(capsys, file, "--require", "parallel:6", "--require", "parallel:15", status=1)
    asked = [(r["kind"], r["level"], _line(r)) for r in run["results"] if r["ruleId"] == "question"]
    assert asked == [("pass", "none", 6), ("fail", "error", 15)]


def test_a_file_elsewhere_and_standard_input(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    run = sarif(capsys, str(tmp_path / file), status=1)
    assert run["artifacts"][0]["location"]["uri"] == (tmp_path / file).as_uri()


def test_the_checker_sees_faults() -> None:
    """`problems` is what the other tests rest on."""
    good: Json = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}}]}
    assert problems(good, pysarif.SarifLog) == []
    run = good["runs"][0]
    for fault in (
        {"results": [{"ruleId": "x"}]},
        {"results": [{"message": {"text": "x"}, "level": "fatal"}]},
        {"results": [{"message": {"text": "x"}, "colour": 1}]},
        {"results": {}},
        {"artifacts": [{"location": {"uri": 3}}]},
    ):
        assert problems({**good, "runs": [{**run, **fault}]}, pysarif.SarifLog)
