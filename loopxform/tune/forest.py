"""The forest of thresholds: which versions run, by what thresholds are compared with.

    suff_outer_par_0 <= n ?      yes: items
                                 no:  suff_intra_par_1 <= m ?    yes: ...    no: ...

Each tree is a nest (Rotendahl and Larsen, sections 2.4, 2.5 and 3.1: figures 6 to 8); all trees of
a forest run. A comparison may lead to several trees, which then all run, and in a loop it may be
asked several times, each time with other amounts: these are the instances of a data set. No
threshold occurs twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TypeAlias

from loopxform.records import record


@record
class Version:
    """What runs where a path ends."""

    name: str


@record
class Comparison:
    """Whether an amount is at least a threshold: what runs if it is, and if not."""

    threshold: str
    yes: tuple[Tree, ...]
    no: tuple[Tree, ...]
    amount: str = ""


Tree: TypeAlias = Version | Comparison
Forest: TypeAlias = tuple[Tree, ...]

Instance: TypeAlias = Mapping[str, int]
"""The amount that each threshold is compared with."""

Dataset: TypeAlias = Sequence[Instance]

Thresholds: TypeAlias = Mapping[str, int]


def comparisons(forest: Sequence[Tree]) -> Iterator[Comparison]:
    """All of them, those on top first."""
    for tree in forest:
        if isinstance(tree, Comparison):
            yield tree
            yield from comparisons((*tree.yes, *tree.no))


def versions(forest: Sequence[Tree]) -> list[str]:
    """The names of the versions, each once."""
    found: dict[str, None] = {}
    for tree in forest:
        own = [tree.name] if isinstance(tree, Version) else versions((*tree.yes, *tree.no))
        found |= dict.fromkeys(own)
    return list(found)


def paths(forest: Sequence[Tree]) -> int:
    """In how many ways the comparisons may turn out."""
    return prod(
        1 if isinstance(tree, Version) else paths(tree.yes) + paths(tree.no) for tree in forest
    )


def taken(forest: Sequence[Tree], instance: Instance, thresholds: Thresholds) -> tuple[str, ...]:
    """The versions that run, in order."""
    found: list[str] = []
    for tree in forest:
        if isinstance(tree, Version):
            found.append(tree.name)
        else:
            is_enough = instance[tree.threshold] >= thresholds[tree.threshold]
            found += taken(tree.yes if is_enough else tree.no, instance, thresholds)
    return tuple(found)


Signature: TypeAlias = tuple[tuple[str, ...], ...]
"""The versions that run in each instance of a data set."""


def signature(forest: Forest, dataset: Dataset, thresholds: Thresholds) -> Signature:
    """What runs for a data set."""
    return tuple(taken(forest, instance, thresholds) for instance in dataset)
