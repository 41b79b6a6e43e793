"""What the server holds does not grow with what is typed (scripts/lsp_edits.py: 50,000 edits)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "lsp_edits.py"
MOST = 6
"""MiB between two measurements, once everything has been used: an edit that is kept, with its
judgement, takes some 20 KiB, and there are 2,000."""


@pytest.mark.slow
def test_memory_does_not_grow() -> None:
    options = [
        "--lines",
        "60",
        "--edits",
        "6000",
        "--every",
        "20",
        "--debounce",
        "0",
        "--rows",
        "3",
    ]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    _, before, after = (float(m) for m in re.findall(r"([\d.]+) MiB", done.stdout))
    assert after - before < MOST, done.stdout
