"""Sums of products in nests: which elements they are made of, and what becomes of the sum.

forall i, j: { t = 0; for c: t += q[i][c] * k[j][c];  ...; w[i][j] = score(t, i, j) }
"""

from __future__ import annotations

from loopxform.analysis.verdict import judge
from loopxform.errors import Obstacle
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Assign, Bin, Decl, Expr, For, Function, If, Load, Stmt, Var
from loopxform.ir.types import INT
from loopxform.ir.visit import (
    Path,
    at,
    declared,
    names,
    perfect_nest,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.source import Loc

PARALLEL = ("yes", "privatizable")


class NotAttention(Exception):
    """Why nests are none of attention, where, and what would help."""

    def __init__(self, text: str, loc: Loc | None, remedy: str = "") -> None:
        super().__init__(text)
        self.obstacle = Obstacle("LX220", text, loc, remedy=remedy)


@record
class Product:
    """A nest of sums of products: its parallel loops, the two factors of a term, the loop over
    terms, the scalar that is summed up, and what stands behind the sum."""

    loops: tuple[For, ...]
    factors: tuple[Load, Load]
    terms: For
    total: str
    rest: tuple[Stmt, ...]


def parallel_loops(fn: Function, path: Path) -> tuple[For, ...]:
    """The parallel loops of a nest, outermost first."""
    nest = at(fn, path)
    assert isinstance(nest, For)
    verdicts = {v.var: v.parallel for v in judge(fn, inlined=True, at=path)}
    out = list[For]()
    for s in perfect_nest(nest):
        if not s.parallel and verdicts.get(s.var) not in PARALLEL:
            break
        out.append(s)
    if not out:
        raise NotAttention(f"the loop over '{nest.var}' is not parallel", nest.origin.loc)
    return tuple(out)


def require_counted(s: For, fixed: set[str] | frozenset[str]) -> None:
    """Raises NotAttention where a loop does not count from 0 in steps of 1 to a number that does
    not change."""
    plain = value_of(s.lo) == 0 and value_of(s.step) == 1 and names(s.hi) <= fixed
    plain = plain and s.type == INT
    if not plain or s.live_out or s.level is not None:
        text = f"'{s.var}' is no int that counts from 0 to a number of the caller's"
        raise NotAttention(text, s.origin.loc)


def product(fn: Function, loops: tuple[For, ...]) -> Product:
    """Raises NotAttention where the innermost loop does not hold one sum of products."""
    body, loc = loops[-1].body, loops[-1].origin.loc
    inner = [n for n, s in enumerate(body) if isinstance(s, For)]
    if len(inner) != 1:
        raise NotAttention("an iteration is not one sum of products", loc)
    terms, before = body[inner[0]], body[: inner[0]]
    assert isinstance(terms, For)
    fixed = {p.name for p in fn.objects if not p.array} - writes(fn.body)
    require_counted(terms, {*fixed, *(s.var for s in loops)})
    match terms.body:
        case (Assign(Var(total), Bin("*", Load() as a, Load() as b), "+"),):
            pass
        case _:
            raise NotAttention("a term is not the product of two elements", terms.origin.loc)
    start = [s for s in before if isinstance(s, Assign)]
    zero = len(start) == 1 and start[0].target == Var(total) and value_of(start[0].value) == 0
    if not zero or start[0].op or any(not isinstance(s, Assign | Decl) for s in before):
        raise NotAttention(f"'{total}' does not begin with 0", loc)
    rest = body[inner[0] + 1 :]
    if not rest or any(isinstance(s, For) for _, s in walk(rest)):
        raise NotAttention("there are other loops beside the sum of products", loc)
    if any(not isinstance(s, Assign | Decl | If) for _, s in walk(rest)):
        raise NotAttention("what becomes of the sum is not computed by assignments", loc)
    return Product(loops, (a, b), terms, total, rest)


def require_own(fn: Function, loops: tuple[For, ...]) -> None:
    """Raises NotAttention where scalars are set that others see."""
    own = declared(loops[-1].body).keys()
    outside = {n for n, d in declared(fn.body).items() if not d.shape} - own
    assigned = (s.target for _, s in walk(loops[-1].body) if isinstance(s, Assign))
    scalars = {x.name for x in assigned if isinstance(x, Var)}
    if scalars & outside:
        text = f"'{min(scalars & outside)}' is declared outside of the nest"
        raise NotAttention(text, loops[0].origin.loc, "privatise it")


def names_of(x: Load) -> frozenset[str]:
    """What the subscripts of an element mention."""
    return frozenset(n for i in x.index for n in names(i))


def expressions(body: tuple[Stmt, ...]) -> list[Expr]:
    """Those of statements, without what is stored to."""
    out = list[Expr]()
    for _, s in walk(body):
        for e in stmt_exprs(s):
            if not (isinstance(s, Assign) and e is s.target):
                out.append(e)
    return out
