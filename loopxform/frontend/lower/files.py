"""A translation unit: file-scope names in order, and the functions of the user's own file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain

from pycparser import c_ast

from loopxform import budget
from loopxform.errors import LoopxformError, UnsupportedC, contained
from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.allocated import with_arrays
from loopxform.frontend.desugar.builtins import without_builtins
from loopxform.frontend.desugar.callee import (
    Callee,
    callee,
    enumerators,
    is_calm,
    takes_numbers,
)
from loopxform.frontend.desugar.definitions import prototyped
from loopxform.frontend.desugar.externs import hoisted
from loopxform.frontend.desugar.fixed_steps import with_fixed_steps
from loopxform.frontend.desugar.fresh_statics import with_fresh_statics
from loopxform.frontend.desugar.inline import FileNames, inline
from loopxform.frontend.desugar.jumps import LOOPS
from loopxform.frontend.desugar.literals import without_literals
from loopxform.frontend.desugar.names import Fresh
from loopxform.frontend.desugar.one_return import returns_in_loops, with_one_return
from loopxform.frontend.desugar.pointer_induction import without_moves
from loopxform.frontend.desugar.stepping import without_steps
from loopxform.frontend.desugar.structured import structure
from loopxform.frontend.lower.bit_casts import FileTypes, with_bit_casts
from loopxform.frontend.lower.calls import obstacles
from loopxform.frontend.lower.declarations import declare, declare_function
from loopxform.frontend.lower.functions import lower_function
from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.lower.routines import routine
from loopxform.frontend.lower.sketch import Sketch
from loopxform.frontend.names.called_effects import CalledEffects
from loopxform.frontend.names.filescope import FileScope, by_name
from loopxform.frontend.names.hidden_state import Hidden
from loopxform.frontend.names.iterated import iterated
from loopxform.frontend.names.library import pure
from loopxform.frontend.names.own_pointers import with_own_pointers
from loopxform.frontend.names.sequential import sequential
from loopxform.frontend.names.unions import mentioned_members
from loopxform.frontend.names.variables import Variables
from loopxform.frontend.parsed import Note
from loopxform.frontend.pragmas.annotated import misplaced, unread
from loopxform.frontend.pragmas.directives import directive_of
from loopxform.frontend.pragmas.permits import permits
from loopxform.frontend.syntax.layouts import USUAL, Layouts
from loopxform.frontend.syntax.places import Places
from loopxform.frontend.syntax.tree import every
from loopxform.frontend.text.promises import promised
from loopxform.ir.annotations import Annotation
from loopxform.ir.directives import Directive
from loopxform.ir.memo import forget
from loopxform.ir.nodes import Function
from loopxform.ir.permits import NOTHING, Permits
from loopxform.records import record

PASS = 1 / 2
"""Of the time left, what a pass over all functions may take: what is read should be judged too."""

SHARE = 1 / 32
"""Of the time of a pass, what one function may take at least, however many there are."""


@dataclass
class Lowered:
    functions: list[Function] = field(default_factory=list)
    failed: list[tuple[str, LoopxformError]] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    directives: dict[str, tuple[Directive, ...]] = field(default_factory=dict)
    file_directives: list[Directive] = field(default_factory=list)
    annotations: dict[str, tuple[Annotation, ...]] = field(default_factory=dict)
    pragmas: list[c_ast.Pragma] = field(default_factory=list)
    """Those in front of the next function."""


@record
class Around:
    """What the functions of a file are to each other, whichever of them are lowered: what keeps
    their bodies from standing in the place of a call, what they see of hidden state, and what their
    attributes promise."""

    obstacles: Mapping[str, str]
    hidden: Hidden
    permits: Permits = NOTHING
    by_name: frozenset[str] = frozenset()
    """Static variables whose addresses nobody takes."""
    promised: Mapping[str, frozenset[str]] = field(default_factory=dict)
    mentioned: frozenset[str] = frozenset()
    """The names of members of structs and unions."""
    called: CalledEffects = CalledEffects()

    @classmethod
    def of(cls, ast: c_ast.FileAST, places: Places, text: str) -> Around:
        """Of a file that is `text` once it is preprocessed."""
        found = permits(ast, places, text)
        members, promises = mentioned_members(ast.ext), promised(text)
        called = CalledEffects.of(ast, promises)
        hidden = Hidden(ast.ext)
        return cls(obstacles(ast), hidden, found, by_name(ast), promises, members, called)


def lower_file(
    ast: c_ast.FileAST,
    places: Places,
    *,
    text: str = "",
    layouts: Layouts = USUAL,
    strict_aliasing: bool = True,
    parts: Mapping[str, str] | None = None,
    around: Around | None = None,
    only_judged: bool = False,
    has_matrices: bool = False,
    asked: Collection[str] | None = None,
) -> Lowered:
    """The functions of the user's file; each refusal stays with its function. `text` is the
    preprocessed one, `layouts` says which of its types lie in memory as usual,
    `strict_aliasing` that the compiler tells objects apart by their types; `parts` are functions
    made of statements of others, which they name: no others are lowered then. `around` is that of
    the whole file where some of its functions are but declared in `ast`; functions
    that are `only_judged` are never run, `has_matrices` says that rows are asked to be apart (see
    `FileScope`). Of functions that are not `asked` about (None: all are) nothing is given. Raises
    InputError for an annotation that says nothing meaningful."""
    out = Lowered()
    functions = [n for n in ast.ext if isinstance(n, c_ast.FuncDef)]
    sketches = {id(n): Sketch.of(n) for n in functions}
    parts, broken = parts or {}, dict[str, LoopxformError]()
    if around is None:
        around, broken = _around(ast, functions, places, text)
    scope = FileScope(
        around.obstacles,
        around.hidden.with_parts(parts),
        layouts=layouts,
        strict_aliasing=strict_aliasing,
        only_judged=only_judged,
        has_matrices=has_matrices,
        promised=around.promised,
        mentioned=around.mentioned,
    )
    scope.by_name, scope.called = around.by_name, around.called
    inlined = _Inlining({}, FileNames(frozenset(), frozenset()), {})
    if not broken:
        broken, inlined = _plainer(ast, places, scope, asked)
    left = {id(n): count for count, n in _counted(functions)}
    with _pass():
        for node in ast.ext:
            match node:
                case c_ast.Pragma():
                    found = directive_of(node, places, {})
                    out.file_directives += [found] if found else []
                    out.pragmas.append(node)
                case c_ast.Typedef() | c_ast.Decl():
                    with budget.whatever_is_left():
                        declare(node, scope, places)
                case c_ast.FuncDef(decl=c_ast.Decl(name=name)):
                    with budget.whatever_is_left():
                        declare_function(node.decl, scope, places)
                    why = broken.get(name)
                    is_read = places.file(node.decl.coord) == 1 or takes_numbers(node)
                    is_read = is_read and (asked is None or name in asked)
                    if why is None and is_read:
                        why = inlined.of(node, left[id(node)], places)
                    if why is None and is_read:
                        part = name in parts if parts else None
                        why = _lowered(node, left[id(node)], scope, places, out, part=part)
                    if why is not None:
                        _left(node, why, sketches[id(node)], scope, places, out)
                    node.body = build.block((), node)  # of thousands of functions, one at a time
                    out.pragmas = []
    misplaced(out.pragmas, places)
    if around.permits:
        out.functions = [replace(f, permits=around.permits) for f in out.functions]
    return out


def _around(
    ast: c_ast.FileAST, functions: Sequence[c_ast.FuncDef], places: Places, text: str
) -> tuple[Around, dict[str, LoopxformError]]:
    """What the functions are to each other; where the limits do not suffice for that, each of them
    says so in its place."""
    try:
        return Around.of(ast, places, text), {}
    except budget.Exhausted as e:
        return Around({}, Hidden([])), {n.decl.name: budget.Exhausted(e.kind) for n in functions}


@record
class _Inlining:
    """The functions of a file whose bodies may stand where they are called."""

    known: Mapping[str, Callee]
    file: FileNames
    fresh: Mapping[int, Fresh]

    def of(self, node: c_ast.FuncDef, left: int, places: Places) -> LoopxformError | None:
        """Calls as what they do, pointers that move as offsets, in one function, the first of those
        that are `left`. Returns what went wrong."""
        broken: dict[str, LoopxformError] = {}
        fresh = self.fresh.get(id(node)) or Fresh()
        with _apart(node, left, places, broken), suppress(RecursionError):
            inline(node, self.known, self.file, fresh)
            with_fixed_steps(node)
            with_own_pointers(node, fresh)
            without_moves(node, self.file.arrays, fresh)
        return broken.get(node.decl.name)


def _plainer(
    ast: c_ast.FileAST, places: Places, scope: FileScope, asked: Collection[str] | None
) -> tuple[dict[str, LoopxformError], _Inlining]:
    """Control flow as if and for, wherever that says the same. Returns what went wrong, by the
    names of functions, and what calls are to become. What the text says of loops is recorded for
    the functions that are `asked` about."""
    broken: dict[str, LoopxformError] = {}
    functions = [n for n in ast.ext if isinstance(n, c_ast.FuncDef)]
    own = frozenset(n.decl.name for n in functions)
    hoisting = {id(n): _in_front(n, own, left, places, broken) for left, n in _counted(functions)}
    ast.ext = [x for n in ast.ext for x in (*hoisting.get(id(n), ()), n)]
    names = frozenset(n.name for n in ast.ext if isinstance(n, c_ast.Decl) and n.name)
    declared = [n for n in ast.ext if isinstance(n, c_ast.Decl) and n.name]
    arrays = frozenset(n.name for n in declared if isinstance(n.type, c_ast.ArrayDecl))
    pointers = frozenset(n.name for n in declared if isinstance(n.type, c_ast.PtrDecl))
    fresh = {id(n): Fresh() for n in functions}
    defined, types = frozenset(scope.own), FileTypes(ast)
    inlined: dict[int, c_ast.FuncDef] = {}
    with _pass():
        for left, node in _counted(functions):
            # Where a function is nested too deeply, lowering says so.
            with _apart(node, left, places, broken), suppress(RecursionError):
                if asked is None or node.decl.name in asked:
                    _as_written(node, scope)
                prototyped(node)
                without_builtins(node, defined)
                without_literals(node, fresh[id(node)])
                with_bit_casts(node, types)
                with_arrays(node, pointers, fresh[id(node)], cleared=not scope.only_judged)
                without_steps(node)
                with_fixed_steps(node)
                if returns_in_loops(node):
                    one = with_one_return(node, fresh[id(node)])
                    if one is not None:
                        structure(one, names, fresh[id(node)], strides=scope.only_judged)
                        inlined[id(node)] = one
                structure(node, names, fresh[id(node)], strides=scope.only_judged)
    known, calm = dict[str, Callee](), set[str]()
    with budget.whatever_is_left():
        numbers = enumerators(ast)
    functions = [n for n in functions if n.decl.name not in broken]
    with _pass():
        for left, node in _counted(functions):
            with _apart(node, left, places, broken):
                one = inlined.get(id(node), node)
                found = callee(node, one, defined, numbers, frozenset(calm))
                if found is not None and found.name not in broken:
                    known[found.name] = found
                if is_calm(node, defined, numbers, frozenset(calm)):
                    calm.add(node.decl.name)
    return broken, _Inlining(known, FileNames(defined, arrays), fresh)


def _as_written(node: c_ast.FuncDef, scope: FileScope) -> None:
    """Records what the loops of the text say that those of the loop tree do not."""
    loops = [n for n in every(node.body) if isinstance(n, LOOPS)]
    if loops:
        variables = Variables(node, {})
        scope.iterated.update(iterated(loops, variables))
        if not scope.only_judged:  # loops apart: it is known of where they are from
            scope.sequential.update(sequential(loops, node, variables, scope.called))


@contextmanager
def _pass() -> Iterator[None]:
    with budget.within(budget.part(PASS)):
        yield


def _counted(functions: Sequence[c_ast.FuncDef]) -> Iterator[tuple[int, c_ast.FuncDef]]:
    """Each function, with how many are left from there on."""
    return zip(range(len(functions), 0, -1), functions)


@contextmanager
def _apart(
    node: c_ast.FuncDef, left: int, places: Places, broken: dict[str, LoopxformError]
) -> Iterator[None]:
    """What goes wrong inside is recorded as a problem of the function, the first of those that are
    `left`. It may use as much of the time as each of them, and as what comes after them."""
    name = node.decl.name
    place = places.loc(node.decl.coord, name)
    share = max(SHARE, 1 / (left + 1))
    try:
        with budget.within(budget.part(share)), contained(name, place):
            yield
    except LoopxformError as e:
        if isinstance(e, budget.Exhausted):
            e.loc = place
        broken.setdefault(name, e)


def _lowered(
    node: c_ast.FuncDef,
    left: int,
    scope: FileScope,
    places: Places,
    out: Lowered,
    *,
    part: bool | None,
) -> LoopxformError | None:
    """Lowers the function, if it is of the user's file, or of its parts where these are meant, and
    what it is to those that call it. Returns why it is not read."""
    untold: dict[str, LoopxformError] = {}
    with _apart(node, left, places, untold):
        if places.file(node.decl.coord) == 1 and part is not False:
            _function(node, scope, places, out, part=bool(part))
    no_routine: dict[str, LoopxformError] = {}
    with _apart(node, left, places, no_routine):
        made = routine(node, scope, places)
        if made is not None:
            scope.routines[made.name] = made
    forget()
    errors = (e for e in no_routine.values() if not isinstance(e, budget.Exhausted))
    return next(chain(untold.values(), errors), None)


def _in_front(
    node: c_ast.FuncDef,
    own: frozenset[str],
    left: int,
    places: Places,
    broken: dict[str, LoopxformError],
) -> list[c_ast.Node]:
    """What a function declares of the file, which defines its `own` functions."""

    def is_harmless(name: str) -> bool:
        return name not in own and pure(name, declared=False) is not None

    with _apart(node, left, places, broken), suppress(RecursionError):
        with_fresh_statics(node, is_harmless)
        return hoisted(node)
    return []


def _function(
    node: c_ast.FuncDef, scope: FileScope, places: Places, out: Lowered, *, part: bool
) -> None:
    name = node.decl.name
    try:
        done = lower_function(node, scope, places, out.pragmas, part=part)
    except NotModelled as why:
        loc = places.node(why.node)
        reason = why.reason if part else f"{name}: {why.reason}"
        raise UnsupportedC(reason, loc=loc, code=why.code, help=why.help or None) from why
    out.functions.append(done.function)
    out.notes.extend(done.notes)
    out.directives[name] = (*out.file_directives, *done.directives)
    out.annotations[name] = done.annotations


def _left(
    node: c_ast.FuncDef,
    error: LoopxformError,
    sketch: Sketch,
    scope: FileScope,
    places: Places,
    out: Lowered,
) -> None:
    """A function that is not read, and why. Where the limits are why, its loops are unknown."""
    if isinstance(error, budget.Exhausted):
        error.loc = error.loc or places.loc(node.decl.coord, node.decl.name)
        if places.file(node.decl.coord) != 1:
            return
        unknown = None if out.pragmas else sketch.unknown(node, error, places, scope.sequential)
        if unknown is not None:
            out.functions.append(unknown)
            return
    out.failed.append((node.decl.name, error))
    out.annotations[node.decl.name] = unread([*out.pragmas, *sketch.pragmas], places)
