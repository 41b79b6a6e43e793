"""Where local storage is written under a bounds check: what `clamp-edges` looks at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopxform.ir.affine import poly
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    Path,
    at,
    children,
    declared,
    enclosing,
    loads,
    names,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.edges.bounds import (
    conjunction,
    conjuncts,
    fixed_trips,
    iteration_number,
    operands,
)
from loopxform.transforms.edges.clamping import Guard


@record
class Site:
    """Statements that write the storage: the one at `path` with what it holds (`body`), the guard
    to drop, and the loops that number the elements. `domain` are further conditions of the `if`:
    those that have one value for each element, whatever the data."""

    path: Path
    body: tuple[Stmt, ...]
    guard: tuple[Guard, ...]
    elements: frozenset[str]
    domain: frozenset[Expr] = frozenset()

    @property
    def key(self) -> frozenset[object]:
        return frozenset((poly(g.index), poly(g.limit)) for g in self.guard)


def sites_of(fn: Function, storage: tuple[str, ...]) -> list[Site]:
    """Where the storage is written: under the outermost `if` that checks element loops, or bare."""
    out: list[Site] = []
    for path, s in walk(fn.body):
        if not isinstance(s, Assign) or not isinstance(s.target, Load):
            continue
        if s.target.array not in storage or any(path[: len(x.path)] == x.path for x in out):
            continue
        inner = inner_loops(fn, path, storage)
        own = {poly(i) for i in s.target.index}
        elements = frozenset(x.var for x in inner if poly(iteration_number(x)) in own)
        out.append(_under_if(fn, path, inner, elements) or _bare(fn, path, inner, elements))
    return out


def _under_if(fn: Function, path: Path, inner: list[For], elements: frozenset[str]) -> Site | None:
    """The condition, and the bounds that cut element loops short where it has no limit of theirs
    (a register tile of one element needs no check of its own)."""
    for n in range(1, len(path)):
        parent = at(fn, path[:n])
        if not isinstance(parent, If) or parent.orelse:
            continue
        parts = conjuncts(parent.cond)
        bounds = [c for c in parts if _is_bound(c, elements)]
        if bounds:
            guard = tuple(Guard(c.left, c.right) for c in bounds if isinstance(c, Bin))
            guard += tuple(c for c in _cut_guards(inner, elements) if not _covered(c, guard))
            rest = [c for c in parts if c not in bounds]
            body = (If(conjunction(rest), parent.then),) if rest else parent.then
            fixed = {x.var for x in inner} - elements | writes(fn.body)
            domain = frozenset(c for c in rest if not (names(c) & fixed or any(loads(c))))
            return Site(path[:n], body, guard, elements, domain)
    return None


def _covered(cut: Guard, guard: tuple[Guard, ...]) -> bool:
    own = [g for g in guard if names(cut.index) <= names(g.index)]
    return any(poly(g.limit) == poly(cut.limit) for g in own)


def _is_bound(cond: object, elements: frozenset[str]) -> bool:
    """`index < limit` where only the index moves with the element loops."""
    return (
        isinstance(cond, Bin)
        and cond.op == "<"
        and bool(names(cond.left) & elements)
        and not names(cond.right) & elements
        and not any(True for _ in loads(cond))
    )


def _bare(fn: Function, path: Path, inner: list[For], elements: frozenset[str]) -> Site:
    """The bounds that cut the element loops short are the guard of all that the innermost such
    loop does around the statement at `path`; of that loop where it does more and is whole."""
    guard = _cut_guards(inner, elements)
    parents = enclosing(fn, path)
    short = [n for n, x in enumerate(parents) if isinstance(x, For) and x.var in elements]
    depth = min(max(short, default=len(path) - 2) + 2, len(path))
    loop = parents[depth - 2]
    if isinstance(loop, For) and len(loop.body) > 1 and not cuts(loop):
        depth -= 1
    return Site(path[:depth], (at(fn, path[:depth]),), guard, elements)


def _cut_guards(inner: list[For], elements: frozenset[str]) -> tuple[Guard, ...]:
    return tuple(Guard(Var(x.var), cut) for x in inner if x.var in elements for cut in cuts(x))


def cuts(loop: For) -> list[Expr]:
    fixed = fixed_trips(loop)
    return list(fixed[1]) if fixed else []


def inner_loops(fn: Function, path: Path, storage: tuple[str, ...]) -> list[For]:
    """The loops around `path` inside the declaration of the storage."""
    where = next(p for p, s in walk(fn.body) if isinstance(s, Decl) and s.name in storage)
    depth = len(where) - 1
    return [s for s in enclosing(fn, path)[depth:-1] if isinstance(s, For)]


def held(fn: Function, path: Path) -> frozenset[object]:
    """The conditions and loop bounds that hold at `path`, in the form of `Site.key`."""
    out = set()
    for s in enclosing(fn, path)[:-1]:
        if isinstance(s, If):
            parts = [c for c in conjuncts(s.cond) if isinstance(c, Bin) and c.op == "<"]
            out |= {(poly(c.left), poly(c.right)) for c in parts}
        elif isinstance(s, For):
            out |= {(poly(Var(s.var)), poly(cut)) for cut in operands(s.hi)}
    return frozenset(out)


def first_sites(fn: Function, sites: list[Site], storage: tuple[str, ...]) -> list[Site]:
    """Those that give storage its first value."""
    writing = [(s, writes((at(fn, s.path),))) for s in sites]
    return [next(s for s, names in writing if name in names) for name in storage]


# ---------------------------------------------------------------- conditions of the domain


def everywhere(fn: Function, sites: list[Site], storage: tuple[str, ...]) -> list[Site]:
    """Without the conditions on the domain that all reads of the storage share (`j >= i` of a
    triangle), where the body may run outside of it too: it computes with floating-point numbers of
    its own and of staged copies, and nobody reads the result. Storage whose first value is not set
    there is set to 0."""
    shared = frozenset.union(frozenset(), *(s.domain for s in sites))
    for path, s in walk(fn.body):
        if _reads(s, storage):
            guards = [x.cond for x in enclosing(fn, path)[:-1] if isinstance(x, If)]
            shared &= {c for g in guards for c in conjuncts(g)}
    out = [_without(fn, s, shared) if s.domain & shared else s for s in sites]
    lost = frozenset(c for old, new in zip(sites, out) if new != old for c in old.domain & shared)
    if not lost:
        return sites
    tests = (conjuncts(s.cond) for x in sites for s in x.body if isinstance(s, If))
    inside = conjunction([c for c in dict.fromkeys(c for t in tests for c in t) if c in lost])
    for name in storage:
        n = next(n for n, x in enumerate(out) if name in writes(x.body))
        begun = _begun(out[n].body, name)
        if begun is None:
            return sites
        if begun:
            out[n] = replace(out[n], body=_begun_outside(out[n].body, inside, begun))
    return out


def _begun(body: tuple[Stmt, ...], name: str) -> tuple[Assign, ...] | None:
    """The assignments under conditions that give elements of the storage their first value; none
    where it has one from a statement without a condition. None where it is not known which."""
    found: dict[Expr, Assign] = {}
    for path, s in walk(body):
        if name not in writes((s,)) or isinstance(s, If):
            continue
        if not (isinstance(s, Assign) and isinstance(s.target, Load)):
            return None
        if s.target in found:
            continue
        indirect = any(True for i in s.target.index for _ in loads(i))
        if s.op or indirect or any(x.array == name for x in loads(s.value)):
            return None
        if len(path) == 1:
            break
        found[s.target] = s
    return tuple(found.values())


def _begun_outside(
    body: tuple[Stmt, ...], inside: Expr, begun: tuple[Assign, ...]
) -> tuple[Stmt, ...]:
    """The body, and the first values as 0 where the condition does not hold."""
    zeros = tuple(replace(s, value=Const(0)) for s in begun)
    match body:
        case (If(cond, then, ()),) if set(conjuncts(cond)) == set(conjuncts(inside)):
            return (If(cond, then, zeros),)
        case _:
            return (If(Un("!", inside), zeros), *body)


def settings(body: tuple[Stmt, ...], storage: tuple[str, ...]) -> list[Assign]:
    """The assignments that give each element of the storage its first value, where the body is
    nothing but assignments to such elements: these may get a default. None where it is something
    else, such assignments under conditions aside."""
    found: dict[Expr, Assign] = {}
    for _, s in walk(body):
        if isinstance(s, If):
            continue
        if not (isinstance(s, Assign) and isinstance(s.target, Load)):
            return []
        fresh = not s.op and not {x.array for x in loads(s.value)} & set(storage)
        if s.target not in found and not (fresh and s.target.array in storage):
            return []
        found.setdefault(s.target, s)
    return list(found.values())


def or_zero(cond: Expr, body: tuple[Stmt, ...], storage: tuple[str, ...]) -> If:
    """The body where the condition holds; elsewhere the elements it sets are 0."""
    zeros = tuple(replace(s, value=Const(0)) for s in settings(body, storage))
    return If(cond, body, zeros)


def _reads(s: Stmt, storage: tuple[str, ...]) -> bool:
    match s:
        case Assign(_, value, ""):
            exprs: tuple[Expr, ...] = (value,)
        case Copy(_, source):
            return source in storage
        case _:
            exprs = stmt_exprs(s)
    return any(x.array in storage for e in exprs for x in loads(e))


def _without(fn: Function, site: Site, domain: frozenset[Expr]) -> Site:
    (s,) = site.body
    assert isinstance(s, If)
    if not _speculable(fn, s.then):
        return site
    rest = [c for c in conjuncts(s.cond) if c not in domain]
    return replace(site, body=(If(conjunction(rest), s.then),) if rest else s.then)


def _speculable(fn: Function, body: tuple[Stmt, ...]) -> bool:
    """Whether a body does nothing but set local storage to floating-point numbers made of such
    storage and of scalars."""
    types, own = symbols(fn), declared(fn.body)

    def plain(x: Expr) -> bool:
        of_own = isinstance(x, Load) and x.array in own
        return (of_own or isinstance(x, Const | Var | Un | Bin)) and type_of(x, types).is_float

    for s in body:
        if not (isinstance(s, Assign) and isinstance(s.target, Load) and s.target.array in own):
            return False
        number = isinstance(s.value, Const) and not s.op
        if not (number or (types[s.target.array].is_float and _all(plain, s.value))):
            return False
    return True


def _all(question: Callable[[Expr], bool], e: Expr) -> bool:
    """Of an expression and its parts, but not of subscripts."""
    inner = () if isinstance(e, Load) else children(e)
    return question(e) and all(_all(question, x) for x in inner)
