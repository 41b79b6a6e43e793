"""A forest of thresholds as text and as a graph: what is compared for each data set, and which
version runs.

    i
      suff_outer_par_0 = 32768 <= n          200    no
        yes: items
        no: suff_intra_par_1 = 32 <= m       4096   yes
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from loopxform.tune.forest import Comparison, Instance, Thresholds, Tree, Version, taken

RUNS = "runs"


def text(
    forest: Sequence[Tree], thresholds: Thresholds, datasets: Sequence[tuple[str, Instance]]
) -> Iterator[str]:
    """A line for each comparison and each version, with a column for each data set: its amount and
    how the comparison turns out, or that the version runs."""
    rows = [row for tree in forest for row in _rows(tree, thresholds, datasets, "", 0)]
    titles = ("", *(name for name, _ in datasets))
    table = [titles, *rows] if datasets else [row[:1] for row in rows]
    widths = [max(len(row[n]) for row in table) for n in range(len(table[0]))] if table else []
    for row in table:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip()


def _rows(
    tree: Tree,
    thresholds: Thresholds,
    reached: Sequence[tuple[str, Instance] | None],
    outcome: str,
    depth: int,
) -> Iterator[tuple[str, ...]]:
    """`reached` are the data sets that come here, None for others."""
    indent = "  " * depth + outcome
    if isinstance(tree, Version):
        yield (f"{indent}{tree.name}", *("" if d is None else RUNS for d in reached))
        return
    value = thresholds[tree.threshold]
    cells = ("" if d is None else _cell(tree, value, d[1]) for d in reached)
    yield (f"{indent}{tree.threshold} = {value} <= {tree.amount}?", *cells)
    for yes, trees in ((True, tree.yes), (False, tree.no)):
        here = [
            d if d is not None and (d[1][tree.threshold] >= value) == yes else None for d in reached
        ]
        for branch in trees:
            yield from _rows(branch, thresholds, here, "yes: " if yes else "no: ", depth + 1)


def _cell(tree: Comparison, value: int, instance: Instance) -> str:
    amount = instance[tree.threshold]
    return f"{amount} {'yes' if amount >= value else 'no'}"


def dot(
    name: str,
    forest: Sequence[Tree],
    thresholds: Thresholds,
    datasets: Sequence[tuple[str, Instance]],
) -> Iterator[str]:
    """The same for Graphviz: comparisons are ellipses, versions are boxes, with the data sets that
    run them."""
    yield f"digraph {_quoted(name)} {{"
    yield "  node [shape=ellipse]"
    numbers = count()
    for tree in forest:
        yield from _nodes(tree, thresholds, datasets, numbers)
    yield "}"


def _nodes(
    tree: Tree,
    thresholds: Thresholds,
    datasets: Sequence[tuple[str, Instance]],
    numbers: Iterator[int],
    parent: str = "",
    outcome: str = "",
) -> Iterator[str]:
    own = f"n{next(numbers)}"
    if isinstance(tree, Version):
        running = [name for name, i in datasets if tree.name in taken((tree,), i, thresholds)]
        yield f"  {own} [shape=box, label={_quoted(tree.name, *running)}]"
    else:
        value = thresholds[tree.threshold]
        amounts = [f"{name}: {i[tree.threshold]}" for name, i in datasets]
        label = _quoted(f"{tree.threshold} = {value} <= {tree.amount}", *amounts)
        yield f"  {own} [label={label}]"
    if parent:
        yield f'  {parent} -> {own} [label="{outcome}"]'
    if isinstance(tree, Comparison):
        value = thresholds[tree.threshold]
        for yes, trees in ((True, tree.yes), (False, tree.no)):
            here = [d for d in datasets if (d[1][tree.threshold] >= value) == yes]
            for branch in trees:
                word = "yes" if yes else "no"
                yield from _nodes(branch, thresholds, here, numbers, own, word)


def _quoted(*lines: str) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
