"""Contractions: sums over several indices of products of two operands, as one product of matrices.

    forall a, b, c, d: { s = 0; for e: for f: s += A[a, e, b, f] * B[f, d, c, e]; C[a, b, c, d] = s}
 -> A_m[ef, ab], B_m[ef, cd];  forall ab: forall cd: { s = 0; for ef: s += A_m * B_m; C = s }

Each parallel loop numbers elements of one operand (rows of the product, or columns) or of both
(batches), each sequential loop those of both. Copies of the operands bring the loops of a kind
together (step `unfold`), which then become one (step `coalesce`): short loops fill no tile, and
tiles of operands in another order are read element by element. (Springer and Bientinesi, "Design of
a high-performance GEMM-like tensor-tensor multiplication", 2018: transpose, transpose, product.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import count, permutations

from loopxform.errors import LimitError, LoopxformError, TransformError, UnsupportedC
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.condition_text import condition_text, long_constant
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Bin, Const, Expr, For, Function, Load, Var
from loopxform.ir.typing import symbols
from loopxform.ir.visit import declared, loads, names, perfect_nest, stmt_exprs, walk, writes
from loopxform.model.coalescing import Estimate
from loopxform.model.cost import copy_work, cost, launch_work, tile_work
from loopxform.model.resources import demand
from loopxform.model.tile_shapes import LONG_BITS, long_time
from loopxform.model.waves import Tiling, shapes, tensor_shapes, timed
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes import fitting
from loopxform.recipes.deriving import Work
from loopxform.recipes.latency_hiding import wanted
from loopxform.recipes.other_forms import in_its_place
from loopxform.recipes.relayout_kernels import mapped_copy
from loopxform.recipes.tensor_units import is_tensorised, multiplied, units_multiply
from loopxform.recipes.tile_nest import one_nest
from loopxform.recipes.tiled import Tiled
from loopxform.records import record
from loopxform.schedule.params import PLAIN, Options
from loopxform.targets.target import Limits
from loopxform.transforms import (
    Assume,
    Coalesce,
    Unfold,
    UnfoldWindows,
    possible,
)
from loopxform.transforms.edges.bounds import trip_count
from loopxform.transforms.storage.unfolding import MERGED


@record
class Contraction:
    """The loops by kind: those of batches, rows and columns in the order of the result, those of
    terms in their own; and the operands, that of the rows first, and the result."""

    batches: tuple[For, ...]
    rows: tuple[For, ...]
    columns: tuple[For, ...]
    terms: tuple[For, ...]
    operands: tuple[Load, Load]
    result: Load | None

    @property
    def arrays(self) -> tuple[str, ...]:
        """Those of the operands."""
        return tuple(x.array for x in self.operands)

    @property
    def matrices(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The arrays, and the order of dimensions that they have as matrices: that of the tiles, or
        the transposed one where they have it; the result where it needs no other order."""
        for load, own in zip(self.operands, (self.rows, self.columns)):
            if _is_plain(load):
                turned = self._order(load, (own, self.terms))
                plain = self._order(load, (self.terms, own))
                yield load.array, turned if _is_sorted(turned) else plain
        if self.result is not None and self._is_in_order(self.result):
            yield self.result.array, self._order(self.result, (self.rows, self.columns))

    @property
    def is_plain(self) -> bool:
        """Whether each operand is a matrix once its dimensions are in another order."""
        return all(map(_is_plain, self.operands))

    @property
    def windows(self) -> dict[str, tuple[str, ...]]:
        """Arrays that have no such order, or would have to be copied for it though loops walk along
        their rows, and the loops that number the rows and the columns of the matrices that they
        are where they stand (step `unfold-windows`)."""
        out = dict[str, tuple[str, ...]]()
        for load, own in zip(self.operands, (self.rows, self.columns)):
            near = names(load.index[-1])
            groups = (self.terms, own) if near & {x.var for x in own} else (own, self.terms)
            if not _is_plain(load) or (self._is_turned(load, own) and groups[1][-1].var in near):
                out[load.array] = _merged(groups)
        if self.result is not None and not self._is_in_order(self.result):
            out[self.result.array] = _merged((self.rows, self.columns))
        return {} if self.batches else out

    def _is_turned(self, load: Load, own: tuple[For, ...]) -> bool:
        """Whether only a copy has the dimensions of an array in the order of a matrix."""
        return not any(_is_sorted(self._order(load, x)) for x in permutations((own, self.terms)))

    def _is_in_order(self, result: Load) -> bool:
        whole = (*self.batches, *self.rows, *self.columns)
        return result.index == tuple(Var(x.var) for x in whole)

    def _order(self, load: Load, matrix: tuple[tuple[For, ...], ...]) -> tuple[str, ...]:
        dims = {i.name: str(n) for n, i in enumerate(load.index) if isinstance(i, Var)}
        groups = (*((x,) for x in self.batches), *matrix)
        return tuple(MERGED.join(dims[x.var] for x in g) for g in groups)


