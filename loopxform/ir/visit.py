"""Walking, finding and rewriting: the only place that knows the children of every node.

A `Path` names a statement inside a function: one integer per level, an index into the body of the
enclosing statement (into `orelse` of an `If` as -1 - index).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import assert_never

from loopxform.ir.copies import replace
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Cast,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Return,
    Select,
    Slice,
    Stmt,
    Tile,
    Un,
    Var,
    While,
)
from loopxform.records import slotted

Path = tuple[int, ...]


# ---------------------------------------------------------------- expressions


def children(e: Expr) -> tuple[Expr, ...]:
    """The direct subexpressions of `e`."""
    match e:
        case Bin():
            return (e.left, e.right)
        case Const() | Tile() | Var():
            return ()
        case Load():
            return e.index
        case Un() | Cast():
            return (e.operand,)
        case Call():
            return e.args
        case Select():
            return (e.cond, e.then, e.orelse)
        case _:
            assert_never(e)


def map_children(e: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """`e` with `f` applied to its direct subexpressions; shares what did not change."""
    match e:
        case Const() | Tile() | Var():
            return e
        case Load(_, index):
            mapped = tuple(f(i) for i in index)
            return e if all(a is b for a, b in zip(mapped, index)) else replace(e, index=mapped)
        case Bin(_, left, right):
            l2, r2 = f(left), f(right)
            return e if l2 is left and r2 is right else replace(e, left=l2, right=r2)
        case Un(_, operand) | Cast(_, operand):
            o2 = f(operand)
            return e if o2 is operand else replace(e, operand=o2)
        case Call(_, args):
            mapped = tuple(f(a) for a in args)
            return e if all(a is b for a, b in zip(mapped, args)) else replace(e, args=mapped)
        case Select(cond, then, orelse):
            c2, t2, e2 = f(cond), f(then), f(orelse)
            same = c2 is cond and t2 is then and e2 is orelse
            return e if same else replace(e, cond=c2, then=t2, orelse=e2)
        case _:
            assert_never(e)


def map_expr(e: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """Rebuilds `e` bottom-up, replacing every node by `f(node)`; shares what did not change."""
    chain: list[Bin] = []
    while isinstance(e, Bin):  # long sums are left-deep
        chain.append(e)
        e = e.left
    out = f(map_children(e, lambda x: map_expr(x, f)))
    for x in reversed(chain):
        right = map_expr(x.right, f)
        out = f(x if out is x.left and right is x.right else replace(x, left=out, right=right))
    return out


def walk_expr(e: Expr) -> Iterator[Expr]:
    """`e` and everything below it, outermost first."""
    waiting = [e]
    while waiting:
        x = waiting.pop()
        yield x
        if not isinstance(x, LEAVES):
            waiting += children(x)[::-1]


LEAVES, BODIED = (Const, Tile, Var), (For, Opaque)


def substitute(e: Expr, values: dict[str, Expr]) -> Expr:
    """`e` with scalars replaced by expressions (simultaneously)."""
    return map_expr(e, lambda x: values.get(x.name, x) if isinstance(x, Var) else x)


@remembered(16384)
def names(e: Expr) -> frozenset[str]:
    """Scalars and arrays that `e` reads."""
    found, waiting = set[str](), [e]
    while waiting:
        x = waiting.pop()
        if isinstance(x, Var):
            found.add(x.name)
        elif not isinstance(x, LEAVES):
            waiting += children(x)
            if isinstance(x, Load):
                found.add(x.array)
    return frozenset(found)


def loads(e: Expr) -> Iterator[Load]:
    """The array elements read by `e`, outermost first."""
    return iter(_loads(e))


@remembered(16384)
def _loads(e: Expr) -> tuple[Load, ...]:
    return tuple(x for x in walk_expr(e) if isinstance(x, Load))


# ---------------------------------------------------------------- statements


def map_stmt_exprs(s: Stmt, f: Callable[[Expr], Expr]) -> Stmt:
    """Applies `f` to every expression held directly by `s` (not to statements inside it)."""

    def each(e: Expr) -> Expr:
        return map_expr(e, f)

    match s:
        case For():
            return replace(s, lo=each(s.lo), hi=each(s.hi), step=each(s.step))
        case If() | While():
            return replace(s, cond=each(s.cond))
        case Assign():
            target = each(s.target)
            if not isinstance(target, Var | Load):
                raise TypeError(f"target of {s.label} became {target}")
            atomic = s.atomic and isinstance(target, Load)  # a scalar is nobody else's
            return replace(s, target=target, value=each(s.value), atomic=atomic)
        case Decl():
            return replace(s, shape=tuple(map(each, s.shape)), at=tuple(map(each, s.at)))
        case Copy():
            return replace(s, slices=tuple(_map_slice(x, each) for x in s.slices))
        case Return():
            return s if s.value is None else replace(s, value=each(s.value))
        case Opaque():
            return s
        case _:
            assert_never(s)


def _map_slice(s: Slice, f: Callable[[Expr], Expr]) -> Slice:
    size = None if s.size is None else f(s.size)
    limit = None if s.limit is None else f(s.limit)
    floor = None if s.floor is None else f(s.floor)
    return replace(s, lo=f(s.lo), size=size, limit=limit, floor=floor)


def stmt_exprs(s: Stmt) -> tuple[Expr, ...]:
    """The expressions held directly by `s`; the target of an assignment comes first."""
    match s:
        case For():
            return (s.lo, s.hi, s.step)
        case If() | While():
            return (s.cond,)
        case Assign():
            return (s.target, s.value)
        case Decl():
            return s.shape
        case Copy():
            return tuple(e for x in s.slices for e in x.places)
        case Return():
            return () if s.value is None else (s.value,)
        case Opaque():
            return ()
        case _:
            assert_never(s)


def bodies(s: Stmt) -> tuple[tuple[Stmt, ...], ...]:
    """The statement lists inside `s`."""
    match s:
        case For() | Opaque():
            return (s.body,)
        case If():
            return (s.then, s.orelse)
        case Assign() | Decl() | Copy() | Return():
            return ()
        case _:
            assert_never(s)


def map_body(body: tuple[Stmt, ...], f: Callable[[Stmt], tuple[Stmt, ...]]) -> tuple[Stmt, ...]:
    """Rebuilds a body bottom-up; `f` maps a statement to the statements that replace it."""
    out: list[Stmt] = []
    for s in body:
        match s:
            case For() | Opaque():
                new: Stmt = replace(s, body=map_body(s.body, f))
            case If():
                new = replace(s, then=map_body(s.then, f), orelse=map_body(s.orelse, f))
            case Assign() | Decl() | Copy() | Return():
                new = s
            case _:
                assert_never(s)
        out.extend(f(new))
    return tuple(out)


def map_exprs(body: tuple[Stmt, ...], f: Callable[[Expr], Expr]) -> tuple[Stmt, ...]:
    """Applies `f` bottom-up to every expression in `body`."""
    return map_body(body, lambda s: (map_stmt_exprs(s, f),))


def substitute_body(body: tuple[Stmt, ...], values: dict[str, Expr]) -> tuple[Stmt, ...]:
    """`body` with scalars replaced by expressions. Loop variables must not be among them."""
    return map_exprs(body, lambda x: values.get(x.name, x) if isinstance(x, Var) else x)


def walk(body: tuple[Stmt, ...], path: Path = ()) -> Iterator[tuple[Path, Stmt]]:
    """Every statement below `body` in text order, with its path."""
    return iter(_placed(body, path) if path else _walked(body))


@remembered(2048)
def _walked(body: tuple[Stmt, ...]) -> tuple[tuple[Path, Stmt], ...]:
    return tuple(_placed(body, ()))


def _placed(body: tuple[Stmt, ...], path: Path) -> list[tuple[Path, Stmt]]:
    out: list[tuple[Path, Stmt]] = []
    waiting = [iter([((*path, n), s) for n, s in enumerate(body)])]
    while waiting:
        for place, s in waiting[-1]:
            out.append((place, s))
            if isinstance(s, BODIED):
                waiting.append(iter([((*place, n), x) for n, x in enumerate(s.body)]))
                break
            if isinstance(s, If):
                waiting.append(iter(_branches(s, place)))
                break
        else:
            waiting.pop()
    return out


def _branches(s: If, place: Path) -> list[tuple[Path, Stmt]]:
    inner = [((*place, n), x) for n, x in enumerate(s.then)]
    return inner + [((*place, -1 - n), x) for n, x in enumerate(s.orelse)]


def after(path: Path) -> Path:
    """The place directly after `path` in the same body."""
    return (*path[:-1], path[-1] + (1 if path[-1] >= 0 else -1))


def in_body_of(path: Path, other: Path) -> bool:
    """Whether `other` is in the body that the statement at `path` stands in: of the two of an `if`
    in the same one."""
    depth = len(path) - 1
    same = other[:depth] == path[:depth] and len(other) > depth
    return same and (other[depth] < 0) == (path[depth] < 0)


def at(fn: Function, path: Path) -> Stmt:
    """The statement at `path`."""
    return enclosing(fn, path)[-1]


def enclosing(fn: Function, path: Path) -> tuple[Stmt, ...]:
    """The statements on the way to `path`, outermost first, ending with the one at `path`."""
    return along(fn.body, path)


def along(body: tuple[Stmt, ...], path: Path) -> tuple[Stmt, ...]:
    """`enclosing` for the body of a function."""
    out: list[Stmt] = []
    for n in path:
        if n < 0:
            parent = out[-1]
            assert isinstance(parent, If)
            s = parent.orelse[-1 - n]
        else:
            s = body[n]
        out.append(s)
        inner = bodies(s)
        body = inner[0] if inner else ()
    return tuple(out)


def loops_around(fn: Function, path: Path) -> tuple[For, ...]:
    """The `For` loops around the statement at `path` (not itself), outermost first."""
    return tuple(s for s in enclosing(fn, path)[:-1] if isinstance(s, For))


def replace_at(fn: Function, path: Path, new: tuple[Stmt, ...]) -> Function:
    """`fn` with the statement at `path` replaced by `new`."""
    return replace(fn, body=_replace(fn.body, path, new))


def _replace(body: tuple[Stmt, ...], path: Path, new: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    n, rest = path[0], path[1:]
    s = body[n]
    if not rest:
        return (*body[:n], *new, *body[n + 1 :])
    if isinstance(s, If) and rest[0] < 0:
        inner = _replace(s.orelse, (-1 - rest[0], *rest[1:]), new)
        changed: Stmt = replace(s, orelse=inner)
    elif isinstance(s, If):
        changed = replace(s, then=_replace(s.then, rest, new))
    elif isinstance(s, For | Opaque):
        changed = replace(s, body=_replace(s.body, rest, new))
    else:
        raise IndexError(f"no statement at {path}")
    return (*body[:n], changed, *body[n + 1 :])


# ---------------------------------------------------------------- loops by name


@slotted
class LoopSite:
    """A loop and where it is."""

    path: Path
    loop: For


def loops(fn: Function) -> tuple[LoopSite, ...]:
    """Every `For` of the function in text order."""
    return _loops(fn.body)


@remembered(64)
def _loops(body: tuple[Stmt, ...]) -> tuple[LoopSite, ...]:
    return tuple(LoopSite(p, s) for p, s in _walked(body) if isinstance(s, For))


def resolve(fn: Function, ref: str) -> tuple[LoopSite, ...]:
    """The loops a reference names: `i` or `i*` all loops over i, `i#2` the second in text order.

    Callers that need exactly one loop check the length of the result.
    """
    name, _, number = ref.partition("#")
    every = tuple(s for s in loops(fn) if s.loop.var == name.rstrip("*"))
    if not number:
        return every
    n = int(number) if number.isdigit() else 0
    return every[n - 1 : n] if n > 0 else ()


def perfect_nest(loop: For) -> tuple[For, ...]:
    """`loop` and the loops perfectly nested in it (each the only statement of its parent)."""
    out = [loop]
    while len(out[-1].body) == 1 and isinstance(out[-1].body[0], For):
        out.append(out[-1].body[0])
    return tuple(out)


@remembered(256)
def declared(body: tuple[Stmt, ...]) -> Mapping[str, Decl]:
    """Every declaration below `body`, by name."""
    return MappingProxyType({s.name: s for _, s in walk(body) if isinstance(s, Decl)})


@remembered(256)
def writes(body: tuple[Stmt, ...]) -> frozenset[str]:
    """Scalars and arrays assigned anywhere below `body`."""
    return frozenset[str]().union(*map(_written, body))


@remembered(4096)
def _written(s: Stmt) -> frozenset[str]:
    match s:
        case Assign(target):
            return frozenset([target.name if isinstance(target, Var) else target.array])
        case Copy(target):
            return frozenset([target])
        case _:
            return frozenset[str]().union(*(_written(x) for body in bodies(s) for x in body))


def reads(body: tuple[Stmt, ...]) -> frozenset[str]:
    """Scalars and arrays read anywhere below `body`, bounds and subscripts of targets included."""
    out: set[str] = set()
    for _, s in walk(body):
        match s:
            case Assign(target, value, op):
                out |= names(value)
                for i in target.index if isinstance(target, Load) else ():
                    out |= names(i)
                if op:
                    out.add(target.name if isinstance(target, Var) else target.array)
            case Copy():
                out.add(s.source)
                for e in stmt_exprs(s):
                    out |= names(e)
            case _:
                for e in stmt_exprs(s):
                    out |= names(e)
    return frozenset(out)


def counters(fn: Function) -> frozenset[str]:
    """Variables that do nothing but count loops: each loop declares its own."""
    sites = [s for _, s in walk(fn.body) if isinstance(s, For)]
    return frozenset(s.var for s in sites) - {s.var for s in sites if s.live_out} - writes(fn.body)
