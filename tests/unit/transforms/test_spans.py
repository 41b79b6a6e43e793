"""How many elements a span has, by exact fractions."""

from __future__ import annotations

import random
from fractions import Fraction
from math import floor

from loopxform.ir.nodes import Const
from loopxform.transforms.overlapped.spans import Span


def test_widths_are_those_of_exact_fractions() -> None:
    seed = 22
    draw = random.Random(seed)
    for _ in range(2000):
        axis = draw.choice([None, 0, 1])
        scale, low, high = (Fraction(draw.randint(-9, 9), draw.randint(1, 8)) for _ in range(3))
        slack = tuple((-draw.randint(0, 5), draw.randint(0, 5)) for _ in range(2))
        span = Span(axis, abs(scale), low, high, Const(0), Const(0), (slack[0], slack[1]))
        sizes = draw.randint(1, 64), draw.randint(1, 64)
        there = abs(scale) * sizes[axis] if axis is not None else Fraction(0)
        least = max(behind - before for before, behind in slack)
        assert span.width(sizes) == floor(max(there + high - low, least)) + 1, (seed, span, sizes)
