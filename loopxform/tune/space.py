"""What may vary in a tiled nest: its tile sizes, within the limits of the device.

A point gives each parameter a value. Points are legal where the work-items of a group, local memory
and registers suffice (`model.resources`); the model of costs (`model.cost`) puts them into the
order in which they are worth measuring. It does not choose: what such a model liked best was 38 to
105 % slower than the best on real devices (recordings of a product of matrices on three GPUs).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from math import prod

from loopxform.model import cost
from loopxform.recipes.tile import estimate
from loopxform.recipes.tiled import Tiled
from loopxform.records import record
from loopxform.schedule.tiling_options import AUTO, TUNED
from loopxform.targets.target import Limits

Value = int | str
Point = tuple[Value, ...]

VALUES: Mapping[str, tuple[int, ...]] = {
    "Tz": (1, 2, 4, 8),
    "Ty": (1, 2, 4, 8, 16, 32),
    "Tx": (4, 8, 16, 32, 64, 128, 256),
    "Tk": (4, 8, 16, 32, 64, 128),
    "Ry": (1, 2, 4, 6, 8, 12),
    "Rx": (1, 2, 4, 6, 8),
}
"""Sizes that are tried, besides the defaults."""

GROUP = ("Tz", "Ty", "Tx")
"""Those of them that are work-items of a group."""


@record
class Space:
    """Parameters by name with their values: sizes in order, and options, of which the first value
    leaves it to the plan. `broken` are the limits of the device that a point exceeds (a legal one
    none), `predicted` is what the model says of one (smaller is better), where it is `modelled` in
    numbers that matter in proportion."""

    names: tuple[str, ...]
    values: tuple[tuple[Value, ...], ...]
    broken: Callable[[Point], Sequence[str]]
    predicted: Callable[[Point], float]
    modelled: bool = False

    def is_legal(self, point: Point) -> bool:
        return not self.broken(point)

    @property
    def size(self) -> int:
        """Points, legal or not, whose optional parameters are left to the plan."""
        return len(self.plain())

    def plain(self) -> list[Point]:
        """Those."""
        return list(product(*(v[:1] if _is_option(v) else v for v in self.values)))

    def legal(self) -> list[Point]:
        """The legal ones of those, those first that the model likes best: options are tried around
        points that are quick, as the model says little of them."""
        return sorted(filter(self.is_legal, self.plain()), key=self.predicted)

    def near(self, point: Point) -> list[Point]:
        """The legal points a step away: one or two sizes more or less, or options that differ."""
        moves = [
            (n, by)
            for n, values in enumerate(self.values)
            for by in (range(1, len(values)) if _is_option(values) else (1, -1))
        ]
        steps = [[move] for move in moves]
        pairs = [[a, b] for a, b in combinations(moves, 2) if a[0] != b[0]]
        moved = (self._moved(point, step) for step in (*steps, *pairs))
        points = dict.fromkeys(p for p in moved if p is not None and self.is_legal(p))
        return sorted(points, key=self.predicted)

    def _moved(self, point: Point, step: list[tuple[int, int]]) -> Point | None:
        numbers = list(point)
        for n, by in step:
            values = self.values[n]
            at = values.index(numbers[n]) + by
            if _is_option(values):
                at %= len(values)
            if not 0 <= at < len(values):
                return None
            numbers[n] = values[at]
        return tuple(numbers)

    def sizes(self, point: Point) -> dict[str, Value]:
        """The point as tile sizes, and options that are not left to the plan."""
        return {n: v for n, v in zip(self.names, point) if v != AUTO}


def _is_option(values: Sequence[Value]) -> bool:
    return values[0] == AUTO


def space_of(
    tiled: Tiled,
    limits: Limits,
    given: Mapping[str, int],
    options: Sequence[str] = (),
    seeds: Sequence[Mapping[str, int]] = (),
) -> Space:
    """The space around a nest that is tiled with default sizes; sizes that are `given` stay.
    `options` of TUNED vary, too. The sizes of `seeds` are in it."""
    names = tuple(n for n in tiled.choice.names if n in VALUES)
    values: tuple[tuple[Value, ...], ...] = tuple(
        (given[n],) if n in given else tuple(sorted(_tried(n, tiled, seeds))) for n in names
    )
    group = tuple(n for n in names if n in GROUP)

    def sizes(point: Point) -> dict[str, int]:
        return {**tiled.sizes, **{n: v for n, v in zip(names, point) if isinstance(v, int)}}

    def broken(point: Point) -> list[str]:
        now = sizes(point)
        if tiled.fitted is not None:
            uses = tiled.fitted.needs.uses(now, limits)
            return list(dict.fromkeys(u.constraint.what for u in uses if u.total > u.most))
        return ["group size"] if prod(now[n] for n in group) > limits.group_size else []

    def predicted(point: Point) -> float:
        now = replace(tiled, sizes=sizes(point))
        return float(cost.cost(estimate(now, limits)).time) if limits.warp > 1 else _distance(point)

    def _distance(point: Point) -> float:
        steps = (abs(v.index(x) - v.index(tiled.sizes[n])) for n, v, x in zip(names, values, point))
        return float(sum(steps))

    names_too = (*names, *options)
    values_too = (*values, *((AUTO, *TUNED[n]) for n in options))
    return Space(names_too, values_too, broken, _once(predicted), limits.warp > 1)


def _tried(name: str, tiled: Tiled, seeds: Sequence[Mapping[str, int]]) -> set[int]:
    return {*VALUES[name], tiled.sizes[name], *(s[name] for s in seeds if name in s)}


def _once(predicted: Callable[[Point], float]) -> Callable[[Point], float]:
    """With an answer for each point kept."""
    known: dict[Point, float] = {}

    def remembered(point: Point) -> float:
        if point not in known:
            known[point] = predicted(point)
        return known[point]

    return remembered
