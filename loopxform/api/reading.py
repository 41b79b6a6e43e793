"""C files and C text from Python."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from os import PathLike, fspath

from loopxform.api.annotated import require_understood
from loopxform.api.arguments import PROJECT, READING, TEXT, require, require_known
from loopxform.api.facade import File
from loopxform.frontend import CppOptions, Parsed, parse_file
from loopxform.frontend.syntax.elsewhere import Program
from loopxform.settings.flags import Flags, flags_of
from loopxform.settings.lookup import settings_for


def load(
    path: str | PathLike[str],
    *,
    config: bool | str | PathLike[str] = False,
    **options: Sequence[str],
) -> File:
    """Reads a C file.

    Args:
        path: The file.
        config: Whether what its project says of the compiler holds too, by its loopxform.toml and
            compile_commands.json, or the loopxform.toml to use (docs/configuration.md).
        **options: `include`, `define` and `undefine` list what -I, -D and -U of a C compiler take;
            `cflags` its options as a build has them, of which those count that change the text
            (`-std=c99`, `-O0`, `-include`).

    Returns:
        The file: a collection of its functions.

    Raises:
        InputError: It cannot be read as C, or the settings of its project cannot be read; the error
            has the place.
        UsageError: An option of the compiler is not modelled.
        ArgumentError: An option is not one of these, or no list of texts.

    Examples:
        >>> import loopxform as lx
        >>> lx.load("mm.c")
        <File mm.c: mm>
    """
    return _file(parse_file(fspath(path), _cpp(fspath(path), config, options)))


def load_of_program(
    path: str, program: Program, asked: Collection[str] | None = None, **options: Sequence[str]
) -> File:
    """`load` for questions alone, about some of the functions (None: all): functions of other files
    of the program are looked into. Raises what it raises."""
    return _file(parse_file(path, _cpp(path, False, options), program=program, asked=asked))


def program_of(
    files: Sequence[str], options: Callable[[str], Mapping[str, Sequence[str]]]
) -> Program:
    """The files as one program; `options` gives those of `load` for each of them."""
    return Program(files, lambda path: _cpp(path, False, options(path)))


def loads(text: str, name: str = "<text>", **options: Sequence[str]) -> File:
    """Reads C text.

    Args:
        text: The C.
        name: What diagnostics call it.
        **options: `include`, `define`, `undefine` and `cflags`, as for `load`.

    Returns:
        The file: a collection of its functions.

    Raises:
        InputError: It cannot be read as C; the error has the place.
        UsageError: An option of the compiler is not modelled.
        ArgumentError: The C is no text; an option is not one of these, or no list of texts.

    Examples:
        >>> import loopxform as lx
        >>> text = "void f(float a[N]) { for (int i = 0; i < N; i++) a[i] = 1; }"
        >>> lx.loads(text, "f.c", define=["N=8"])
        <File f.c: f>
    """
    require(TEXT, text=text)
    return _file(parse_file(name, _cpp(name, False, options), text=text))


def _file(parsed: Parsed) -> File:
    """The file; raises InputError for an annotation that asks for what there is not."""
    if any(a.verb == "tile" for found in parsed.annotations.values() for a in found):
        require_understood(parsed)
    return File(parsed)


def _cpp(
    path: str, config: bool | str | PathLike[str], options: Mapping[str, Sequence[str]]
) -> CppOptions:
    """The options of a call, and below them those of the project of the file, or of the file
    `config`, where that is asked for. Raises ArgumentError, UsageError, InputError."""
    require_known(options, tuple(READING))
    require(PROJECT, config=config)
    require(READING, **options)
    include, define, undefine, cflags = (tuple(options.get(name, ())) for name in READING)
    own = Flags(tuple(map(fspath, include)), define=define, undefine=undefine)
    flags = own.over(flags_of(cflags))
    if config is not False:
        named = None if config is True else fspath(config)
        flags = flags.over(settings_for(path, config=named).flags)
    return CppOptions(
        flags.folders, flags.define, flags.undefine, flags.flags, flags.quote, flags.forced
    )
