"""What holds for a C file, and where each part of it is said.

settings = settings_for("src/heat.c")
settings.values["profile"].value        # h100
settings.values["profile"].loc          # loopxform.toml:3:11
settings.flags                          # of compile_commands.json and loopxform.toml
load("src/heat.c", **settings.flags.options)
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cached_property

from loopxform.errors import InputError, LoopxformError
from loopxform.records import record
from loopxform.settings.files import (
    BUILD,
    DATABASE,
    PROJECT,
    SHARED,
    Read,
    around,
    contents,
)
from loopxform.settings.flags import Flags, flags_of, reached

TYPE_CHECKING = False
if TYPE_CHECKING:  # loaded where there are such files
    from loopxform.settings.database import Chosen, Database
    from loopxform.settings.project import Project, Value

NONE = "none"
"""No compile_commands.json."""


@record
class Settings:
    """What holds for the file at `path`: the values of its project, the last of several tables
    that say one, and how its build compiles it. `files` are those that were read for this;
    `is_found`: nobody named the `database`."""

    path: str
    project: Project | None
    values: Mapping[str, Value]
    said: Flags
    """What the project says by `include`, `define` and `undefine`."""
    project_flags: Flags
    """The same, and its `cflags`."""
    database: Database | None
    is_found: bool
    chosen: Chosen | None
    build_flags: Flags
    """Those of compile_commands.json."""
    files: tuple[str, ...]

    @cached_property
    def flags(self) -> Flags:
        """What the file is compiled with."""
        return self.project_flags.over(self.build_flags)


def settings_for(
    path: str,
    *,
    config: str | None = None,
    isolated: bool = False,
    compile_commands: str | None = None,
) -> Settings:
    """What holds for a C file, a header or a folder.

    The project is the file `config`, else the nearest loopxform.toml (or pyproject.toml with a
    table [tool.loopxform]) of the folders around it. compile_commands.json is the one that is named
    (a file, a folder, or `none`), here or in the project, else the nearest of the folders around
    and of their folders `build`, as clangd looks for it. `isolated`: neither is looked for.

    Raises InputError, at its place, for what cannot be read or says nothing meaningful.
    """
    seen = Read()
    folder = path if os.path.isdir(path) else os.path.dirname(os.path.abspath(path))
    project = _project(folder, config, seen, isolated=isolated)
    values, said, flags = _of_project(project, path)
    database, is_found = _database(folder, project, compile_commands, seen, isolated=isolated)
    chosen = _entry(database, path, is_found=is_found) if database else None
    build = database.flags(chosen.entry, seen) if database and chosen else Flags()
    files = tuple(map(reached, dict.fromkeys(seen.paths)))
    return Settings(path, project, values, said, flags, database, is_found, chosen, build, files)


def _project(folder: str, config: str | None, seen: Read, *, isolated: bool) -> Project | None:
    if config is not None:
        return named_project(config, seen)
    return None if isolated else nearest_project(folder, seen)


def nearest_project(folder: str, seen: Read) -> Project | None:
    """That of the folder, or of the nearest one around it. Raises InputError."""
    for path, data in around(folder, (PROJECT, SHARED), seen):
        if os.path.basename(path) == SHARED and not _may_be_ours(data):
            continue
        from loopxform.settings.project import project_of

        if (project := project_of(path, data)) is not None:
            return project
    return None


def _may_be_ours(data: bytes) -> bool:
    """Whether a pyproject.toml may have our table: others are not taken apart."""
    if b"loopxform" not in data:
        return False
    table = rb"""(?m)^[ \t]*(\[+[ \t]*)?["']?tool["']?[ \t]*([]=]|\.[ \t]*["']?loopxform\b)"""
    return re.search(table, data) is not None


def named_project(path: str, seen: Read) -> Project:
    """That of a file that is named. Raises InputError."""
    from loopxform.settings.project import project_of

    data = contents(os.path.abspath(path), seen)
    project = None if data is None else project_of(os.path.abspath(path), data)
    if project is None:
        what = "there is no file" if data is None else "there is no table [tool.loopxform] in"
        help = "name a file loopxform.toml: loopxform init writes one"
        raise InputError(f"{what} '{path}'", code="LX243", help=help, subject="--config")
    return project


def _of_project(project: Project | None, path: str) -> tuple[dict[str, Value], Flags, Flags]:
    """What a project says of a file: its values, and what these tell the compiler, without its
    `cflags` and with them. Raises InputError."""
    values: dict[str, Value] = {}
    said = flags = Flags()
    if project is None:
        return values, said, flags
    from loopxform.settings.keys import FLAGS

    for table in project.tables(path):
        values |= {name: v for name, v in table.items() if name not in FLAGS}
        of_list = {name: table[name].value for name in FLAGS[1:] if name in table}
        own = Flags(**of_list)
        said, flags = own.over(said), own.over(_cflags(project, table.get("cflags")).over(flags))
    return values, said, flags


def _cflags(project: Project, value: Value | None) -> Flags:
    """Raises InputError, at the word."""
    if value is None:
        return Flags()
    try:
        return flags_of(value.value, project.folder)
    except LoopxformError as e:
        raise project.error(*value.place(e.subject), e.message, e.help or "", "LX244") from e


def _database(
    folder: str, project: Project | None, named: str | None, seen: Read, *, isolated: bool
) -> tuple[Database | None, bool]:
    """The database, and whether it was found without being named. Raises InputError."""
    value = project.values.get("compile-commands") if project else None
    path = named if named is not None or value is None else value.value
    if path == NONE or (path is None and isolated):
        return None, True
    if path is None:
        return _nearest_database(folder, seen), True
    from loopxform.settings.database import HELP, database_at

    database = database_at(path, seen)
    if database is not None:
        return database, False
    message = f"there is no compile_commands.json in '{path}'"
    if not os.path.isdir(path):
        message = f"there is no file or folder '{path}'"
    if named is None and value is not None and project is not None:
        raise project.error(value.loc, value.width, message, HELP, "LX245")
    raise InputError(message, code="LX245", help=HELP, subject="--compile-commands")


def _nearest_database(folder: str, seen: Read) -> Database | None:
    """That of the folder or of its folder build, or of the nearest folder around. Raises
    InputError."""
    places = (DATABASE, os.path.join(BUILD, DATABASE))
    for path, data in around(folder, places, seen):
        from loopxform.settings.database import database_of

        return database_of(path, data)
    return None


def _entry(database: Database, path: str, *, is_found: bool) -> Chosen | None:
    """The entry that a file is read by. A header is read like the nearest C file; so is a C file
    without an entry where the database is named, with a warning. Raises InputError."""
    if os.path.isdir(path) or path == "-":
        return None
    own = database.own(path)
    if own is not None:
        return own
    if is_found and path.endswith(".c"):
        return None
    near = database.nearest(path)
    if near is None and is_found:
        return None
    if near is None:
        help = "build the project first, or --compile-commands none"
        what = f"'{path}' has no entry in {database.path}, nor has any other C file"
        raise InputError(what, code="LX246", help=help, subject=path)
    if path.endswith(".c"):
        import warnings

        like = reached(near.entry.file)
        what = f"{path} has no entry in {database.path}: read with the options of {like}"
        warnings.warn(what, stacklevel=2)
    return near
