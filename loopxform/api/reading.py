"""C files and C text from Python."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath

from loopxform import compiler
from loopxform.api.annotated import require_understood
from loopxform.api.arguments import READING, require, require_known
from loopxform.api.facade import File
from loopxform.frontend import CppOptions, Parsed, parse_file


def load(path: str | PathLike[str], **options: Sequence[str]) -> File:
    """Reads a C file.

    Args:
        path: The file.
        **options: `include`, `define` and `undefine` list what -I, -D and -U of a C compiler take;
            `cflags` its other options, which decide what it defines (`-std=c99`, `-O0`).

    Returns:
        The file: a collection of its functions.

    Raises:
        InputError: It cannot be read as C; the error has the place.
        ArgumentError: An option is not one of these, or no list of texts.

    Examples:
        >>> import loopxform as lx
        >>> lx.load("mm.c")
        <File mm.c: mm>
    """
    return _file(parse_file(fspath(path), _cpp(**options)))


def loads(text: str, name: str = "<text>", **options: Sequence[str]) -> File:
    """Reads C text.

    Args:
        text: The C.
        name: What diagnostics call it.
        **options: As for `load`.

    Returns:
        The file: a collection of its functions.

    Raises:
        InputError: It cannot be read as C; the error has the place.
        ArgumentError: An option is not one of these, or no list of texts.

    Examples:
        >>> import loopxform as lx
        >>> text = "void f(float a[N]) { for (int i = 0; i < N; i++) a[i] = 1; }"
        >>> lx.loads(text, "f.c", define=["N=8"])
        <File f.c: f>
    """
    return _file(parse_file(name, _cpp(**options), text=text))


def _file(parsed: Parsed) -> File:
    """The file; raises InputError for an annotation that asks for what there is not."""
    if any(a.verb == "tile" for found in parsed.annotations.values() for a in found):
        require_understood(parsed)
    return File(parsed)


def _cpp(**options: Sequence[str]) -> CppOptions:
    """Raises ArgumentError."""
    require_known(options, tuple(READING))
    require(READING, **options)
    include, define, undefine, cflags = (tuple(options.get(name, ())) for name in READING)
    return CppOptions(tuple(map(fspath, include)), define, undefine, compiler.flags(cflags))
