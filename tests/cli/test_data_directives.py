"""Data directives on the command line: what is refused, where an update is missing, what they
become in the written file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Golden

import loopxform as lx
from loopxform.cli import main

Capture = pytest.CaptureFixture[str]

TEXT = """typedef float *vector;
void step(int n, const float *a, float *b);
void f(int n, int m, float *p, float A[n][m], vector v, void *w, struct s *s)
{
  float b[100], t = 0;
DIRECTIVE
  {
    step(n, p, b);
BODY
  }
}
"""
REFUSED = {
    "no-such-clause": "data copyn(p[0:n])",
    "clause-of-another": "enter data copyout(p[0:n])",
    "no-array": "data",
    "not-closed": "data copy(p[0:n]",
    "no-length": "data copy(p[0])",
    "empty": "data copy()",
    "unknown-length": "data copy(b, p)",
    "unknown-name": "update host(q[0:n])",
    "number": "data copy(t)",
    "void": "data copy(w[0:n])",
    "columns": "data copy(A[0:n][1:m])",
    "member": "data copy(s->a)",
    "twice": "data copyin(p[0:n]) copyout(p[0:n])",
    "half": "enter copyin(p[0:n])",
    "junk": "data copy(b) + 1",
}
BODIES = {
    "return": "    return;",
    "break": "    for (;;) {\n#pragma loopxform data copy(b)\n      break;\n    }",
    "branch": "    if (n)\n#pragma loopxform update host(b)\n      t = b[0];",
    "nothing": "#pragma loopxform data copy(v[0:n])",
    "declaration": "#pragma loopxform data copy(v[0:n])\n    int k = 0;",
}


def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, capsys: Capture) -> str:
    (tmp_path / "t.c").write_text(text)
    monkeypatch.chdir(tmp_path)
    said = []
    for command in ("offload", "check"):
        assert main([command, "t.c"]) == 2
        said.append(capsys.readouterr().err)
    assert said[0] == said[1]
    return said[0]


@pytest.mark.parametrize("case", [*REFUSED, *BODIES])
def test_refusal(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, golden: Golden
) -> None:
    directive = f"#pragma loopxform {REFUSED.get(case, 'data copy(b)')}"
    text = TEXT.replace("DIRECTIVE", directive).replace("BODY", BODIES.get(case, ""))
    golden.check(refused(tmp_path, monkeypatch, text, capsys))


def test_a_macro_that_hides_where_statements_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, golden: Golden
) -> None:
    text = TEXT.replace("DIRECTIVE", "#pragma loopxform data copy(b)").replace("BODY", "")
    (tmp_path / "t.c").write_text("#define END }\n" + text.replace("  }\n}", "  END\n}"))
    monkeypatch.chdir(tmp_path)
    assert main(["offload", "t.c"]) == 2
    golden.check(capsys.readouterr().err)


REGION = """void step(int n, const float *a, float *b);
void f(int n, float *x, float *y)
{
#pragma loopxform data copy(x[0:n]) copyin(y[0:n])
  {
    for (int t = 0; t < 9; t++) {
      step(n, y, x);
      for (int i = 0; i < n; i++)
        x[i] *= 2;
      if (x[0] > 1)
        x[1] = y[2];
    }
  }
}
"""


def test_missing_updates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, golden: Golden
) -> None:
    (tmp_path / "t.c").write_text(REGION)
    monkeypatch.chdir(tmp_path)
    assert main(["check", "t.c", "--format", "concise"]) == 0
    concise = capsys.readouterr().out
    assert main(["check", "t.c", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["functions"][0]["missing_updates"]
    assert [m["code"] for m in found] == ["LX256"] * 2
    assert main(["check", "t.c", "--format", "sarif"]) == 0
    assert capsys.readouterr().out.count('"ruleId": "LX256"') == 2
    assert main(["offload", "t.c"]) == 0
    golden.check(concise + capsys.readouterr().out)


def test_the_calls_that_they_become(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, golden: Golden
) -> None:
    text = REGION.replace("      if (x", "#pragma loopxform update host(x[0:1])\n      if (x")
    text += """
void g(int n, float A[n][n])
{
#pragma loopxform enter data copyin(A) create(A[0:n][0:n])
  f(n, A[0], A[1]);
#pragma loopxform exit data copyout(A)
}
"""
    (tmp_path / "t.c").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert main(["offload", "t.c", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    written = (tmp_path / "t_opencl.c").read_text()
    golden.check("".join(written.partition("void f(int n, float *x, float *y)\n")[1:]))


@pytest.mark.parametrize("command", ["tile", "offload"])
def test_a_function_of_files_of_its_own_has_none(command: str) -> None:
    """Only the file keeps them: without, an update would be lost."""
    text = REGION.replace("step(n, y, x);", "").replace("if (x[0] > 1)", "")
    with pytest.raises(lx.InputError) as e:
        getattr(lx.loads(text)["f"], command)()
    assert e.value.code == "LX257"
