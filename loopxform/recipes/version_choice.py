"""A choice between versions of a nest: schedules under guards, which compare how much parallelism
there is with thresholds.

The host takes the first version whose guard holds. (Rotendahl and Larsen, section 2.5.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from loopxform.ir.affine import value_of
from loopxform.ir.condition_text import condition_text
from loopxform.ir.nodes import Bin, Expr, Tile
from loopxform.ir.visit import walk_expr
from loopxform.records import record
from loopxform.transforms import Derivation, Dispatch, Variant


@record
class Version:
    """A schedule of the nest, from the program that all versions start from, and when it is taken:
    where all comparisons of the guard hold, those without a threshold included (what the steps
    assume). `cost` is what the model says of it, for sizes of 1024 where they are not known."""

    label: str
    about: str
    derivation: Derivation
    guard: tuple[Expr, ...] = ()
    cost: str = ""


@dataclass
class Thresholds:
    """Names of thresholds that are not `taken`, numbered from `first` on, with the values that are
    `asked` for. `values` are those so far."""

    first: int
    taken: frozenset[str]
    asked: Mapping[str, int]
    values: dict[str, int] = field(default_factory=dict)

    def __call__(self, kind: str, default: int) -> Tile:
        number = self.first + len(self.values)
        name = next(n for k in count() if (n := f"{kind}_{number}{'_' * k}") not in self.taken)
        self.values[name] = self.asked.get(name, default)
        return Tile(name, self.values[name])


def taken_at_all(versions: Sequence[Version]) -> list[Version]:
    """Without comparisons that hold for all calls, and versions that are never taken."""
    taken = []
    for v in versions:
        open_ones = tuple(e for e in v.guard if decided(e) is None)
        if any(decided(e) is False for e in v.guard):
            continue
        taken.append(replace(v, guard=open_ones))
        if not open_ones:
            break
    return taken


def choice(loop: str, versions: Sequence[Version], thresholds: Thresholds) -> Dispatch:
    """The step that chooses between them in the place of the nest of `loop`."""
    used = {x.name for v in versions for e in v.guard for x in walk_expr(e) if isinstance(x, Tile)}
    named = tuple((name, value) for name, value in thresholds.values.items() if name in used)
    return Dispatch(loop, tuple(x for v in versions for x in _variants(v)), named)


def decided(e: Expr) -> bool | None:
    """Whether a comparison with a threshold holds, where that is known."""
    if not isinstance(e, Bin) or not isinstance(e.right, Tile):
        return None
    amount = value_of(e.left)
    if amount is None:
        return None
    return amount < e.right.value if e.op == "<" else amount >= e.right.value


def _variants(version: Version) -> Iterator[Variant]:
    """Those of a version: under its guard, which of them is taken is its own matter."""
    guard, derivation = tuple(map(condition_text, version.guard)), version.derivation
    steps = tuple(r.step for r in derivation.records)
    if len(steps) == 1 and isinstance(steps[0], Dispatch) and not steps[0].thresholds:
        for v in steps[0].variants:
            label = ", ".join(x for x in (version.label, v.label) if x)
            yield replace(v, label=label, guard=(*guard, *v.guard))
        return
    tiles = derivation.start.tiles
    yield Variant(version.label, version.about, version.cost, guard, tiles, steps, derivation)
