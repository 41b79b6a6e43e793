"""Tuning from Python: what `loopxform tune` measures, as an object."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from loopxform.api.arguments import (
    CHECKING,
    COMPILING,
    FLAG,
    READING,
    or_none,
    require,
    require_known,
    sizes_by_name,
    whole,
)
from loopxform.api.tile_arguments import TILING
from loopxform.display import Shown
from loopxform.errors import DeviceError
from loopxform.floating_point import Level
from loopxform.schedule.params import Recipe
from loopxform.tune.memo import Memo, stored
from loopxform.tune.results import Result, results
from loopxform.tune.space import Value

if TYPE_CHECKING:
    from loopxform.tune.results import Candidate

_CHECKS = {
    "sizes": sizes_by_name,
    "budget": or_none(whole(1, 999_999)),
    "repeat": whole(1, 1000),
    "function": CHECKING["function"],
    "device": COMPILING["device"],
    "recipe": TILING["recipe"],
    "fp": TILING["fp"],
    "path": lambda value: None if isinstance(value, (str, PathLike)) else "the path of a C file",
    "fresh": FLAG,
}


def autotune(
    path: str | PathLike[str],
    *,
    sizes: Mapping[str, int],
    budget: int | None = None,
    function: str | None = None,
    device: str | None = None,
    recipe: Recipe | None = None,
    fp: Level | None = None,
    repeat: int = 5,
    fresh: bool = False,
    **options: Sequence[str],
) -> TuningResult:
    """Measures tile sizes of a nest on a device, as `loopxform tune` does, and writes nothing.

    Every candidate is compared with your own C before it is timed, in a process of its own. What
    was measured before on the same device is not measured again.

    Args:
        path: The C file.
        sizes: Values of the integer arguments, by name: `{"M": 512, "U": 512, "N": 512}`.
        budget: At most so many measurements; None: a twentieth of the candidates, at least 20.
        function: The function; None: the only one with a loop nest.
        device: As `loopxform devices` lists them; None: the first that builds kernels.
        recipe: How it is tiled; None: as `tile` chooses.
        fp: What you permit of floating point: "strict", "contract", "reassociate" or "fast".
        repeat: Timed launches of each candidate.
        fresh: Whether to measure again what was measured before.
        **options: `include`, `define`, `undefine` and `cflags`, as for `load`.

    Returns:
        A `TuningResult`: `best` has the sizes to give to `Routine.tile`.

    Raises:
        InputError: The file cannot be read, or has no such function.
        UsageError: The sizes are not those of the function.
        UnsupportedC: The function cannot be tiled.
        DeviceError: There is no such device, or the kernel with default sizes cannot be measured.
        ArgumentError: A value is not allowed.

    Examples:
        >>> import loopxform as lx
        >>> found = lx.autotune("mm.c", sizes={"M": 48, "U": 48, "N": 48}, budget=1, repeat=1)
        >>> found.defaults[0][0]
        'M=48, U=48, N=48'
        >>> mm = lx.load("mm.c")["mm"].tile(**(found.best or {}))
    """
    from loopxform.cli.arguments import understood  # loads the command line
    from loopxform.cli.tune import measured as measure
    from loopxform.cli.tune_job import job_of

    require_known(options, (*_CHECKS, *READING))
    require(READING, **options)
    named: dict[str, object] = {"budget": budget, "repeat": repeat, "function": function}
    named |= {"device": device, "recipe": recipe, "fp": fp}
    require(_CHECKS, sizes=sizes, **named, path=path, fresh=fresh)
    with TemporaryDirectory() as nowhere, ExitStack() as held:
        words = [*_words(path, sizes, named), *(["--fresh"] if fresh else ())]
        args = understood("tune", [*words, *_read_with(options, nowhere), "-o", nowhere])
        job = job_of(args)
        memo = Memo.of(job.file.stem)
        session, outcome = measure(args, job, memo, sys.stderr, held, None)
        rows = [job.about_space, *map(stored, session.rows)]
    best = None if outcome.best is None else job.space.sizes(outcome.best)
    found = results(rows)
    if not found:
        raise DeviceError("nothing was measured before it was interrupted", help="call it again")
    return TuningResult(found[-1], best, outcome.noise)


def _words(
    path: str | PathLike[str], sizes: Mapping[str, int], named: Mapping[str, object]
) -> Iterator[str]:
    """The command line: the file, its sizes, and the options that have a value."""
    name = fspath(path)
    yield "./" + name if name.startswith("-") else name
    if sizes:
        yield from ("--size", ",".join(f"{n}={v}" for n, v in sizes.items()))
    for option, value in named.items():
        if value is not None:
            yield from (f"--{option}", str(value))
    yield "--no-config"


def _read_with(options: Mapping[str, Sequence[str]], folder: str) -> Iterator[str]:
    """How a C file is read, as words; the options of the compiler are in a file of the folder."""
    for name, option in (("include", "-I"), ("define", "-D"), ("undefine", "-U")):
        yield from (f"{option}{fspath(v)}" for v in options.get(name, ()))
    if flags := options.get("cflags"):
        path = Path(folder, "cflags")
        path.write_text("".join(f"{flag}\n" for flag in flags))
        yield f"--cflags-file={path}"


def tuned(path: str | PathLike[str], *, function: str | None = None) -> tuple[TuningResult, ...]:
    """What was measured of a C file before on this machine: the last result for each function and
    device.

    Args:
        path: The C file; its name without the folder is what counts.
        function: The only function to look for.

    Returns:
        The results, in the order in which they were measured; none where nothing was measured.

    Raises:
        ArgumentError: A value is not allowed.

    Examples:
        >>> import loopxform as lx
        >>> lx.tuned("nobody_has_tuned_this.c")
        ()
    """
    require(_CHECKS, path=path, function=function)
    found = results(Memo.of(Path(fspath(path)).stem).every)
    last = {(r.subject["function"], r.subject["device"]): r for r in found}
    return tuple(
        TuningResult(r, None if r.best is None else r.best.sizes)
        for (name, _), r in last.items()
        if function in (None, name)
    )


@dataclass(frozen=True)
class TuningResult(Shown):
    """What was measured of a function on a device. `best` are the quickest sizes, by name, None
    where nothing is quicker than the defaults; `noise` is by what part the times of the defaults
    varied (0 where nobody raced).

    Examples:
        >>> import loopxform as lx
        >>> [result.best for result in lx.tuned("nobody_has_tuned_this.c")]
        []
    """

    result: Result = field(repr=False)
    best: Mapping[str, Value] | None
    noise: float = 0.0

    def __repr__(self) -> str:
        best = " ".join(f"{n}={v}" for n, v in (self.best or {}).items()) or "the defaults"
        return f"<TuningResult {self.function}: {best}, {len(self.candidates)} candidates>"

    @property
    def function(self) -> str:
        """The name of the function."""
        return self.result.subject["function"]

    @property
    def device(self) -> str:
        """The name of the device."""
        return self.result.subject["device"]

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """Those that have times, the quickest first: `sizes`, and `ratio`, their time over that of
        the defaults."""
        return self.result.candidates

    @property
    def speedup(self) -> float:
        """How many times as fast as the defaults the best is; 1.0 where nothing is quicker."""
        ratios = [c.ratio for c in self.candidates if c.sizes == self.best]
        return 1 / ratios[0] if ratios and ratios[0] else 1.0

    @property
    def defaults(self) -> tuple[tuple[str, float], ...]:
        """The milliseconds of the default sizes, for each set of arguments (`M=64, U=64`)."""
        known = self.result.defaults
        return tuple(
            (", ".join(f"{n}={v}" for n, v in given.items()), known[data])
            for data, given in self.result.datasets.items()
            if data in known
        )

    @property
    def failures(self) -> Mapping[str, int]:
        """How many measurements failed, by status: `wrong`, `refused`, `timeout`, `crash`."""
        return self.result.failures
