"""Which function of a file is meant, and how several are named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from loopxform.api.annotated import considered, require_read, tiled_first
from loopxform.errors import InputError
from loopxform.frontend import Parsed
from loopxform.ir.nodes import For, Function, Opaque, Stmt
from loopxform.ir.visit import walk
from loopxform.nearest import did_you_mean
from loopxform.source import Loc

MOST_NAMES = 6
"""Names that are shown of many."""


def listed(names: Iterable[str]) -> str:
    """The first of the names, and how many there are besides."""
    every = tuple(names)
    more = f" and {len(every) - MOST_NAMES} more" if len(every) > MOST_NAMES else ""
    return ", ".join(every[:MOST_NAMES]) + more or "no functions"


def chosen(parsed: Parsed, name: str | None) -> Function:
    """The function of that name, or the only one with a loop nest, or the one that all others with
    loop nests are inlined in. Raises InputError."""
    functions = parsed.unit.functions
    top = Loc(parsed.unit.file, 1, 1)
    if name is not None:
        for fn in functions:
            if fn.name == name:
                return fn
        if name in parsed.failed:
            raise parsed.failed[name]
        known = [fn.name for fn in functions]
        message = f"there is no function '{name}'"
        help = f"{did_you_mean(name, known)}the functions are: {', '.join(known) or 'none'}"
        raise InputError(message, loc=top, code="LX052", help=help)
    require_read(parsed)
    with_loops = [fn for fn in functions if _has_loop(fn)]
    meant = tiled_first(parsed, considered(parsed, with_loops))
    if len(meant) > 1:
        meant = _around_all(meant) or meant
    if len(meant) == 1:
        return meant[0]
    if parsed.problems and not with_loops:
        raise parsed.problems[0]
    if not with_loops:
        raise InputError(
            "no function of the file has a loop nest",
            loc=functions[0].origin.loc if functions else top,
            code="LX060",
            help="give a file with a for loop over arrays",
        )
    if not meant:
        raise InputError(
            "every function with a loop nest is annotated ignore",
            loc=with_loops[0].origin.loc,
            code="LX067",
            help="remove one of the annotations",
        )
    names = ", ".join(fn.name for fn in meant)
    raise InputError(
        f"{len(meant)} functions have loop nests: {names}",
        loc=meant[1].origin.loc,
        code="LX053",
        help=f'name one: --function {meant[0].name}, or file["{meant[0].name}"] in Python',
    )


def _around_all(functions: Sequence[Function]) -> list[Function]:
    """The function that all others are inlined in."""
    loops = {fn.name: frozenset(s.origin.loc for s in _loops(fn)) for fn in functions}
    every = frozenset[Loc | None]().union(*loops.values())
    return [fn for fn in functions if loops[fn.name] == every]


def _loops(fn: Function) -> Iterator[Stmt]:
    for _, s in walk(fn.body):
        if isinstance(s, For) or (isinstance(s, Opaque) and s.loop):
            yield s


def _has_loop(fn: Function) -> bool:
    return next(_loops(fn), None) is not None
