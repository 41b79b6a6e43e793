"""A whole C file with its loops on the device: the user's text, with launches in front of the loops
that they stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from types import MappingProxyType

from loopxform.analysis.missing_updates import Missing, missing_updates
from loopxform.api.annotated import considered, require_met, require_read, wishes, with_scops
from loopxform.api.data_calls import inserts, newest, questions, require_places
from loopxform.api.dead_branches import dead_loops
from loopxform.api.macro_checks import above
from loopxform.api.offload import require_compared
from loopxform.api.offloaded_regions import OffloadedRegion, Offloading
from loopxform.api.regions import find
from loopxform.api.returning_loops import begin_of
from loopxform.api.scratch import require_known, require_scratch, with_scratch
from loopxform.api.source import SourceFile, SourceRoutine
from loopxform.api.users_words import (
    defined_macros,
    functions_of_c,
    plain_text,
    require_free,
)
from loopxform.budget import Exhausted, part, whatever_is_left, within
from loopxform.codegen import emit
from loopxform.codegen.host.set_aside import apart, behind, headers_apart, theirs
from loopxform.codegen.host.splice import Insert, Text
from loopxform.display import Shown
from loopxform.errors import (
    AnnotationError,
    InternalError,
    LoopxformError,
    UnsupportedC,
    quoting,
)
from loopxform.files import in_folder, write_all
from loopxform.floating_point import FloatingPoint
from loopxform.frontend.outline import Loop, Original, Part, Region
from loopxform.frontend.text.rawtext import read_bytes
from loopxform.ir.nodes import For
from loopxform.ir.visit import walk
from loopxform.schedule.params import PLAIN, Options
from loopxform.schedule.tuning_file import Tuned
from loopxform.source import Loc
from loopxform.targets.profile import profile
from loopxform.targets.target import Limits
from loopxform.version import __version__


@dataclass(frozen=True)
class OffloadedFile(Shown):
    """What the functions of a file became. `regions` are the parts on the device, `left` the
    reasons why loops stay as they are, with the names of their functions; `asked` are the functions
    that were looked at, `around` the reasons of loops around regions whose arrays need known sizes.

    Examples:
        >>> import loopxform as lx
        >>> sorted(lx.load("mm.c").offload().files)
        ['mm.cl', 'mm_opencl.c', 'mm_opencl.h']
    """

    file: SourceFile
    original: Original
    regions: tuple[OffloadedRegion, ...]
    left: tuple[tuple[str, LoopxformError], ...]
    asked: tuple[str, ...]
    around: tuple[tuple[str, LoopxformError], ...] = ()

    def __repr__(self) -> str:
        return f"<OffloadedFile {self.file.name}: {len(self.regions)} parts on the device>"

    @cached_property
    def files(self) -> dict[str, str]:
        """`NAME_opencl.c`, the user's text with the launches; `NAME_opencl.h`; `NAME.cl`. Bytes
        that are no UTF-8 are surrogates."""
        stem = f"{self.file.stem}_opencl"
        entries = [r.entry for r in self.regions]
        named = {"origin": self.file.name, "version": __version__}
        spliced = self.text.spliced(_inserts(self))
        kernels = "\n".join(e.plan.source for e in entries)
        return {
            f"{self.file.stem}.cl": kernels,
            f"{stem}.c": spliced.decode(errors="surrogateescape"),
            f"{stem}.h": emit.header(entries, stem=stem, **named),
        }

    def write(self, directory: str | PathLike[str] = ".") -> list[Path]:
        """Writes the files, all or none. A file that was read is never overwritten.

        Args:
            directory: Where to; it is made where it is missing.

        Returns:
            The paths.

        Raises:
            InputError: One of them cannot be written.
        """
        outputs = in_folder(fspath(directory), self.files)
        return write_all(outputs, self.file.parsed.dependencies)

    @property
    def loops(self) -> tuple[tuple[Loop, bool], ...]:
        """The loops that were looked at, but for dead ones, and whether the device does each."""
        dead = {loc for r in self.file.routines() for loc in dead_loops(r.function)}
        every = self.original.loops(self.asked, [r.region for r in self.regions])
        return tuple(x for x in every if x[0].loc not in dead)

    @property
    def broken(self) -> tuple[InternalError, ...]:
        """What went wrong by our own fault; those functions are left as they are."""
        return tuple(e for _, e in self.left if isinstance(e, InternalError))

    @cached_property
    def missing(self) -> tuple[Missing, ...]:
        """The updates that are missing in functions with data directives."""
        taken = {loop.loc for loop, is_taken in self.loops if is_taken}
        flows = (f for name, f in self.file.parsed.data.items() if name in self.asked)
        return tuple(m for f in flows for m in missing_updates(f, taken.__contains__))

    @cached_property
    def text(self) -> Text:
        """The user's text."""
        o = self.original
        return Text(o.raw, o.text, o.continued, o.path)


