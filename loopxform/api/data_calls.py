"""Data directives in a written file: the calls of the runtime that they become.

#pragma loopxform data copyin(A[0:n])      { struct lx_kept lx_kept_1[1];
{                                     ->   lx_begin_data(&lx_kept_1[0], "f.c:7: A[0:n]", ...);
  ...                                      #pragma loopxform data copyin(A[0:n])
}                                          { ... }
                                           lx_end_data(&lx_kept_1[0], LX_LEFT); }
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from loopxform.analysis.missing_updates import Missing
from loopxform.codegen.host.splice import Insert, Text
from loopxform.codegen.render import c_literal
from loopxform.errors import InputError
from loopxform.frontend.outline import DataText, Original
from loopxform.frontend.outline.blocks import Nodes
from loopxform.frontend.pragmas.data_regions import KeptArray, Placed

_COPIES_OUT = ("copy", "copyout")
_READ_ONLY = ("copyin",)
_ELEMENT = re.compile(r"\w+(?:\[\d+\])+")


def inserts(text: Text, data: Sequence[DataText]) -> list[tuple[DataText, Insert]]:
    """The lines of all directives, those that stand alone first."""
    alone = [d for d in data if d.placed.governed is None]
    out = [(d, Insert(text.after(d.end), tuple(_alone(d.placed)))) for d in alone]
    for number, d in enumerate(x for x in data if x.placed.governed is not None):
        name = f"lx_kept_{number + 1}"
        begin = tuple(_begin(name, d.placed))
        end = tuple(_end(name, d.placed))
        out.append((d, Insert(text.before(d.start), begin)))
        out.append((d, Insert(text.after(d.end), end, closes=True)))
    return out


def questions(
    original: Original, text: Text, missing: Sequence[Missing]
) -> list[tuple[int, Insert]]:
    """What LOOPXFORM_VERIFY asks in front of statements of the host that may need an update, with
    where their functions begin."""
    plain = {
        s.name for d in original.data for _, s in d.placed.directive.sections if s.array == s.name
    }
    out: dict[tuple[int, str], Insert] = {}
    begins: dict[int, int] = {}
    for m in missing:
        if m.side != "host" or m.loc is None or m.array not in plain:
            continue
        found = original.statement_at(m.loc)
        if found is not None:
            begin, start = found
            at = text.before(start)
            line = f"lx_verify({c_literal(f'{m.loc.file}:{m.loc.line}')}, &({m.array})[0]);"
            out.setdefault((at, line), Insert(at, (line,)))
            begins[at] = begin
    return [(begins[at], x) for (at, _), x in out.items()]


def require_places(original: Original, text: Text, missing: Sequence[Missing]) -> None:
    """Raises InputError where calls in the places of the directives would change what the rest of
    the file says."""
    data = original.data
    marks: dict[str, Nodes] = {}
    marked: list[Insert] = []
    for number, d in enumerate(data):
        name = f"lx_data_{number}"
        if d.placed.governed is None:
            marked.append(Insert(text.after(d.end), (f"{name}();",)))
            marks[name] = ()
        else:
            marked.append(Insert(text.before(d.start), (f"{{ {name}();",)))
            marked.append(Insert(text.after(d.end), ("}",), closes=True))
            marks[name] = d.nodes
    for n, (_, x) in enumerate(questions(original, text, missing)):
        marked.append(Insert(x.at, (f"lx_question_{n}();",)))
        marks[f"lx_question_{n}"] = ()
    if data and not original.says(text.proof(marked), marks):
        raise InputError(
            "where the statements around data directives begin and end is hidden by macros",
            loc=data[0].placed.loc,
            code="LX257",
            help="write the braces and semicolons out",
        )


def newest(argument: str) -> str:
    """An argument of a launch. Elements that the host reads for it may be newer on the device."""
    if " ? " not in argument and not _ELEMENT.fullmatch(argument):
        return argument
    return _ELEMENT.sub(r"(lx_look(&\g<0>), \g<0>)", argument)


def _begin(name: str, p: Placed) -> Iterator[str]:
    yield f"{{ struct lx_kept {name}[{len(p.arrays)}];"
    for n, a in enumerate(p.arrays):
        first = f"lx_begin_data(&{name}[{n}], {_label(p, a)}, {_memory(a)}"
        yield f"{first}, {int(a.word in _READ_ONLY)});"


def _end(name: str, p: Placed) -> Iterator[str]:
    for n, a in reversed(list(enumerate(p.arrays))):
        how = "LX_COPIED" if a.word in _COPIES_OUT else "LX_LEFT"
        last = "}" if n == 0 else ""
        yield f"lx_end_data(&{name}[{n}], {how});{last}"


def _alone(p: Placed) -> Iterator[str]:
    for a in p.arrays:
        given = f"{_label(p, a)}, {_memory(a)}"
        match p.directive.kind, a.word:
            case "enter data", word:
                yield f"lx_enter_data({given}, {int(word in _READ_ONLY)});"
            case "exit data", word:
                how = "LX_COPIED" if word in _COPIES_OUT else "LX_DROPPED"
                yield f"lx_exit_data({given}, {how});"
            case _, "device":
                yield f"lx_update_device({given});"
            case _:
                yield f"lx_update_host({given});"


def _memory(a: KeptArray) -> str:
    return f"{a.address}, {a.count}, {a.element}"


def _label(p: Placed, a: KeptArray) -> str:
    """What messages call an array."""
    place = f"{p.loc.file}:{p.loc.line}: " if p.loc else ""
    return str(c_literal(f"{place}{a.label}"))
