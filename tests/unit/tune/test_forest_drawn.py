"""The forest of thresholds of a program, as text and as a graph."""

from __future__ import annotations

import re

from conftest import Golden
from deriving import c, untiled
from versioned import ROWS, TOTAL, TWO, versioned

from loopxform.offload.program import offload
from loopxform.targets.target import GENERIC
from loopxform.transforms import Derivation
from loopxform.tune.drawing import dot, text
from loopxform.tune.forest import comparisons, paths, taken, versions
from loopxform.tune.nests import nests_of, where_sizes_count

SUMS = c(
    "for (int o = 0; o < n; o++) for (int t = 0; t < k; t++) { for (int i = 0; i < m; i++) { "
    "int s = 0; for (int j = 0; j < m; j++) s += d[o][i][j]; b[o][i] = s + a[o][i]; } "
    "for (int i = 0; i < m; i++) a[o][i] = b[o][m - 1 - i] & 7; }",
    "int n, int m, int k, const int d[restrict n][m][m], int a[restrict n][m], "
    "int b[restrict n][m]",
)


def test_a_tree(golden: Golden) -> None:
    nests = nests_of(versioned(ROWS).derivation)
    sizes = {"few": {"n": 2, "m": 100}, "long": {"n": 5, "m": 100}, "many": {"n": 50, "m": 3}}
    datasets = [(name, nests.instance(now)) for name, now in sizes.items()]
    golden.check("\n".join(text(nests.forest, nests.defaults, datasets)))
    golden.check("\n".join(dot("rows", nests.forest, nests.defaults, datasets)), "dot")


def test_without_data_sets(golden: Golden) -> None:
    nests = nests_of(versioned(TWO).derivation)
    golden.check("\n".join(text(nests.forest, nests.defaults, ())))
    assert (len(nests.forest), paths(nests.forest)) == (2, 25)
    assert versions(nests.forest) == [
        f"{v}.{x}" for v in ("i", "i_2") for x in ("items", "groups", "chunks")
    ]
    assert [c.threshold for c in comparisons(nests.forest)] == list(nests.defaults)


def test_text_of_a_graph_is_quoted() -> None:
    nests = nests_of(versioned(ROWS).derivation)
    drawn = "\n".join(dot('a "b" \\', nests.forest, nests.defaults, ()))
    assert drawn.startswith('digraph "a \\"b\\" \\\\" {')
    assert len(re.findall(r"->", drawn)) == 8


def test_a_program_without_versions() -> None:
    start = versioned(ROWS).derivation.start
    assert nests_of(Derivation(start)).forest == ()


def test_thresholds_with_which_work_items_compute_results() -> None:
    """Tile sizes are those of that version: they are measured where it runs."""
    nests = nests_of(versioned(TWO).derivation)
    values = {**nests.defaults, **where_sizes_count(nests)}
    for n in (0, 1, 100):
        assert taken(nests.forest, nests.instance({"n": n}), values) == ("i.items", "i_2.items")
    assert where_sizes_count(nests_of(versioned(TOTAL).derivation)) == {}


def test_thresholds_with_which_everything_is_flat() -> None:
    """Tile sizes of loops that are flattened are those of `flat`."""
    nests = nests_of(offload(untiled(SUMS), {}, GENERIC).derivation)
    values = {**nests.defaults, **where_sizes_count(nests)}
    for n in (0, 1, 100_000):
        sizes = {"n": n, "m": n, "k": 1}
        assert taken(nests.forest, nests.instance(sizes), values) == ("o.flat", "o#2.items")