def offload_file(
    file: SourceFile,
    names: Sequence[str],
    sizes: Mapping[str, int],
    limits: Limits | str,
    *,
    fp: FloatingPoint,
    options: Options = PLAIN,
    tuned: Mapping[str, Tuned] = MappingProxyType({}),
    hosts: Mapping[str, float] = MappingProxyType({}),
    scratch: Sequence[str] = (),
) -> OffloadedFile:
    """The functions called `names`, else all of the file, with what was `tuned` for those that are
    one nest; `hosts` are the operations below which calls are the host's. See `File.offload`."""
    room = profile(limits) if isinstance(limits, str) else limits
    original = _original(file)
    spread = Offloading(file, original, sizes, room, fp, options, tuned, hosts, scratch)
    named = replace(spread, named=True).region if names else None
    with quoting(file.parsed.sources):
        if not names:
            require_read(file.parsed)
        functions = {r.name: Part(r.function, r.annotations) for r in file.routines()}
        asked = names or _defined(file)
        scops = with_scops(file.parsed)
        for routine in (r for r in file.routines() if r.name in asked):
            require_met(routine)
            require_scratch(replace(routine, function=with_scratch(routine.function, scratch)))
        broken = file.parsed.broken
        with within(part(3 / 4)):  # what is found must be proven as well
            whole = [n for n in asked if n not in broken]
            unread = file.parsed.failed
            found = find(original, functions, whole, spread.region, unread, scops, named)
        left = (*found.left, *((n, broken[n]) for n in asked if n in broken))
        regions, around = tuple(x for _, x in found.made), tuple(found.around)
        made = OffloadedFile(file, original, regions, left, tuple(asked), around)
        made = _proven(made)
        with whatever_is_left():
            routines = [r for r in file.routines() if r.name in asked]
            require_compared(options, routines, [x.done.derivation for x in made.regions])
            require_known(scratch, [x.done.routine.function for x in made.regions])
            for routine in routines:
                _require_tiled(routine, made)
            text = [_runtime(made), *(r.entry.text for r in made.regions)]
            require_free(made.file, "\n".join(text))
            require_places(original, made.text, made.missing)
        return made


def _require_tiled(routine: SourceRoutine, made: OffloadedFile) -> None:
    """Raises AnnotationError for a loop that is annotated `tile`, and stays on the host, and for
    what else cannot be met."""
    for name, e in made.left:
        if name == routine.name and isinstance(e, AnnotationError):
            raise e
    every = (s for r in made.regions for _, s in walk(r.done.derivation.start.body))
    taken = {s.origin.loc for s in every if isinstance(s, For)} | dead_loops(routine.function)
    for loc, wish in wishes(routine).at.items():
        if loc not in taken:
            reasons = (e for name, e in made.left if name == routine.name and e.loc == loc)
            stays = UnsupportedC("the loop stays on the host", loc=loc, code="LX062")
            raise wish.unmet(next(reasons, stays))


def _original(file: SourceFile) -> Original:
    parsed = file.parsed
    if parsed.text is not None:
        raw = parsed.text.encode(errors="replace")
    else:
        raw = read_bytes(parsed.dependencies[0])
    return Original(parsed.unit.file, raw, parsed.options, parsed)


def _defined(file: SourceFile) -> list[str]:
    """The functions that are meant where none is named, those that cannot be read included."""
    meant = considered(file.parsed, file.parsed.unit.functions)
    return list(dict.fromkeys([*(f.name for f in meant), *file.parsed.failed]))


# ---------------------------------------------------------------- the text


def _inserts(made: OffloadedFile) -> list[Insert]:
    text, regions, conditionals = made.text, made.regions, made.original.conditionals
    owners = {r.region.owner.begin: (r.region.owner.name, r.region.owner.end) for r in regions}
    owners |= {d.begin: (d.placed.function.decl.name, d.last) for d in made.original.data}
    if not owners:
        return []
    above_all = _AboveAll(made, text.above(conditionals.above(list(owners))))
    calls = inserts(text, made.original.data)
    asking = questions(made.original, text, made.missing)
    out = [Insert(above_all.at, tuple(above_all.headers()))]
    for begin, (name, last) in sorted(owners.items()):
        own = [r for r in regions if r.region.owner.begin == begin]
        macro = f"LX_OTHER_TEXT_OF_{name}"
        asked = tuple(conditionals.questions(macro, begin, last))
        lines = [x for r in own for x in above_all.entry(r)]
        out.append(Insert(text.above(begin), (*lines, *asked)))
        alone = [x for d, x in calls if d.begin == begin and d.placed.governed is None]
        around = [x for d, x in calls if d.begin == begin and d.placed.governed is not None]
        inside = [x for r in own for x in _launching(text, r)]
        every = [*alone, *(x for at, x in asking if at == begin), *inside, *around]
        out += [_unless(macro, x) for x in every] if asked else every
    marked = tuple(line for m in above_all.known for line in m.lines)
    return [Insert(text.start, (_HEAD, *marked)), *out]


