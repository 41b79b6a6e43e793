"""The parts of a file that run on the device: of every function the largest that can be taken out.

A function that can be offloaded as it is stays one part, so that arrays stay on the device. Of any
other, each run of consecutive statements that are modelled is tried, then each of its loops alone,
then what is inside the statements that cannot be taken.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from types import MappingProxyType
from typing import Generic, TypeVar

from loopxform import budget
from loopxform.api.dead_branches import without_dead_branches
from loopxform.api.own_memory import with_own_memory
from loopxform.api.returning_loops import no_search
from loopxform.errors import InternalError, LoopxformError, UnsupportedC, contained
from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.outline import Block, Definition, Item, Original, Part, Region, marks_scop
from loopxform.frontend.pragmas.data_regions import is_directive
from loopxform.ir.nodes import Decl, For, Opaque
from loopxform.ir.routines import UNWRITTEN, unwritten
from loopxform.ir.visit import walk
from loopxform.prepare.while_loops import whole_loops

MOST = 3 / 4
"""Of the time that is left, for one of several attempts."""

UNKNOWN_SIZE = "LX040"
"""Of an array: a declaration is all that it takes."""

NOT_PARALLEL = "LX062"
"""Of the loops of a nest."""

T = TypeVar("T")
Work = Callable[[Part, Region], T]
"""Offloads the function that stands for a region; raises LoopxformError."""
Cut = Callable[[tuple[Item, ...]], tuple[Item, ...]]
"""Which of some statements are meant."""


@dataclass
class Found(Generic[T]):
    """What was made of the regions of a file, in text order; why loops stay as they are, the name
    of the function with each reason; and why loops `around` regions do that would be taken if their
    arrays had known sizes."""

    made: list[tuple[Region, T]] = field(default_factory=list)
    left: list[tuple[str, LoopxformError]] = field(default_factory=list)
    around: list[tuple[str, LoopxformError]] = field(default_factory=list)


def find(
    original: Original,
    functions: dict[str, Part],
    names: Sequence[str],
    work: Work[T],
    failed: Mapping[str, LoopxformError] = MappingProxyType({}),
    scops: Collection[str] = (),
    otherwise: Work[T] | None = None,
) -> Found[T]:
    """The regions of the functions called `names`; `functions` are those of the file, `failed` says
    why others could not be read. Of those in `scops` statements without a loop are meant too. Of
    functions where `work` takes nothing, `otherwise` may."""
    found: Found[T] = Found()
    owners = [original.definitions[name] for name in names if name in original.definitions]

    def found_in(owner: Definition) -> Found[T]:
        mine: Found[T] = Found()
        for how in (work, otherwise):
            if how is not None and not mine.made:
                part = functions.get(owner.name)
                mine = _found(original, owner, work=how, part=part, scops=scops)
        return mine

    for mine in budget.in_turn(owners, found_in, _size):
        found.made += mine.made
        found.left += mine.left
        found.around += mine.around
    for name in (name for name in names if name not in original.definitions):
        if (part := functions.get(name)) is None or _has_loops(part):
            place = part.function.origin.loc if part is not None else None
            found.left.append((name, failed.get(name) or original.unlike(name, place)))
    found.made.sort(key=lambda x: x[0].start)
    return found


def _size(owner: Definition) -> float:
    """How long the text of a function is."""
    return owner.end - owner.begin


def _found(
    original: Original,
    owner: Definition,
    *,
    work: Work[T],
    part: Part | None,
    scops: Collection[str],
) -> Found[T]:
    """The regions of one function; none of one that we fail at, those so far where time is up."""
    found: Found[T] = Found()
    try:
        with contained(owner.name, original.place(owner)):
            finder = _Finder(original, owner, work, found, has_scop=owner.name in scops)
            finder.search(part)
    except budget.Exhausted as e:
        found.left.append((owner.name, e))
    except LoopxformError as e:
        found = Found(left=[(owner.name, e)])
    for _, why in found.left:
        if isinstance(why, budget.Exhausted):
            why.loc = why.loc or original.place(owner)
    return found


class _Finder(Generic[T]):
    """The regions of one function."""

    def __init__(
        self,
        original: Original,
        owner: Definition,
        work: Work[T],
        found: Found[T],
        *,
        has_scop: bool,
    ) -> None:
        self.original, self.owner, self.work, self.found = original, owner, work, found
        self.has_scop = has_scop
        self.number = 1
        self.unspread: LoopxformError | None = None

    def search(self, part: Part | None) -> None:
        whole = self.original.whole(self.owner)
        if part is not None:
            fn = with_own_memory(without_dead_branches(part.function))
            part = replace(part, function=fn)
        if part is not None and not _has_loops(part) and not self.has_scop:
            return
        own = (i for i in self.owner.body.items if not self.original.does_nothing(i))
        if (self.has_scop and any(map(self._aside, own))) or self.original.has_data(self.owner):
            whole = None
        if part is not None and whole is not None and part.function.returns is None:
            why = self._take(whole, part)
            if why is None:
                return
            self.unspread = why if why.code == NOT_PARALLEL else None
        self._block(self.owner.body)

    def _block(self, block: Block) -> bool:
        """Whether anything of a block was taken."""
        alone = self._alone(block.items)
        tries: list[tuple[tuple[Item, ...], Callable[[], bool]]] = []
        for is_good, group in groupby(block.items, lambda i: self._group(i, alone[i.start])):
            items = list(group)
            if is_good:
                meant = self._whole_scop if self._has_scop(block) else _trimmed
                runs = self._apart(items, partial(meant, alone=alone))
                tries += [(run, partial(self._run, run)) for run in runs]
            else:
                odd = [i for i in items if self.original.may_loop(i)]
                tries += [((i,), partial(self._inside, i, alone[i.start])) for i in odd]
        return self._each(tries)

    def _group(self, item: Item, alone: Part | LoopxformError) -> int:
        """What a statement can be taken together with: a loop that returns is taken alone; 0: it
        cannot be taken."""
        if not isinstance(alone, Part):
            return 0
        return 1 if self.original.returning(self.owner, item.nodes) is None else 2 + item.start

    def _apart(self, items: Sequence[Item], meant: Cut) -> Iterator[tuple[Item, ...]]:
        """What is `meant` of the longest runs of some statements; none of it declares what is used
        after it."""
        for run in self.original.runs(self.owner, items):
            cut = meant(run)
            if len(cut) == len(run):
                yield cut
            elif cut:
                yield from self._apart(cut, meant)

    def _has_scop(self, block: Block) -> bool:
        """Whether a scop begins or ends among the statements of a block."""
        return self.has_scop and any(marks_scop(n) for i in block.items for n in i.nodes)

    def _whole_scop(
        self,
        items: Sequence[Item],
        alone: dict[int, Part | LoopxformError],  # noqa: ARG002
    ) -> tuple[Item, ...]:
        """All statements to the last one that does something, with loops or without."""
        does = [k for k, i in enumerate(items, 1) if not self.original.does_nothing(i)]
        return tuple(items[: does[-1]]) if does else ()

    def _each(self, tries: Sequence[tuple[Sequence[Item], Callable[[], bool]]]) -> bool:
        """Whether one of several went well. Each but the last may take most of the time left: one
        that is too hard leaves the others some. (Equal parts would be too little for most.)"""
        taken = [False]
        for n, (items, attempt) in enumerate(tries, 1):
            try:
                with budget.within(budget.part(1.0 if n == len(tries) else MOST)):
                    taken.append(attempt())
            except budget.Exhausted as e:
                if any(map(self.original.has_loop, items)):
                    e.loc = e.loc or self.original.first_loop(items)
                    self._leave(e)
        return any(taken)

    def _alone(self, items: Sequence[Item]) -> dict[int, Part | LoopxformError]:
        """Each statement as a function, or why it is none, by its place."""
        regions = [self.original.region(f"lx_{i.start}", self.owner, [i]) for i in items]
        lowered = self.original.lower(regions)
        made = {i.start: _modelled(lowered[r.name]) for i, r in zip(items, regions)}
        return {i.start: self._kept(i) or self._told(i, made[i.start]) for i in items}

    def _told(self, item: Item, alone: Part | LoopxformError) -> Part | LoopxformError:
        """Of a loop that returns, why it is no search."""
        if isinstance(alone, Part) or alone.code != "LX011":
            return alone
        try:
            is_returning = self.original.returning(self.owner, item.nodes) is not None
        except NotModelled:
            return alone
        return no_search(self.original.first_loop([item])) if is_returning else alone

    def _kept(self, item: Item) -> LoopxformError | None:
        """Why a statement cannot be taken, whatever it says."""
        return self._aside(item) or self.original.straddling(item.start, item.end)

    def _aside(self, item: Item) -> LoopxformError | None:
        return self.original.aside(self.owner, item)

    def _run(self, items: tuple[Item, ...]) -> bool:
        """Whether anything of consecutive statements, with loops at both ends, was taken."""
        region = self.original.region(f"{self.owner.name}_{self.number}", self.owner, items)
        why = self._known(region, items)
        if why is None:
            part = _modelled(self.original.lower([region])[region.name])
            why = self._take(region, part) if isinstance(part, Part) else part
        if why is None:
            self.number += 1
            return True
        if len(items) == 1:
            return self._inside(items[0], why, is_known=why.status == 1)
        alone = self._alone(items)
        around = self.original.conditionals.around
        runs = [tuple(g) for _, g in groupby(items, lambda i: (around(i.start), around(i.end)))]
        if len(runs) == 1:
            runs = [(i,) for i in items]
        found = [run for r in runs for run in self._apart(r, partial(_trimmed, alone=alone))]
        return self._each([(run, partial(self._run, run)) for run in found])

    def _known(self, region: Region, items: Sequence[Item]) -> LoopxformError | None:
        """Why all that the function does cannot be taken, where that is no more than these."""
        others = (i for i in self.owner.body.items if i not in items)
        if self.unspread is None or not all(map(self.original.does_nothing, others)):
            return None
        try:
            return None if self.original.outlined(region).is_apart else self.unspread
        except NotModelled:
            return self.unspread

    def _inside(self, item: Item, why: Part | LoopxformError, *, is_known: bool = False) -> bool:
        """Whether anything inside a statement was taken that cannot be taken itself; nothing can
        where it `is_known` of each loop in it that it is not parallel."""
        bodies = [(x.items, partial(self._block, x)) for x in item.bodies]
        before = len(self.found.left)
        if not is_known and self._each(bodies):
            if isinstance(why, LoopxformError) and why.code == UNKNOWN_SIZE:
                self.found.around.append((self.owner.name, why))
            return True
        if isinstance(why, LoopxformError) and why.code == UNKNOWN_SIZE:
            # With sizes of its arrays it is taken as a whole: no matter why what is inside is not.
            inside = self.found.left[before:]
            self.found.left[before:] = [x for x in inside if x[1].code == UNKNOWN_SIZE]
        told = any(map(is_directive, item.nodes))  # what is behind it says why it stays
        if isinstance(why, LoopxformError) and self.original.has_loop(item) and not told:
            why.loc = why.loc or self.original.first_loop([item])
            self._leave(why)
        return False

    def _take(self, region: Region, part: Part) -> LoopxformError | None:
        """Takes a region; why it cannot be. What it leaves of the time is for its parts."""
        if (straddles := self.original.straddling(region.start, region.end)) is not None:
            return straddles
        try:
            if not region.whole:
                region = self.original.standing(region)
            with budget.within(budget.part(MOST)) as limit:
                made = self.work(part, region)
                if limit.exhausted or limit.short:
                    raise budget.Exhausted(limit.exhausted or "time")
        except LoopxformError as e:
            return e
        self.found.made.append((region, made))
        return None

    def _leave(self, why: LoopxformError) -> None:
        known = [(e.message, e.loc) for name, e in self.found.left if name == self.owner.name]
        if (why.message, why.loc) not in known:
            self.found.left.append((self.owner.name, why))


def _modelled(part: Part | LoopxformError) -> Part | LoopxformError:
    """A function all of which is modelled, and whose arrays are memory of others, or why it is
    none."""
    if isinstance(part, InternalError):
        raise part.__cause__ or part  # `_found` says in which function of the user's
    if isinstance(part, Part):
        fn = with_own_memory(without_dead_branches(part.function))
        part = replace(part, function=fn)
    for _, s in walk(whole_loops(part.function).body) if isinstance(part, Part) else ():
        if isinstance(s, Opaque):
            return UnsupportedC(s.reason, loc=s.origin.loc, code=s.code, help=s.help or None)
        if isinstance(s, Decl) and s.heap:
            reason = f"'{s.name}' is allocated here, of a size that is not known before the loops"
            return UnsupportedC(reason, loc=s.origin.loc, help="allocate it before the loops")
    why = unwritten(part.function) if isinstance(part, Part) else None
    return part if why is None else UnsupportedC(why[0], loc=why[1], code="LX012", help=UNWRITTEN)


def _trimmed(items: Sequence[Item], alone: dict[int, Part | LoopxformError]) -> tuple[Item, ...]:
    """From the first statement with a loop to the last."""
    loops = [k for k, i in enumerate(items) if _has_loops(alone[i.start])]
    return tuple(items[loops[0] : loops[-1] + 1]) if loops else ()


def _has_loops(part: Part | LoopxformError) -> bool:
    return isinstance(part, Part) and any(
        isinstance(s, For) or (isinstance(s, Opaque) and (s.loop or s.body))
        for _, s in walk(part.function.body)
    )
