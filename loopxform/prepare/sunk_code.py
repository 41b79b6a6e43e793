"""What only the end of an iteration needs, behind its loops (code sinking).

    { b = bias[j]; s = 0; for (k...) s += a * c; y[j] = s + b; }
        ->  { s = 0; for (k...) s += a * c; b = bias[j]; y[j] = s + b; }

A work-item that computes several elements would keep such a value for each of them while the loop
runs. A statement moves that sets scalars, behind loops that neither use nor set these, that set
nothing it reads, and that store to no array where it reads one. (Muchnick, Advanced compiler design
and implementation, 1997, section 13.3.)
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir.nodes import Assign, Decl, For, Function, If, Stmt, Var
from loopxform.ir.visit import loads, reads, stmt_exprs, walk, writes

Body = tuple[Stmt, ...]


def with_sunk_code(fn: Function) -> Function:
    """The function with statements behind the loops that do without them."""
    body = tuple(map(_inside, fn.body))
    return fn if body == fn.body else replace(fn, body=body)


def _body(body: Body) -> Body:
    out = [_inside(s) for s in body]
    for n in reversed(range(len(out))):
        if _sets_scalars(out[n]):
            end = _end(out, n)
            out.insert(end, out[n])
            del out[n]
    return tuple(out)


def _inside(s: Stmt) -> Stmt:
    match s:
        case For():
            return replace(s, body=_body(s.body))
        case If():
            return replace(s, then=_body(s.then), orelse=_body(s.orelse))
        case _:
            return s


def _sets_scalars(s: Stmt) -> bool:
    """Whether a statement does nothing but set scalars, without loops."""
    every = [x for _, x in walk((s,))]
    plain = all(isinstance(x, Assign | If) for x in every)
    return plain and all(isinstance(x.target, Var) for x in every if isinstance(x, Assign))


def _end(body: list[Stmt], n: int) -> int:
    """Where a statement moves to: behind the last loop that it can pass."""
    moved = body[n]
    loaded = any(any(loads(e)) for _, x in walk((moved,)) for e in stmt_exprs(x))
    end = n
    for at, s in enumerate(body[n + 1 :], n + 1):
        if not _passes(moved, s, loaded=loaded):
            break
        if isinstance(s, For):
            end = at + 1
    used = writes((moved,))
    later = (s for s in body[end:] if isinstance(s, For))
    return n if any(used & reads((s,)) for s in later) else end


def _passes(moved: Stmt, s: Stmt, *, loaded: bool) -> bool:
    """Whether a statement may run behind `s` as well."""
    inside = [x for _, x in walk((s,))]
    if not all(isinstance(x, Assign | If | For | Decl) for x in inside):
        return False
    stores = any(isinstance(x, Assign) and not isinstance(x.target, Var) for x in inside)
    counted = {x.var for x in inside if isinstance(x, For)}
    used, changed = reads((s,)) | counted, writes((s,)) | counted
    own, needed = writes((moved,)), reads((moved,))
    return not (own & (used | changed) or needed & changed or (loaded and stores))
