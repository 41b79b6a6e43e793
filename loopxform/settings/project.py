"""loopxform.toml, or the table [tool.loopxform] of pyproject.toml: found, read and checked."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from loopxform.errors import InputError
from loopxform.nearest import did_you_mean
from loopxform.records import record
from loopxform.settings.files import SHARED
from loopxform.settings.flags import reached
from loopxform.settings.globs import matching
from loopxform.settings.keys import FILES, GLOBS, KEYS, OVERRIDES, Kind
from loopxform.settings.toml_places import Path, Places, Span
from loopxform.source import Loc, Sources

TABLE = ("tool", "loopxform")

_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@record
class Value:
    """A value as options have it, and where it stands, and each of its `elements` with its width;
    `files` are the patterns of its table."""

    value: Any
    loc: Loc
    width: int
    elements: tuple[tuple[Loc, int], ...] = ()
    files: tuple[str, ...] = ()

    def place(self, element: object) -> tuple[Loc, int]:
        """Where an element stands, else the value, and how wide that is."""
        if isinstance(self.value, tuple) and element in self.value:
            return self.elements[self.value.index(element)]
        return self.loc, self.width


@record
class Project:
    """What a file says, by key; `overrides` are its tables for some files, in their order."""

    path: str
    folder: str
    text: str
    values: Mapping[str, Value]
    overrides: tuple[tuple[tuple[str, ...], Mapping[str, Value]], ...] = ()

    def inside(self, path: str) -> str:
        """The path from the folder of the project, its parts separated by slashes."""
        return os.path.relpath(path, self.folder).replace(os.sep, "/")

    def tables(self, path: str) -> Iterator[Mapping[str, Value]]:
        """What holds for a file, later tables over earlier ones."""
        yield self.values
        name = self.inside(path)
        yield from (values for files, values in self.overrides if matching(files, name))

    def excluded(self, path: str) -> str | None:
        """The pattern that leaves a file or a folder out; None where it is not left out."""
        own = self.values.get("exclude")
        return matching(own.value, self.inside(path)) if own else None

    def error(self, loc: Loc, width: int, message: str, help: str, code: str) -> InputError:
        """A diagnostic at a place of the file."""
        error = InputError(message, loc=loc, code=code, help=help, width=width)
        error.sources = Sources()
        error.sources.add(self.path, self.text)
        return error


def project_of(path: str, data: bytes) -> Project | None:
    """That of a file that holds `data`; None for a pyproject.toml without a table of ours. Raises
    InputError."""
    shown, folder = reached(path), os.path.dirname(os.path.abspath(path))
    text = data.decode(errors="replace").replace("\r\n", "\n")
    blank = Project(shown, folder, text, {})
    try:
        table: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise _not_toml(blank, str(e)) from e
    prefix: tuple[str, ...] = TABLE if os.path.basename(path) == SHARED else ()
    for name in prefix:
        table = table.get(name) if isinstance(table, dict) else None
        if table is None:
            return None
    checked = _Checked(blank, Places(text), prefix)
    own = checked.table(table, prefix, whole=True)
    overrides = tuple(checked.overrides(table)) if isinstance(table, dict) else ()
    if checked.wrong:
        raise checked.error()
    return Project(shown, folder, text, own, overrides)


def _not_toml(project: Project, said: str) -> InputError:
    m = _AT.search(said)
    lines = project.text.splitlines() or [""]
    line, column = len(lines), len(lines[-1]) + 1
    if m and m[1]:
        line, column = int(m[1]), int(m[2])
    message = _AT.sub("", said)
    what = f"not TOML: {message[:1].lower()}{message[1:]}"
    help = 'a line says: fp = "reassociate", or include = ["include"]'
    return project.error(Loc(project.path, line, column), 1, what, help, "LX243")


class _Checked:
    """The values of a file, and what is wrong with it."""

    def __init__(self, project: Project, places: Places, prefix: Path) -> None:
        self.project, self.places, self.prefix = project, places, prefix
        self.wrong: list[tuple[Span, str, str]] = []

    def error(self) -> InputError:
        """The first thing that is wrong, the others in its notes."""
        (span, message, help), *others = sorted(self.wrong)
        error = self.project.error(self._loc(span), span[1] - span[0], message, help, "LX244")
        error.notes = tuple(f"also: {self._loc(at)}: {text}" for at, text, _ in others)
        return error

    def _loc(self, span: Span) -> Loc:
        before = self.project.text[: span[0]]
        column = len(before) - (before.rfind("\n") + 1) + 1
        return Loc(self.project.path, before.count("\n") + 1, column)

    def _bad(self, span: Span | None, message: str, help: str) -> None:
        self.wrong.append((span or (0, 0), message, help))

    def table(self, table: object, at: Path, *, whole: bool) -> dict[str, Value]:
        """The values of a table: of the `whole` project, or of some files."""
        if not isinstance(table, dict):
            self._bad(self.places.values.get(at), f"{at[-1]} must be a table", "[tool.loopxform]")
            return {}
        known = {n: k for n, k in KEYS.items() if whole or k.for_files}
        names = [*known, OVERRIDES if whole else FILES]
        found = dict[str, Value]()
        for name, given in table.items():
            if name in known:
                value = self._value(known[name].kind, name, given, (*at, name))
                found |= {} if value is None else {name: value}
            elif name not in names:
                self._bad(self.places.keys.get((*at, name)), *_unknown(name, names, whole=whole))
        return found

    def overrides(
        self, table: Mapping[str, object]
    ) -> Iterator[tuple[tuple[str, ...], dict[str, Value]]]:
        """The tables for some files."""
        tables, at = table.get(OVERRIDES, []), (*self.prefix, OVERRIDES)
        if not (isinstance(tables, list) and all(isinstance(x, dict) for x in tables)):
            what = f"{OVERRIDES} must be tables"
            self._bad(self.places.keys.get(at), what, f"[[{'.'.join(map(str, at))}]]")
            return
        for n, own in enumerate(tables):
            here = (*at, n)
            if FILES not in own:
                example = f'{FILES} = ["src/fft/*.c"]'
                self._bad(self._first(here), f"{OVERRIDES} need the {FILES} they are for", example)
                continue
            files = self._value(GLOBS, FILES, own[FILES], (*here, FILES))
            values = self.table(own, here, whole=False)
            if files is not None:
                named = {k: replace(v, files=files.value) for k, v in values.items()}
                yield files.value, named

    def _first(self, at: Path) -> Span | None:
        """The first key of a table, else the table."""
        inside = [s for p, s in self.places.keys.items() if p[: len(at)] == at]
        return min(inside, default=self.places.keys.get(at[:-1]))

    def _value(self, kind: Kind, name: str, given: object, at: Path) -> Value | None:
        """The value of a key; None where it is none."""
        example = KEYS[name].example if name in KEYS else f'{name} = ["src/fft/*.c"]'
        span = self.places.values.get(at) or self.places.keys.get(at) or (0, 0)
        if not kind.check(given):
            hint = did_you_mean(str(given), kind.choices) if kind.choices else ""
            message = f"{name} must be {kind.words}, not {_shown(given)}"
            self._bad(span, message, f"{hint}{example}")
            return None
        if kind.each is not None:
            assert isinstance(given, list)
            for n, x in enumerate(given):
                if not kind.each.check(x):
                    what = f"an element of {name} must be {kind.each.words}, not {_shown(x)}"
                    self._bad(self.places.values.get((*at, n), span), what, example)
                    return None
        count = len(given) if isinstance(given, list) else 0
        spans = (self.places.values.get((*at, n), span) for n in range(count))
        elements = tuple((self._loc(x), max(1, x[1] - x[0])) for x in spans)
        value = kind.value(given, self.project.folder)
        return Value(value, self._loc(span), max(1, span[1] - span[0]), elements)


def _unknown(name: str, names: list[str], *, whole: bool) -> tuple[str, str]:
    hint = did_you_mean(name.replace("_", "-"), names)
    if not whole and name in KEYS:
        return f"{name} is for the whole project", f"write it in front of the [[{OVERRIDES}]]"
    return f"there is no key '{name}'", f"{hint}the keys are {', '.join(names)}"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return text if len(text) < 60 else f"{text[:57]}..."
