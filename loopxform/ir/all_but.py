"""Sets of names that are most of another set, as a statement that is not modelled spares them.

A function may have thousands of such statements and as many scalars: each set is the few names that
it lacks, and the set that all have in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

FEW = 8
"""Names that take less room as a tuple, and are as quickly found in it."""


class AllBut(Set[str]):
    """The names of `whole` that are not among `others`."""

    __slots__ = ("others", "whole")

    def __init__(self, whole: frozenset[str], others: frozenset[str]) -> None:
        out = others & whole
        self.whole = whole
        self.others = out if len(out) > FEW else tuple(out)

    def __contains__(self, name: object) -> bool:
        return name in self.whole and name not in self.others

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.whole if name not in self.others)

    def __len__(self) -> int:
        return len(self.whole) - len(self.others)

    def __hash__(self) -> int:
        return len(self)

    @classmethod
    def _from_iterable(cls, names: Iterable[str]) -> frozenset[str]:  # type: ignore[override]
        return frozenset(names)


def common(sets: Sequence[Set[str]]) -> frozenset[str]:
    """The names that are in each of some sets, of which there is one at least."""
    wholes = {id(s.whole): s.whole for s in sets if isinstance(s, AllBut)}
    plain = [frozenset(s) for s in sets if not isinstance(s, AllBut)]
    lacking = frozenset[str]().union(*(s.others for s in sets if isinstance(s, AllBut)))
    first, *more = (*wholes.values(), *plain)
    return first.intersection(*more) - lacking
