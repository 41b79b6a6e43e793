"""What `scripts/startup.py` measures stays within its budgets."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROUNDS = 9
"""Runs of a command before it is too slow: what else the machine does only makes a run slower."""

MARGIN = 1.3
"""Beside other work caches are colder for a command than for `python -c pass`."""


def _script() -> ModuleType:
    path = Path(__file__).parents[2] / "scripts" / "startup.py"
    spec = importlib.util.spec_from_file_location("startup", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


startup = _script()


@pytest.mark.parametrize("command", startup.COMMANDS, ids=str)
def test_a_command_is_within_its_budget(command: object) -> None:
    budget = MARGIN * command.budget  # type: ignore[attr-defined]
    seen = []
    for cost in startup.costs(command, ROUNDS):
        seen.append(cost.ratio)
        if cost.ratio <= budget:
            return
    pytest.fail(f"{command} takes {seen[-1]:.1f} times as long as python -c pass ({budget:.0f})")


def test_a_command_beyond_its_budget_is_seen() -> None:
    *_, cost = startup.costs(startup.Command(startup.TILE, 1), 1)
    assert cost.ratio > 3
