"""The forest of the nests of a program: a tree for each step `dispatch` whose guards compare with
thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Bin, Expr, Tile
from loopxform.ir.printer import expr_text
from loopxform.records import record
from loopxform.transforms import Derivation, Dispatch, thresholds_of
from loopxform.tune.forest import Comparison, Forest, Tree, Version, versions

Outcome: TypeAlias = tuple[str, bool]
"""A threshold, and whether it is reached."""

Row: TypeAlias = tuple[tuple[Outcome, ...], str]
"""The guard of a version, and its name."""


@record
class Nests:
    """The forest, the amount that each threshold is compared with, and the values that they
    have."""

    forest: Forest
    amounts: Mapping[str, Expr]
    defaults: Mapping[str, int]

    def instance(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """The amounts for some sizes. Raises KeyError for a size that is not given."""
        return {name: evaluate(e, sizes) for name, e in self.amounts.items()}


def nests_of(derivation: Derivation) -> Nests:
    """Those of a mapped program, in order."""
    steps = [r.step for r in derivation.records if isinstance(r.step, Dispatch)]
    amounts = dict[str, Expr]()
    trees = tuple(_tree(s, amounts) for s in steps if s.thresholds)
    return Nests(trees, amounts, thresholds_of(derivation))


def with_items(nests: Nests) -> dict[str, int]:
    """Thresholds with which a work-item computes each result, whatever the sizes."""
    roots = (tree for tree in nests.forest if isinstance(tree, Comparison))
    return {tree.threshold: 0 for tree in roots if tree.yes == (_items(tree),)}


def _items(tree: Comparison) -> Version:
    """The version of that name of a nest."""
    loop = next(iter(versions((tree,)))).partition(".")[0]
    return Version(f"{loop}.items")


def owners(derivation: Derivation) -> dict[str, str]:
    """The nest of each threshold, by its loop."""
    steps = (r.step for r in derivation.records if isinstance(r.step, Dispatch))
    return {name: step.loop for step in steps for name, _ in step.thresholds}


def _tree(step: Dispatch, amounts: dict[str, Expr]) -> Tree:
    """Variants that differ in other guards (vectors) are one version."""
    rows = list[Row]()
    for v in step.variants:
        guard = list[Outcome]()
        for e in step.conditions(v):
            if isinstance(e, Bin) and isinstance(e.right, Tile):
                guard.append((e.right.name, e.op == ">="))
                amounts[e.right.name] = e.left
        rows.append((tuple(guard), f"{step.loop}.{v.label.partition(',')[0]}"))
    merged = [list(same)[-1] for _, same in groupby(rows, key=lambda row: row[0])]
    return _built(merged, {}, amounts)


def _built(rows: Sequence[Row], known: Mapping[str, bool], amounts: Mapping[str, Expr]) -> Tree:
    """The first version whose guard holds, where the outcomes of some comparisons are known."""
    left = [row for row in rows if all(known.get(t, yes) == yes for t, yes in row[0])]
    guard, name = left[0]
    asked = next((t for t, _ in guard if t not in known), None)
    if asked is None:
        return Version(name)
    yes, no = (_built(left, {**known, asked: outcome}, amounts) for outcome in (True, False))
    return Comparison(asked, (yes,), (no,), expr_text(amounts[asked]))
