"""The best thresholds, from as few measurements as there are ways to run.

Thresholds that make the same versions run take the same time. So each data set is measured once for
each of its signatures (the versions that run), not for each combination of thresholds: a tree with
13 paths and three data sets need 39 runs, where Rotendahl and Larsen (section 5) took 5463. Where
the time of each nest is known, a run shows a version of every nest, and a data set needs as many
runs as the largest tree has versions.

What is best over all data sets follows by arithmetic. The amounts that a threshold is compared with
are few: what it is between two of them makes no difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from math import isqrt
from typing import TypeAlias

from loopxform.records import record
from loopxform.tune.forest import (
    Comparison,
    Dataset,
    Forest,
    Signature,
    Thresholds,
    Tree,
    Version,
    signature,
    taken,
)

LARGEST = 2**31 - 1
"""A threshold that no amount reaches."""

Place: TypeAlias = tuple[int, int]
"""A data set and an instance of it, by their numbers."""

Ways: TypeAlias = dict[tuple[tuple[Place, tuple[str, ...]], ...], dict[str, int]]
"""The versions that run at each place, with thresholds that make it so."""


@record
class Run:
    """A measurement: a data set by its number, with these thresholds."""

    dataset: int
    thresholds: Thresholds


@record
class Best:
    """Thresholds, and what all data sets take with them."""

    thresholds: Thresholds
    time: float


# ---------------------------------------------------------------- what is measured


def runs(forest: Forest, datasets: Sequence[Dataset], defaults: Thresholds) -> list[Run]:
    """One for each signature of each data set."""
    return [
        Run(n, {**defaults, **values})
        for n in range(len(datasets))
        for values in _Search(datasets, defaults).ways(forest, _places(datasets, n)).values()
    ]


def region_runs(forest: Forest, datasets: Sequence[Dataset], defaults: Thresholds) -> list[Run]:
    """For each data set so many that each version runs once, in all its instances: a version of
    every tree in one run."""
    rows = list[Thresholds]()
    shown = set[str]()
    for outcomes in _together(forest):
        values = {t: 0 if outcomes.get(t) else LARGEST for t in defaults}
        names = set(taken(forest, dict.fromkeys(defaults, 1), values))
        if not names <= shown:
            shown |= names
            rows.append(values)
    return [Run(n, values) for n in range(len(datasets)) for values in rows]


def _together(trees: Sequence[Tree]) -> list[dict[str, bool]]:
    """Outcomes of comparisons, in which each version of each tree runs once."""
    columns = [_outcomes(tree) for tree in trees]
    most = max(map(len, columns), default=1)
    rows = ([column[min(n, len(column) - 1)] for column in columns] for n in range(most))
    return [{name: yes for own in row for name, yes in own.items()} for row in rows]


def _outcomes(tree: Tree) -> list[dict[str, bool]]:
    if isinstance(tree, Version):
        return [{}]
    branches = ((True, tree.yes), (False, tree.no))
    return [{tree.threshold: yes, **own} for yes, trees in branches for own in _together(trees)]


# ---------------------------------------------------------------- what is best


def best(
    forest: Forest,
    datasets: Sequence[Dataset],
    times: Mapping[tuple[int, Signature], float],
    defaults: Thresholds,
) -> Best:
    """The thresholds with which all data sets together take the least; `times` are what each takes
    with each of its signatures."""
    every = [place for n in range(len(datasets)) for place in _places(datasets, n)]
    found = None
    for values in _Search(datasets, defaults).ways(forest, every).values():
        thresholds = {**defaults, **values}
        signatures = (signature(forest, d, thresholds) for d in datasets)
        total = sum(times[n, s] for n, s in enumerate(signatures))
        if found is None or total < found.time:
            found = Best(thresholds, total)
    assert found is not None
    return found


def best_by_region(
    forest: Forest,
    datasets: Sequence[Dataset],
    times: Mapping[tuple[Place, str], float],
    defaults: Thresholds,
) -> Best:
    """The same where the time of each version is known, at each place: trees are decided one by
    one, and so are the branches of a comparison."""
    every = tuple(place for n in range(len(datasets)) for place in _places(datasets, n))
    total, values = _Search(datasets, defaults).least(forest, every, times)
    return Best({**defaults, **values}, total)


def _places(datasets: Sequence[Dataset], number: int) -> list[Place]:
    return [(number, k) for k in range(len(datasets[number]))]


@record
class _Search:
    """The ways in which comparisons may turn out for data sets. Where a threshold may have its
    default, it has."""

    datasets: Sequence[Dataset]
    defaults: Thresholds

    def ways(self, trees: Sequence[Tree], places: Sequence[Place]) -> Ways:
        """What may run at these places, each once."""
        found: Ways = {tuple((place, ()) for place in places): {}}
        for tree in trees:
            own = self._ways(tree, places)
            pairs = product(found.items(), own.items())
            found = {}
            for (before, values), (after, more) in pairs:
                joined = tuple((p, (*a, *b)) for (p, a), (_, b) in zip(before, after))
                found.setdefault(joined, {**values, **more})
        return found

    def _ways(self, tree: Tree, places: Sequence[Place]) -> Ways:
        if isinstance(tree, Version):
            return {tuple((place, (tree.name,)) for place in places): {}}
        found: Ways = {}
        for value, above, below in self._splits(tree, places):
            both = product(self.ways(tree.yes, above).items(), self.ways(tree.no, below).items())
            for (one, values), (other, more) in both:
                at = dict((*one, *other))
                way = tuple((place, at[place]) for place in places)
                found.setdefault(way, {tree.threshold: value, **values, **more})
        return found

    def least(
        self,
        trees: Sequence[Tree],
        places: Sequence[Place],
        times: Mapping[tuple[Place, str], float],
    ) -> tuple[float, dict[str, int]]:
        """The least time of trees at these places, and the thresholds."""
        total, values = 0.0, dict[str, int]()
        for tree in trees if places else ():
            if isinstance(tree, Version):
                total += sum(times[place, tree.name] for place in places)
                continue
            found = None
            for value, above, below in self._splits(tree, places):
                yes, no = self.least(tree.yes, above, times), self.least(tree.no, below, times)
                if found is None or yes[0] + no[0] < found[0]:
                    found = yes[0] + no[0], {tree.threshold: value, **yes[1], **no[1]}
            assert found is not None
            total, values = total + found[0], {**values, **found[1]}
        return total, values

    def _splits(
        self, tree: Comparison, places: Sequence[Place]
    ) -> Iterator[tuple[int, list[Place], list[Place]]]:
        """Values of the threshold, each with the places where it is reached and where it is not;
        that of the default first."""
        amounts = {p: self.datasets[p[0]][p[1]][tree.threshold] for p in places}
        steps = [None, *sorted(set(amounts.values())), None]
        default = self.defaults[tree.threshold]
        values = [between(low, high, default) for low, high in pairwise(steps)]
        for value in sorted(values, key=lambda v: v != default):
            above = [p for p in places if amounts[p] >= value]
            yield value, above, [p for p in places if amounts[p] < value]


def between(low: int | None, high: int | None, default: int) -> int:
    """A threshold that `high` reaches and `low` does not: the default if it is one, else in the
    middle of both in proportion, or as near to an amount as can be where there is but one."""
    if (low is None or low < default) and (high is None or default <= high):
        return default
    if low is None or high is None:
        return high if high is not None else min(LARGEST, (low or 0) + 1)
    return max(low + 1, isqrt(max(low, 0) * max(high, 0)))