def _merged(groups: tuple[tuple[For, ...], ...]) -> tuple[str, ...]:
    """The order of loops as the step `unfold-windows` has it."""
    return tuple(MERGED.join(x.var for x in g) for g in groups)


def _is_sorted(order: tuple[str, ...]) -> bool:
    """Whether dimensions are in the order that they have."""
    dims = [int(n) for group in order for n in group.split(MERGED)]
    return dims == sorted(dims)


@record
class Product:
    """The nest as one product, behind those of the copies, what that assumes, and the operands that
    are copied, with the names of their copies."""

    nest: Nest
    assumed: tuple[Expr, ...]
    copied: tuple[tuple[str, str], ...]


def contraction(nest: Nest) -> Contraction | None:
    """What kind each loop of a nest is; None where that is no contraction, or a product of matrices
    as it is."""
    loops = perfect_nest(nest.outermost)[: len(nest.parallel)]
    inner = [s for s in nest.innermost.body if isinstance(s, For)]
    if len(inner) != 1:
        return None
    terms = perfect_nest(inner[0])
    operands = _operands(nest, terms)
    if operands is None or not all(_is_counted(nest.function, x) for x in (*loops, *terms)):
        return None
    used = [{n for i in x.index for n in names(i)} for x in operands]
    if any(x.var not in used[0] & used[1] for x in terms):
        return None
    order = _order(nest)
    loops = tuple(sorted(loops, key=lambda x: order.get(x.var, -1)))
    batches = tuple(x for x in loops if x.var in used[0] & used[1])
    first, second = (tuple(x for x in loops if x.var in u and x not in batches) for u in used)
    if len(batches) + len(first) + len(second) < len(loops) or not (first and second):
        return None
    plain = all(map(_is_plain, operands))
    if max(map(len, (first, second, terms))) == 1 if plain else batches:
        return None
    if order.get(first[-1].var, -1) > order.get(second[-1].var, -1):
        first, second, operands = second, first, (operands[1], operands[0])
    return Contraction(batches, first, second, terms, operands, _result(nest))


def _operands(nest: Nest, terms: Sequence[For]) -> tuple[Load, Load] | None:
    """The two elements that a term is made of; None where something else is read of their arrays,
    or data say which they are."""
    body = terms[-1].body
    if len(body) != 1 or not isinstance(body[0], Assign) or not isinstance(body[0].target, Var):
        return None
    found = tuple(loads(body[0].value))
    if len(found) != 2 or any(True for x in found for i in x.index for _ in loads(i)):
        return None
    inside = [x for _, s in walk(nest.innermost.body) for e in stmt_exprs(s) for x in loads(e)]
    arrays = {x.array for x in found}
    if sum(x.array in arrays for x in inside) > 2 or arrays & writes(nest.innermost.body):
        return None
    first, second = found
    return None if len(arrays) == 1 else (first, second)


def _is_plain(x: Load) -> bool:
    """Whether each subscript is another variable."""
    return len({i for i in x.index if isinstance(i, Var)}) == len(x.index)


def _is_counted(fn: Function, loop: For) -> bool:
    """Whether a loop counts from 0 to a number of the caller's."""
    fixed = frozenset(p.name for p in fn.objects if not p.array) - writes(fn.body)
    return value_of(loop.lo) == 0 and value_of(loop.step) == 1 and names(loop.hi) <= fixed


