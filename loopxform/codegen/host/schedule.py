"""What the host does for a mapped program: launches of kernels, and the control flow around them.

    T[M, N];                                    an array of the device, gone after the last launch
    forall ... ! group: T[...] = ...            a kernel
    if (M >= 1) forall ... ! group: ... T[...]  a kernel, launched where the condition holds
    half = M / 2;                               a scalar of the host
    for (t = 0; t < half; t++)                  a loop of the host
      forall ... ! group: ... t ...             a kernel, launched once for each t
    while (more[0])                             a loop of the host that reads what a kernel computed
      forall ... ! group: ... more[0] = ...

Arrays declared beside the nests pass values from one kernel to the next. A scalar of the host is
made of scalars of the host alone: parameters, counters of its loops, integers that only it sets. A
flag, an array of one int on the device, is all that it reads back: what follows depends on data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TypeAlias, assert_never

from loopxform.analysis.host_scalars import counting, host_scalars
from loopxform.codegen.host.temporaries import (
    made_of,
    on_grid,
    own_arrays,
    own_param,
    row_lengths,
    scalars,
    stands_for,
)
from loopxform.errors import EmitError
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Param,
    Return,
    Stmt,
    Tile,
    Un,
    Var,
)
from loopxform.ir.stand_ins import is_view, moved_by
from loopxform.ir.types import INT, Scalar
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    bodies,
    map_exprs,
    names,
    reads,
    stmt_exprs,
    walk,
    walk_expr,
    writes,
)
from loopxform.ir.whiles import condition, end
from loopxform.records import record
from loopxform.transforms.edges.bounds import conjunction


@record
class Launch:
    """One nest: `function` is the program with this nest alone, arrays and scalars of the host
    among its parameters; `when` says whether it is launched (None: always). `changing` are the
    scalars that are not the same in every launch; `number` counts the nests in text order. Where
    the flag that it `asks` is not above 0, the kernel does nothing."""

    number: int
    function: Function
    when: Expr | None
    changing: tuple[Param, ...]
    asks: str = ""


@record
class Repeat:
    """A loop of the host; before each iteration it reads `flag`, if there is one. Where it has a
    `turn`, iterations may be enqueued before the flag is known: `turn` counts them from 1, and the
    last iteration of the loop leaves its own number in the flag, below 0."""

    loop: For
    body: tuple[Item, ...]
    flag: str = ""
    turn: str = ""


@record
class Choose:
    """A condition of the host: `cond`, or what it reads from `flag`."""

    cond: Expr
    then: tuple[Item, ...]
    orelse: tuple[Item, ...]
    flag: str = ""


@record
class Set:
    """A scalar of the host gets a value."""

    name: str
    type: Scalar
    value: Expr


Item: TypeAlias = Launch | Repeat | Choose | Set


def schedule(fn: Function) -> tuple[Item, ...]:
    """What the host does for `fn`. Raises EmitError where no loop is mapped, for a statement that
    no kernel can run, and for a scalar that kernels would have to pass on."""
    if not any(map(_holds_grid, fn.body)):
        raise EmitError(
            f"no loop of '{fn.name}' is mapped to groups",
            loc=fn.origin.loc,
            help="map the parallel loops: map i group.x",
        )
    arrays = tuple(map(own_param, own_arrays(fn)))
    return tuple(_Reader(fn, arrays).items(fn.body, ()))


def launches(items: tuple[Item, ...]) -> tuple[Launch, ...]:
    """The launches in text order."""
    return tuple(x for x in every(items) if isinstance(x, Launch))


def every(items: tuple[Item, ...]) -> Iterator[Item]:
    """Every item in text order, those inside others included."""
    for x in items:
        yield x
        match x:
            case Repeat(_, body):
                yield from every(body)
            case Choose(_, then, orelse):
                yield from every((*then, *orelse))
            case Launch() | Set():
                pass
            case _:
                assert_never(x)


def expressions(items: tuple[Item, ...]) -> Iterator[Expr]:
    """What the host computes for its control flow."""
    for x in every(items):
        match x:
            case Repeat(loop, _, flag):
                yield from (
                    (loop.lo, end(loop), loop.step) if flag else (loop.lo, loop.hi, loop.step)
                )
            case Choose(cond, _, _, flag):
                if not flag:
                    yield cond
            case Set(_, _, value):
                yield value
            case Launch():
                pass
            case _:
                assert_never(x)


def flags(items: tuple[Item, ...]) -> tuple[str, ...]:
    """The arrays of one int that the host reads."""
    found = (x.flag for x in every(items) if isinstance(x, Repeat | Choose) and x.flag)
    return tuple(dict.fromkeys(found))


def programs(items: tuple[Item, ...]) -> tuple[tuple[int, ...], ...]:
    """The launches by number, in groups that are made or left out together: what stands in one
    branch of the host's choices, in text order."""
    groups: dict[int, list[int]] = {}
    branches = count()

    def visit(items: tuple[Item, ...], branch: int) -> None:
        for x in items:
            match x:
                case Launch(number):
                    groups.setdefault(branch, []).append(number)
                case Repeat(_, body):
                    visit(body, branch)
                case Choose(_, then, orelse):
                    visit(then, next(branches))
                    visit(orelse, next(branches))
                case Set():
                    pass
                case _:
                    assert_never(x)

    visit(items, next(branches))
    return tuple(map(tuple, groups.values()))