def _unless(macro: str, insert: Insert) -> Insert:
    return replace(insert, lines=(f"#ifndef {macro}", *insert.lines, "#endif"))


_HEAD = f"/* Written by loopxform {__version__}: launches in front of the loops they stand for. */"


class _AboveAll:
    """What stands above the functions, from the byte `at` on, and the user's macros, which none of
    it may meet. What headers that the user includes below have to say is said there."""

    def __init__(self, made: OffloadedFile, at: int) -> None:
        self.regions, self.at = made.regions, at
        self.known = above(r.configured for r in made.regions)
        self.macros = defined_macros(made.file)
        ends = _INCLUDE.search(made.text.plain, at) is None
        self.theirs = theirs(plain_text(made.file), self.macros) if ends else []
        self.functions = [f for f in functions_of_c(made.file) if f not in self.macros]
        self.runtime = _runtime(made).splitlines()
        self.behind = behind(self.runtime)

    def headers(self) -> list[str]:
        """What includes them, and is the same for all parts."""
        return headers_apart(self.runtime, self.macros, self.theirs, self.functions)

    def entry(self, r: OffloadedRegion) -> list[str]:
        """For a part of a function."""
        macros = [*self.macros, *self.theirs]
        lines = apart(r.entry.text.splitlines(), macros, self.behind)
        if not r.configured:
            return lines
        first = next(x for x in self.regions if x.configured)
        same = r.configured.text(r.region.name, self.known, first=first is r).splitlines()
        return [*lines, *apart(same, macros, self.behind, r.configured.names)]


def _launching(text: Text, r: OffloadedRegion) -> list[Insert]:
    """The launches in front of the loops of a region."""
    start, end = text.before(r.region.start), text.after(r.region.end)
    return _wrapping(r, start, end, " LX_TIMED")


def _wrapping(x: OffloadedRegion, start: int, end: int, timed: str = "") -> list[Insert]:
    """What stands around the loops of a region; `timed` is a declaration of the host's own."""
    r = x.region
    given = [newest(a) for a in r.arguments] if timed else r.arguments
    head = begin_of(r, f"lx_try_{r.name}({', '.join(given)})", timed)
    return [Insert(start, head), Insert(end, ("}}",), closes=True)]


def _proven(made: OffloadedFile) -> OffloadedFile:
    """Without the regions whose launches would change what the rest of the file says, or for which
    there is no time left to find out."""
    why: LoopxformError | None = None
    good: tuple[OffloadedRegion, ...] = ()
    try:
        if _says_the_same(made, made.regions):
            return made
        good = tuple(r for r in made.regions if _says_the_same(made, [r]))
        if not _says_the_same(made, good):
            good = ()
    except Exhausted as e:
        good, why = (), e
    bad = [r.region for r in made.regions if r not in good]
    left = [(r.owner.name, why or _hidden(made, r)) for r in bad]
    return replace(made, regions=good, left=(*made.left, *left))


def _says_the_same(made: OffloadedFile, regions: Sequence[OffloadedRegion]) -> bool:
    """Whether the file with the launches parses to the file, on the same lines."""
    called = {f"lx_try_{r.region.name}": r.region for r in regions}
    inserts = [x for r in regions for x in _wrapping(r, r.region.start, r.region.end)]
    return made.original.proves(made.text.proof(inserts), called)


def _runtime(made: OffloadedFile) -> str:
    copies = [r.done.limits.copies for r in made.regions]
    return emit.runtime(__version__, [r.entry for r in made.regions], *copies[:1])


def _hidden(made: OffloadedFile, r: Region) -> LoopxformError:
    line = made.text.plain.count("\n", 0, r.start) + 1
    return UnsupportedC(
        "where these statements begin and end is hidden by macros",
        loc=Loc(made.file.name, line, 1),
        help="write the braces and semicolons out",
    )


_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b", re.MULTILINE)
