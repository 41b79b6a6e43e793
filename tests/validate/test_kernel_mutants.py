"""The mutants that a validator must find: they still apply, and they are still wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "scripts"))

from kernel_mutants import Mutant, listed, mutants
from mutant_search import proven

EVERY = listed()
OF_KERNELS = [m for m in EVERY if not any(e.host for e in m.edits)]


def test_there_are_enough() -> None:
    assert len(EVERY) >= 200
    assert len({m.base.name for m in EVERY}) >= 40
    assert len({m.base.style for m in EVERY}) >= 12
    assert len({(m.base.name, *m.edits) for m in EVERY}) == len(EVERY)


@pytest.mark.parametrize("m", EVERY[::30], ids=lambda m: m.name)
def test_files_differ_by_the_mistake(m: Mutant, tmp_path: Path) -> None:
    written = m.write(tmp_path)
    files = m.base.files
    changed = {name for name, text in files.items() if (tmp_path / name).read_text() != text}
    kernels = {written.cl.name} if any(not e.host for e in m.edits) else set()
    assert changed == kernels | {written.host.name}


@pytest.mark.parametrize("m", OF_KERNELS[::25], ids=lambda m: m.name)
def test_still_wrong(m: Mutant) -> None:
    assert proven(m)


def test_an_edit_of_other_text_is_refused() -> None:
    m = OF_KERNELS[0]
    with pytest.raises(ValueError, match="no longer applies"):
        m.edits[0].applied("int i;")


@pytest.mark.slow
def test_all_still_apply() -> None:
    assert sum(m.cl.exists() for m in mutants()) == len(EVERY)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_all_still_wrong(part: int) -> None:
    """Half of them; scripts/kernel_mutants.py --prove runs all."""
    assert [m.name for m in OF_KERNELS[part::8] if not proven(m)] == []
