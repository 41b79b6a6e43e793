"""Which of some statements are inside others of them."""

from __future__ import annotations

import random

from loopxform.frontend.pragmas.governed import outermost
from loopxform.ir.visit import Path
from loopxform.source import Origin


def test_those_inside_others_are_left_out() -> None:
    rng = random.Random(3)
    for _ in range(300):
        origins = [Origin() for _ in range(rng.randint(1, 4))]
        where: dict[int, list[Path]] = {}
        for o in origins:
            paths = [
                tuple(rng.choice((-2, -1, 0, 1)) for _ in range(rng.randint(1, 4)))
                for _ in range(rng.randint(0, 4))
            ]
            where[id(o)] = paths
        asked = [rng.choice(origins) for _ in range(rng.randint(1, 5))]
        every = {p for o in asked for p in where[id(o)]}
        inside = {p for p in every if any(p[:n] in every for n in range(1, len(p)))}
        assert outermost(asked, where) == tuple(sorted(every - inside))
