"""The three nests of attention as they are written: products of queries and keys, a softmax of each
row of these scores, and products of the weights that this makes and of values.

    forall i, j: { t = 0; for c: t += q[i][c] * k[j][c];  ...; w[i][j] = score(t, i, j) }
    forall i:    { top = e; sum = e;  for j: if (w[i][j] > top) top = w[i][j];
                   for j: { w[i][j] = exp(w[i][j] - top); sum += w[i][j] }
                   for j: w[i][j] /= sum;  z[i] = sum }
    forall i, c: { t = 0; for j: t += w[i][j] * v[j][c];  out[i][c] = result(t, z[i]) }
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.analysis.verdict import judge
from loopxform.errors import Obstacle
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Select,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.types import INT
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    Path,
    at,
    declared,
    loads,
    names,
    perfect_nest,
    reads,
    stmt_exprs,
    substitute,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.source import Loc
from loopxform.transforms.overlapped.neighbours import seen_by_others

PARALLEL = ("yes", "privatizable")
EXPONENTIALS = ("exp", "expf")
MAXIMA = ("fmax", "fmaxf")


class NotAttention(Exception):
    """Why nests are none of attention, where, and what would help."""

    def __init__(self, text: str, loc: Loc | None, remedy: str = "") -> None:
        super().__init__(text)
        self.obstacle = Obstacle("LX209", text, loc, remedy=remedy)


@record
class Product:
    """A nest of sums of products: its parallel loops, the two factors of a term, the loop over
    terms, the scalar that is summed up, and what stands behind the sum."""

    loops: tuple[For, ...]
    factors: tuple[Load, Load]
    terms: For
    total: str
    rest: tuple[Stmt, ...]


@record
class Softmax:
    """A nest of rows: its parallel loops, the largest score at first (None: less than all others),
    what the sum begins with, the function, by what weights are divided (None: by nothing), and what
    is stored of each row, by array: expressions of `total`."""

    loops: tuple[For, ...]
    first: Expr | None
    start: Expr
    function: str
    top: str
    total: str
    divided: Expr | None
    stored: dict[str, Expr]


@record
class Attention:
    """The nests, and the array of scores and weights that they pass on."""

    scores: Product
    rows: Softmax
    values: Product
    weights: str

    nests: tuple[For, ...]

    @property
    def keys(self) -> Expr:
        """How many keys there are."""
        return self.scores.loops[-1].hi

    @property
    def arrays(self) -> frozenset[str]:
        """What queries, keys, values and results are."""
        read = {x.array for x in (*self.scores.factors, self.values.factors[1])}
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
    parallel = [_parallel(fn, p) for p in paths]
    depth = len(parallel[1])
    loc = nests[0].origin.loc
    if any(len(p) != depth + 1 for p in (parallel[0], parallel[2])):
        raise NotAttention("the nests have not the loops of rows, and one more", loc)
    _require_alike(fn, parallel, depth)
    weights = _weights(parallel[0])
    scores = _product(fn, parallel[0])
    rows = _softmax(fn, parallel[1], weights, scores)
    values = _product(fn, parallel[2])
    _require_scores(fn, scores, weights)
    found = Attention(scores, rows, _weighted(values, weights, scores), weights, nests)
    _require_apart(fn, paths, found)
    return found


def _parallel(fn: Function, path: Path) -> tuple[For, ...]:
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


def _require_alike(fn: Function, nests: list[tuple[For, ...]], depth: int) -> None:
    """Raises NotAttention where rows are not the same in all nests, or loops do not count from 0
    to numbers of the caller's."""
    fixed = {p.name for p in fn.objects if not p.array} - writes(fn.body)
    for s in (s for loops in nests for s in loops):
        _require_counted(s, fixed)
    for loops in nests[1:]:
        for a, b in zip(nests[0][:depth], loops):
            if a.hi != b.hi or a.type != b.type:
                text = f"the loops over '{a.var}' and '{b.var}' have other iterations"
                raise NotAttention(text, b.origin.loc)


def _require_counted(s: For, fixed: set[str] | frozenset[str]) -> None:
    plain = value_of(s.lo) == 0 and value_of(s.step) == 1 and names(s.hi) <= fixed
    plain = plain and s.type == INT
    if not plain or s.live_out or s.level is not None:
        text = f"'{s.var}' is no int that counts from 0 to a number of the caller's"
        raise NotAttention(text, s.origin.loc)


def _weights(loops: tuple[For, ...]) -> str:
    """The array that the first nest writes."""
    last = loops[-1].body[-1]
    if not isinstance(last, Assign) or not isinstance(last.target, Load) or last.op:
        raise NotAttention("no score is stored at the end of the first nest", loops[0].origin.loc)
    return last.target.array


def _product(fn: Function, loops: tuple[For, ...]) -> Product:
    """Raises NotAttention where the innermost loop does not hold one sum of products."""
    body, loc = loops[-1].body, loops[-1].origin.loc
    inner = [n for n, s in enumerate(body) if isinstance(s, For)]
    if len(inner) != 1:
        raise NotAttention("an iteration is not one sum of products", loc)
    terms, before = body[inner[0]], body[: inner[0]]
    assert isinstance(terms, For)
    _require_counted(terms, {p.name for p in fn.objects if not p.array} - writes(fn.body))
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


