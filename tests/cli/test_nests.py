"""Nests of everyday shapes: mapped, or refused with something the user can do."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopxform.cli import main

Capture = pytest.CaptureFixture[str]

RELU = "void f(int n, int m, float x[n][m])\n{ for (int i = 0; i < n; i++) "
RELU += "for (int j = 0; j < m; j++) "
MAPPED = {
    "relu": RELU + "if (x[i][j] < 0) x[i][j] = 0; }",
    "relu-select": RELU + "x[i][j] = x[i][j] < 0 ? 0 : x[i][j]; }",
    "triangular-bound": "void f(int n, int m, float x[n][m], float y[n][n])\n"
    "{ for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) { float s = 0;\n"
    "for (int k = 0; k < m; k++) s += x[i][k] * x[j][k];\n y[i][j] = s; } }",
    "cursor-behind-a-break": "void f(int n, int m, int y[n * m])\n"
    "{ for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { float r = i; int k;\n"
    "for (k = 0; k < 9; k++) { r = r * 2 + j; if (r > 50) break; }\n *y++ = k; } }",
    "triangular-in-three": "void f(int n, int m, float y[n][m][m])\n"
    "{ for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) "
    "for (int k = j; k < m; k++) y[i][j][k] = i; }",
}
REFUSED = {
    "only-where": (
        "void f(int n, float *x, float *y)\n"
        "{ for (int i = 0; i < n; i++) { y[i] = y[i] - 1; if (y[i] < 0) x[i] = 0; } }",
        "a condition on data, or a bound that is not affine, decides [LX040]",
        "use the element always: x[i] = test ? value : x[i]",
    ),
}


@pytest.mark.device
@pytest.mark.parametrize("name", MAPPED)
def test_mapped_and_right(name: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "f.c").write_text(MAPPED[name])
    assert main(["run", str(tmp_path / "f.c"), "--size", "n=37,m=41"]) == 0
    assert "are identical to your C's" in capsys.readouterr().out
    assert main(["tile", str(tmp_path / "f.c"), "--dry-run"]) == 0


def test_loops_that_form_no_box_are_mapped_as_far_as_they_do(
    tmp_path: Path, capsys: Capture
) -> None:
    text = "void f(int n, int m, const float a[restrict n * n], float b[restrict n][n * n])\n"
    text += "{ for (int i = 0; i < n; i++) for (int j = 0; j < i * i; j++) b[i][j] = a[j]; }\n"
    (tmp_path / "f.c").write_text(text)
    assert main(["tile", str(tmp_path / "f.c"), "--dry-run"]) == 0
    assert "; only i mapped to work-items: the bounds of " in capsys.readouterr().out
    assert main(["tile", str(tmp_path / "f.c"), "--dry-run", "--show-plan", "-q"]) == 0
    assert "  loop i\n  loop j         parallel, in a work-item\n" in capsys.readouterr().out


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_a_remedy(name: str, tmp_path: Path, capsys: Capture) -> None:
    text, message, remedy = REFUSED[name]
    (tmp_path / "f.c").write_text(text)
    assert main(["tile", str(tmp_path / "f.c"), "--dry-run"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert f"= help: {remedy}" in err
