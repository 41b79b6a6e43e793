"""Scalars that the host knows: what it passes to kernels by value, and computes launches from.

    known = parameters that nothing writes
          + integers that only statements outside of parallel loops set, from known scalars

The counters of sequential loops around a nest are known to the host as well, inside these loops.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Cast,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Select,
    Stmt,
    Var,
)
from loopxform.ir.types import INT, Scalar, promote
from loopxform.ir.typing import COMPARISONS, symbols, type_of
from loopxform.ir.visit import bodies, names, walk, walk_expr, writes
from loopxform.ir.whiles import end, is_while


def host_scalars(fn: Function, *, but: frozenset[str] = frozenset()) -> frozenset[str]:
    """The scalars of `fn` whose value the host always knows, counters of loops aside; those in
    `but` are known not to be."""
    types = symbols(fn)
    fixed = frozenset(p.name for p in fn.objects if not p.array) - writes(fn.body)
    found = {name for name in _candidates(fn) - but if _is_plain(types[name])}
    copied = small_copies(fn)
    while True:
        bad = {
            name
            for name, value, control, counters in _settings(fn.body, (), frozenset())
            if name in found
            and name not in copied
            and not (
                _settable(name, value, fixed | found | counters, types)
                and all(_is_known(e, fixed | found | counters) for e in control)
            )
        }
        if not bad:
            return fixed | found
        found -= bad


def small_copies(fn: Function) -> dict[str, Expr]:
    """Ints that begin as parameters, which are assumed to be ints whatever their type is, and keep
    that value."""
    types = symbols(fn)
    sums = [s for _, s in walk(fn.body) if isinstance(s, Assign) and isinstance(s.target, Var)]
    set_once = Counter(s.target.name for s in sums if isinstance(s.target, Var))
    fixed = {p.name for p in fn.objects if not p.array} - writes(fn.body)
    out: dict[str, Expr] = {}
    for s in fn.body:
        match s:
            case Assign(Var(name), Var(of), "") if set_once[name] == 1 and types[name] == INT:
                if of in fixed and any(_is_int(a, of) for a in fn.assumes):
                    out[name] = Var(of)
    return out


def counting(loop: For) -> tuple[Expr, ...]:
    """What the host computes to count the iterations of a loop that it runs. A condition on data it
    is told."""
    return (loop.step,) if is_while(loop) else (loop.lo, end(loop), loop.step)


def computed_by_host(e: Expr) -> bool:
    """Whether scalars of the host are enough to compute `e`."""
    return not any(isinstance(x, Load | Call | Cast) for x in walk_expr(e))


def _candidates(fn: Function) -> frozenset[str]:
    """Scalars of the function that are set, and nowhere but where the host may."""
    own = {s.name for _, s in walk(fn.body) if isinstance(s, Decl) and not s.shape}
    own |= {p.name for p in fn.params if not (p.array or p.pointer or p.is_member)}
    counting = {s.var for _, s in walk(fn.body) if isinstance(s, For)}
    opaque = any(isinstance(s, Opaque) for _, s in walk(fn.body))
    outside = {name for name, *_ in _settings(fn.body, (), frozenset())}
    elsewhere = counting | _inside(fn.body) | _in_shapes(fn)
    return frozenset() if opaque else frozenset(own & outside) - elsewhere


def _in_shapes(fn: Function) -> frozenset[str]:
    """An array keeps the shape that it has where it is declared."""
    shapes = [p.shape for p in fn.objects]
    shapes += [s.shape for _, s in walk(fn.body) if isinstance(s, Decl)]
    return frozenset(n for shape in shapes for d in shape if d is not None for n in names(d))


def _settings(
    body: tuple[Stmt, ...], control: tuple[Expr, ...], counters: frozenset[str]
) -> Iterator[tuple[str, Expr, tuple[Expr, ...], frozenset[str]]]:
    """The assignments to scalars outside of parallel loops, with the conditions and the bounds
    around them, and the counters."""
    for s in body:
        match s:
            case Assign(Var(name), value, op):
                yield name, Bin(op, Var(name), value) if op else value, control, counters
            case For() if not s.parallel:
                bounds = (*control, *counting(s))
                yield from _settings(s.body, bounds, counters | {s.var})
            case For():
                pass
            case If(cond, then, orelse):
                yield from _settings((*then, *orelse), (*control, cond), counters)
            case _:
                for inner in bodies(s):
                    yield from _settings(inner, control, counters)


def _inside(body: tuple[Stmt, ...]) -> frozenset[str]:
    """What parallel loops write."""
    loops = (s for _, s in walk(body) if isinstance(s, For) and s.parallel)
    return frozenset(n for s in loops for n in writes(s.body))


def _settable(name: str, value: Expr, known: frozenset[str], types: dict[str, Scalar]) -> bool:
    """Whether the value is computed from known scalars in signed integers, which the target
    holds: then it is the same in numbers without bounds."""
    if not _is_known(value, known):
        return False
    parts = [x for x in walk_expr(value) if not _compares(x)]
    plain = all(_is_plain(promote(type_of(x, types))) for x in parts)
    return plain and type_of(value, types).bytes <= types[name].bytes


def _is_int(a: Expr, name: str) -> bool:
    """Whether a condition says that a size is no more than the largest int."""
    match a:
        case Bin("<=", Var(n), Const(int(most))):
            return n == name and most <= INT.most
        case _:
            return False


def _is_known(e: Expr, known: frozenset[str]) -> bool:
    return computed_by_host(e) and names(e) <= known


def _compares(e: Expr) -> bool:
    return (isinstance(e, Bin) and e.op in COMPARISONS) or isinstance(e, Select)


def _is_plain(t: Scalar) -> bool:
    return t.is_integer and not t.is_unsigned
