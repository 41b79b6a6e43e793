"""Functions that other files of the program define, put in front of those that call them.

    a.c: double norm(vec *v);             double norm(vec *v) { return sqrt(dot(v, v)); }
         ... y[i] = norm(x[i]) ...   ->   ... y[i] = norm(x[i]) ...

A function is taken from the one file of the program that defines it, where everything that it names
means the same here: the declarations are the same words, or this text lacks them and gets them too.
What is static over there is not static here: others than those in this text may call it or set it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import field
from functools import cached_property

from loopxform.budget import Exhausted, spend
from loopxform.errors import LoopxformError
from loopxform.frontend.parsed import CppOptions
from loopxform.frontend.syntax.declarations import place_of
from loopxform.frontend.syntax.globals import (
    MARK,
    TAGS,
    Globals,
    Piece,
    is_constant,
    is_name,
    plain_declaration,
    signature,
)
from loopxform.frontend.text.preprocess import load, preprocess
from loopxform.frontend.text.rawtext import read_bytes
from loopxform.frontend.text.reader import Reader
from loopxform.ir.decisions import Event
from loopxform.ir.functions import is_known
from loopxform.records import record

MOST_FILES = 24
"""From how many other files functions are taken."""
MOST_FUNCTIONS = 120
LONGEST = 6000
"""Words of a function that is taken."""
MOST_WORDS = 40000
"""Words of all that is taken."""

_DEFINITION = re.compile(
    rb"^(?:[A-Za-z_][\w \t*]*?[ \t*])?([A-Za-z_]\w*)[ \t\n]*"
    rb"\([^;{}]*\)[^;{}()=]*(?:;[^;{}()=]*)*\{",
    re.MULTILINE,
)
_DIRECTIVE = re.compile(rb"^[ \t]*#(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)
_LOOP = frozenset(["for", "while", "do"])
_HINTS = """omp acc once loopxform unroll nounroll ivdep vector novector simd loop prefetch region
    endregion mark message warning GCC\\s+(?:diagnostic|ivdep|unroll)
    clang\\s+(?:diagnostic|loop)"""
_STATE = re.compile(rf"#\s*pragma\s+(?!\s|(?:{'|'.join(_HINTS.split())})\b)")
"""A pragma that changes what the text behind it means."""
_BOUND = frozenset(["weak", "alias", "ifunc", "__weak__", "__alias__", "__ifunc__", "constructor"])
"""Words of attributes that leave open which function is called."""


@record
class Taken:
    """A function that stands in another file."""

    name: str
    file: str

    def __str__(self) -> str:
        return f"{self.name} of {self.file}"


class Program:
    """The C files that are linked together; `options` gives how each of them is read."""

    def __init__(self, files: Sequence[str], options: Callable[[str], CppOptions]) -> None:
        self.options = options
        self._spelled = {os.path.realpath(f): f for f in files}
        self._units: dict[str, _Unit | None] = {}

    @cached_property
    def _defined(self) -> dict[str, list[str]]:
        """The files that seem to define each name."""
        out: dict[str, list[str]] = {}
        for path in self._spelled:
            try:
                data = read_bytes(path)
            except (OSError, ValueError):
                continue
            plain = _DIRECTIVE.sub(b"", data)
            for name in {m[1].decode() for m in _DEFINITION.finditer(plain)}:
                out.setdefault(name, []).append(path)
        return out

    def home(self, name: str, caller: str) -> str | None:
        """The one file that defines a function, of several the one beside the file that calls it.
        Two files that define `main` are of two programs."""
        mains = self._defined.get("main", ()) if caller in self._defined.get("main", ()) else ()
        homes = [h for h in self._defined.get(name, ()) if h == caller or h not in mains]
        beside = [h for h in homes if os.path.dirname(h) == os.path.dirname(caller)]
        (home,) = homes if len(homes) == 1 else beside if len(beside) == 1 else [None]
        return home

    def unit(self, path: str) -> _Unit | None:
        """What a file says; None where it cannot be read, or pragmas change what it means."""
        if path not in self._units:
            try:
                spelled = self._spelled[path]
                self._units[path] = _Unit.of(spelled, self.options(spelled))
            except Exhausted:
                raise
            except LoopxformError:
                self._units[path] = None
        return self._units[path]


@record
class _Unit:
    """A file of the program, preprocessed."""

    path: str
    options: CppOptions
    reader: Reader
    globals: Globals
    events: tuple[Event, ...]

    @classmethod
    def of(cls, path: str, options: CppOptions) -> _Unit | None:
        reader = Reader()
        source = preprocess(path, load(path), options, reader)
        if _STATE.search(source.text) is not None:
            return None
        return cls(path, options, reader, Globals(source.text), source.events)


@record
class Whole:
    """A text with what was taken from other files, for the functions of the text what they rest
    on, and what macros decided of the other files."""

    text: str
    rests: dict[str, tuple[Taken, ...]] = field(default_factory=dict)
    events: tuple[Event, ...] = ()


def with_definitions(
    text: str,
    path: str,
    options: CppOptions,
    program: Program,
    reader: Reader,
    asked: Collection[str] | None = None,
) -> Whole:
    """`text`, the preprocessed one of the file `path`, with the functions of other files that
    those with loops call, of the functions that are `asked` about (None: all). `reader` gets the
    files that they are from."""
    here = Globals(text)
    at = here.first_function
    if at is None or _STATE.search(text) is not None:
        return Whole(text)
    taking = _Taking(here, at, os.path.realpath(path), options, program)
    taking.run(asked)
    if not taking.added:
        return Whole(text)
    file, line, column = place_of(text, at)
    added = "\n".join(_marked(unit, words, p, reader) for unit, p, words in taking.added)
    back = f'#line {line} "{file}"\n{" " * (column - 1)}'
    whole = f"{text[:at]}\n{added}\n{back}{text[at:]}"
    units = {unit.path: unit for unit, _, _ in taking.added}
    events = tuple(e for unit in units.values() for e in unit.events)
    return Whole(whole, taking.rests(), events)


def _marked(unit: _Unit, text: str, p: Piece, reader: Reader) -> str:
    """A declaration with the marks that say where it is from, by the numbers of `reader`."""

    def number(k: int) -> int:
        name = unit.reader.files[k]
        if name not in reader.files:
            reader.files.append(name)
            reader.sources.add(name, unit.reader.sources.text(name) or "")
        return reader.files.index(name)

    file, line, column = place_of(unit.globals.text, p.chunk.start)
    marked = MARK.sub(lambda m: f'#line {m[1]} "{number(int(m[2]))}"', text)
    return f'#line {line} "{number(file)}"\n{" " * (column - 1)}{marked}'


class _Taking:
    """What is taken for one text."""

    def __init__(
        self, here: Globals, at: int, path: str, options: CppOptions, program: Program
    ) -> None:
        self.here, self.path, self.options, self.program = here, path, options, program
        self.at = at
        """Where in the text it is to stand."""
        self.added: list[tuple[_Unit, Piece, str]] = []
        """Declarations and functions in their order, as they are to stand here."""
        self.declared = dict(here.declared)
        self.taken: dict[str, Taken | None] = {}
        self.units: set[str] = set()
        self.words = 0

    def run(self, asked: Collection[str] | None) -> None:
        """For the functions that are `asked` about."""
        own = (p for p in self.here.pieces if p.function and (asked is None or p.function in asked))
        loops = [p for p in own if _LOOP & set(p.tokens)]
        waiting = list(dict.fromkeys(n for p in loops for n in self._called(p)))
        seen = set(waiting)
        for name in waiting:  # grows meanwhile
            spend()
            if len(self.taken) >= MOST_FUNCTIONS or self.words >= MOST_WORDS:
                return
            inner = self._take(name)
            more = [n for n in inner if n not in seen]
            seen.update(more)
            waiting += more

    def rests(self) -> dict[str, tuple[Taken, ...]]:
        """The functions of other files that those of this one reach."""
        pieces = {p.function: p for p in self.here.pieces if p.function}
        pieces |= {p.function: p for _, p, _ in self.added if p.function}
        out: dict[str, tuple[Taken, ...]] = {}
        for name in self.here.functions:
            reached, waiting = {name}, [name]
            while waiting:
                for n in pieces[waiting.pop()].mentions & pieces.keys() - reached:
                    reached.add(n)
                    waiting.append(n)
            found = (self.taken[n] for n in sorted(reached) if n in self.taken)
            out[name] = tuple(t for t in found if t is not None)
        return out

    def _called(self, p: Piece) -> Iterator[str]:
        """What a function may call that is defined nowhere here."""
        for n, t in enumerate(p.tokens[:-1]):
            if p.tokens[n + 1] == "(" and is_name(t) and not self._is_defined(t):
                yield t

    def is_late(self, name: str) -> bool:
        """Whether the text declares a name behind the place of what is taken."""
        found = self.here.declared.get(name, ())
        return bool(found) and all(p.chunk.start >= self.at for p in found)

    def _is_defined(self, name: str) -> bool:
        return name in self.taken or any(p.function == name for p in self.declared.get(name, ()))

    def _take(self, name: str) -> list[str]:
        """Takes a function, where that can be; what it calls itself."""
        self.taken.setdefault(name, None)
        asked = name in self.declared and not is_known(name)
        home = self.program.home(name, self.path) if asked else None
        if home is None or home == self.path:
            return []
        if home not in self.units and len(self.units) >= MOST_FILES:
            return []
        self.units.add(home)
        unit = self.program.unit(home)
        if unit is None or not _reads_alike(unit.options, self.options):
            return []
        function = unit.globals.functions.get(name)
        if function is None or {"static", "inline"} & set(function.head):
            return []
        if any(_BOUND & set(p.tokens) for p in unit.globals.declared[name]):
            return []
        needed = _Needed(self, unit)
        if not needed.same(name) or not needed.add(function):
            return []
        for p, text in needed.pieces:
            self._add(unit, p, text)
        self.taken[name] = Taken(name, unit.path)
        return [n for p, _ in needed.pieces if p.function for n in self._called(p)]

    def _add(self, unit: _Unit, p: Piece, text: str) -> None:
        self.added.append((unit, p, text))
        self.words += len(p.tokens)
        for name in p.declares:
            self.declared.setdefault(name, []).append(p)
        if p.function:
            self.taken.setdefault(p.function, Taken(p.function, unit.path))


class _Needed:
    """What one function of another file needs here."""

    def __init__(self, taking: _Taking, unit: _Unit) -> None:
        self.taking, self.unit = taking, unit
        self.pieces: list[tuple[Piece, str]] = []
        self.inside: set[int] = set()
        self.known_same: dict[str, bool] = {}

    def add(self, p: Piece) -> bool:
        """Adds a declaration, behind those that it needs; whether that could be done."""
        if id(p) in self.inside:
            return True
        self.inside.add(id(p))
        if len(p.tokens) > LONGEST or _BOUND & set(p.tokens):
            return False
        if any(n in self.taking.declared and not self.same(n) for n in p.declares):
            return False
        text = _as_known_to_others(self.unit.globals.text[p.chunk.start : p.chunk.end], p)
        if text is None or not all(map(self._have, sorted(p.mentions - p.declares))):
            return False
        self.pieces.append((p, text))
        return True

    def _have(self, name: str) -> bool:
        """Whether a name means here what it means there; it may be declared here for that."""
        there = self.unit.globals.declared.get(name, [])
        here = self.taking.declared.get(name, [])
        if here:
            return bool(there) and not self.taking.is_late(name) and self.same(name)
        if not there:
            return True  # of the library, or of the function itself
        own = next((p for p in there if p.function), None)
        if own is not None and (len(there) == 1 or any("static" in p.head for p in there)):
            return self.add(own)
        if name.partition(" ")[0] in TAGS:
            return self.add(there[0])
        return all(self.add(p) for p in there if not p.function)

    def same(self, name: str) -> bool:
        """Whether both texts declare a name in the same words, which mean the same."""
        if name not in self.known_same:
            self.known_same[name] = True  # of a type that mentions itself
            self.known_same[name] = self._are_same(name)
        return self.known_same[name]

    def _are_same(self, name: str) -> bool:
        there = self.unit.globals.declared.get(name, [])
        here = self.taking.declared.get(name, [])
        if there and not here and name.partition(" ")[0] in TAGS:
            return self.add(there[0])  # of which this text knows the name alone
        if not there or not here:
            return not there and not here
        if any(p is q for p in here for q in there):
            return True
        mine = {p.tokens for p in here if not p.function}
        first = next((p for p in there if p.tokens in mine), None)
        if first is None:
            return self._is_prototype(here[0], there)
        if "static" in first.tokens and not first.function and not is_constant(first.tokens):
            return False  # one of each file
        return all(map(self.same, first.mentions - first.declares))

    def _is_prototype(self, here: Piece, there: Sequence[Piece]) -> bool:
        """Whether a declaration has the types of a function that is defined there and not declared
        apart from that."""
        only = there[0] if len(there) == 1 and there[0].function else None
        if only is None or only.function is None:
            return False
        mine, theirs = signature(here.tokens, only.function), signature(only.head, only.function)
        if mine is None or theirs is None or mine[0] != theirs[0]:
            return False
        alike = None in (mine[1], theirs[1]) or mine == theirs
        named = (n for part in (theirs[0], theirs[1] or ()) for n in part if is_name(n))
        return alike and all(map(self.same, named))


def _as_known_to_others(text: str, p: Piece) -> str | None:
    """The text of a declaration whose function or variables others may use, too; None where that
    cannot be said."""
    if "static" not in p.tokens or (p.function is None and is_constant(p.tokens)):
        return text
    if p.function is not None:
        head, brace, body = text.partition("{")
        return (
            None
            if "static" in p.tokens[len(p.head) :]
            else (re.sub(r"\b(static|inline|__inline__|__inline)\b", "", head) + brace + body)
        )
    return plain_declaration(p.tokens, "extern")


def _reads_alike(one: CppOptions, other: CppOptions) -> bool:
    """Whether compilers take two files by the same rules."""
    return sorted(one.flags) == sorted(other.flags)