def _result(nest: Nest) -> Load | None:
    """The element that a nest stores, where it uses no other of that array."""
    body = nest.innermost.body
    stored = [s.target for s in body if isinstance(s, Assign) and isinstance(s.target, Load)]
    used = (x for _, s in walk(body) for e in stmt_exprs(s) for x in loads(e))
    if not stored or any(x != stored[0] for x in used if x.array == stored[0].array):
        return None
    return stored[0]


def _order(nest: Nest) -> dict[str, int]:
    """The dimension of the result that each loop numbers."""
    result = _result(nest)
    index = () if result is None else result.index
    return {i.name: n for n, i in enumerate(index) if isinstance(i, Var)}


def product_of(nest: Nest, found: Contraction, windows: Mapping[str, tuple[str, ...]]) -> Product:
    """The contraction as one product, of matrices that arrays are where they stand (`windows`), and
    of copies. Raises TransformError."""
    w = Work(nest.derivation.titled("One product of matrices"), {})
    before = w.fn.assumes
    wanted = [x.var for x in (*found.batches, *found.rows, *found.columns)]
    w.order(list(nest.parallel), wanted)
    for array, order in windows.items():
        view = UnfoldWindows(wanted[0], array, order, fresh(w.fn, f"{array}_m"))
        _assuming(w, view.open_questions(w.fn))
        w.do(view)
    unfold = [
        Unfold(wanted[0], array, order, fresh(w.fn, f"{array}_m"))
        for array, order in found.matrices
        if array not in windows and order != tuple(map(str, range(len(order))))
    ]
    for step in (
        *unfold,
        *unfold,
    ):  # what is assumed for one may say how much is touched of another
        _assuming(w, step.open_questions(w.fn))
    for step in unfold:
        after = w.derivation.then(step)
        if step.array not in writes(w.fn.body) or not _is_copied(after.function, step):
            w.derivation = after
    parallel = [x.var for x in found.batches]
    parallel += [_as_one_loop(w, nest, kind) for kind in (found.rows, found.columns)]
    _as_one_loop(w, nest, found.terms)
    copied = tuple((s.array, s.target) for s in unfold if _is_copied(w.fn, s))
    derivation = reduce(mapped_copy, (target for _, target in copied), w.derivation)
    made = Nest(derivation, tuple(parallel), (), nest.reserved).of(derivation)
    return Product(made, tuple(e for e in w.fn.assumes if e not in before), copied)


def _is_copied(fn: Function, step: Unfold) -> bool:
    """Whether an array does not stand for the copy that the step made."""
    own = declared(fn.body)
    return step.target in own and own[step.target].turned


def _as_one_loop(w: Work, nest: Nest, loops: Sequence[For]) -> str:
    """Makes one of the loops of a kind, and returns its name."""
    whole = loops[0].var
    for x in loops[1:]:
        name = whole + x.var if len(x.var) == 1 else f"{whole}_{x.var}"
        name = next(n for k in count(1) if (n := name + "_" * (k - 1)) not in nest.taken)
        step = Coalesce(whole, x.var, name)
        _assuming(w, step.open_questions(w.fn))
        w.do(step)
        whole = name
    return whole


def _assuming(w: Work, asked: tuple[Expr, ...]) -> None:
    w.do(*(Assume(condition_text(e)) for e in asked))


def in_one_product(
    nest: Nest, plain: Tiled, limits: Limits, options: Options, *, several: bool = False
) -> Tiled:
    """The nest as it is tiled (`plain`), or one product in its place, where that pays: by a guard
    of the host where sizes are not known. In `several` shapes of tiles, if the nest is."""
    asked = options.relayout is not None or options.Rk is not None
    if asked or limits.vector or not limits.compute_units:
        return plain
    found = contraction(nest)
    if found is None:
        return plain
    made = possible(
        lambda: _tiled(nest.alone(), found, limits, options, several),
        *(TransformError, LimitError, UnsupportedC),
    )
    if isinstance(made, LoopxformError):
        return plain
    product, done = made
    guard = (*product.assumed, *_pays(found, nest, plain, done, limits, options, several))
    why = "quicker than the nest as it is"
    return in_its_place(nest, plain, product.nest, done, guard, "one product", why)


