"""Random C programs: no internal error, no slow answer, no memory without bounds, and what is read
and offloaded means what the C compiler makes of it (`scripts/fuzz.py`)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "fuzz.py"


@pytest.mark.slow
def test_random_programs() -> None:
    command = [sys.executable, str(SCRIPT), "40", "--seed", "7000", "--limit", "60"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 failures" in done.stdout
