"""`loopxform init`: a loopxform.toml for a project, and what to add to its build."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from loopxform.cli import init_next, init_project
from loopxform.cli.init_project import Facts
from loopxform.errors import InputError, about
from loopxform.files import Output, write_all
from loopxform.settings.files import PROJECT, SHARED, Read
from loopxform.settings.keys import KEYS
from loopxform.settings.lookup import nearest_project
from loopxform.targets.profile import profile

HEADER = """\
# Settings of loopxform for this project; docs/configuration.md explains the keys. Options on the
# command line outrank them. Paths are relative to this file. `loopxform config FILE.c` prints what
# holds for a file, and where each part of it is said.
"""


def main(args: argparse.Namespace) -> int:
    folder = args.folder
    if not os.path.isdir(folder):
        raise InputError(f"there is no folder '{folder}'", help="name a folder", subject=folder)
    if args.profile is not None:
        with about("--profile"):
            profile(args.profile)
    path = os.path.join(folder, PROJECT)
    if not args.force:
        _require_none(folder)
    facts = init_project.facts(folder, args.build, args.profile)
    for written in write_all([Output(Path(path), text(facts), "DIR")]):
        print(f"wrote {written}")
    if not args.quiet:
        print("\n".join(init_next.lines(facts)))
    return 0


def _require_none(folder: str) -> None:
    """Raises InputError where the folder has settings already."""
    for name in (PROJECT, SHARED):
        path = os.path.join(folder, name)
        own = name == PROJECT and os.path.lexists(path)
        if not own and name == SHARED and os.path.exists(path):
            project = nearest_project(folder, Read())
            own = project is not None and os.path.samefile(project.path, path)
        if own:
            what = f"'{path}' {'has settings' if name == SHARED else 'exists'} already"
            help = f"edit it; --force writes another {PROJECT} in its place"
            raise InputError(what, code="LX055", help=help, subject=folder)


def text(facts: Facts) -> str:
    """The file: every key with what it is for, set where something is known."""
    known: dict[str, str] = {}
    if facts.profile:
        known["profile"] = f'profile = "{facts.profile}"'
    if facts.database:
        known["compile-commands"] = f'compile-commands = "{facts.database}"'
    if facts.include:
        known["include"] = f"include = {_list(facts.include)}"
    if facts.exclude:
        known["exclude"] = f"exclude = {_list(facts.exclude)}"
    notes = {"profile": facts.device, "compile-commands": facts.made}
    parts = [HEADER]
    for key in KEYS.values():
        about = [f"# {key.about[:1].upper()}{key.about[1:]}."]
        about += [f"# {notes[key.name]}"] if notes.get(key.name) else []
        parts.append("\n".join([*about, known.get(key.name, f"# {key.example}")]) + "\n")
    parts.append(OVERRIDES)
    return "\n".join(parts)


OVERRIDES = """\
# What holds for some files only; such tables stand at the end.
# [[overrides]]
# files = ["src/fft/*.c"]
# fp = "strict"
"""


def _list(texts: tuple[str, ...]) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
