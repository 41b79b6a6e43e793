"""What steps that reduce in parts share: the partial results, where they are computed, and how they
are combined.

    for k: s += e(k)
 -> part[C]; forall c: { own = 0; for k of part c: own += e(k); part[c] = own; }
    for c: s += part[c];

Legal where the loop carries nothing but recognised reductions of scalars whose operators are
associative: + * & | ^ && || min max, and in parts that keep the order places of extrema. The parts
run before the statements in front of the loop that they do not depend on, so that the loops around
can be distributed.

Integers are summed in an unsigned type at least as wide: a partial sum may leave the range of the
signed type where the whole sum does not, and the low bits are those of the whole sum. Sums and
products of real numbers are rounded differently in another order, and need `reassociate`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from loopxform.analysis.legality import parallel_obstacles
from loopxform.analysis.reductions import Reduction, operands, reductions
from loopxform.errors import Obstacle
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Stmt,
    Var,
)
from loopxform.ir.renaming import rename
from loopxform.ir.types import Scalar, promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    LoopSite,
    Path,
    at,
    enclosing,
    names,
    reads,
    replace_at,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import iteration_number, positive, trip_count
from loopxform.transforms.edges.largest import most_iterations
from loopxform.transforms.reductions.keyed_extrema import (
    Extremum,
    Numbers,
    combined_parts,
    keyed,
    nothing,
    unkeyed,
    with_flags,
    with_places,
)
from loopxform.transforms.reductions.partial import (
    PLACES,
    combined,
    combined_place,
    inseparable,
    is_compared_only,
    is_truth,
    may_find_nothing,
    neutral,
    partial_type,
    rounded,
    unordered,
)
from loopxform.transforms.sites import one_loop, trusted


@record
class Factoring(Step):
    """Reduces `loop` in parts; `size` says in which. `reassociate` (the word) allows floating-point
    sums and products to round differently."""

    loop: str
    size: str
    reassociate: str = ""

    @property
    @abstractmethod
    def in_order(self) -> bool:
        """Whether the parts follow one another as the iterations do; else the operators must be
        commutative too."""

    @abstractmethod
    def parts(self, fn: Function, site: LoopSite) -> For:
        """The loop over parts, which holds the loop over the iterations of one."""

    @abstractmethod
    def unfit(self, fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
        """Why the iterations cannot be told apart."""

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        where = site.loop.origin.loc
        if self.reassociate not in ("", "reassociate"):
            text = f"'{self.reassociate}' says nothing about the order"
            return (Obstacle("LX025", text, where, remedy=self.usage),)
        structure = self.unfit(fn, site)
        if structure:
            return structure
        found = left_reductions(fn, site.path)
        if not found or site.loop.parallel:
            why = "is parallel" if site.loop.parallel else "has no reduction"
            text = f"the loop over '{site.loop.var}' {why}"
            return (Obstacle("LX192", text, where, remedy="name a loop that 'check' says reduces"),)
        problems = tuple(o for r in found if (o := self._problem(fn, site, r)))
        if problems:
            return problems
        made, path = self._split(fn, site, parallel=False)
        # A witness would count chunks, which the program that is looked at does not have.
        text = "the chunks depend on one another: "
        return tuple(
            Obstacle("LX192", text + o.message, o.loc, remedy=o.remedy)
            for o in parallel_obstacles(made, path)
        )

    def _problem(self, fn: Function, site: LoopSite, r: Reduction) -> Obstacle | None:
        types = symbols(fn)
        if not r.fixed or r.array != r.var:
            text = f"'{r.var}' is an element of an array"
            remedy = f"scalarise {r.array} in the loop around '{site.loop.var}' first"
            return Obstacle("LX192", text, r.loc, remedy=remedy)
        found = operands(fn, r)
        kept = self.in_order or r.var in with_places(left_reductions(fn, site.path))
        free = kept or is_compared_only(fn, r)
        why = rounded(r.var, r.op, types) or ("" if free else unordered(r.var, r.op, found, types))
        if why and not self.reassociate:
            return Obstacle("LX191", why, r.loc, remedy="allow it: --fp reassociate")
        apart = inseparable(r.var, r.op, found, types) or self._untouched(fn, site, r)
        if r.op in PLACES:
            ((s, _),) = found
            apart = None if self.in_order or isinstance(s, Assign) else unkeyed(fn, s, site)
        if apart is None:
            return None
        text = f"partial results of '{r.var}' ({r.op}) cannot be combined: {apart[0]}"
        return Obstacle("LX192", text, r.loc, remedy=apart[1])

    def _untouched(self, fn: Function, site: LoopSite, r: Reduction) -> tuple[str, str] | None:
        """A part without iterations changes no sum, but `t || 0` is 1 where t was 7."""
        always_updated = all(p[:-1] == site.path for p in r.paths)
        if r.op not in ("&&", "||") or (self.in_order and always_updated) or is_truth(fn, r.var):
            return None
        why = "it may begin with a number other than 0 and 1, and stay that"
        return why, f"set {r.var} to nothing but comparisons, 0 and 1"

    def rewrite(self, fn: Function) -> Function:
        made, _ = self._split(fn, trusted(one_loop(fn, self.loop)), parallel=True)
        return made

    def _split(self, fn: Function, site: LoopSite, *, parallel: bool) -> tuple[Function, Path]:
        """The program, and where the loop over parts is."""
        located = with_places(left_reductions(fn, site.path))
        if self.in_order:
            located = {n: r for n, r in located.items() if _may_find_nothing(fn, site, r)}
        if not located:
            return self._in_parts(fn, site, {}, {}, parallel=parallel)
        if self.in_order:
            named = with_flags(fn, site, located)
            made, path = self._in_parts(named.fn, named.site, {}, named.keys, parallel=parallel)
        else:
            named = keyed(fn, site, left_reductions(fn, site.path))
            made, path = self._in_parts(named.fn, named.site, named.keys, {}, parallel=parallel)
        return named.without(made, path)

    def _in_parts(
        self,
        fn: Function,
        site: LoopSite,
        keys: Mapping[str, str],
        flags: Mapping[str, str],
        *,
        parallel: bool,
    ) -> tuple[Function, Path]:
        """The program, and where the loop over parts is; extrema with `keys` are combined by
        these, those with `flags` where a part says that it found one."""
        found = left_reductions(fn, site.path)
        origin = site.loop.origin.then(str(self))
        outer = self.parts(fn, site)
        made = [part_of(fn, r, outer, keys) for r in found]
        own = {p.name: p.own for p in made}
        chunks = replace(
            outer,
            body=(
                *(s for p in made for s in p.first),
                *rename(outer.body, own),
                *(p.last for p in made),
            ),
            parallel=parallel,
            origin=origin,
        )
        around = tuple(x for x in enclosing(fn, site.path)[:-1] if isinstance(x, For))
        room = positive(most_iterations(outer, tuple(x for x in around if not x.parallel)))
        arrays = tuple(Decl(p.array, p.type, (room,), origin=origin) for p in made)
        combine = combining(fn, site.loop, outer, made, keys, flags)
        return placed(fn, site.path, (*arrays, chunks), combine)

    def reason(self, fn: Function) -> str:
        found = left_reductions(fn, trusted(one_loop(fn, self.loop)).path)
        what = ", ".join(f"{r.var} ({r.op})" for r in found)
        order = "in parts" if self.in_order else "in any order"
        allowed = "; it may be rounded differently" if self.reassociate else ""
        return f"nothing is carried but {what}, which may be reduced {order}{allowed}"


def left_reductions(fn: Function, path: Path) -> tuple[Reduction, ...]:
    """The reductions of a loop whose updates are not atomic already: those may be in any order."""
    return tuple(
        r
        for r in reductions(fn, path)
        if not all(s.atomic for p in r.paths if isinstance(s := at(fn, p), Assign))
    )


@record
class Part:
    """The partial results of one reduction: `own` in a chunk, `array` of all chunks."""

    reduction: Reduction
    found: tuple[tuple[Assign | If, Expr], ...]
    type: Scalar
    own: str
    array: str
    number: Expr
    begin: Const

    @property
    def name(self) -> str:
        return self.reduction.var

    @property
    def first(self) -> tuple[Stmt, ...]:
        begin = Assign(Var(self.own), self.begin, label=f"begin_{self.own}")
        return Decl(self.own, self.type), begin

    @property
    def last(self) -> Stmt:
        element = Load(self.array, (self.number,))
        return Assign(element, Var(self.own), label=f"store_{self.own}")

    def combined(self, number: Expr) -> Stmt:
        r = self.reduction
        return combined(self.name, r.op, self.found, self.part(number), f"combine_{self.name}")

    def part(self, number: Expr) -> Load:
        """The partial result of a chunk."""
        return Load(self.array, (number,))


def _may_find_nothing(fn: Function, site: LoopSite, r: Reduction) -> bool:
    """Whether parts of an extremum with places must say whether they found any."""
    update, path = at(fn, r.paths[0]), r.paths[0]
    assert isinstance(update, If)
    always = path[:-1] == site.path
    return may_find_nothing(update, always=always, found=symbols(fn)[r.var])


def combining(
    fn: Function,
    loop: For,
    outer: For,
    made: Sequence[Part],
    keys: Mapping[str, str],
    flags: Mapping[str, str],
) -> tuple[Stmt, ...]:
    """The statements that combine the parts of a loop: a loop over these; with `keys` a second
    one, and what is set after both. Those with `flags` are asked whether they found any."""
    count, types, origin = trip_count(outer), symbols(fn), outer.origin
    kind = promote(type_of(count, types))
    step, again = fresh(fn, f"{outer.var}_c"), fresh(fn, f"{outer.var}_k")

    def over(var: str, body: Sequence[Stmt]) -> For:
        return For(var, Const(0), count, Const(1), tuple(body), type=kind, origin=origin)

    arrays = {p.name: p.array for p in made}
    parts = [
        combined_parts(fn, x, loop, count, Numbers(Var(step), Var(again)))
        for x in _extrema(made, keys, arrays)
    ]
    places = {name for x in _extrema(made, keys, arrays) for name in x.parts}
    others = [p for p in made if p.name not in places]
    first = over(step, (*_combined(others, Var(step), flags), *(x.peak for x in parts)))
    if not parts:
        return (first,)
    second = over(again, [x.key for x in parts])
    before = tuple(s for x in parts for s in x.before)
    return *before, first, second, *(x.last for x in parts)


def _extrema(
    made: Sequence[Part], keys: Mapping[str, str], arrays: Mapping[str, str]
) -> Iterator[Extremum]:
    """The extrema with keys, each with what is set with it."""
    for p in made:
        if p.name in keys:
            ((update, operand), *_) = p.found
            assert isinstance(update, If)
            along = [x.name for x in made if x.reduction.paths[0] == p.reduction.paths[0]]
            parts = {n: arrays[n] for n in along}
            begin = neutral(p.reduction.op, p.found, p.type)
            yield Extremum(p.name, update, operand, begin, keys[p.name], parts)


def _combined(made: Sequence[Part], number: Expr, flags: Mapping[str, str]) -> Iterator[Stmt]:
    """The updates by the partial results of a chunk; an extremum takes its places along, and is
    asked for where one was found."""
    for p in made:
        r = p.reduction
        places = [
            x for x in made if x.reduction.op in PLACES and x.reduction.paths[0] == r.paths[0]
        ]
        if r.op in PLACES:
            continue
        ((update, operand), *_) = p.found
        if not places:
            yield p.combined(number)
        elif isinstance(update, If):
            parts = {x.name: x.part(number) for x in (p, *places)}
            taken = combined_place(update, operand, parts, f"combine_{p.name}")
            flag = flags.get(p.name)
            yield If(parts[flag], (taken,), origin=update.origin) if flag else taken


def part_of(fn: Function, r: Reduction, chunks: For, keys: Mapping[str, str]) -> Part:
    found = operands(fn, r)
    kind = partial_type(r.var, r.op, found, symbols(fn))
    begin = neutral(r.op, found, kind)
    if r.var in keys.values() and isinstance(found[0][0], If):
        begin = nothing(found[0][0], kind)
    own, array = fresh(fn, f"{r.var}_own"), fresh(fn, f"{r.var}_part")
    return Part(r, found, kind, own, array, iteration_number(chunks), begin)


def placed(
    fn: Function, path: Path, chunks: tuple[Stmt, ...], combine: tuple[Stmt, ...]
) -> tuple[Function, Path]:
    """`combine` in place of the loop at `path`; `chunks` before it, and before the statements in
    front of it that neither set what they read nor use what they set."""
    fn = replace_at(fn, path, combine)
    *outer, n = path
    if n < 0:  # in an else branch
        made = replace_at(fn, path, (*chunks, combine[0]))
        return made, (*outer, n - len(chunks) + 1)
    first = n
    while first > 0 and _apart(at(fn, (*outer, first - 1)), chunks):
        first -= 1
    place = (*outer, first)
    made = replace_at(fn, place, (*chunks, at(fn, place)))
    return made, (*outer, first + len(chunks) - 1)


def _apart(s: Stmt, chunks: tuple[Stmt, ...]) -> bool:
    """Whether the chunks may run before the statement."""
    if any(isinstance(x, Opaque) for _, x in walk((s,))):
        return False
    declared = {x.var for _, x in walk((s,)) if isinstance(x, For)}
    declared |= {x.name for _, x in walk((s,)) if isinstance(x, Decl)}
    sets, uses = writes((s,)) | declared, reads((s,))
    return not sets & (_free(chunks) | writes(chunks)) and not uses & writes(chunks)


def _free(body: tuple[Stmt, ...]) -> frozenset[str]:
    """What a body reads but for the variables of its own loops."""
    out: frozenset[str] = frozenset()
    for s in body:
        if isinstance(s, For):
            inside = _free(s.body) - (frozenset() if s.live_out else {s.var})
            out |= inside.union(*map(names, stmt_exprs(s)))
        elif isinstance(s, If):
            out |= names(s.cond) | _free(s.then) | _free(s.orelse)
        else:
            out |= reads((s,))
    return out
