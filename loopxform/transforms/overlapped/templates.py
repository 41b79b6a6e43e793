"""The nests of a loop over time as templates of stages: what each of their elements is set to, with
the scalars that it is computed from, whatever the step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from loopxform.analysis.verdict import LoopVerdict, judge
from loopxform.ir.affine import value_of
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Assign, Bin, Decl, Expr, For, Function, Load, Select, Stmt, Var
from loopxform.ir.types import INT, LONG, Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    LoopSite,
    Path,
    at,
    children,
    loads,
    names,
    substitute,
    walk,
    walk_expr,
)
from loopxform.records import record
from loopxform.source import Loc
from loopxform.transforms.overlapped.clock import ALWAYS, ONCE, Run, runs
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.sizes import shape_of
from loopxform.transforms.overlapped.straight_line import Stored, iterations, stores, unrolled
from loopxform.transforms.overlapped.value_ranges import value_range

PARALLEL = ("yes", "privatizable")

LEAST_SPACE = 2
"""Dimensions that are left where loops of a few iterations around others are unrolled."""

FEW = 16
"""Iterations of such a loop."""

Types = dict[str, Scalar]


@record
class Template:
    """A stage in any step of time: the element that it writes, `always` or under conditions, its
    value after the `scalars` that are computed before it, its loops, and `when` a step runs it. An
    `exact` one may only be computed from what the program computes it from: of other elements a
    divisor may be 0, or a subscript none."""

    target: Load
    value: Expr
    scalars: tuple[tuple[str, Scalar, Expr], ...]
    loops: tuple[For, ...]
    exact: bool
    always: bool
    when: Expr
    loc: Loc | None

    @property
    def values(self) -> tuple[Expr, ...]:
        """Its value, and those of the scalars."""
        return (self.value, *(v for _, _, v in self.scalars))


def stages_of(fn: Function, site: LoopSite) -> tuple[Template, ...]:
    """The stages of one step of a loop over time. Raises NotStages."""
    nests = runs(fn, site.loop)[1]
    if all(run.nest.var == ONCE for run in nests):
        raise NotStages("the loop holds no nest", site.loop.origin.loc)
    found = templates(fn, nests, verdicts_of(fn, nests, inlined=True, at=site.path))
    fields = frozenset(t.target.array for t in found)
    return tuple(replace(t, exact=t.exact or looks_up(fn, t, fields)) for t in found)


def verdicts_of(
    fn: Function, nests: Iterable[Run], *, inlined: bool = False, at: Path = ()
) -> dict[Path, LoopVerdict]:
    """The verdicts on the loops of a function, or at a place in it, where not all of the nests
    are known to be parallel."""
    every = (x for run in nests for _, x in walk((run.nest,)) if isinstance(x, For))
    if all(x.parallel for x in every):
        return {}
    return {v.path: v for v in judge(fn, inlined=inlined, at=at)}


def templates(
    fn: Function,
    nests: Iterable[Run],
    verdicts: Mapping[Path, LoopVerdict],
    *,
    unroll: bool = True,
) -> tuple[Template, ...]:
    """The stages of parallel nests; `unroll` loops of a few iterations around others. Raises
    NotStages."""
    types = symbols(fn)
    every = (x for run in nests for x in (_of_few(run) if unroll else (run,)))
    return tuple(t for run in every for t in _of_nest(fn, types, run, verdicts))


class Nests:
    """The nests of a function, by where they are, and their templates, which are read once; whether
    their sums may be in another order (`reassociate`)."""

    def __init__(
        self, fn: Function, verdicts: Mapping[Path, LoopVerdict], *, reassociate: bool = False
    ) -> None:
        self.fn = fn
        self.reassociate = reassociate
        self._verdicts = verdicts
        self._known: dict[tuple[Path, bool], tuple[Template, ...] | NotStages] = {}

    @classmethod
    def judged(cls, fn: Function, paths: Sequence[Path], *, reassociate: bool = False) -> Nests:
        """Those at some paths, with their verdicts."""
        runs = [Run(s, ALWAYS, p) for p in paths if isinstance(s := at(fn, p), For)]
        return cls(fn, verdicts_of(fn, runs), reassociate=reassociate)

    def loops(self, paths: Iterable[Path]) -> tuple[For, ...]:
        """Their outermost loops."""
        return tuple(s for s in (at(self.fn, p) for p in paths) if isinstance(s, For))

    def templates(self, paths: Iterable[Path], *, unroll: bool) -> tuple[Template, ...]:
        """The stages of some nests. Raises NotStages."""
        return tuple(t for p in paths for t in self._of(p, unroll))

    def _of(self, path: Path, unroll: bool) -> tuple[Template, ...]:
        if (path, unroll) not in self._known:
            try:
                runs = [Run(x, ALWAYS, path) for x in self.loops([path])]
                made = templates(self.fn, runs, self._verdicts, unroll=unroll)
                self._known[path, unroll] = made
            except NotStages as e:
                self._known[path, unroll] = e
        found = self._known[path, unroll]
        if isinstance(found, NotStages):
            raise found
        return found


@remembered(1024)
@remembered(1024)
def touched(t: Template) -> tuple[Load, ...]:
    """The elements that a template writes and reads."""
    return tuple(x for e in (t.target, *t.values) for x in loads(e))


@remembered(1024)
def arrays_read(t: Template) -> frozenset[str]:
    """The arrays that a template reads elements of."""
    return frozenset(x.array for e in t.values for x in loads(e))


def coordinate(found: tuple[Template, ...]) -> Scalar:
    """The type of coordinates: that of the loops, which all of them are numbers of."""
    return LONG if any(x.type.bytes > INT.bytes for t in found for x in t.loops) else INT


def _of_nest(
    fn: Function, types: Types, run: Run, verdicts: Mapping[Path, LoopVerdict]
) -> Iterator[Template]:
    sites, body = _perfect(run)
    chain = tuple(s.loop for s in sites)
    for s in sites:
        _require_plain(s.loop, verdicts.get(s.path))
    for x in chain:
        if _is_unsigned(x.lo, types) or _is_unsigned(x.hi, types):
            text = f"the bounds of '{x.var}' are unsigned: no number is less than the first one"
            raise NotStages(text, x.origin.loc, "compute them in an int or a long")
    types = {**types, **{x.var: LONG for x in chain if x.type.is_unsigned}}
    for stored in _stored(fn, body):
        _require_signed(chain, stored)
        if any(_is_unsigned(e, types) for e in stored.target.index):
            text = f"'{stored.target.array}' is written at an unsigned subscript"
            raise NotStages(text, stored.loc, "compute it in an int or a long")
        own = {**types, **{name: type for name, type, _ in stored.scalars}}
        values = (stored.value, *(e for _, _, e in stored.scalars))
        divides = any(_divides(e, own) for e in values)
        once = {x.var: x.lo for x in chain if _runs_once(x, stored.target)}
        yield Template(
            stored.target,
            substitute(stored.value, once),
            tuple((name, type, substitute(e, once)) for name, type, e in stored.scalars),
            tuple(x for x in chain if x.var not in once),
            divides,
            stored.always,
            run.when,
            stored.loc,
        )


def _stored(fn: Function, body: tuple[Stmt, ...]) -> list[Stored]:
    """What an iteration of a parallel nest stores; statements that may set one element are nests of
    their own, one after the other. Raises NotStages."""
    try:
        return [*stores(fn, body)]
    except NotStages:
        if len(body) < 2 or not all(map(_sets_element, body)):
            raise
        return [x for s in body for x in stores(fn, (s,))]


def _runs_once(x: For, target: Load) -> bool:
    """Whether a loop around one statement, say, has one iteration, and says no place."""
    counted = iterations(x)
    return counted is not None and len(counted) == 1 and not names(target) & {x.var}


def _sets_element(s: Stmt) -> bool:
    return isinstance(s, Assign) and isinstance(s.target, Load)


def _of_few(run: Run) -> Iterator[Run]:
    """The nests of the iterations of an outermost loop of a few; else the nest."""
    counted, (chain, _) = iterations(run.nest), _perfect(run)
    if len(chain) <= LEAST_SPACE or counted is None or len(counted) > FEW:
        yield run
        return
    for n, s in enumerate(unrolled(run.nest)):
        if not isinstance(s, For):
            raise NotStages("a statement stands beside the nests", s.origin.loc)
        yield from _of_few(Run(s, run.when, (*run.path, n % len(run.nest.body))))


def _perfect(run: Run) -> tuple[tuple[LoopSite, ...], tuple[Stmt, ...]]:
    """The loops of a nest, and the statements of an iteration: scalars that are computed in front
    of an inner loop are computed in it, and a loop of a few iterations is a statement."""
    chain, before = [LoopSite(run.path, run.nest)], tuple[Stmt, ...]()
    while (inner := _only(chain[-1].loop.body)) is not None:
        *scalars, loop = inner
        assert isinstance(loop, For)
        counted = iterations(loop)
        if len(chain) >= LEAST_SPACE and counted is not None and len(counted) <= FEW:
            break
        before = (*before, *scalars)
        chain.append(LoopSite((*chain[-1].path, len(scalars)), loop))
    return tuple(chain), (*before, *chain[-1].loop.body)


def _only(body: tuple[Stmt, ...]) -> tuple[Stmt, ...] | None:
    """A body that is one loop behind scalars, else None."""
    if not body:
        return None
    *scalars, last = body
    plain = (
        (isinstance(s, Decl) and not s.shape)
        or (isinstance(s, Assign) and isinstance(s.target, Var))
        for s in scalars
    )
    return body if isinstance(last, For) and all(plain) else None


def _is_unsigned(e: Expr, types: Types) -> bool:
    type = type_of(e, types)
    return type.is_unsigned and type.bytes >= INT.bytes


def _require_plain(x: For, verdict: LoopVerdict | None) -> None:
    if not x.parallel and (verdict is None or verdict.parallel not in PARALLEL):
        raise NotStages(f"the loop over '{x.var}' is not parallel", x.origin.loc)
    if verdict is not None and verdict.copies and not x.parallel:
        text = f"the last value of '{verdict.copies[0]}' is used after the loop over '{x.var}'"
        raise NotStages(text, x.origin.loc, "declare it in the loop")
    if value_of(x.step) != 1 or x.live_out:
        text = f"the loop over '{x.var}' does not count upwards by 1"
        raise NotStages(text, x.origin.loc, "count upwards by 1, with a counter of the loop's own")


def _require_signed(chain: tuple[For, ...], s: Stored) -> None:
    """An unsigned counter of numbers that are known may say places: there it is what an int is."""
    values = (s.value, *(e for _, _, e in s.scalars))
    counted = frozenset(n for e in values for n in outside_subscripts(e))
    for x in chain:
        known = iterations(x) is not None and x.var not in counted
        if x.type.is_unsigned and not known:
            text = f"'{x.var}' is unsigned: no number is less than the first one"
            raise NotStages(text, x.origin.loc, "count with an int or a long")


def outside_subscripts(e: Expr) -> Iterator[str]:
    """The scalars that an expression reads, but for those that say places."""
    if isinstance(e, Var):
        yield e.name
    elif not isinstance(e, Load):
        for x in children(e):
            yield from outside_subscripts(x)


# ---------------------------------------------------------------- what data decide


def _divides(e: Expr, types: Types) -> bool:
    """Whether an expression divides integers by what need not be a number other than 0."""
    every = (x for x in walk_expr(e) if isinstance(x, Bin) and x.op in ("/", "%"))
    return any(type_of(x, types).is_integer and not value_of(x.right) for x in every)


def looks_up(fn: Function, t: Template, fields: frozenset[str]) -> bool:
    """Whether elements of `fields` say which elements of other arrays are read, and may name one
    that is not there."""
    types = {**symbols(fn), **{name: type for name, type, _ in t.scalars}}
    told = set[str]()
    for name, _, e in t.scalars:
        if _arrays(e) & fields or names(e) & told:
            told.add(name)

    def by_data(e: Expr) -> bool:
        return bool(_arrays(e) & fields or names(e) & told)

    def found(e: Expr, under: bool) -> bool:
        if isinstance(e, Load) and e.array not in fields:
            ends = zip(e.index, shape_of(fn, e.array), strict=True)
            if under or any(by_data(x) and not _is_one_of(x, n, types) for x, n in ends):
                return True
        first, *rest = children(e) or (None,)
        choice = isinstance(e, Select) or (isinstance(e, Bin) and e.op in ("&&", "||"))
        below = under or (choice and first is not None and by_data(first))
        return (first is not None and found(first, under)) or any(found(x, below) for x in rest)

    return any(found(e, False) for e in t.values)


def _is_one_of(e: Expr, extent: Expr | None, types: Types) -> bool:
    """Whether an integer is less than an extent, and not less than 0, whatever it is made of."""
    known, end = value_range(e, types), None if extent is None else value_of(extent)
    return known is not None and end is not None and known[0] >= 0 and known[1] < end


def _arrays(e: Expr) -> frozenset[str]:
    return frozenset(x.array for x in loads(e))
