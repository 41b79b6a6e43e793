"""What every program must satisfy after every step; a failure is a bug in a rewrite."""

from __future__ import annotations

from loopxform.errors import MalformedIR
from loopxform.ir.affine import value_of
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
        own = {s.var: 0} if isinstance(s, For) and condition(s) is not None else {}
        for e in stmt_exprs(s):
            _expr(e, {**ranks, **own})
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
                _body(s.body, {**ranks, s.var: 0}, iterating | {s.var})
                ranks.setdefault(s.var, 0)
                continue
            case _:
                pass
        if isinstance(s, Opaque):
            continue
        for inner in bodies(s):
            _body(inner, ranks, iterating)


def _expr(e: Expr, ranks: dict[str, int]) -> None:
    for x in walk_expr(e):
        if isinstance(x, Var | Load):
            name, rank = (x.name, 0) if isinstance(x, Var) else (x.array, len(x.index))
            if name not in ranks:
                raise MalformedIR(f"{name} is not declared here")
            if ranks[name] != rank:
                raise MalformedIR(f"{name} has {ranks[name]} dimensions, used with {rank}")
