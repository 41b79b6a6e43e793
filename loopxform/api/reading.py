"""What calls from Python say of how a C file is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath

from loopxform.api.arguments import PROJECT, READING, require, require_known
from loopxform.frontend import CppOptions
from loopxform.settings.flags import Flags, flags_of
from loopxform.settings.lookup import settings_for


def cpp_options(
    path: str, config: bool | str | PathLike[str], options: Mapping[str, Sequence[str]]
) -> CppOptions:
    """The `options` of `load`, and below them those of the project of the file, or of the file
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
