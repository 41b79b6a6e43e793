"""`loopxform config FILE.c`: what holds for a file, and where that is said."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from loopxform.cli.compiler import given_flags
from loopxform.cli.settings import configured, has_cflags, require_known
from loopxform.errors import InputError
from loopxform.settings.flags import Flags, reached
from loopxform.settings.keys import FLAGS, KEYS
from loopxform.settings.lookup import Settings
from loopxform.settings.project import Value


def main(args: argparse.Namespace) -> int:
    if not os.path.exists(args.path):
        message = f"there is no file or folder '{args.path}'"
        raise InputError(message, help="name a C file, or a folder", subject=args.path)
    done = configured(args, args.path)
    for name, value in done.settings.values.items():
        require_known(done.settings, KEYS[name], value)
    own = given_flags(args)
    if args.format == "json":
        print(json.dumps(_json(done.settings, own, done.flags), indent=2))
    else:
        print("\n".join(_text(args, done.settings, own, done.flags)))
    return 0


def _text(args: argparse.Namespace, settings: Settings, own: Flags, flags: Flags) -> Iterator[str]:
    project = settings.project
    yield f"file              {args.path}"
    yield f"project           {project.path if project else _no_project(args)}"
    yield f"compile commands  {_database(args, settings)}"
    rows = [("key", "value", "from"), *_rows(settings)]
    if len(rows) > 1:
        widths = [max(map(len, column)) for column in zip(*rows)]
        yield ""
        for row in rows:
            yield "  ".join(f"{text:<{w}}" for text, w in zip(row, widths)).rstrip()
    unset = [name for name in KEYS if name not in settings.values and not _said(settings, name)]
    yield ""
    yield f"not set: {', '.join(unset)}"
    if flags.words:
        yield ""
        yield "the compiler is told, what is said first outranking what follows:"
        given = [("the command line", own)]
        given += [(project.path, _of_project(args, settings))] if project else []
        given += [(_place(settings), settings.build_flags)] if settings.chosen else []
        width = max(len(name) for name, _ in given)
        for name, part in given:
            if part.words:
                yield f"  {name:<{width}}  {shlex.join(part.words)}"


def _of_project(args: argparse.Namespace, settings: Settings) -> Flags:
    return settings.said if has_cflags(args) else settings.project_flags


def _no_project(args: argparse.Namespace) -> str:
    if args.no_config:
        return "none: --no-config"
    return "none: no loopxform.toml and no table [tool.loopxform] in this folder or those around it"


def _database(args: argparse.Namespace, settings: Settings) -> str:
    """Which is used, why, and which entry."""
    database, chosen = settings.database, settings.chosen
    if database is None:
        if has_cflags(args) and args.compile_commands is None:
            return "none: the command line has the options of the compiler"
        named = args.compile_commands or "compile-commands" in settings.values or args.no_config
        return "none" if named else "none in this folder, its folder build or those around it"
    how = "found" if settings.is_found else "named"
    if os.path.isdir(settings.path):
        count = len(database.entries)
        return f"{database.path} ({how}), {count} {'entry' if count == 1 else 'entries'}"
    if chosen is None:
        return f"{database.path} ({how}), which has no entry of the file: not used"
    of = reached(chosen.entry.file)
    if chosen.near:
        return f"{_place(settings)} ({how}): the nearest entry, of {of}"
    several = f", the first of {chosen.count}" if chosen.count > 1 else ""
    return f"{_place(settings)} ({how}): the entry of {of}{several}"


def _place(settings: Settings) -> str:
    assert settings.database is not None
    assert settings.chosen is not None
    return str(settings.database.loc(settings.chosen.entry.offset))


def _said(settings: Settings, name: str) -> list[Value]:
    """What the tables of a project say by a key whose values add to each other."""
    tables = settings.project.tables(settings.path) if settings.project and name in FLAGS else ()
    return [table[name] for table in tables if name in table]


def _rows(settings: Settings) -> Iterator[tuple[str, str, str]]:
    """The key, the value and the place of all that is set."""
    for name in KEYS:
        values = _said(settings, name) or [v for v in [settings.values.get(name)] if v is not None]
        for v in values:
            yield name, _shown(v.value), f"{v.loc}{_for(v.files)}"


def _for(files: Sequence[str]) -> str:
    return f" (for {', '.join(files)})" if files else ""


def _shown(value: Any) -> str:
    return ", ".join(value) if isinstance(value, tuple) else json.dumps(value).strip('"')


def _json(settings: Settings, own: Flags, flags: Flags) -> dict[str, Any]:
    """The contract: keys are added, never changed."""
    database, chosen = settings.database, settings.chosen
    return {
        "schema_version": 1,
        "path": settings.path,
        "project": settings.project.path if settings.project else None,
        "compile_commands": database
        and {
            "path": database.path,
            "found": settings.is_found,
            "entry": chosen
            and {
                "file": chosen.entry.file,
                "line": database.loc(chosen.entry.offset).line,
                "entries": chosen.count,
                "nearest": chosen.near,
            },
        },
        "values": {
            name: [
                {
                    "value": list(v.value) if isinstance(v.value, tuple) else v.value,
                    "file": v.loc.file,
                    "line": v.loc.line,
                    "column": v.loc.column,
                    "for": list(v.files),
                }
                for v in _said(settings, name) or [settings.values[name]]
            ]
            for name in KEYS
            if name in settings.values or _said(settings, name)
        },
        "command_line": list(own.words),
        "flags": list(flags.words),
    }
