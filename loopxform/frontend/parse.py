"""The front door: a C file in, a `Parsed` out, and every failure a diagnostic with its place."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from loopxform.budget import Exhausted, part, within
from loopxform.errors import InputError, LoopxformError
from loopxform.frontend.lower.files import lower_file
from loopxform.frontend.parsed import CppOptions, Parsed
from loopxform.frontend.pragmas.annotated import require_balance
from loopxform.frontend.pragmas.data_regions import data_directives
from loopxform.frontend.pragmas.data_uses import flows
from loopxform.frontend.syntax.elsewhere import Program, Whole, with_definitions
from loopxform.frontend.syntax.layouts import layouts
from loopxform.frontend.syntax.parsing import parse
from loopxform.frontend.syntax.places import Places
from loopxform.frontend.text import gnu, languages
from loopxform.frontend.text.deciding import Decisions
from loopxform.frontend.text.preprocess import Preprocessed, load, preprocess
from loopxform.frontend.text.rawtext import bare, decode, strip_comments
from loopxform.frontend.text.reader import Reader
from loopxform.ir.decisions import Event
from loopxform.ir.nodes import Unit
from loopxform.source import Loc, Sources


def parse_file(
    path: str,
    options: CppOptions | None = None,
    *,
    text: str | None = None,
    program: Program | None = None,
    asked: Collection[str] | None = None,
) -> Parsed:
    """Lowers the C file at `path`; `text` is its contents where it was read elsewhere (stdin). Of
    a `program`, functions of its other files stand beside those that call them: the result may be
    judged, but not offloaded; it has the functions that are `asked` about (None: all) and call
    others.

    Raises InputError where nothing of the file can be used, and Exhausted where the limits in force
    are too small for it. A function that cannot be read is
    left out and its error is in `problems`, unless no function is left.
    """
    reader = Reader()
    try:
        parsed = _parse(path, options or CppOptions(), text, reader, program, asked)
    except InputError as e:
        e.sources = reader.sources
        raise _named(e) or e from e
    except Exhausted as e:
        e.loc, e.sources = e.loc or Loc(path, 1, 1), reader.sources
        raise
    return replace(parsed, problems=_once(parsed.problems))


def _named(e: LoopxformError) -> InputError | None:
    """The error where the file that it is in holds another language."""
    if e.status != InputError.status or isinstance(e, Exhausted):
        return None
    text = e.sources.text(e.loc.file) if e.sources and e.loc else None
    return languages.named(e, bare(text or ""))


def _once(problems: tuple[LoopxformError, ...]) -> tuple[LoopxformError, ...]:
    """The problems; that the file holds another language is one."""
    of_files = {
        e.loc.file: e
        for e in reversed(problems)
        if e.loc and e.status == InputError.status and not isinstance(e, Exhausted)
    }
    foreign = next((x for x in map(_named, of_files.values()) if x), None)
    if foreign is None:
        return problems
    return (foreign, *(e for e in problems if e.status != foreign.status))


def _parse(
    path: str,
    options: CppOptions,
    text: str | None,
    reader: Reader,
    program: Program | None,
    asked: Collection[str] | None,
) -> Parsed:
    raw = load(path) if text is None else decode(text.encode(errors="replace"), path)
    source = preprocess(path, raw, options, reader)
    places = Places(source.files, reader.sources)
    whole = _whole(source, path, options, program, reader, asked)
    tree = parse(gnu.normalise(whole.text), places)
    if tree.problems and whole.rests:
        whole = Whole(source.text)
        tree = parse(gnu.normalise(whole.text), places)
    require_balance(tree.ast, places)
    directives = data_directives(tree.ast, places) if "loopxform" in source.text else ()
    data = flows(tree.ast, directives, places) if directives else {}
    events = (*source.events, *whole.events)
    deciding = _deciding(events, reader.sources) if events else None
    lowered = lower_file(
        tree.ast,
        places,
        text=whole.text,
        layouts=layouts(whole.text),
        strict_aliasing=gnu.strict_aliasing(whole.text, options.flags),
        asked=None if asked is None else frozenset(n for n in asked if whole.rests.get(n)),
    )
    problems = (*tree.problems, *(e for _, e in lowered.failed))
    for e in problems:
        e.sources = reader.sources
    if problems and not lowered.functions:
        raise max(problems, key=lambda e: e.status)
    return Parsed(
        Unit(path, tuple(lowered.functions)),
        reader.sources,
        tuple(reader.files[1:]),
        problems,
        dict((*tree.failed, *lowered.failed)),
        tuple(lowered.notes),
        lowered.directives,
        _openmp_only(raw, options),
        lowered.annotations,
        options,
        text,
        deciding,
        whole.text,
        tuple(source.files),
        data,
        {name: tuple(map(str, taken)) for name, taken in whole.rests.items() if taken},
    )


def _whole(
    source: Preprocessed,
    path: str,
    options: CppOptions,
    program: Program | None,
    reader: Reader,
    asked: Collection[str] | None,
) -> Whole:
    """The text with what it calls of other files, as far as the limits in force suffice."""
    if program is None:
        return Whole(source.text)
    try:
        with within(part(1 / 4)):
            return with_definitions(source.text, path, options, program, reader, asked)
    except Exhausted:
        return Whole(source.text)


def _deciding(events: Sequence[Event], sources: Sources) -> Decisions:
    texts = ((f, sources.text(f) or "") for f in sources.files)
    return Decisions(events, [strip_comments(text, f) for f, text in texts])


_ON_OPENMP = re.compile(r"^[ \t]*#[ \t]*(?:el)?if[^\n]*\b_OPENMP\b", re.MULTILINE)


def _openmp_only(raw: str, options: CppOptions) -> tuple[int, ...]:
    said = {re.split(r"\W", d, maxsplit=1)[0] for d in (*options.defines, *options.undefines)}
    if "_OPENMP" in said or "-fopenmp" in options.flags or "_OPENMP" not in raw:
        return ()
    return tuple(raw.count("\n", 0, m.start()) + 1 for m in _ON_OPENMP.finditer(raw))
