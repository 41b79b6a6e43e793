"""What `bench_loops.py` times: functions of C with their arguments and results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

Arrays = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A function of C, its arguments for a size, the bytes that it moves, and what results are.
    Inputs are drawn from `random`."""

    text: str
    arguments: Callable[[np.random.Generator, int], Arrays]
    moved: Callable[[int], float]
    expected: Callable[[Arrays], Arrays]
    size: int
    options: dict[str, Any] = field(default_factory=dict)

    def allowing(self, **options: Any) -> Case:
        return replace(self, options=options)


REORDERED: dict[str, Any] = {"reassociate": True}
