"""What every program must satisfy after every step; a failure is a bug in a rewrite."""

from __future__ import annotations

from loopxform.errors import MalformedIR
from loopxform.ir.affine import value_of
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Assign, Copy, Decl, Expr, For, Function, Load, Opaque, Stmt, Var
from loopxform.ir.visit import bodies, stmt_exprs, walk_expr
from loopxform.ir.whiles import condition


def check(fn: Function) -> None:
    """Raises MalformedIR unless every name is declared before use, subscripts match ranks, loop
    variables are not assigned, and no loop variable is reused inside its own loop."""
    ranks = {p.name: len(p.shape) for p in fn.objects}
    _body(fn.body, ranks, frozenset())


def _body(body: tuple[Stmt, ...], ranks: dict[str, int], iterating: frozenset[str]) -> None:
    ranks = dict(ranks)
    for s in body:
        known = ranks
        if isinstance(s, For) and condition(s) is not None:
            known = {**ranks, s.var: 0}
        for e in stmt_exprs(s):
            _expr(e, known)
        match s:
            case Decl(name, _, shape):
                ranks[name] = len(shape)
            case Assign(Var(name)) if name in iterating:
                raise MalformedIR(f"loop variable {name} is assigned")
            case Copy(target, source, slices):
                if ranks.get(source) != len(slices):
                    raise MalformedIR(f"copy of {source} has {len(slices)} slices")
                if ranks.get(target) != sum(x.size is not None for x in slices):
                    raise MalformedIR(f"copy into {target}: rank differs")
            case For():
                if s.var in iterating:
                    raise MalformedIR(f"loop variable {s.var} reused inside its own loop")
                if value_of(s.step) == 0:
                    raise MalformedIR(f"loop {s.var} has step 0")
                _loop(s, {**ranks, s.var: 0}, iterating | {s.var})
                ranks.setdefault(s.var, 0)
                continue
            case _:
                pass
        if isinstance(s, Opaque):
            continue
        for inner in bodies(s):
            _body(inner, ranks, iterating)


def _loop(s: For, ranks: dict[str, int], iterating: frozenset[str]) -> None:
    """The body of a loop, unless it was looked at among the same names: a step leaves most loops
    as they are."""
    known = _good.get(id(s))
    if known is not None and known[0] is s and known[1:] == (ranks, iterating):
        return
    _body(s.body, ranks, iterating)
    if len(_good) >= MOST_GOOD:
        _good.clear()
    _good[id(s)] = s, ranks, iterating


MOST_GOOD = 1024
_good: dict[int, tuple[For, dict[str, int], frozenset[str]]] = {}
"""The last loops that were as they must be, and the names around them."""


@remembered(8192)
def _used(e: Expr) -> tuple[tuple[str, int], ...]:
    """The names in an expression, with how many subscripts they have."""
    found = (x for x in walk_expr(e) if isinstance(x, Var | Load))
    return tuple((x.name, 0) if isinstance(x, Var) else (x.array, len(x.index)) for x in found)


def _expr(e: Expr, ranks: dict[str, int]) -> None:
    for name, rank in _used(e):
        if name not in ranks:
            raise MalformedIR(f"{name} is not declared here")
        if ranks[name] != rank:
            raise MalformedIR(f"{name} has {ranks[name]} dimensions, used with {rank}")
