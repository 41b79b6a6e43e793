"""What becomes of the value of a private variable, as far as it is certain.

`liveness` answers what may happen; a finding needs what does happen whenever the loop is reached.
"""

from __future__ import annotations

from loopxform.analysis.accesses import touched
from loopxform.analysis.liveness import runs
from loopxform.analysis.openmp.construct import Construct, target_name
from loopxform.ir.nodes import Assign, Const, Decl, Expr, For, Function, If, Load, Return, Stmt, Var
from loopxform.ir.visit import Path, enclosing, names, stmt_exprs, walk, writes


def surely_read_first(fn: Function, body: tuple[Stmt, ...], path: Path, name: str) -> Stmt | None:
    """The first use of `name` in the body at `path`, where every path reads it there."""
    return _search(fn, body, path, name, 0)


def surely_read_after(fn: Function, path: Path, name: str) -> Stmt | None:
    """The first use of `name` after the loop at `path`, where every path reads it there."""
    for depth in range(len(path) - 1, -1, -1):
        outer = enclosing(fn, path[:depth])[-1] if depth else None
        if path[depth] < 0 or (outer is not None and not isinstance(outer, For | If)):
            return None
        body = fn.body if outer is None else outer.body if isinstance(outer, For) else outer.then
        found = _search(fn, body, path[:depth], name, path[depth] + 1)
        if found is not None:
            return found
        if isinstance(outer, For) or any(_mentions(s, name) for s in body[path[depth] + 1 :]):
            return None
    return None


def may_stay(c: Construct, name: str) -> bool:
    """Whether the loop may set the variable only to what it holds already: each value is one that
    does not change in the loop, and that the function may have set it to elsewhere."""
    moving = writes(c.loop.body) | {s.var for _, s in c.statements if isinstance(s, For)}
    moving |= {x.var for x in c.nest}
    mine, others = list[Expr | None](), list[Expr | None]()
    for path, s in walk(c.fn.body):
        if isinstance(s, Assign) and target_name(s) == name:
            inside = path[: len(c.path)] == c.path
            (mine if inside else others).append(None if s.op else s.value)
    if not mine or any(e is None or names(e) & moving for e in mine):
        return False
    return any(_may_equal(a, b) for a in mine for b in others)


def _may_equal(a: Expr | None, b: Expr | None) -> bool:
    return a == b or not (isinstance(a, Const) and isinstance(b, Const))


def _search(fn: Function, body: tuple[Stmt, ...], path: Path, name: str, start: int) -> Stmt | None:
    for n, s in enumerate(body[start:], start):
        if _reads_at_once(s, name):
            return s
        if isinstance(s, For) and s.var != name and runs(fn, s, (*path, n)):
            found = _search(fn, s.body, (*path, n), name, 0)
            if found is not None:
                return found
        if _mentions(s, name):
            return None
    return None


def _reads_at_once(s: Stmt, name: str) -> bool:
    """Whether a statement begins by reading the name, on every path."""
    match s:
        case Assign(target, value, op):
            index = target.index if isinstance(target, Load) else ()
            own = isinstance(target, Var) and target.name == name and bool(op)
            return own or any(_always(e, name) for e in (value, *index))
        case If(cond):
            return _always(cond, name)
        case For():
            return _always(s.lo, name)
        case Return(value):
            return value is not None and _always(value, name)
        case Decl():
            return any(name in names(d) for d in s.shape)
        case _:
            return False


def _always(e: Expr, name: str) -> bool:
    """Whether evaluating an expression reads the name, whatever its conditions give."""
    return any(isinstance(x, Var) and x.name == name and not guards for x, guards in touched(e))


def _mentions(s: Stmt, name: str) -> bool:
    """Whether a statement or anything in it may use the name; one not modelled may."""
    if not isinstance(s, Assign | For | If | Decl | Return):
        return True
    if any(name in names(e) for e in stmt_exprs(s)) or (isinstance(s, For) and s.var == name):
        return True
    if isinstance(s, Decl) and s.name == name:
        return True
    inner = s.body if isinstance(s, For) else (*s.then, *s.orelse) if isinstance(s, If) else ()
    return any(_mentions(x, name) for x in inner)
