"""Extrema under a condition: if (c && e < s) s = e  ->  if (c) if (e < s) s = e

C computes the second operand where the first one holds, as it does inside the branch; so what is
left is the statement that keeps an extremum. Where the comparison comes first, what follows it is
asked before it if that is made of scalars alone: it may be asked whatever the comparison says.
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir.nodes import Assign, Bin, Cast, Const, Expr, If, Stmt, Un, Var
from loopxform.ir.visit import names, walk_expr

COMPARED = ("<", "<=", ">", ">=")


def guarded_extremum(s: If) -> If:
    """The statement with its guard around it, or as it is where that is no such one."""
    parts = _conjuncts(s.cond)
    if s.orelse or len(parts) < 2:
        return s
    at = next((n for n, e in enumerate(parts) if _keeps(e, s.then)), None)
    if at is None:
        return s
    others = [*parts[:at], *parts[at + 1 :]]
    if not all(map(_is_plain, parts[at + 1 :])) or any(names(e) & _set(s) for e in others):
        return s
    guard = others[0]
    for e in others[1:]:
        guard = Bin("&&", guard, e)
    return replace(s, cond=guard, then=(replace(s, cond=parts[at]),))


def _set(s: If) -> frozenset[str]:
    """The scalars that a branch sets."""
    targets = (x.target for x in s.then if isinstance(x, Assign))
    return frozenset(x.name for x in targets if isinstance(x, Var))


def _conjuncts(e: Expr) -> list[Expr]:
    if isinstance(e, Bin) and e.op == "&&":
        return [*_conjuncts(e.left), *_conjuncts(e.right)]
    return [e]


def _keeps(cond: Expr, then: tuple[Stmt, ...]) -> bool:
    """Whether a branch sets what is compared with to what it is compared with."""
    if not isinstance(cond, Bin) or cond.op not in COMPARED:
        return False
    pairs = [(x.target, x.value) for x in then if isinstance(x, Assign) and not x.op]
    return any(pair in pairs for pair in ((cond.left, cond.right), (cond.right, cond.left)))


def _is_plain(e: Expr) -> bool:
    """Whether an expression has a value whatever scalars are: comparisons of these and numbers."""
    for x in walk_expr(e):
        if isinstance(x, Bin) and x.op not in ("&&", "||", "==", "!=", *COMPARED):
            return False
        if not isinstance(x, Bin | Var | Const | Cast) and not (isinstance(x, Un) and x.op == "!"):
            return False
    return True
