"""From a C file to preprocessed text whose every line still knows its place in the user's files.

A file without macros and conditionals does not need a preprocessor: includes of system headers are
blanked and the text goes on as it is, columns intact. Everything else goes through pcpp.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from loopxform.errors import InputError
from loopxform.frontend.parsed import CppOptions
from loopxform.frontend.text import prelude, rawtext
from loopxform.frontend.text.outside import Outside, mentioned
from loopxform.frontend.text.reader import Reader, is_file
from loopxform.frontend.text.standards import require_plain
from loopxform.ir.decisions import Event
from loopxform.nearest import nearest

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)[ \t]*(.*)$", re.MULTILINE)
_SYSTEM_INCLUDE = re.compile(r"<([^>\n]+)>\s*$")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_CONTINUED = re.compile(r"\\[ \t]*\n")


@dataclass
class Preprocessed:
    """C text with `#line N "k"` marks; `files[k]` is the user's spelling of file k.

    File 0 is the prelude, which no diagnostic mentions; file 1 is the C file itself.
    """

    text: str
    files: list[str]
    headers: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    """What macros that no file defines decided."""


def preprocess(file: str, text: str, options: CppOptions, reader: Reader) -> Preprocessed:
    """The preprocessed text of `text`, the contents of `file`."""
    stripped = reader.add(file, text)
    require_plain(file, text, options.flags)
    if not stripped.endswith("\n"):
        stripped += "\n"
    headers = None if options.forced else _plain_headers(stripped, options)
    events: tuple[Event, ...]
    if headers is not None:
        body, events = _DIRECTIVE.sub(_keep_pragma, stripped), ()
    else:
        # pcpp costs as much to import as all the rest: only where it is needed.
        from loopxform.frontend.text.macros import expand

        body, headers, events = expand(file, stripped, options, reader)
    used = frozenset(_IDENTIFIER.findall(body))
    types = prelude.typedefs(headers, used)
    return Preprocessed(f'#line 1 "0"\n{types}\n#line 1 "1"\n{body}', reader.files, headers, events)


def _keep_pragma(m: re.Match[str]) -> str:
    return m.group() if m.group(1) == "pragma" else rawtext.blank(m.group())


def _plain_headers(text: str, options: CppOptions) -> tuple[str, ...] | None:
    """The system headers of a file that a preprocessor would leave as it is, else None."""
    if _CONTINUED.search(text) or "%:" in text:
        return None
    headers: list[str] = []
    for m in _DIRECTIVE.finditer(text):
        system = _SYSTEM_INCLUDE.match(m.group(2)) if m.group(1) == "include" else None
        if system and not _in_directories(system.group(1), options):
            headers.append(system.group(1))
        elif m.group(1) != "pragma" or m.group(2).startswith("once"):
            return None
    names = {re.match(r"\w*", d).group() for d in options.defines}  # type: ignore[union-attr]
    names |= prelude.DYNAMIC
    for header in headers:
        names |= {m.partition("(")[0] for m in prelude.macros_of(header, ndebug=False)}
    outside = Outside(options)
    if not names.isdisjoint(_IDENTIFIER.findall(text)):
        return None
    known = any(outside.definition(n) is not None for n in mentioned(text))
    return None if known else tuple(headers)


def _in_directories(header: str, options: CppOptions) -> bool:
    return any(is_file(os.path.join(d, header)) for d in options.include_dirs)


def load(path: str) -> str:
    """The text of the C file, or an InputError that says why it cannot be read."""
    try:
        return rawtext.read(path)
    except FileNotFoundError as e:
        help = f"{_neighbour(path)}name a C file, or - to read stdin"
        raise InputError(f"no such file: {path}", help=help) from e
    except IsADirectoryError as e:
        raise InputError(f"{path} is a directory", help="name a C file in it") from e
    except (OSError, ValueError) as e:
        reason = e.strerror if isinstance(e, OSError) and e.strerror else str(e)
        raise InputError(f"cannot read {path}: {reason}", help="name a C file") from e


def _neighbour(path: str) -> str:
    """Which file of the folder may be meant."""
    folder, name = os.path.split(path)
    try:
        close = nearest(name, os.listdir(folder or "."))
    except OSError:
        return ""
    return f"did you mean '{os.path.join(folder, close)}'? " if close else ""
