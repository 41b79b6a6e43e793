"""Every function of the corpus is tiled, or refused with a place."""

from __future__ import annotations

from pathlib import Path

import pytest

import loopxform as lx
from loopxform.errors import LoopxformError

CORPUS = Path(__file__).parents[3] / "corpus"
APART = {"nests", "bad", "projects"}
"""Folders whose files have tests of their own; projects need their options."""

FILES = sorted(f for f in CORPUS.rglob("*.c") if not APART & {p.name for p in f.parents})


def refusal(routine: lx.Routine) -> LoopxformError | None:
    try:
        routine.tile()
    except LoopxformError as e:
        return e
    return None


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(CORPUS)))
def test_tiled_or_refused(file: Path) -> None:
    for routine in lx.load(file):
        found = refusal(routine)
        assert found is None or found.loc, (routine.name, found)
