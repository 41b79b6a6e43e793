"""Every golden file belongs to a test: what no test compares with is deleted, not kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def test_every_golden_has_an_owner() -> None:
    files = sorted(HERE.glob("*/*.txt"))
    stems = {f.parent.name for f in files}
    modules = [p for p in HERE.parent.rglob("test_*.py") if p.stem in stems]
    assert {m.stem for m in modules} == stems
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "", *map(str, modules)]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    tests = {
        (Path(i.split("::")[0]).stem, i.split("::")[-1].replace("/", "_"))
        for i in found
        if "::" in i
    }
    owned = [(f.parent.name, f.stem.split("--")[0]) for f in files]
    assert set(owned) <= tests
    assert len(files) > 100
