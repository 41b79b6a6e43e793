"""Parts of a file on the device: what the statements of a region become, and the C that launches
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from loopxform.analysis.inspector import Inspected
from loopxform.api.allocated_extents import with_allocated_extents
from loopxform.api.annotated import with_scops
from loopxform.api.copied_arrays import checked_updates, copied_arrays, told_why
from loopxform.api.loops_as_meant import with_loops_as_meant
from loopxform.api.macro_checks import Configured, configured
from loopxform.api.offload import OffloadedRoutine, offload_routine
from loopxform.api.regions import NOT_PARALLEL, UNKNOWN_SIZE
from loopxform.api.returning_loops import NO_SEARCH, require_searched, searched
from loopxform.api.scratch import with_scratch
from loopxform.api.source import SourceFile, SourceRoutine
from loopxform.api.unspread import unspread
from loopxform.codegen import emit
from loopxform.display import Shown
from loopxform.errors import LoopxformError
from loopxform.floating_point import FloatingPoint
from loopxform.frontend.outline import Definition, Original, Part, Region
from loopxform.ir.nodes import For, Function
from loopxform.schedule.params import Options
from loopxform.schedule.tuning_file import Tuned
from loopxform.targets.target import Limits
from loopxform.version import __version__


@dataclass(frozen=True)
class OffloadedRegion(Shown):
    """A part of the file on the device: the statements `region`, what they became as a function of
    their own, and the C that launches it, where macros are as the text was read with."""

    region: Region
    done: OffloadedRoutine
    entry: emit.Entry
    configured: Configured

    def __repr__(self) -> str:
        return f"<OffloadedRegion of {self.region.owner.name}>"


@dataclass
class Offloading:
    """What the user asks for, of every region of a file alike: of functions that are `named`, or
    not; the rest as `offload_file` has it."""

    file: SourceFile
    original: Original
    sizes: Mapping[str, int]
    limits: Limits
    fp: FloatingPoint
    options: Options
    tuned: Mapping[str, Tuned]
    hosts: Mapping[str, float]
    scratch: Sequence[str]
    named: bool = False

    def __post_init__(self) -> None:
        self._configured: dict[tuple[Definition, bool], Configured] = {}

    def region(self, part: Part, region: Region) -> OffloadedRegion:
        """What becomes of a region. Raises LoopxformError where it stays on the host."""
        try:
            return self._copied(part, region)
        except LoopxformError as e:
            may_help = e.code in (UNKNOWN_SIZE, NOT_PARALLEL, NO_SEARCH)
            allocated = may_help and with_allocated_extents(self.original, part, region)
            if not allocated:
                raise
        return self._copied(*allocated)

    def _copied(self, part: Part, region: Region) -> OffloadedRegion:
        """What becomes of a region all of whose arrays the host can copy."""
        part = searched(self.original, part, region, self.limits)
        known = copied_arrays(part.function)
        with told_why(known):
            return self._mapped(part, region, known)

    def _mapped(self, part: Part, region: Region, known: Inspected) -> OffloadedRegion:
        fn = with_scratch(known.fn, self.scratch if region.whole else ())
        if region.returns is not None:
            require_searched(fn, self.limits)
        done = self._offloaded(part, region, fn)
        keys = checked_updates(with_loops_as_meant(part.function))
        asked = self._macros(region.owner, whole_file=self.original.asks_file(region))
        entry = emit.entry(
            done.derivation,
            origin=self.file.name,
            version=__version__,
            fp=self.fp,
            on_device=region.whole and keys is None and not _asks_host(fn),
            asks_macros=bool(asked),
            host=self.hosts.get(region.owner.name),
            functions=(r.name for r in self.file.routines()),
            inspector=known.inspector,
            keys=keys,
        )
        return OffloadedRegion(region, done, entry, asked)

    def _offloaded(self, part: Part, region: Region, fn: Function) -> OffloadedRoutine:
        """The function that stands for a region, in kernels. Raises UnsupportedC where there is
        none that is worth it."""
        name = region.owner.name
        own = SourceRoutine(_with(self.file, part), fn)
        found = self.tuned.get(name) if region.whole and not self.sizes else None
        if found is not None and not _is_one_nest(region, fn):
            found = replace(found, recipe=None, sizes={})
        in_scop = name in self._scops
        done = offload_routine(
            own,
            self.sizes,
            self.limits,
            fp=self.fp,
            options=self.options,
            tuned=found,
            with_loops=not in_scop,
        )
        if not (self.named or in_scop) and all(p.kind != "kernel" for p in done.parts):
            raise unspread(name, fn, done)
        return done

    @cached_property
    def _scops(self) -> frozenset[str]:
        return with_scops(self.file.parsed)

    def _macros(self, owner: Definition, *, whole_file: bool) -> Configured:
        """The macros that the text of a function, or of the file, was read with."""
        key = owner, whole_file
        if key not in self._configured:
            events = self.file.parsed.decisions(owner.name, file=whole_file)
            self._configured[key] = configured(self.original, events, owner)
        return self._configured[key]


def _asks_host(fn: Function) -> bool:
    """Whether memory of the host says where arrays are, or end."""
    return any(p.rows or p.ends for p in fn.objects)


def _is_one_nest(region: Region, fn: Function) -> bool:
    """Whether the whole function is offloaded, and has one loop at its top."""
    return region.whole and sum(isinstance(s, For) for s in fn.body) == 1


def _with(file: SourceFile, part: Part) -> SourceFile:
    """The file with what annotations ask of a part, those in front of its function included."""
    annotations = {**file.parsed.annotations, part.function.name: part.annotations}
    return replace(file, parsed=replace(file.parsed, annotations=annotations))
