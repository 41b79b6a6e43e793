"""The forest of the nests of a program: a tree for each step `dispatch` whose guards compare with
thresholds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Bin, Expr, Tile
from loopxform.ir.printer import expr_text
from loopxform.records import record
from loopxform.transforms import Derivation, Dispatch, Step, thresholds_of
from loopxform.tune.forest import Comparison, Forest, Tree, Version, versions
from loopxform.written import LARGEST_SIZE

Outcome: TypeAlias = tuple[str, bool]
"""A threshold, and whether it is reached."""

Row: TypeAlias = tuple[tuple[Outcome, ...], Forest]
"""The guard of a version, and what runs then."""


@record
class Nests:
    """The forest, the amount that each threshold is compared with, and the values that they
    have."""

    forest: Forest
    amounts: Mapping[str, Expr]
    defaults: Mapping[str, int]

    @property
    def are_several(self) -> bool:
        """Whether more than one nest has versions: then each is timed on its own."""
        return len({name.partition(".")[0] for name in versions(self.forest)}) > 1

    def instance(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """The amounts for some sizes. Raises KeyError for a size that is not given."""
        return {name: evaluate(e, sizes) for name, e in self.amounts.items()}


def nests_of(derivation: Derivation) -> Nests:
    """Those of a mapped program, in order."""
    amounts = dict[str, Expr]()
    trees = _trees((r.step for r in derivation.records), owners(derivation), amounts)
    return Nests(trees, amounts, thresholds_of(derivation))


def where_sizes_count(nests: Nests) -> dict[str, int]:
    """Thresholds with which the version of each nest runs that has the tile sizes, whatever the
    sizes of the program: `flat` where there is one, else `items`."""
    found = dict[str, int]()
    for tree in nests.forest:
        found |= _towards_sizes(tree)
    return found


def _towards_sizes(tree: Tree) -> dict[str, int]:
    """Those of a tree; none where the version with the sizes is not what few comparisons choose."""
    if isinstance(tree, Version):
        return {}
    if tree.yes == (_version_of(tree, "items"),) and not _is_flat(tree.no):
        return {tree.threshold: 0}
    if not _is_flat(tree.no):
        return {}
    found = {tree.threshold: LARGEST_SIZE}
    for x in tree.no:
        found |= _towards_sizes(x)
    return found


def _is_flat(branch: Forest) -> bool:
    return any(name.endswith(".flat") for name in versions(branch))


def _version_of(tree: Comparison, label: str) -> Version:
    """The version of that name of a nest."""
    loop = next(iter(versions((tree,)))).partition(".")[0]
    return Version(f"{loop}.{label}")


def owners(derivation: Derivation) -> dict[str, str]:
    """The nest of each threshold, by its loop, with a number where others have it too."""
    found, used = dict[str, str](), Counter[str]()
    for step in _dispatches(r.step for r in derivation.records):
        used[step.loop] += 1
        number = f"#{used[step.loop]}" if used[step.loop] > 1 else ""
        found |= {name: f"{step.loop}{number}" for name, _ in step.thresholds}
    return found


def _dispatches(steps: Iterable[Step]) -> Iterator[Dispatch]:
    """Those with thresholds, those inside others after them."""
    for step in steps:
        if isinstance(step, Dispatch):
            if step.thresholds:
                yield step
            for v in step.variants:
                yield from _dispatches(v.steps)


def _trees(steps: Iterable[Step], owner: Mapping[str, str], amounts: dict[str, Expr]) -> Forest:
    """Those of steps that follow one another."""
    chosen = (s for s in steps if isinstance(s, Dispatch) and s.thresholds)
    return tuple(_tree(s, owner, amounts) for s in chosen)


def _tree(step: Dispatch, owner: Mapping[str, str], amounts: dict[str, Expr]) -> Tree:
    """Variants that differ in other guards (vectors) are one version; nests inside a version have
    trees of their own."""
    rows = list[Row]()
    for v in step.variants:
        guard = list[Outcome]()
        for e in step.conditions(v):
            if isinstance(e, Bin) and isinstance(e.right, Tile):
                guard.append((e.right.name, e.op == ">="))
                amounts[e.right.name] = e.left
        own = Version(f"{owner[step.thresholds[0][0]]}.{v.label.partition(',')[0]}")
        rows.append((tuple(guard), (own, *_trees(v.steps, owner, amounts))))
    merged = [list(same)[-1] for _, same in groupby(rows, key=lambda row: row[0])]
    (tree,) = _built(merged, {}, amounts)
    return tree


def _built(rows: Sequence[Row], known: Mapping[str, bool], amounts: Mapping[str, Expr]) -> Forest:
    """The first version whose guard holds, where the outcomes of some comparisons are known."""
    left = [row for row in rows if all(known.get(t, yes) == yes for t, yes in row[0])]
    guard, version = left[0]
    asked = next((t for t, _ in guard if t not in known), None)
    if asked is None:
        return version
    yes, no = (_built(left, {**known, asked: outcome}, amounts) for outcome in (True, False))
    return (Comparison(asked, yes, no, expr_text(amounts[asked])),)
