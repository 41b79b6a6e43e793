"""Counts the memory accesses of kernels under Oclgrind, next to what the plan predicts.

    python scripts/count_accesses.py                      # every nest of the tests, all sizes tiny
    python scripts/count_accesses.py gemm_double nbody_structs

A line for each kernel: the nest, its recipe, and predicted and counted reads and writes of global
and of local memory. Exit status 1 where they differ.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "device")]

from traffic_cases import CASES, Case, counted, given, plan_of  # noqa: E402

from loopxform.model import access_counts  # noqa: E402

COLUMNS = ("global reads", "global writes", "local reads", "local writes")


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("nest", nargs="*", help="names of nests (all)")
    wanted = p.parse_args().nest
    print(f"| nest | recipe | {' | '.join(COLUMNS)} |")
    print(f"|{'---|' * (2 + len(COLUMNS))}")
    differ, seen = False, set[str]()
    for case in (c for c in CASES if not wanted or c.name in wanted):
        for each in (case,) if case.name in seen else (case.naive, case):
            cells = list(_cells(each))
            differ = differ or any("=" not in c for c in cells)
            row = (f"`{each.name}`", each.tiled.tiled.recipe, *cells)
            print(f"| {' | '.join(row)} |", flush=True)
        seen.add(case.name)
    return int(differ)


def _cells(case: Case) -> Iterator[str]:
    """`128 = 128` for each row of the table: predicted, counted."""
    plan = plan_of(case.tiled)
    found = access_counts.tiled(case.tiled.derivation)
    for (_, terms), n in zip(found.rows(), counted(plan, given(case, plan))):
        predicted = access_counts.total(terms, case.integers)
        yield f"{predicted} {'=' if predicted == n else 'and not'} {n}"


if __name__ == "__main__":
    sys.exit(main())
