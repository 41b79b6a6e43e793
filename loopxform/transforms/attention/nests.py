"""The three nests of attention as they are written: products of queries and keys, a softmax of each
row of these scores, and products of the weights that this makes and of values.

    forall i, j: { t = 0; for c: t += q[i][c] * k[j][c];  ...; w[i][j] = score(t, i, j) }
    forall i:    { ... w[i][j] = exp(w[i][j] - top) ... z[i] = sum }
    forall i, c: { t = 0; for j: t += w[i][j] * v[j][c];  out[i][c] = result(t, z[i]) }
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir.affine import poly, simplify
from loopxform.ir.nodes import Assign, Bin, Const, Expr, For, Function, Load, Var
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    Path,
    at,
    declared,
    loads,
    names,
    reads,
    substitute,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.attention.products import (
    NotAttention,
    Product,
    expressions,
    names_of,
    parallel_loops,
    product,
    require_counted,
    require_own,
)
from loopxform.transforms.attention.rows import Softmax, softmax
from loopxform.transforms.overlapped.neighbours import seen_by_others


@record
class Attention:
    """The nests, and the array of scores and weights that they pass on."""

    scores: Product
    rows: Softmax
    values: Product
    weights: str
    nests: tuple[For, ...]

    def keys(self, query: Expr) -> Expr:
        """How many keys a query has: later ones no fewer."""
        rows, keys = self.scores.loops[-2:]
        return simplify(substitute(keys.hi, {rows.var: query}))

    @property
    def arrays(self) -> frozenset[str]:
        """What queries, keys, values and results are."""
        read = {x.array for e in (*self.scores.factors, self.values.factors[1]) for x in loads(e)}
        return frozenset(read) | writes(self.values.rest)

    @property
    def width(self) -> Expr:
        """How many components a value has."""
        return self.values.loops[-1].hi


def attention(fn: Function, paths: tuple[Path, ...]) -> Attention:
    """What three nests compute. Raises NotAttention."""
    nests = tuple(s for p in paths if isinstance(s := at(fn, p), For))
    if len(nests) != 3 or len(paths) != 3:
        raise NotAttention("these are not three nests", fn.origin.loc)
    parallel = [parallel_loops(fn, p) for p in paths]
    depth = len(parallel[1])
    loc = nests[0].origin.loc
    if any(len(p) != depth + 1 for p in (parallel[0], parallel[2])):
        raise NotAttention("the nests have not the loops of rows, and one more", loc)
    _require_alike(fn, parallel, depth)
    weights = _weights(parallel[0])
    scores = product(fn, parallel[0])
    rows = softmax(parallel[1], weights, _keys(scores, parallel[1][-1]))
    values = product(fn, parallel[2])
    _require_scores(fn, scores, weights)
    found = Attention(scores, rows, _weighted(values, weights, scores), weights, nests)
    _require_apart(fn, paths, found)
    return found


def _require_alike(fn: Function, nests: list[tuple[For, ...]], depth: int) -> None:
    """Raises NotAttention where rows are not the same in all nests, or loops do not count from 0
    to numbers of the caller's."""
    fixed = {p.name for p in fn.objects if not p.array} - writes(fn.body)
    queries, keys = nests[0][-2:] if depth else (nests[0][0], nests[0][0])
    for s in (s for loops in nests for s in loops if s is not keys):
        require_counted(s, fixed)
    require_counted(keys, {*fixed, queries.var})
    more = poly(substitute(keys.hi, {queries.var: Bin("+", Var(queries.var), Const(1))}))
    if queries.var in names(keys.hi) and ((more - poly(keys.hi)).value or -1) < 0:
        raise NotAttention("later queries may have fewer keys", keys.origin.loc)
    for loops in nests[1:]:
        for a, b in zip(nests[0][:depth], loops):
            if a.hi != b.hi or a.type != b.type:
                text = f"the loops over '{a.var}' and '{b.var}' have other iterations"
                raise NotAttention(text, b.origin.loc)