def _require_scores(fn: Function, p: Product, weights: str) -> None:
    """Raises NotAttention where a nest does more than to store a score for a query and a key, from
    elements of queries and of keys."""
    query, key = p.loops[-2].var, p.loops[-1].var
    loc = p.loops[0].origin.loc
    stored = [s for _, s in walk(p.rest) if isinstance(s, Assign) and isinstance(s.target, Load)]
    target = p.rest[-1].target if isinstance(p.rest[-1], Assign) else None
    if len(stored) != 1 or target != Load(weights, tuple(Var(x.var) for x in p.loops)):
        raise NotAttention("a score is not stored once, where its query and key say", loc)
    if any(x.array == weights for e in _exprs(p.rest) for x in loads(e)):
        raise NotAttention("scores are computed from others", loc)
    a, b = (x if key not in _names(x) else None for x in p.factors)
    if (a is None) == (b is None) or query in _names(p.factors[0 if a is None else 1]):
        raise NotAttention("a term is not made of elements of a query and of a key", loc)
    _require_own(fn, p)


def _require_own(fn: Function, p: Product | Softmax) -> None:
    """Raises NotAttention where scalars are set that others see."""
    own = declared(p.loops[-1].body).keys()
    outside = {n for n, d in declared(fn.body).items() if not d.shape} - own
    scalars = {s.target.name for _, s in walk(p.loops[-1].body) if _sets_scalar(s)}
    if scalars & outside:
        text = f"'{min(scalars & outside)}' is declared outside of the nest"
        raise NotAttention(text, p.loops[0].origin.loc, "privatise it")


def _sets_scalar(s: Stmt) -> bool:
    return isinstance(s, Assign) and isinstance(s.target, Var)


def _names(x: Load) -> frozenset[str]:
    return frozenset(n for i in x.index for n in names(i))


def _exprs(body: tuple[Stmt, ...]) -> list[Expr]:
    """Those of statements, without what is stored to."""
    out = list[Expr]()
    for _, s in walk(body):
        for e in stmt_exprs(s):
            if not (isinstance(s, Assign) and e is s.target):
                out.append(e)
    return out


# ---------------------------------------------------------------- rows


def _softmax(fn: Function, loops: tuple[For, ...], weights: str, scores: Product) -> Softmax:
    """Raises NotAttention where a row is anything but a softmax."""
    return _Row(fn, loops, weights, scores.loops[-1].hi).read()


