"""Random forests of thresholds, data sets for them, and the best thresholds by trying all."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from loopxform.tune.forest import (
    Comparison,
    Dataset,
    Forest,
    Instance,
    Tree,
    Version,
    comparisons,
)


def forest(rng: random.Random, thresholds: int) -> Forest:
    """With so many thresholds; comparisons lead to one tree or to two."""
    names = [f"t{n}" for n in range(thresholds)]
    numbers = iter(range(999))

    def trees(own: list[str]) -> Forest:
        if not own:
            return (Version(f"v{next(numbers)}"),)
        several = rng.random() < 0.25 and len(own) > 1
        cut = rng.randint(1, len(own) - 1) if several else len(own)
        return tuple(tree(part) for part in (own[:cut], own[cut:]) if part)

    def tree(own: list[str]) -> Tree:
        first, rest = own[0], own[1:]
        cut = rng.randint(0, len(rest))
        return Comparison(first, trees(rest[:cut]), trees(rest[cut:]))

    return trees(names)


def datasets(rng: random.Random, own: Forest, count: int, instances: int) -> list[Dataset]:
    """Amounts that are few, so that several are alike, or many."""
    names = [c.threshold for c in comparisons(own)]
    most = rng.choice((3, 50, 100000))
    return [
        [{n: rng.randint(0, most) for n in names} for _ in range(rng.randint(1, instances))]
        for _ in range(count)
    ]


Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]
Seen = dict[str, Mask]
"""For every combination of thresholds, whether a version runs."""


class Exhaustive:
    """Every combination of thresholds that could make a difference, all at once."""

    def __init__(self, own: Forest, data: Sequence[Dataset]) -> None:
        self.forest, self.data = own, data
        names = [c.threshold for c in comparisons(own)]
        every = {n: {i[n] for d in data for i in d} for n in names}
        values = [sorted({*v, max(v) + 1}) for v in every.values()]
        table = np.array(list(product(*values)), np.int64).reshape(-1, len(names))
        self.columns = dict(zip(names, table.T))
        self.count = len(table)

    def seen(self, instance: Instance) -> Seen:
        found: Seen = {}

        def visit(trees: Forest, where: Mask) -> None:
            for tree in trees:
                if isinstance(tree, Version):
                    found[tree.name] = where
                else:
                    enough = self.columns[tree.threshold] <= instance[tree.threshold]
                    visit(tree.yes, where & enough)
                    visit(tree.no, where & ~enough)

        visit(self.forest, np.ones(self.count, np.bool_))
        return found

    def least(self, times: Mapping[tuple[int, frozenset[str]], float]) -> float:
        """The least sum over data sets of one instance of what they take with the versions that
        run."""
        total = np.zeros(self.count)
        for n, (instance,) in enumerate(self.data):
            seen = self.seen(instance)
            codes = sum(own.astype(np.int64) << b for b, own in enumerate(seen.values()))
            for code in np.unique(codes):
                run = frozenset(name for b, name in enumerate(seen) if code >> b & 1)
                total[codes == code] += times[n, run]
        return float(total.min())

    def least_by_region(self, times: Mapping[tuple[tuple[int, int], str], float]) -> float:
        """The same of what each version takes, at each place."""
        total = np.zeros(self.count)
        for n, dataset in enumerate(self.data):
            for k, instance in enumerate(dataset):
                for name, where in self.seen(instance).items():
                    total[where] += times[(n, k), name]
        return float(total.min())

    def signatures(self, number: int) -> int:
        """How many there are of a data set."""
        columns = [m for i in self.data[number] for m in self.seen(i).values()]
        return len(np.unique(np.array(columns).T, axis=0))
