"""Functions that are not one nest: `tile` writes them as `offload` does, or refuses them."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopxform.cli import main

Capture = pytest.CaptureFixture[str]

SCALE = "for (int i = 0; i < n; i++) y[i] = 2 * x[i];"
WHOLE = {
    "two-nests": f"void f(int n, float x[n], float y[n])\n{{ {SCALE}\n"
    "for (int i = 0; i < n; i++) x[i] = y[n - 1 - i]; }",
    "a-status": f"int f(int n, float x[n], float y[n])\n{{ if (n < 3) return -1;\n{SCALE}\n"
    "return 0; }",
    "in-an-if": f"void f(int n, float x[n], float y[n])\n{{ if (x[0] > 0) {{ {SCALE} }} }}",
    "in-order-outside": "void f(int n, double a[n][n])\n{ for (int k = 0; k < n; k++)\n"
    "for (int i = k + 1; i < n; i++) for (int j = k + 1; j < n; j++)\n"
    "a[i][j] -= a[i][k] * a[k][j] / a[k][k]; }",
    "pointers-that-change-places": "void f(int n, int m, float *a, float *b)\n"
    "{ float *x = a, *y = b;\nfor (int t = 0; t < m; t++) {\n"
    f"{SCALE}\nfloat *z = x; x = y; y = z; }} }}",
}
LEFT = {
    "one-of-the-host": (
        f"void g(int);\nvoid f(int n, float x[n], float y[n])\n{{ {SCALE}\n"
        "for (int i = 0; i < n; i++) g(i); }",
        (),
        "LX012",
    ),
    "a-recipe": (WHOLE["two-nests"], ("--recipe", "block"), "LX061"),
    "a-plan": (WHOLE["in-an-if"], ("--show-plan",), "LX060"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_as_offload_writes_it(name: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "f.c").write_text(WHOLE[name])
    words = [str(tmp_path / "f.c"), "-o"]
    assert main(["tile", *words, str(tmp_path / "tiled")]) == 0
    told = capsys.readouterr().out
    assert main(["offload", "--function", "f", *words, str(tmp_path / "whole")]) == 0
    assert capsys.readouterr().out.replace("/whole/", "/tiled/") == told
    tiled, whole = (sorted((tmp_path / x).iterdir()) for x in ("tiled", "whole"))
    assert [p.name for p in tiled] == ["f.cl", "f_opencl.c", "f_opencl.h"]
    assert [p.read_bytes() for p in tiled] == [p.read_bytes() for p in whole]


@pytest.mark.parametrize("name", LEFT)
def test_refused_as_what_it_is(name: str, tmp_path: Path, capsys: Capture) -> None:
    text, options, code = LEFT[name]
    (tmp_path / "f.c").write_text(text)
    assert main(["tile", str(tmp_path / "f.c"), "--dry-run", *options]) == 2
    assert f"[{code}]" in capsys.readouterr().err


def test_the_function_that_others_are_inlined_in_is_meant(tmp_path: Path, capsys: Capture) -> None:
    helper = "static float sum(int n, const float *x)\n{ float s = 0;\n"
    helper += "for (int i = 0; i < n; i++) s += x[i]; return s; }\n"
    rows = "void f(int m, int n, const float *x, float *y)\n"
    rows += "{ for (int i = 0; i < m; i++) y[i] = sum(n, x + i * n); }\n"
    (tmp_path / "f.c").write_text(helper + rows)
    assert main(["tile", str(tmp_path / "f.c"), "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("f: ")
    (tmp_path / "f.c").write_text(helper + rows + rows.replace("f(", "g("))
    assert main(["tile", str(tmp_path / "f.c"), "--dry-run"]) == 2
    assert "3 functions have loop nests: sum, f, g [LX053]" in capsys.readouterr().err