def _tiled(
    nest: Nest, found: Contraction, limits: Limits, options: Options, several: bool
) -> tuple[Product, Tiled]:
    """The product, and the same in register tiles: of arrays where they stand, if tensor units
    compute it. Raises UnsupportedC, TransformError, LimitError."""
    if found.windows and units_multiply(nest.function, found.arrays, limits, options):
        made = possible(
            lambda: _mapped(product_of(nest, found, found.windows), limits, options, True),
            *(TransformError, LimitError, UnsupportedC),
        )
        if not isinstance(made, LoopxformError) and is_tensorised(made[1].derivation):
            return made
    if not found.is_plain:
        raise UnsupportedC("no order of dimensions makes matrices of its arrays", code="LX063")
    return _mapped(product_of(nest, found, {}), limits, options, several)


def _mapped(
    product: Product, limits: Limits, options: Options, several: bool
) -> tuple[Product, Tiled]:
    done = one_nest(product.nest, {}, "register", limits, options, strict=True, several=several)
    return product, replace(done, asked=False, copied=product.copied)


# ---------------------------------------------------------------- whether it pays


def _pays(
    found: Contraction,
    nest: Nest,
    plain: Tiled,
    done: Tiled,
    limits: Limits,
    options: Options,
    several: bool,
) -> tuple[Expr, ...]:
    """When one product (`done`) in its tiles, and the copies, take less time than the nest as it is
    (`plain`) in any shape of tiles, or than as many tiles where it has none. A tile of it takes so
    many times as long as one of the product by the model."""
    tilings, units = _tilings(done, limits, options), limits.compute_units
    product = next((t for t in tilings if done.sizes.items() <= t.sizes.items()), tilings[0])
    counts = (*map(trip_count, found.batches), _count(found.rows), _count(found.columns))
    copies = _copying(found, done, product, limits)
    own = reduce(_plus, copies, long_time(counts, product.shape, units))
    trips, others = counts, [product]
    if plain.choice.has("register tile"):
        trips = tuple(trip_count(x) for x in perfect_nest(nest.outermost)[: len(nest.parallel)])
        others = _tilings(plain, limits, options)[: None if several else 1]
    ratio = max(Fraction(1), _work(plain, limits) / max(Fraction(1), _work(done, limits)))
    times = (long_time(trips, t.shape, units, ratio) for t in others)
    most = Const(1 << LONG_BITS // len(counts))
    return (*(Bin("<=", n, most) for n in counts), *(Bin("<", own, time) for time in times))


def _copying(found: Contraction, done: Tiled, product: Tiling, limits: Limits) -> Iterator[Expr]:
    """What the copies of operands and their launches take, in the unit of the times of tiles, for
    each of so many ITERATIONS of the terms."""
    copied, types = {array for array, _ in done.copied}, symbols(done.nest.function)
    unit = tile_work(product.sizes, limits) * limits.compute_units / product.shape.time
    for x, own in zip(found.operands, (found.rows, found.columns)):
        if x.array in copied:
            each = copy_work(limits, types[x.array].bytes)
            yield Bin("/", _count((*found.batches, *own)), Const(max(1, round(unit / each))))
    if launches := round(len(copied) * launch_work(limits) / unit):
        yield Bin("/", long_constant(launches), _count(found.terms))


def _tilings(done: Tiled, limits: Limits, options: Options) -> list[Tiling]:
    """The shapes of tiles of a nest, the largest first."""
    choice = done.choice
    units = multiplied(done.nest, choice, limits, options)
    if units is not None and is_tensorised(done.derivation):
        needs = demand(done.nest, choice, moved=True)
        return tensor_shapes(choice, needs, limits, done.nest.parallel, units.name, rows=False)
    needs = demand(done.nest, choice, wanted(PLAIN, limits, choice).stages or 1)
    sizes, _ = fitting.fitted(choice, needs, limits, {})
    return timed(shapes(choice, needs, sizes, {}, limits, done.nest.parallel), limits)


def _work(done: Tiled, limits: Limits) -> Fraction:
    """What the model says of a nest, launches and waves aside."""
    return cost(Estimate(done.nest, done.choice, done.sizes, limits, done.staged)).work


def _plus(a: Expr, b: Expr) -> Expr:
    return Bin("+", a, b)


def _count(loops: Sequence[For]) -> Expr:
    """The iterations of several loops together."""
    return simplify(reduce(lambda a, b: Bin("*", a, b), map(trip_count, loops)))
