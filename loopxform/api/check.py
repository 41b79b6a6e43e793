"""What `check` finds out about a file, as objects; `json()` gives the contract of `--format json`.

report = lx.check("mm.c")
for loop in report.loops:
    print(loop.line, loop.var, loop.parallel)        # 5 i yes
report["mm"].dependences[0].direction                # ('=', '=')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING

from loopxform.analysis.dependence import Dependence
from loopxform.analysis.matrix import Matrix, matrix
from loopxform.analysis.missing_updates import Missing, missing_updates
from loopxform.analysis.spelling import spelled
from loopxform.analysis.verdict import LoopVerdict
from loopxform.api.annotated import Asserted, asserted
from loopxform.api.arguments import CHECKING, READING, require, require_known
from loopxform.api.facade import File, Routine
from loopxform.api.reading import load
from loopxform.budget import Budget, part, shared, within
from loopxform.display import Shown
from loopxform.errors import LoopxformError
from loopxform.frontend.lower.loops import A_CALL
from loopxform.frontend.outline.extraction import extracted_loops
from loopxform.ir.decisions import Line
from loopxform.ir.memo import forget
from loopxform.source import Loc

if TYPE_CHECKING:
    from loopxform.analysis.openmp import Claim


MOST_ROWS = 250
"""Of a list in JSON; a key beside it counts those that are left out."""


def check(
    path: str | PathLike[str],
    *,
    function: str | None = None,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    config: bool | str | PathLike[str] = False,
    **options: Sequence[str],
) -> CheckedFile:
    """Judges every loop of a C file, or of one of its functions.

    Args:
        path: The file.
        function: The only function to judge; None: all.
        time_limit: CPU time for the file, in seconds; None: no limit. What needs more is `unknown`
            for that reason, as it is for memory.
        memory_limit: What the process may take beyond what it has, in MiB; None: no limit.
        config: Whether the settings of its project hold, or the file to use, as for `load`.
        **options: `include`, `define`, `undefine` and `cflags`, as for `load`.

    Returns:
        The verdicts, dependence matrices and OpenMP claims, function by function.

    Raises:
        InputError: Nothing of the file can be read, or it has no such function.
        Exhausted: The limits do not suffice to read it.
        ArgumentError: A value is not allowed.

    Examples:
        >>> import loopxform as lx
        >>> report = lx.check("mm.c")
        >>> [(loop.line, loop.var, loop.parallel) for loop in report.loops]
        [(5, 'i', 'yes'), (6, 'j', 'yes'), (8, 'k', 'reduction')]
    """
    require_known(options, ("function", "time_limit", "memory_limit", "config", *READING))
    require(CHECKING, function=function, time_limit=time_limit, memory_limit=memory_limit)
    with within(Budget.of(time_limit, memory_limit)):
        return checked(load(path, config=config, **options), function=function)


def checked(file: File, *, function: str | None = None, matrices: bool = True) -> CheckedFile:
    """`check` for a file that is read already, within the budget in force; without `matrices` for
    who asks for verdicts alone. Raises InputError."""
    routines = tuple(file) if function is None else (file.routine(function),)
    with within(part(1 / 4)):
        extracted_loops(file.parsed)
    judged = shared(routines, lambda routine: _judged(routine, matrices=matrices))
    functions = tuple(f for f in judged if isinstance(f, CheckedFunction))
    broken = tuple(f for f in judged if isinstance(f, LoopxformError))
    unread = file.parsed.problems if function is None else ()
    return CheckedFile(file, functions, (*unread, *broken))


def _judged(routine: Routine, *, matrices: bool) -> CheckedFunction | LoopxformError:
    """What is true of a function, or why that cannot be told."""
    try:
        with routine.contained():
            return CheckedFunction.of(routine, matrices=matrices)
    except LoopxformError as e:
        return e


@dataclass(frozen=True)
class CheckedFunction(Shown):
    """A function: a verdict for each of its loops in text order, what is true of its OpenMP
    claims, the dependence matrix of every nest, and what its annotations assert.

    Examples:
        >>> import loopxform as lx
        >>> lx.check("mm.c")["mm"].dependences[0].direction
        ('=', '=')
    """

    routine: Routine
    loops: tuple[LoopVerdict, ...]
    claims: tuple[Claim, ...]
    matrices: tuple[Matrix, ...]
    asserted: tuple[Asserted, ...] = ()
    rests: tuple[str, ...] = ()
    """The functions of other files that its verdicts rest on: `norm of src/vector.c`."""

    @classmethod
    def of(cls, routine: Routine, *, matrices: bool = True) -> CheckedFunction:
        """Judges the function `routine`, within the budget in force: half of it is for the
        verdicts, half of the rest for claims. Without `matrices` no dependence matrix is
        computed."""
        with within(part(1 / 2)):
            verdicts = routine.check()
        with within(part(1 / 2)):
            claims = routine.audit()
        judged = {v.path for v in verdicts}
        found = spelled(matrix(routine.function), routine.function) if matrices else ()
        forget()
        shown = tuple(m for m in found if m.path in judged)
        rests = routine.file.parsed.rests.get(routine.name, ())
        return cls(routine, verdicts, claims, shown, asserted(routine, verdicts), rests)

    @cached_property
    def missing(self) -> tuple[Missing, ...]:
        """Updates that are missing between its data directives, where the device runs every loop
        that is parallel, or holds one that is."""
        flow = self.routine.file.parsed.data.get(self.name, ())
        spread = [v.path for v in self.loops if v.parallel not in ("no", "unknown")]
        known = (v for v in self.loops if v.parallel != "unknown")
        taken = {v.loc for v in known if any(p[: len(v.path)] == v.path for p in spread)}
        return missing_updates(flow, taken.__contains__)

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.routine.name

    def __repr__(self) -> str:
        return f"<CheckedFunction {self.name} of {self.routine.file.name}: {_counted(self.loops)}>"

    @property
    def loc(self) -> Loc | None:
        """Where its name stands in its definition."""
        return self.routine.function.origin.loc

    @property
    def dependences(self) -> tuple[Dependence, ...]:
        """The rows of all its matrices."""
        return tuple(row for m in self.matrices for row in m.rows)

    @property
    def has_unknown_calls(self) -> bool:
        """Whether loops are unknown for what they call."""
        unknown = (v for v in self.loops if v.parallel == "unknown")
        reasons = (r for v in unknown for r in v.reasons)
        return any(r.code == "LX012" or r.message.startswith(A_CALL) for r in reasons)

    def with_program(self, whole: CheckedFunction) -> CheckedFunction:
        """With the verdicts of `whole`, the same function where those of other files are looked
        into, on the loops that are unknown here."""
        known = {(v.loc, v.var): v for v in whole.loops if v.parallel != "unknown"}
        several = Counter((v.loc, v.var) for v in (*self.loops, *whole.loops))
        better = [
            known.get((v.loc, v.var), v)
            if v.parallel == "unknown" and several[v.loc, v.var] == 2
            else v
            for v in self.loops
        ]
        if not whole.rests or all(v is b for v, b in zip(self.loops, better)):
            return self
        kept = all(v.parallel == "unknown" or (v.loc, v.var) in known for v in self.loops)
        if kept and not (self.claims or self.asserted):
            return whole
        loops = (replace(b, path=v.path, depth=v.depth) for v, b in zip(self.loops, better))
        return replace(self, loops=tuple(loops), rests=whole.rests)

    def claim(self, loop: LoopVerdict) -> Claim | None:
        """What is true of the OpenMP pragma over a loop; None where it has none."""
        return next((c for c in self.claims if c.path == loop.path), None)

    def at_line(self, line: int) -> tuple[LoopVerdict, ...]:
        """The loops that begin on a line of the file that the function begins in."""
        file = self.loc.file if self.loc else None
        return tuple(v for v in self.loops if v.line == line and (not v.loc or v.loc.file == file))

    def only(self, line: int) -> CheckedFunction:
        """What was found about the loops that begin on a line."""
        loops = self.at_line(line)
        paths = {v.path for v in loops}
        return replace(self, loops=loops, claims=tuple(c for c in self.claims if c.path in paths))

    @property
    def others(self) -> tuple[Claim, ...]:
        """The OpenMP pragmas that are not about one of its loops."""
        paths = {v.path for v in self.loops}
        return tuple(c for c in self.claims if c.path not in paths)

    @property
    def macros(self) -> tuple[str, ...]:
        """What decided the text that was judged, and other builds may have otherwise: `N = 64`,
        `__OPTIMIZE__ defined`."""
        said = (str(e) for e in self.routine.decisions if not isinstance(e, Line))
        return tuple(dict.fromkeys(said))

    def json(self) -> dict[str, object]:
        """The function as the contract of `check --format json` has it."""
        audited = {c.path: {"openmp": _capped(c.json(), "findings", "doubts")} for c in self.claims}
        rows = [d for m in self.matrices for d in (*m.rows, *m.unmodelled)]
        if len(rows) > MOST_ROWS:  # those stay that keep iterations in order
            rows.sort(key=lambda d: d.level is None)
        said: dict[str, object] = {"macros": list(self.macros)} if self.macros else {}
        said |= {"elsewhere": list(self.rests)} if self.rests else {}
        said |= {"annotations": [a.json() for a in self.asserted]} if self.asserted else {}
        said |= {"openmp": [c.json() for c in self.others]} if self.others else {}
        said |= {"missing_updates": [m.json() for m in self.missing]} if self.missing else {}
        notes = [m.note for m in self.matrices if m.note]
        noted = {"notes": notes} if notes else {}
        return {
            "name": self.name,
            "line": self.loc.line if self.loc else 0,
            "loops": [_capped(v.json(), "reasons") | audited.get(v.path, {}) for v in self.loops],
            "dependences": [d.json() for d in rows[:MOST_ROWS]],
            **_left_out("dependences", rows),
            **said,
            **noted,
        }


@dataclass(frozen=True)
class CheckedFile(Shown):
    """A file: a collection of its functions, and the `problems` of those that could not be read or
    judged.

    Examples:
        >>> import loopxform as lx
        >>> lx.check("mm.c")
        <CheckedFile mm.c: 3 loops: 2 yes, 1 reduction>
    """

    file: File
    functions: tuple[CheckedFunction, ...]
    problems: tuple[LoopxformError, ...] = ()

    @property
    def name(self) -> str:
        """The path of the file, as it was given."""
        return self.file.name

    @property
    def loops(self) -> tuple[LoopVerdict, ...]:
        """Every loop of the file, function by function."""
        return tuple(v for f in self.functions for v in f.loops)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What is true of every OpenMP pragma of the file, function by function."""
        return tuple(c for f in self.functions for c in f.claims)

    @property
    def asserted(self) -> tuple[Asserted, ...]:
        """What the annotations `parallel` and `check` of the file assert."""
        return tuple(a for f in self.functions for a in f.asserted)

    def __getitem__(self, name: str) -> CheckedFunction:
        for f in self.functions:
            if f.name == name:
                return f
        raise KeyError(name)

    def __iter__(self) -> Iterator[CheckedFunction]:
        return iter(self.functions)

    def __len__(self) -> int:
        return len(self.functions)

    def __bool__(self) -> bool:
        return True

    def __contains__(self, name: object) -> bool:
        """Whether the file has a function of that name that was judged."""
        return any(f.name == name for f in self.functions)

    def __repr__(self) -> str:
        return f"<CheckedFile {self.name}: {_counted(self.loops)}>"

    def at_line(self, line: int) -> tuple[LoopVerdict, ...]:
        """The loops whose `for` stands on a line of the file, files that it includes aside."""
        return tuple(v for f in self.functions for v in f.at_line(line))

    def only(self, line: int) -> CheckedFile:
        """What was found about the loops that begin on a line, and the functions they are in."""
        found = [f.only(line) for f in self]
        return replace(self, functions=tuple(f for f in found if f.loops))

    @property
    def unknown_callers(self) -> frozenset[str]:
        """The functions with loops that are unknown for what they call."""
        return frozenset(f.name for f in self if f.has_unknown_calls)

    def with_program(self, whole: CheckedFile) -> CheckedFile:
        """With what is known where functions of other files are looked into (`whole`)."""
        there = {f.name: f for f in whole}
        functions = (f.with_program(there[f.name]) if f.name in there else f for f in self)
        return replace(self, functions=tuple(functions))

    def json(self) -> dict[str, object]:
        """The contract of `check --format json`."""
        return {
            "schema_version": 1,
            "file": self.name,
            "functions": [f.json() for f in self.functions],
            **({"problems": list(map(_problem, self.problems))} if self.problems else {}),
        }


def _capped(data: dict[str, object], *names: str) -> dict[str, object]:
    """`data` with at most MOST_ROWS in the lists of these names."""
    out = dict(data)
    for name in names:
        rows = data[name]
        assert isinstance(rows, list)
        out |= {name: rows[:MOST_ROWS], **_left_out(name, rows)}
    return out


def _left_out(name: str, rows: Sequence[object]) -> dict[str, int]:
    """How many rows a capped list lacks, where it lacks some."""
    return {f"{name}_left_out": len(rows) - MOST_ROWS} if len(rows) > MOST_ROWS else {}


def _problem(e: LoopxformError) -> dict[str, object]:
    """What keeps a function from being judged."""
    place = {"file": e.loc.file, "line": e.loc.line, "column": e.loc.column} if e.loc else {}
    return {**place, "code": e.code, "message": e.message}


def _counted(loops: Sequence[LoopVerdict]) -> str:
    """`3 loops: 2 yes, 1 reduction`."""
    counts = Counter(v.parallel for v in loops)
    said = ", ".join(f"{count} {answer}" for answer, count in counts.items())
    return f"{len(loops)} loops" + (f": {said}" if said else "")
