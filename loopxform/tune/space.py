"""What may vary in a tiled nest: its tile sizes, within the limits of the device.

A point gives each parameter a value. Points are legal where the work-items of a group, local memory
and registers suffice (`model.resources`); the model of costs (`model.cost`) puts them into the
order in which they are worth measuring. It does not choose: what such a model liked best was 38 to
105 % slower than the best on real devices (recordings of a product of matrices on three GPUs).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import combinations, product

from loopxform.model import cost
from loopxform.recipes.tile import estimate
from loopxform.recipes.tile_nest import Tiled
from loopxform.records import record
from loopxform.targets.target import Limits

Point = tuple[int, ...]

VALUES: Mapping[str, tuple[int, ...]] = {
    "Tz": (1, 2, 4, 8),
    "Ty": (1, 2, 4, 8, 16, 32),
    "Tx": (4, 8, 16, 32, 64, 128, 256),
    "Tk": (4, 8, 16, 32, 64, 128),
    "Ry": (1, 2, 4, 6, 8, 12),
    "Rx": (1, 2, 4, 6, 8),
}
"""Sizes that are tried, besides the defaults."""


@record
class Space:
    """Parameters by name with their values in order, which points are legal, and what the model
    says of one (smaller is better)."""

    names: tuple[str, ...]
    values: tuple[tuple[int, ...], ...]
    is_legal: Callable[[Point], bool]
    predicted: Callable[[Point], float]

    @property
    def size(self) -> int:
        """Points, legal or not."""
        total = 1
        for values in self.values:
            total *= len(values)
        return total

    def legal(self) -> list[Point]:
        """The legal points, those first that the model likes best."""
        return sorted(filter(self.is_legal, product(*self.values)), key=self.predicted)

    def near(self, point: Point) -> list[Point]:
        """The legal points a step away: one parameter more or less, or one more and another
        less."""
        steps = [[(n, 1)] for n in range(len(point))] + [[(n, -1)] for n in range(len(point))]
        pairs = [[(a, x), (b, -x)] for a, b in combinations(range(len(point)), 2) for x in (1, -1)]
        moved = (self._moved(point, step) for step in (*steps, *pairs))
        points = dict.fromkeys(p for p in moved if p is not None and self.is_legal(p))
        return sorted(points, key=self.predicted)

    def _moved(self, point: Point, step: list[tuple[int, int]]) -> Point | None:
        numbers = list(point)
        for n, by in step:
            values = self.values[n]
            at = values.index(numbers[n]) + by
            if not 0 <= at < len(values):
                return None
            numbers[n] = values[at]
        return tuple(numbers)

    def sizes(self, point: Point) -> dict[str, int]:
        """The point as tile sizes."""
        return dict(zip(self.names, point))


def space_of(tiled: Tiled, limits: Limits, given: Mapping[str, int]) -> Space:
    """The space around a nest that is tiled with default sizes; sizes that are `given` stay."""
    names = tuple(n for n in tiled.choice.names if n in VALUES)
    values = tuple(
        (given[n],) if n in given else tuple(sorted({*VALUES[n], tiled.sizes[n]})) for n in names
    )
    fitted = tiled.fitted

    def sizes(point: Point) -> dict[str, int]:
        return {**tiled.sizes, **dict(zip(names, point))}

    def is_legal(point: Point) -> bool:
        return fitted is None or not fitted.needs.broken(sizes(point), limits)

    def predicted(point: Point) -> float:
        now = replace(tiled, sizes=sizes(point))
        return float(cost.cost(estimate(now, limits)).time) if limits.warp > 1 else _distance(point)

    def _distance(point: Point) -> float:
        steps = (abs(v.index(x) - v.index(tiled.sizes[n])) for n, v, x in zip(names, values, point))
        return float(sum(steps))

    return Space(names, values, is_legal, _once(predicted))


def _once(predicted: Callable[[Point], float]) -> Callable[[Point], float]:
    """With an answer for each point kept."""
    known: dict[Point, float] = {}

    def remembered(point: Point) -> float:
        if point not in known:
            known[point] = predicted(point)
        return known[point]

    return remembered
