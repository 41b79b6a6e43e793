"""What `check` calls loops that `offload` takes by an algorithm of their own: in text, JSON and
SARIF, and that both agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Golden

from loopxform import loads
from loopxform.cli import main

HEAD = (
    "(int n, int most, const int *restrict a, int *restrict b, int *restrict out, int *restrict c)"
)

TAKEN = {
    "segments": "int s = 0; for (int i = 0; i < n; i++)"
    " { s = b[i] ? a[i] : s + a[i]; out[i] = s; }",
    "runs": "int r = 1; for (int i = 1; i < n; i++)"
    " { r = a[i] == a[i - 1] ? r + 1 : 1; out[i] = r; }",
    "lengths": "for (int i = 1; i < n; i++) out[i] = a[i] == a[i - 1] ? out[i - 1] + 1 : 1;",
    "filled": "int s = -1; for (int i = 0; i < n; i++) { s = a[i] >= 0 ? a[i] : s; out[i] = s; }",
    "copied": "int s = 0, t; for (int i = 0; i < n; i++) { t = s + a[i]; out[i] = t; s = t; }",
    "counted": "*c = 0; for (int i = 0; i < n; i++) if (a[i]) { out[*c] = i; (*c)++; }",
    "global": "size = 0; for (int i = 0; i < n; i++) if (a[i]) out[size++] = i;",
    "partition": "int k = 0, m = 0; for (int i = 0; i < n; i++)"
    " if (a[i] < 0) out[k++] = a[i]; else b[m++] = a[i]; c[0] = k;",
    "stored": "int k = 0; for (int i = 0; i < n; i++) if (a[i] > 0)"
    " { if (k < most) out[k] = i; k++; } c[0] = k;",
    "extrema": "int h = a[0], l = a[0]; for (int i = 1; i < n; i++)"
    " if (a[i] > h) h = a[i]; else if (a[i] < l) l = a[i]; c[0] = h; c[1] = l;",
    "capped": "int k = 0; for (int i = 0; i < n; i++) if (a[i] > 0 && k < most) out[k++] = i;"
    " c[0] = k;",
}
NAMED_ALONE = {
    "left": "int k = 0; for (int i = 0; i < 100; i++) if (table[i] > 0)"
    " { if (k == most) break; out[k++] = i; } c[0] = k;",
    "ended": "int k = 0; for (int i = 0; i < 100 && k < most; i++) if (table[i] > 0) out[k++] = i;"
    " c[0] = k;",
}
"""`offload` asks how long `out` is."""
EVERY = {**TAKEN, **NAMED_ALONE}
TEXT = "static int size, table[100];\n" + "".join(
    f"void {name}{HEAD} {{ {body} }}\n" for name, body in EVERY.items()
)


@pytest.fixture(autouse=True)
def _file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "named.c").write_text(TEXT)


def test_text(golden: Golden, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "named.c"]) == 0
    rows = [x for x in capsys.readouterr().out.splitlines() if x.startswith("  ") and " | " in x]
    golden.check("".join(f"{x.rpartition('  ')[2]}\n" for x in rows))


def test_json(golden: Golden, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "named.c", "--format", "json"]) == 0
    functions = json.loads(capsys.readouterr().out)["functions"]
    named = {f["name"]: [x["idioms"] for x in f["loops"]] for f in functions}
    golden.check("".join(f"{k}: {json.dumps(v)}\n" for k, v in named.items()))


def test_sarif(golden: Golden, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "named.c", "--format", "sarif"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    messages = (r["message"]["text"].partition("\n")[0] for r in run["results"])
    golden.check("".join(f"{text.partition('. ')[0]}\n" for text in messages))


def test_offload_takes_what_has_a_name() -> None:
    done = loads(TEXT).offload()
    taken = {r.region.owner.name for r in done.regions if any(p.tiled for p in r.done.parts)}
    assert taken == TAKEN.keys()