@dataclass
class _Reader:
    """Reads the items off the bodies of a program; numbers the launches as it goes."""

    fn: Function
    arrays: tuple[Param, ...]
    number: int = 0
    fixed: frozenset[str] = field(init=False)
    hosted: frozenset[str] = field(init=False)
    types: dict[str, Scalar] = field(init=False)
    rows: dict[str, Param] = field(init=False)

    def __post_init__(self) -> None:
        self.fixed = scalars(self.fn)
        self.hosted = host_scalars(self.fn)
        self.types = symbols(self.fn)
        self.rows = row_lengths(self.fn)

    def items(self, body: tuple[Stmt, ...], around: tuple[For, ...]) -> Iterator[Item]:
        """The items of a body of the host inside its loops `around`."""
        known = self.hosted | {x.var for x in around}
        for s in body:
            match s:
                case Decl() if s.name in self.rows:
                    row = self.rows[s.name]
                    yield Set(row.name, row.type, s.shape[-1])
                case Decl() | Return(None):
                    continue
                case For() | If() if self._is_needless(s):
                    continue
                case For() if on_grid(s):
                    yield self._launch(s, None, around)
                case If(cond, (For() as inner,), ()) if on_grid(inner) and made_of(
                    cond, self.fixed
                ):
                    yield self._launch(inner, cond, around)
                case If(cond, then, orelse) if made_of(cond, known) and self._is_hosts(s):
                    yes, no = (tuple(self.items(b, around)) for b in (then, orelse))
                    yield Choose(cond, yes, no)
                case If(cond, then, orelse) if self._flag(cond) and self._is_hosts(s):
                    yes, no = (tuple(self.items(b, around)) for b in (then, orelse))
                    yield Choose(cond, yes, no, self._flag(cond))
                case For() if self._is_repeated(s, known):
                    flag = self._flag(condition(s))
                    yield Repeat(s, tuple(self.items(s.body, (*around, s))), flag)
                case Assign(Var(name), value, op) if name in self.hosted:
                    whole = Bin(op, Var(name), value) if op else value
                    yield Set(name, self.types[name], whole)
                case _:
                    raise _beside(s)

    def _is_repeated(self, s: For, known: frozenset[str]) -> bool:
        """Whether a loop can be the host's."""
        parts = counting(s) if self._flag(condition(s)) else (s.lo, s.hi, s.step)
        header = all(made_of(e, known | {s.var}) for e in parts)
        return header and not s.live_out and s.level is None and self._is_hosts(s)

    def _flag(self, e: Expr | None) -> str:
        """The array of one int on the device that a condition reads; "" where it is another."""
        match e:
            case Load(name, (Const(0),)) if any(p.name == name for p in self.arrays):
                declared = next(p for p in self.arrays if p.name == name)
                return name if (declared.type, declared.shape) == (INT, (Const(1),)) else ""
            case _:
                return ""

    def _is_hosts(self, s: Stmt) -> bool:
        """Whether a statement holds nests, or does nothing but set scalars of the host."""
        inside = [x for _, x in walk((s,)) if isinstance(x, Assign)]
        own = all(isinstance(x.target, Var) and x.target.name in self.hosted for x in inside)
        return own or _holds_grid(s)

    def _launch(self, nest: For, when: Expr | None, around: tuple[For, ...]) -> Launch:
        counting = tuple(Param(x.var, x.type) for x in around)
        used = _free((nest,)) | (names(when) if when is not None else frozenset())
        moved = (self.hosted - self.fixed) & used
        setting = tuple(Param(n, self.types[n]) for n in sorted(moved))
        changing = tuple(p for p in (*counting, *setting) if p.name in used)
        nest, arrays, rows = self._with_rows(nest)
        changing = (*changing, *rows)
        own = tuple(p for p in changing if p.name not in {q.name for q in self.fn.objects})
        params, tiles = (*self.fn.params, *arrays, *own), _tiles(self.fn, nest)
        alone = replace(self.fn, params=params, body=self._body(nest), tiles=tiles)
        known = {p.name for p in alone.objects}
        lost = used - known | (writes((nest,)) & {p.name for p in alone.objects if not p.array})
        if lost:
            raise _passed_on(min(lost), nest)
        self.number += 1
        return Launch(self.number - 1, alone, self._asked(nest, when), changing)

    def _with_rows(self, nest: For) -> tuple[For, tuple[Param, ...], tuple[Param, ...]]:
        """The nest with the lengths of rows that the host computes, the arrays, and these scalars:
        a kernel need not keep in registers what it is given."""
        used = reads((nest,)) | writes((nest,))
        mine = {p.name: self.rows[p.name] for p in self.arrays if p.name in used & set(self.rows)}
        given = {p.shape[-1]: Var(mine[p.name].name) for p in self.arrays if p.name in mine}
        (body,) = map_exprs((nest,), lambda e: given.get(e, e))
        assert isinstance(body, For)
        arrays = tuple(
            replace(p, shape=(*p.shape[:-1], given.get(p.shape[-1], p.shape[-1])))
            for p in self.arrays
        )
        return body, arrays, tuple(mine.values())

    def _is_needless(self, s: For | If) -> bool:
        """Whether a nest, under a condition perhaps, makes a copy for which an array of the
        caller's always stands."""
        match s:
            case If(_, (For() as nest,), ()):
                return self._is_needless(nest)
            case For():
                copy = moved_by(own_arrays(self.fn), s)
                return copy is not None and is_view(self.fn, copy)
            case _:
                return False

    def _asked(self, nest: For, when: Expr | None) -> Expr | None:
        """When a nest is launched: one that only makes a copy not where the array stands for it."""
        copy = moved_by(own_arrays(self.fn), nest)
        same = None if copy is None else stands_for(self.fn, copy)
        parts = [e for e in (when, None if same is None else Un("!", same)) if e is not None]
        return conjunction(parts) if parts else None

    def _body(self, nest: For) -> tuple[Stmt, ...]:
        """The nest, and the scalars that are declared beside it: counters of its loops."""
        own = {s.var for _, s in walk((nest,)) if isinstance(s, For)}
        shared = (s for s in self.fn.body if isinstance(s, Decl) and not s.shape)
        return (*(s for s in shared if s.name in own), nest)


