"""A folder of its own for each test of `loopxform tune`, with a C file, and a nest to be tuned."""

from __future__ import annotations

import os
from pathlib import Path

import drawn_worker
import pytest

SCALE = """
void scale(int n, int m, const float a[n][m], float b[n][m])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      b[i][j] = 2 * a[i][j];
}
"""
TWO = f"""{SCALE}
void other(int n, float *restrict a)
{{
  for (int i = 0; i < n; i++)
    a[i] += 1;
}}
"""


def enter(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, name: str = "f.c") -> None:
    """Goes to the folder, where the C file is; what is measured is kept there, and processes find
    the worker whose times are a formula."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("LOOPXFORM_CACHE", str(folder / "cache"))
    places = (str(Path(drawn_worker.__file__).parent), os.environ.get("PYTHONPATH"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, places)))
    Path(name).write_text(text)