def _keys(scores: Product, row: For) -> Expr:
    """How many keys a row has, in a nest of rows with that loop."""
    return substitute(scores.loops[-1].hi, {scores.loops[-2].var: Var(row.var)})


def _weights(loops: tuple[For, ...]) -> str:
    """The array that the first nest writes."""
    last = loops[-1].body[-1]
    if not isinstance(last, Assign) or not isinstance(last.target, Load) or last.op:
        raise NotAttention("no score is stored at the end of the first nest", loops[0].origin.loc)
    return last.target.array


def _require_scores(fn: Function, p: Product, weights: str) -> None:
    """Raises NotAttention where a nest does more than to store a score for a query and a key, from
    elements of queries and of keys."""
    query, key = p.loops[-2].var, p.loops[-1].var
    loc = p.loops[0].origin.loc
    stored = [s for _, s in walk(p.rest) if isinstance(s, Assign) and isinstance(s.target, Load)]
    target = p.rest[-1].target if isinstance(p.rest[-1], Assign) else None
    if len(stored) != 1 or target != Load(weights, tuple(Var(x.var) for x in p.loops)):
        raise NotAttention("a score is not stored once, where its query and key say", loc)
    if any(x.array == weights for e in expressions(p.rest) for x in loads(e)):
        raise NotAttention("scores are computed from others", loc)
    a, b = (x if key not in names_of(x) else None for x in p.factors)
    if (a is None) == (b is None) or query in names_of(p.factors[0 if a is None else 1]):
        raise NotAttention("a term is not made of elements of a query and of a key", loc)
    require_own(fn, p.loops)


def _weighted(p: Product, weights: str, scores: Product) -> Product:
    """With the weight as the first factor. Raises NotAttention where a term is anything but the
    product of a weight and a component of a value."""
    w = Load(weights, (*(Var(s.var) for s in p.loops[:-1]), Var(p.terms.var)))
    a, b = p.factors
    other = b if a == w else a
    loc = p.loops[0].origin.loc
    if w not in (a, b) or other.array == weights or p.loops[-2].var in names_of(other):
        raise NotAttention("a term is not the product of a weight and part of a value", loc)
    if p.terms.hi != _keys(scores, p.loops[-2]):
        raise NotAttention("values have not as many elements as there are keys", loc)
    return replace(p, factors=(w, other))


def _require_apart(fn: Function, paths: tuple[Path, ...], a: Attention) -> None:
    """Raises NotAttention where others see what the nests pass on, or read what they write."""
    passed = {a.weights, *a.rows.stored}
    loc = a.scores.loops[0].origin.loc
    seen = passed & seen_by_others(fn, paths)
    if seen:
        text = f"'{min(seen)}' is used outside of the nests"
        raise NotAttention(text, loc, "say that it is scratch, if the caller does not read it")
    results = writes(a.values.rest) & _arrays(fn)
    read = reads((a.scores.loops[0],)) | {x.array for x in loads(a.values.factors[1])}
    rest = {x.array for e in expressions(a.values.rest) for x in loads(e)}
    if passed & results or results & (read | rest - set(a.rows.stored)):
        text = f"'{min(results)}' is read by the nests, too"
        raise NotAttention(text, loc)
    rows = tuple(Var(s.var) for s in a.values.loops[:-1])
    for e in expressions(a.values.rest):
        if any(x.array == a.weights or (x.array in passed and x.index != rows) for x in loads(e)):
            raise NotAttention("results are computed from weights", loc)
    if any(reads((x,)) & passed for x in (a.scores.loops[0],)):
        raise NotAttention("scores are computed from what rows make", loc)
    require_own(fn, a.values.loops)
    require_own(fn, a.rows.loops)
    kinds = symbols(fn)
    used = {kinds[n] for n in (a.weights, a.scores.total, a.values.total, a.rows.total, a.rows.top)}
    if len(used) > 1 or not all(k.is_float for k in used):
        raise NotAttention("scores, weights and sums are not of one type of real numbers", loc)


def _arrays(fn: Function) -> frozenset[str]:
    own = {n for n, d in declared(fn.body).items() if d.shape}
    return frozenset(own | {p.name for p in fn.objects if p.array})
