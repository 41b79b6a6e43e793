"""Every deliberate error, its exit status, and how it is shown to a person."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from loopxform.display import Shown
from loopxform.quotation import LONGEST, Paint, plain, quote
from loopxform.source import Loc, Sources


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One reason why something may not be done.

    `code` is stable (tests and tools match on it); `witness` gives two iterations with numbers a
    reader can put into the C loop; `remedy` says what to do instead.
    """

    code: str
    message: str
    loc: Loc | None = None
    witness: str | None = None
    remedy: str | None = None


class LoopxformError(Shown, Exception):
    """A deliberate refusal: one diagnostic, never a traceback.

    `message` says what, `loc` where (None: nowhere in a file), `code` is stable, `notes` say more,
    `help` what to do. `str` gives all of it, `render` quotes the C too, and notebooks show it.
    `status` is the exit status of a command that ends with this error. `subject` is the option or
    word of a command line that it is about, where it has no place in a file.

    Examples:
        >>> try:
        ...     lx.load("mm.c")["nn"]
        ... except lx.LoopxformError as e:
        ...     print(e)
        mm.c:1:1: there is no function 'nn' [LX052]
           = help: the functions are: mm
    """

    status = 2
    code = "LX000"

    def __init__(
        self,
        message: str,
        *,
        loc: Loc | None = None,
        code: str | None = None,
        notes: Iterable[str] = (),
        help: str | None = None,
        width: int = 1,
        subject: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.loc = loc
        self.subject = subject
        self.code = code or type(self).code
        self.notes = tuple(notes)
        self.help = help
        self.width = width
        self.sources: Sources | None = None

    def __reduce__(self) -> tuple[object, ...]:
        """Copies in other processes are made from what it is, not from what it was raised with."""
        return _copied, (type(self), self.args, vars(self))

    def __str__(self) -> str:
        """The place, the reason, the notes and the remedy, without the source line."""
        place = f"{self.loc}: " if self.loc else ""
        out = [f"{place}{self.message} [{self.code}]", *(f"   = {note}" for note in self.notes)]
        return "\n".join([*out, f"   = help: {self.help}"] if self.help else out)

    def render(
        self, sources: Sources | None = None, paint: Paint = plain, what: str = "error"
    ) -> str:
        """The diagnostic as text: place, message, source line with caret, notes, help. `sources`
        has the text (None: that of the files that were read), `paint` gives its colours by role,
        `what` is the word that it begins with.

        `sources` defaults to the files the error itself came with; `what` it is, if no error.
        """
        sources = sources or self.sources
        place = paint("place", f"{self.loc or 'loopxform'}:")
        out = [f"{place} {paint('error', f'{what}:')} {self.message} [{self.code}]"]
        out += quote(self.loc, sources, self.width, paint)
        equals = paint("gutter", "=")
        out += [f"   {equals} {note}" for note in self.notes]
        if self.help:
            out.append(f"   {equals} {paint('help', 'help:')} {self.help}")
        return "\n".join(out)


def _copied(
    cls: type[LoopxformError], args: tuple[object, ...], state: dict[str, object]
) -> LoopxformError:
    error = cls.__new__(cls, *args)
    vars(error).update(state)
    return error


@contextmanager
def about(subject: str) -> Iterator[None]:
    """Errors raised inside are about this option or word of the command line, but for what a
    compiler does not take."""
    try:
        yield
    except LoopxformError as e:
        if e.code not in OF_COMPILERS:
            e.subject = e.subject or subject
        raise


OF_COMPILERS = frozenset(["LX051", "LX057", "LX059"])
"""There is none, it does not take the user's C, or a kernel."""


@contextmanager
def quoting(sources: Sources) -> Iterator[None]:
    """Errors raised inside can quote these files."""
    try:
        yield
    except LoopxformError as e:
        e.sources = e.sources or sources
        raise


class InputError(LoopxformError):
    """The C file, a header or a parameter is not usable as given.

    Examples:
        >>> try:
        ...     lx.loads("void f(int n { }", "f.c")
        ... except lx.InputError as e:
        ...     print(e.loc)
        f.c:1:14
    """

    code = "LX001"


class UnsupportedC(InputError):
    """Correct C that the analysis does not model; the message gives the reason, help a remedy.

    Examples:
        >>> text = "void f(int n, float *a) { for (int i = 1; i < n; i++) a[i] = a[i - 1]; }"
        >>> try:
        ...     lx.loads(text)["f"].tile()
        ... except lx.UnsupportedC as e:
        ...     print(e.code)
        LX062
    """

    code = "LX010"


class UsageError(LoopxformError):
    """Words that mean nothing: a step, a device, an option.

    Examples:
        >>> try:
        ...     lx.load("mm.c")["mm"].apply("turn i")
        ... except lx.UsageError as e:
        ...     print(e.message)
        'turn' is not a step
    """

    code = "LX020"


class IgnoredOption(UsageError):
    """An option that would be without effect: its name is wrong there, not its value. Calls from
    Python raise ArgumentError instead.

    Examples:
        >>> issubclass(lx.IgnoredOption, lx.UsageError)
        True
    """


class UnknownThreshold(IgnoredOption):
    """A threshold that no guard compares with; `name` is its name.

    Examples:
        >>> lx.UnknownThreshold("cut", "there are: t_1").name
        'cut'
    """

    def __init__(self, name: str, help: str) -> None:
        super().__init__(f"there is no threshold '{name}'", help=help, subject="--threshold")
        self.name = name


class LimitError(LoopxformError):
    """Parameters that exceed a limit of the device; notes show the formula with numbers.

    Examples:
        >>> try:
        ...     lx.load("mm.c")["mm"].tile(Ty=64, Tx=64, limits="h100")
        ... except lx.LimitError as e:
        ...     print(e.code)
        LX030
    """

    code = "LX030"


class EmitError(LoopxformError):
    """A program that is legal but cannot be written for the target asked for.

    Examples:
        >>> lx.EmitError("no text for it").code
        'LX040'
    """

    code = "LX040"


class DeviceError(LoopxformError):
    """No such device, a failed build, or a failed launch.

    Examples:
        >>> try:
        ...     lx.load("mm.c")["mm"].tile().compile("no such device")
        ... except lx.DeviceError as e:
        ...     print(e.code)
        LX050
    """

    code = "LX050"


class ArgumentError(LoopxformError, TypeError):
    """An argument of a call from Python that is not one of those allowed, or does not fit the C
    prototype: missing, of another type, out of range, of another shape, or overlapping another. It
    is a TypeError as well.

    Examples:
        >>> try:
        ...     lx.load("mm.c")["mm"].tile(vector=3)
        ... except lx.ArgumentError as e:
        ...     print(e.message)
        vector must be 1, 2, 4, 8 or 16, or None, not 3
    """

    code = "LX058"


class TransformError(LoopxformError):
    """A step that would change the meaning of the program, or has nothing to apply to. `step` is
    the step, `obstacles` are all reasons.

    Examples:
        >>> try:
        ...     lx.load("mm.c")["mm"].apply("parallelise k")
        ... except lx.TransformError as e:
        ...     print(e.obstacles[0].witness)
        k=0 and k=1 (M=1, N=1, U=2, i=0, j=0)
    """

    status = 1
    code = "LX100"

    def __init__(self, step: str, obstacles: tuple[Obstacle, ...]) -> None:
        first = obstacles[0]
        notes = [n for n in [first.witness and f"witness: {first.witness}"] if n]
        for other in obstacles[1:]:
            where = f"{other.loc}: " if other.loc else ""
            notes.append(f"also: {where}{other.message}")
            if other.witness:
                notes.append(f"      witness: {other.witness}")
        super().__init__(
            f"cannot {step}: {first.message}",
            loc=first.loc,
            code=first.code,
            notes=notes,
            help=first.remedy,
        )
        self.step = step
        self.obstacles = obstacles
        if any(o.code.startswith("LX02") for o in obstacles):
            self.status = 2


class AnnotationError(LoopxformError):
    """An annotation of the source that does not hold, or asks for what cannot be done.

    Examples:
        >>> text = '''
        ... void f(int n, float *a) {
        ...   #pragma loopxform parallel
        ...   for (int i = 1; i < n; i++) a[i] = a[i - 1];
        ... }'''
        >>> try:
        ...     lx.loads(text, "f.c")["f"].tile()
        ... except lx.AnnotationError as e:
        ...     print(e.loc.line)
        3
    """

    status = 1
    code = "LX400"


class MismatchError(LoopxformError):
    """A transformed program and the user's C gave different results; `loopxform run` compares them.

    Examples:
        >>> lx.MismatchError("C[0][0] differs").code
        'LX200'
    """

    status = 1
    code = "LX200"


class InternalError(LoopxformError):
    """A mistake of ours that one function met; its cause is what was raised.

    Examples:
        >>> lx.InternalError("it went wrong").status
        101
    """

    status = 101
    code = "LX099"


@contextmanager
def contained(name: str, loc: Loc | None) -> Iterator[None]:
    """What goes wrong inside is a problem of one function alone. Raises InternalError for what
    nobody foresaw, UnsupportedC where the function is nested too deeply."""
    try:
        yield
    except (LoopxformError, MemoryError, OSError):
        raise
    except RecursionError as e:
        help = "split its longest expressions, or its deepest blocks"
        raise UnsupportedC(f"'{name}' is nested too deeply", loc=loc, help=help) from e
    except Exception as e:
        import traceback  # loads what only this needs

        said = " ".join(f"{type(e).__name__}: {e}".split()).rstrip(": ")
        shown = os.environ.get("LOOPXFORM_TRACEBACK")
        raise InternalError(
            f"internal error in '{name}': {said[:LONGEST]}",
            loc=loc,
            notes="".join(traceback.format_exception(e)).rstrip().split("\n") if shown else (),
            help="please report it with the file and the traceback, which LOOPXFORM_TRACEBACK=1 "
            "in the environment shows",
        ) from e


class MalformedIR(Exception):
    """A rewrite produced a program that is not well-formed: our bug, never the user's."""