def _tiles(fn: Function, nest: For) -> tuple[tuple[str, int], ...]:
    """The tile sizes by name: those of the program, but those of a variant where it has others."""
    exprs = (e for _, s in walk((nest,)) for e in stmt_exprs(s))
    used = {x.name: x.value for e in exprs for x in walk_expr(e) if isinstance(x, Tile)}
    return tuple({**dict(fn.tiles), **used}.items())


def _holds_grid(s: Stmt) -> bool:
    return any(on_grid(x) for _, x in walk((s,)))


def _free(body: tuple[Stmt, ...]) -> frozenset[str]:
    """What statements mention and do not declare themselves."""
    out: set[str] = set()
    own: set[str] = set()
    for s in body:
        match s:
            case Decl(name, _, shape):
                out |= {n for d in shape for n in names(d)} - own
                own.add(name)
            case For():
                header = names(s.lo) | names(s.hi) | names(s.step)
                inside = (header | _free(s.body)) - (frozenset() if s.live_out else {s.var})
                out |= (inside | (names(s.lo) & {s.var})) - own
            case _:
                out |= _mentioned(s) - own
    return frozenset(out)


def _mentioned(s: Stmt) -> frozenset[str]:
    """What a statement other than a loop or a declaration mentions."""
    found = frozenset(n for b in bodies(s) for n in _free(b))
    match s:
        case Assign(target, value):
            return found | names(target) | names(value)
        case If(cond):
            return found | names(cond)
        case _:
            return found | reads((s,)) | writes((s,))


def _beside(s: Stmt) -> EmitError:
    what = f"the loop over '{s.var}'" if isinstance(s, For) else "a statement"
    return EmitError(
        f"{what} stands beside the loops that are mapped to groups: no kernel runs it",
        loc=s.origin.loc,
        help="move the nest into a function of its own",
    )


def _passed_on(name: str, nest: For) -> EmitError:
    return EmitError(
        f"'{name}' is a scalar that the kernel of the loop over '{nest.var}' shares with others",
        loc=nest.origin.loc,
        help=f"privatise it in the loop, or keep it in memory: scalar-to-memory {name}",
    )
