"""How stages are computed along a stream of rows: a group of work-items walks through a chunk of
rows, and in each iteration computes a row of every stage.

    iteration r:   A row r  (from memory)     B = f(A) row r - 1     C = g(B) row r - 2

A stage lags behind those that it reads, so that what it needs is there: in registers where the
element is of its own column, in local memory, which neighbours wrote in an earlier iteration, where
it is not. Each array has a `Version` for every stage that writes it. At the edges of its tile a
group computes what it needs of its neighbours itself: the tiles overlap. (Jangda and Guha;
Matsumura et al., "AN5D: automated stencil framework for high-degree temporal blocking on GPUs",
2020.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from math import prod

from loopxform.ir.affine import poly
from loopxform.ir.nodes import Load
from loopxform.ir.types import FLOAT
from loopxform.transforms.overlapped.boxes import are_apart, covers
from loopxform.transforms.overlapped.partial_sums import Split, Splits
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.stages import Field, Stage


@dataclass
class Version:
    """An array after one stage, or (no `pieces`) at the start. Its row of an iteration is `lag`
    rows behind. A tile needs it `low` rows and columns before, and `high` behind the elements that
    it stores. A work-item keeps its own elements of `kept` iterations before; `across` has for each
    place in a row that it reads, counted from its first element, the first and the last iteration
    before, of which the element there is read. Local memory holds `ring` rows. Of the largest
    piece, sums may be `split`. `sources` has what a piece, by its number, reads how many iterations
    early. Elements that no piece writes are those of the version `under` it; where there is none,
    no version writes them."""

    number: int
    field: Field
    pieces: tuple[Stage, ...] = ()
    lag: int = 0
    low: list[int] = attribute(default_factory=list)
    high: list[int] = attribute(default_factory=list)
    kept: int = 0
    across: dict[tuple[int, ...], tuple[int, int]] = attribute(default_factory=dict)
    split: Split | None = None
    under: Version | None = None
    sources: dict[tuple[int, Load, int], tuple[Version, tuple[int, ...]]] = attribute(
        default_factory=dict
    )

    @property
    def ring(self) -> int:
        """Rows that local memory has to hold; 0: none."""
        return 1 + max(first for first, _ in self.across.values()) if self.across else 0

    def age(self, source: Version, away: tuple[int, ...]) -> int:
        """How many iterations before this version's row another's row was computed."""
        return self.lag - away[0] - source.lag

    @property
    def largest(self) -> tuple[int, Stage]:
        """The piece with the most elements, as far as is known, and its number."""
        return max(enumerate(self.pieces), key=lambda piece: _count(piece[1]))

    @property
    def around(self) -> Version | None:
        """Where all pieces are smaller than one of a version under this one, rows at the edge of an
        array say, the one with the largest."""
        below, v = list[Version](), self.under
        while v is not None and v.pieces:
            below.append(v)
            v = v.under
        most = max(below, key=lambda x: _count(x.largest[1]), default=None)
        if most is None or _count(most.largest[1]) <= _count(self.largest[1]):
            return None
        return most


UNKNOWN = 1 << 40
"""What an unknown number of elements counts as."""


def _count(s: Stage) -> int:
    """The elements that a stage writes."""
    extents = ((poly(hi) - poly(lo)).value for lo, hi in s.domain)
    return prod(UNKNOWN if n is None else max(0, n) for n in extents)


@dataclass
class Stream:
    """The versions in the order in which an iteration computes them, and the last one of each
    field. The first dimensions of space, `batch` of them, hold arrays apart: no stage reads along
    them. A work-item has so many neighbouring `elements` along the dimension behind that of
    rows. Work-items wait for each other once for a row of all stages, or `in_step` after each
    stage: then neighbours see its elements in the same iteration."""

    versions: list[Version]
    last: dict[Field, Version]
    batch: int = 0
    elements: int = 1
    in_step: bool = False

    @property
    def rank(self) -> int:
        """The dimensions of tiles."""
        return len(self.versions[0].low)

    @property
    def low(self) -> tuple[int, ...]:
        """How far a tile begins before what it stores."""
        return tuple(max(v.low[d] for v in self.versions) for d in range(self.rank))

    @property
    def high(self) -> tuple[int, ...]:
        """How far it reaches beyond that."""
        return tuple(max(v.high[d] for v in self.versions) for d in range(self.rank))

    @property
    def inputs(self) -> list[Version]:
        """What is read from memory."""
        return [v for v in self.versions if not v.pieces]

    @property
    def delay(self) -> int:
        """Iterations after the last row that is stored has been read."""
        return max(v.lag for v in self.last.values())


def stream(
    groups: Sequence[tuple[Stage, ...]],
    elements: int = 1,
    splits: Splits | None = None,
    *,
    boxed: bool = False,
    in_step: bool = False,
) -> Stream:
    """The stream of stages in text order; a group writes different elements of one field.
    `splits` has sums in parts, where they may be in another order. Tiles are boxes of all
    dimensions where they are `boxed`. Work-items wait for each other after each stage where they
    are `in_step`. Raises NotStages."""
    if not groups:
        raise NotStages("the nests write no elements of arrays", None)
    if len(groups[0][0].domain) < (1 if boxed else 2):
        text = "arrays of one dimension have no rows to walk along"
        raise NotStages(text, groups[0][0].template.loc)
    batch = 0 if boxed else _batch([s for pieces in groups for s in pieces])
    rank = len(groups[0][0].domain) - batch
    own = 0 if boxed else elements
    versions, last = _versions(groups, batch, splits, in_step=in_step)
    for number, v in enumerate(versions):
        v.number, v.low, v.high = number, [0] * rank, [0] * rank
    for v in reversed(versions):
        for (_, _, early), (source, away) in v.sources.items():
            _needed(v, source, away, early, own, in_step=in_step)
        if v.under is not None:
            _needed(v, v.under, (0,) * rank, 0, own, in_step=in_step)
    return Stream(versions, last, batch, elements, in_step)


def _versions(
    groups: Sequence[tuple[Stage, ...]], batch: int, splits: Splits | None, *, in_step: bool
) -> tuple[list[Version], dict[Field, Version]]:
    """The versions, what is read from memory first, and the last one of each field."""
    inputs: dict[Field, Version] = {}
    current: dict[Field, Version] = {}

    def now(f: Field) -> Version:
        if f not in current:
            inputs[f] = current[f] = Version(-1, f)
        return current[f]

    written: dict[Field, list[Stage]] = {}
    for pieces in groups:
        written.setdefault(pieces[0].field, []).extend(pieces)
    made: list[Version] = []
    for pieces in groups:
        new = Version(len(made), pieces[0].field, pieces)
        for n, stage in enumerate(pieces):
            for r in stage.reads:
                new.sources[n, r.load, 0] = now(r.field), r.away[batch:]
        if not _covers(pieces, written[new.field]):
            new.under = now(new.field)
        before = [] if new.under is None else [new.under.lag]
        new.lag = max(
            [0, *before, *(_lag(v, away, in_step=in_step) for v, away in new.sources.values())]
        )
        if splits is not None:
            _split(new, splits, in_step=in_step)
        made.append(new)
        current[new.field] = new
    return [*inputs.values(), *made], {f: v for f, v in current.items() if v.pieces}


def _covers(pieces: Sequence[Stage], every: Iterable[Stage]) -> bool:
    """Whether pieces write all elements that some stages do."""
    return all(any(covers(s.domain, x.domain) for s in pieces) for x in every)


def _batch(stages: list[Stage]) -> int:
    """How many of the first dimensions no stage reads along; tiles have two at least."""
    rank = len(stages[0].domain)
    along = [n for s in stages for r in s.reads for n, distance in enumerate(r.away) if distance]
    return max(0, min([*along, rank - 2]))


def _lag(source: Version, away: tuple[int, ...], *, in_step: bool) -> int:
    """How far behind its source a stage must be: neighbours see an element an iteration later, or
    `in_step` in the same one."""
    return source.lag + away[0] + (any(away[1:]) and not in_step)


def _split(v: Version, splits: Splits, *, in_step: bool) -> None:
    """Has the sums of a version computed in parts where less is kept then."""
    number, stage = v.largest
    sources = {load: found for (n, load, _), found in v.sources.items() if n == number}

    def when(x: Load) -> int | None:
        source, away = sources.get(x, (None, ()))
        if source is None:
            return None
        return v.age(source, away) - (any(away[1:]) and not in_step)

    split = splits.of(stage, when)
    if split is None:
        return
    reads = {(number, x, early): sources[x] for x, early in split.reads() if x in sources}
    whole = {key: found for key, found in v.sources.items() if key[0] == number}
    width = splits.types[v.field.array].bytes / FLOAT.bytes
    if split.words + width * _kept(v, reads) <= width * _kept(v, whole):
        rest = {key: found for key, found in v.sources.items() if key[0] != number}
        v.split, v.sources = split, rest | reads


def _kept(
    v: Version, reads: Mapping[tuple[int, Load, int], tuple[Version, tuple[int, ...]]]
) -> int:
    """Elements that a work-item keeps between iterations for some reads."""
    ages: dict[tuple[int, tuple[int, ...]], set[int]] = {}
    for (_, _, early), (source, away) in reads.items():
        ages.setdefault((id(source), away[1:]), set()).add(v.age(source, away) - early)
    return sum(max(a) - min(a) if any(place) else max(a) for (_, place), a in ages.items())


def _needed(
    v: Version, source: Version, away: tuple[int, ...], early: int, elements: int, *, in_step: bool
) -> None:
    """Takes a read of a version down at its source; work-items have so many elements of their own
    (0: none). Those of neighbours are read an iteration after they were computed, or later; where
    work-items are `in_step`, in the same one."""
    for d, distance in enumerate(away):
        source.low[d] = max(source.low[d], v.low[d] - distance)
        source.high[d] = max(source.high[d], v.high[d] + distance)
    age = v.age(source, away) - early
    for place in (place_of(away, n) for n in range(elements)):
        if is_own(place, elements):
            source.kept = max(source.kept, age)
        else:
            first, last = source.across.get(place, (0 if in_step else age, age))
            source.across[place] = min(first, age), max(last, age)


def place_of(away: tuple[int, ...], number: int) -> tuple[int, ...]:
    """Where in a row a work-item reads for its element of that number."""
    return (number + away[1], *away[2:])


def is_own(place: tuple[int, ...], elements: int) -> bool:
    """Whether a place in a row is one of the work-item's own."""
    return 0 <= place[0] < elements and not any(place[1:])


def disjoint(stages: Iterable[Stage]) -> list[tuple[Stage, ...]]:
    """Stages in text order, those that follow each other and write different elements of one field
    in groups: none may read what another of them writes."""
    groups: list[tuple[Stage, ...]] = []
    for s in stages:
        before = groups[-1] if groups else ()
        if before and before[0].field == s.field and all(_apart(s, x) for x in before):
            groups[-1] = (*before, s)
        else:
            groups.append((s,))
    return groups


def _apart(a: Stage, b: Stage) -> bool:
    own = (r.field == a.field and any(r.away) for s in (a, b) for r in s.reads)
    return not any(own) and are_apart(a.domain, b.domain)
