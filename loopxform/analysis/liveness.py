"""Written before read: the order in which statements touch one scalar, on every path.

`first_use` walks a body as it runs and answers what happens to the name first:
    "read"     some path may read it before writing it
    "written"  every path writes it before any read
    "passed"   no path reads it, not every path writes it
    "declared" a declaration of the name is reached: what follows speaks of another object
A loop counts as written only if it is proven to run at least once.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, assert_never

from loopxform.analysis.context import always
from loopxform.analysis.scope import below
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Copy,
    Decl,
    For,
    Function,
    If,
    Load,
    Opaque,
    Return,
    Stmt,
    Var,
)
from loopxform.ir.visit import Path, enclosing, names, stmt_exprs, walk
from loopxform.source import Loc

Use: TypeAlias = Literal["read", "written", "passed", "declared"]


def first_use(fn: Function, body: tuple[Stmt, ...], path: Path, name: str, start: int = 0) -> Use:
    """What the statements body[start:] do first; `path` is that of the statement they are in, or
    for an else branch `(*path, -1)` counts backwards as in `visit`."""
    for n, s in enumerate(body[start:], start):
        use = _use(fn, s, (*path, n), name)
        if use != "passed":
            return use
    return "passed"


def _branch_use(fn: Function, body: tuple[Stmt, ...], path: Path, name: str) -> Use:
    for n, s in enumerate(body):
        use = _use(fn, s, (*path, -1 - n), name)
        if use != "passed":
            return use
    return "passed"


def _use(fn: Function, s: Stmt, path: Path, name: str) -> Use:
    match s:
        case Assign():
            return _assign_use(s, name)
        case If():
            if name in names(s.cond):
                return "read"
            both = {first_use(fn, s.then, path, name), _branch_use(fn, s.orelse, path, name)}
            return "read" if "read" in both else "written" if both == {"written"} else "passed"
        case For():
            return _loop_use(fn, s, path, name)
        case Decl(declared, _, shape):
            if any(name in names(d) for d in shape):
                return "read"
            return "declared" if declared == name else "passed"
        case Copy():
            read = s.source == name or any(name in names(e) for e in stmt_exprs(s))
            return "read" if read else "passed"
        case Return():
            return "read" if s.value is not None and name in names(s.value) else "passed"
        case Opaque():
            return "passed" if name in s.spares and not s.body else "read"
        case _:
            assert_never(s)


def _assign_use(s: Assign, name: str) -> Use:
    index = s.target.index if isinstance(s.target, Load) else ()
    if any(name in names(e) for e in (s.value, *index)):
        return "read"
    target = s.target.name if isinstance(s.target, Var) else s.target.array
    if target != name:
        return "passed"
    if s.op:
        return "read"
    return "written" if isinstance(s.target, Var) else "passed"


def _loop_use(fn: Function, s: For, path: Path, name: str) -> Use:
    if name in names(s.lo) | names(s.step):
        return "read"
    if s.var == name:
        return "written"
    if name in names(s.hi):
        return "read"
    inside = first_use(fn, s.body, path, name)
    if inside == "written" and runs(fn, s, path):
        return "written"
    return "read" if inside == "read" else "passed"


def runs(fn: Function, s: For, path: Path) -> bool:
    """Proven: the loop at `path` has at least one iteration whenever it is reached."""
    step = value_of(s.step)
    if step is None:
        return False
    return always(fn, path, Bin("<" if step > 0 else ">", s.lo, s.hi))


def live_after(fn: Function, path: Path, name: str) -> Loc | Literal[False] | None:
    """Where the value `name` has after the loop at `path` may be read: a place (None if unknown),
    or False where every path overwrites it first or ends."""
    parents = enclosing(fn, path)
    for depth in range(len(path) - 1, -1, -1):
        outer = parents[depth - 1] if depth else None
        use = _rest(fn, outer, path[:depth], path[depth], name)
        if use == "read":
            return _read_place(fn, path, name)
        if use == "written":
            return False
        if isinstance(outer, For):
            if name in names(outer.hi) or first_use(fn, outer.body, path[:depth], name) == "read":
                return _read_place(fn, path, name)
            if any(isinstance(s, Decl) and s.name == name for s in outer.body[: path[depth]]):
                return False
    return False


def _rest(fn: Function, outer: Stmt | None, path: Path, index: int, name: str) -> Use:
    """What happens after statement `index` of the body it stands in."""
    if outer is None:
        return first_use(fn, fn.body, (), name, index + 1)
    if isinstance(outer, If) and index < 0:
        body = outer.orelse[-index:]
        for n, s in enumerate(body, -index):
            use = _use(fn, s, (*path, -1 - n), name)
            if use != "passed":
                return use
        return "passed"
    if isinstance(outer, Opaque):
        return "read"
    assert isinstance(outer, For | If)
    inner = outer.body if isinstance(outer, For) else outer.then
    return first_use(fn, inner, path, name, index + 1)


def _read_place(fn: Function, path: Path, name: str) -> Loc | None:
    """A statement outside the loop that reads the name, later ones first."""
    inside = {p for p, _ in below(enclosing(fn, path)[-1], path)} | {path}
    found = [
        s.origin.loc
        for p, s in walk(fn.body)
        if p not in inside and not isinstance(s, Decl) and _mentions(s, name)
    ]
    return found[-1] if found else None


def _mentions(s: Stmt, name: str) -> bool:
    exprs = stmt_exprs(s)
    if isinstance(s, Assign) and not s.op:
        index = s.target.index if isinstance(s.target, Load) else ()
        exprs = (s.value, *index)
    return any(name in names(e) for e in exprs) or (isinstance(s, Copy) and s.source == name)


def array_read_elsewhere(fn: Function, path: Path, name: str) -> Loc | Literal[False] | None:
    """A read of an array outside the loop at `path` that may see what the loop wrote: one that
    stands after it, or anywhere in a loop around both."""
    inside = {p for p, _ in below(enclosing(fn, path)[-1], path)} | {path}
    parents = enclosing(fn, path)
    looped = [path[: n + 1] for n, s in enumerate(parents[:-1]) if isinstance(s, For | Opaque)]
    outermost = looped[0] if looped else path
    for p, s in walk(fn.body):
        if p in inside or not (_mentions(s, name) or isinstance(s, Opaque)):
            continue
        if p > path or p[: len(outermost)] == outermost:
            return s.origin.loc
    return False
