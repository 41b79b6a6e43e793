"""What the front end takes and what it gives: plain data, free of parser types."""

from __future__ import annotations

from dataclasses import field

from loopxform.errors import InternalError, LoopxformError
from loopxform.frontend.text.deciding import Decisions
from loopxform.ir.annotations import Annotation
from loopxform.ir.data_flow import Flow
from loopxform.ir.decisions import Event
from loopxform.ir.directives import Directive
from loopxform.ir.nodes import Unit
from loopxform.records import record
from loopxform.source import Loc, Sources


@record
class CppOptions:
    """The preprocessor options of a C compiler: -I, -D (`N=64` or `N`) and -U; those `flags` that
    decide what it defines itself (`compiler.flags`); -iquote, and -include (`forced`)."""

    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    undefines: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    quote_dirs: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()


@record
class Note:
    """A remark on how the model was made: a shape that was not recovered, and why."""

    message: str
    loc: Loc | None = None

    def __str__(self) -> str:
        return f"{self.loc}: {self.message}" if self.loc else self.message


@record
class Parsed:
    """A lowered C file.

    `dependencies` are the files that were read, the C file first (for a depfile). `problems` are
    the declarations that could not be read at all; the other functions are in `unit`. `failed`
    gives the problem of a function by its name. `notes` explains what delinearisation left alone.
    `directives` are the OpenMP directives of each function in text order, those of the file first;
    `annotations` those of loopxform.
    `openmp_only` are the lines of the file where text begins that depends on `_OPENMP`, which a
    compiler defines that heeds them and the command line does not mention. `options` are those of
    the preprocessor, `text` is the contents where they were not read from the file. `deciding`
    tells what macros decided that no file defines, where they decided anything. `expanded` is the
    text once it is preprocessed, with markers that number the `files`. `data` says what functions
    with data directives do with the arrays that these name. `rests` gives for functions those of
    other files that they reach, where these were looked into.
    """

    unit: Unit
    sources: Sources
    dependencies: tuple[str, ...]
    problems: tuple[LoopxformError, ...] = ()
    failed: dict[str, LoopxformError] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    directives: dict[str, tuple[Directive, ...]] = field(default_factory=dict)
    openmp_only: tuple[int, ...] = ()
    annotations: dict[str, tuple[Annotation, ...]] = field(default_factory=dict)
    options: CppOptions = CppOptions()
    text: str | None = None
    deciding: Decisions | None = None
    expanded: str = ""
    files: tuple[str, ...] = ()
    data: dict[str, tuple[Flow, ...]] = field(default_factory=dict)
    rests: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def decisions(self, function: str, *, file: bool = False) -> tuple[Event, ...]:
        """What macros that no file defines decided of a function's text, or of the whole file."""
        return self.deciding.of(function, file=file) if self.deciding else ()

    @property
    def broken(self) -> dict[str, InternalError]:
        """The functions that could not be read by our own fault."""
        return {n: e for n, e in self.failed.items() if isinstance(e, InternalError)}
