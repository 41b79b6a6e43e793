"""The report on C files from Python: what `loopxform report` writes, in a notebook or as a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

from loopxform.api.arguments import CHECKING, READING, require, require_known
from loopxform.api.facade import File
from loopxform.api.permitted import permission
from loopxform.api.reading import load
from loopxform.api.tile_arguments import TILING
from loopxform.budget import Budget, within
from loopxform.display import Shown
from loopxform.files import Output, write_all
from loopxform.floating_point import Level
from loopxform.report import page
from loopxform.report.build import file_report
from loopxform.report.facts import FileFact, FunctionFact, Gain, NextStep
from loopxform.report.mapping import Wanted
from loopxform.targets.profile import profile
from loopxform.targets.target import Limits

PREFIX = "file-1"
"""What anchors of the page of one file begin with, as those of the command do."""


@dataclass(frozen=True)
class Report(Shown):
    """What is known of C files: `files` are the facts that pages show, `read` the files that were
    read for them.

    Examples:
        >>> import loopxform as lx
        >>> lx.Report.of("mm.c").write("mm.html")
        PosixPath('mm.html')
    """

    files: tuple[FileFact, ...]
    wanted: Wanted
    read: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        path: str | PathLike[str] | File,
        *,
        function: str | None = None,
        limits: Limits | str = "generic",
        fp: Level | None = None,
        time_limit: float | None = None,
        config: bool | str | PathLike[str] = False,
        **options: Sequence[str],
    ) -> Report:
        """All that is known of a C file, or of one of its functions, as `loopxform report` has it:
        verdicts and reasons, the steps to the kernels, their costs by the model, what more would
        gain.

        Args:
            path: A C file, or a `File` that was read.
            function: The only function to look at.
            limits: The device, as a profile or its name (`loopxform devices` lists them).
            fp: What you permit of floating point: "strict", "contract", "reassociate" or "fast".
            time_limit: CPU time for the file, in seconds; None: no limit.
            config: Whether the settings of its project hold, or the file to use, as for `load`.
            **options: `include`, `define`, `undefine` and `cflags`, as for `load`.

        Returns:
            A `Report`: a notebook shows it, `write` makes a page of it.

        Raises:
            InputError: Nothing of the file can be read, or it has no such function.
            UsageError: There is no such profile.
            ArgumentError: A value is not allowed.

        Examples:
            >>> import loopxform as lx
            >>> known = lx.Report.of("mm.c")
            >>> [gain.what for gain in known.gains]
            ['restrict on A, B, C']
        """
        require_known(options, ("function", "limits", "fp", "time_limit", "config", *READING))
        require(CHECKING, function=function, time_limit=time_limit)
        require(TILING, limits=limits, fp=fp)
        room = profile(limits) if isinstance(limits, str) else limits
        file = path if isinstance(path, File) else load(path, config=config, **options)
        if function is not None:
            file.routine(function)
        words = "" if room.name == "generic" else f" --profile {room.name}"
        words += "" if fp is None else f" --fp {fp}"
        wanted = Wanted(room, permission(fp, contract=True, reassociate=False), True, words)
        with within(Budget.of(time_limit, None)):
            facts = file_report(file, PREFIX, wanted, function)
        return cls((facts,), wanted, tuple(map(str, file.parsed.dependencies)))

    def __repr__(self) -> str:
        names = ", ".join(f.name for f in self.files)
        return f"<Report {names}: {sum(len(f.loops) for f in self.files)} loops>"

    @property
    def functions(self) -> tuple[FunctionFact, ...]:
        """What is known of each function: `loops`, `mappings`, `gains`, ..."""
        return tuple(f for file in self.files for f in file.functions)

    @property
    def gains(self) -> tuple[Gain, ...]:
        """What a permission or a qualifier would gain: `what` to write, and what it `brings`."""
        return tuple(g for f in self.functions for g in f.gains)

    @property
    def todo(self) -> tuple[NextStep, ...]:
        """What to do next, the most useful first."""
        return tuple(x for file in self.files for x in file.todo)

    @property
    def html(self) -> str:
        """The page that `loopxform report` writes."""
        return page.one_page(self.files, self.wanted)

    def write(self, path: str | PathLike[str]) -> Path:
        """Writes the page, and returns its path. A file that was read is never overwritten.

        Raises:
            InputError: The page cannot be written there.
        """
        (written,) = write_all([Output(Path(fspath(path)), self.html)], self.read)
        return written