class _Row:
    """A row, read statement by statement."""

    def __init__(self, fn: Function, loops: tuple[For, ...], weights: str, keys: Expr) -> None:
        self.fn, self.loops, self.weights, self.keys = fn, loops, weights, keys
        self.row = tuple(Var(s.var) for s in loops)
        self.values = dict[str, Expr]()
        self.stored = dict[str, Expr]()
        self.top = self.total = self.function = ""
        self.start: Expr = Const(0)
        self.first: Expr | None = None
        self.divided: Expr | None = None

    def read(self) -> Softmax:
        for s in self.loops[-1].body:
            match s:
                case Decl(shape=()):
                    pass
                case Assign(Var(name), value, "") if name not in (self.top, self.total):
                    self.values[name] = self._now(value)
                case Assign(Load(array, index), value, "") if index == self.row:
                    self.stored[array] = self._of_total(self._now(value), s)
                case For() if not self.top:
                    self._largest(s)
                case For() if not self.total:
                    self._exponentials(s)
                case For() if self.divided is None:
                    self._division(s)
                case _:
                    raise self._odd(s)
        if not self.total:
            raise NotAttention("no weights are summed up", self.loops[0].origin.loc)
        return Softmax(
            self.loops,
            self.first,
            self.start,
            self.function,
            self.top,
            self.total,
            self.divided,
            self.stored,
        )

    def _odd(self, s: Stmt) -> NotAttention:
        return NotAttention("a row is not the softmax of its scores", s.origin.loc)

    def _now(self, e: Expr) -> Expr:
        """An expression of constants, the scores of the row and the total."""
        known = {n: v for n, v in self.values.items() if n not in (self.top, self.total)}
        return substitute(e, known)

    def _of_total(self, e: Expr, s: Stmt) -> Expr:
        """An expression of nothing but the total."""
        if not names(e) <= {self.total} or any(loads(e)):
            raise self._odd(s)
        return e

    def _score(self, s: For) -> Load:
        return Load(self.weights, (*self.row, Var(s.var)))

    def _largest(self, s: For) -> None:
        """`if (w > top) top = w`, or `top = fmax(top, w)`."""
        w = self._score(s)
        match s.body:
            case (If(Bin(">", a, Var(top)), (Assign(Var(target), value, ""),), ()),):
                fits = a == w == value and target == top
            case (Assign(Var(top), Call(name, (a, b))),) if name in MAXIMA:
                fits = {a, b} == {w, Var(top)}
            case (Assign(Var(top), Select(Bin(">", a, Var(t)), b, Var(u)), ""),):
                fits = a == b == w and t == u == top
            case _:
                raise self._odd(s)
        begin, first = value_of(s.lo), self.values.get(top)
        if not fits or s.hi != self.keys or value_of(s.step) != 1 or first is None:
            raise self._odd(s)
        self.first = self._first(first, begin, s)
        self.top = top

    def _first(self, first: Expr, begin: int | float | None, s: For) -> Expr | None:
        """What the largest score is at first; None where that is one, or less than all."""
        if first == Load(self.weights, (*self.row, Const(0))) and begin in (0, 1):
            return None
        if begin != 0 or names(first):
            raise self._odd(s)
        return None if _is_least(first) else first

    def _exponentials(self, s: For) -> None:
        """`w = exp(w - top); sum += w`, through a scalar or not."""
        w, values = self._score(s), dict[str, Expr]()
        weight: Expr | None = None
        for x in s.body:
            match x:
                case Decl(shape=()):
                    pass
                case Assign(Var(name), value, ""):
                    values[name] = value
                case Assign(Load() as target, value, "") if target == w and weight is None:
                    weight = values.get(value.name, value) if isinstance(value, Var) else value
                case Assign(Var(name), value, "+") if not self.total:
                    of = values.get(value.name, value) if isinstance(value, Var) else value
                    if not (of in (w, weight) and weight is not None):
                        raise self._odd(x)
                    self.total = name
                case _:
                    raise self._odd(x)
        match weight:
            case Call(function, (Bin("-", a, Var(top)),)) if function in EXPONENTIALS:
                fits = a == w and top == self.top
            case _:
                raise self._odd(s)
        if not fits or not self._all_keys(s) or self.total not in self.values:
            raise self._odd(s)
        self.function, self.start = function, self.values[self.total]
        if names(self.start) or any(loads(self.start)):
            raise self._odd(s)

    def _all_keys(self, s: For) -> bool:
        return value_of(s.lo) == 0 and value_of(s.step) == 1 and s.hi == self.keys

    def _division(self, s: For) -> None:
        """`w /= sum`, or `w *= e(sum)`."""
        w = self._score(s)
        match s.body:
            case (Assign(Load() as target, value, "/" | "*" as op),) if target == w:
                by = value
            case (Assign(Load() as target, Bin("/" | "*" as op, a, value), ""),) if (
                target == a == w
            ):
                by = value
            case _:
                raise self._odd(s)
        if not self._all_keys(s):
            raise self._odd(s)
        self.divided = Bin(op, w, self._of_total(self._now(by), s))


def _is_least(e: Expr) -> bool:
    """Whether it is minus infinity."""
    match e:
        case Const(value):
            return value == float("-inf")
        case Un("-", Const(value)):
            return value == float("inf")
        case Un("-", Bin("/", Const(a), Const(b))):
            return a == 1 and b == 0
        case Bin("/", Un("-", Const(a)), Const(b)):
            return a == 1 and b == 0
        case _:
            return False


# ---------------------------------------------------------------- weighted values


def _weighted(p: Product, weights: str, scores: Product) -> Product:
    """With the weight as the first factor. Raises NotAttention where a term is anything but the
    product of a weight and a component of a value."""
    w = Load(weights, (*(Var(s.var) for s in p.loops[:-1]), Var(p.terms.var)))
    a, b = p.factors
    other = b if a == w else a
    loc = p.loops[0].origin.loc
    if w not in (a, b) or other.array == weights or p.loops[-2].var in _names(other):
        raise NotAttention("a term is not the product of a weight and part of a value", loc)
    if p.terms.hi != scores.loops[-1].hi:
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
    read = reads((a.scores.loops[0],)) | {a.values.factors[1].array}
    rest = {x.array for e in _exprs(a.values.rest) for x in loads(e)}
    if passed & results or results & (read | rest - set(a.rows.stored)):
        text = f"'{min(results)}' is read by the nests, too"
        raise NotAttention(text, loc)
    rows = tuple(Var(s.var) for s in a.values.loops[:-1])
    for e in _exprs(a.values.rest):
        if any(x.array == a.weights or (x.array in passed and x.index != rows) for x in loads(e)):
            raise NotAttention("results are computed from weights", loc)
    if any(reads((x,)) & passed for x in (a.scores.loops[0],)):
        raise NotAttention("scores are computed from what rows make", loc)
    _require_own(fn, a.values)
    _require_own(fn, a.rows)
    kinds = symbols(fn)
    used = {kinds[n] for n in (a.weights, a.scores.total, a.values.total, a.rows.total, a.rows.top)}
    if len(used) > 1 or not all(k.is_float for k in used):
        raise NotAttention("scores, weights and sums are not of one type of real numbers", loc)


def _arrays(fn: Function) -> frozenset[str]:
    own = {n for n, d in declared(fn.body).items() if d.shape}
    return frozenset(own | {p.name for p in fn.objects if p.array})
