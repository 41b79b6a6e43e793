"""Element-wise nests over several dimensions, as loops over one row:

    forall y, x: grey[y, x] = f(rgb[y, x, 0], rgb[y, x, 1], rgb[y, x, 2])
 -> forall yx: grey_m[yx] = f(rgb_m[3*yx], rgb_m[3*yx + 1], rgb_m[3*yx + 2])

Arrays without gaps between their rows are one row each (views by the step `unfold`), and the loops
one loop (`coalesce`): vectors then begin at multiples of their width, whatever the length of a row.
Planes that a short loop inside numbers are a row each (`a[c, y, x]`), if vectors begin there.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from loopxform.errors import LimitError, LoopxformError, TransformError, UnsupportedC
from loopxform.ir.affine import poly
from loopxform.ir.condition_text import condition_text
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Expr, For, Load
from loopxform.ir.typing import symbols
from loopxform.ir.visit import declared, loads, names, perfect_nest, stmt_exprs, walk
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.deriving import Work
from loopxform.recipes.other_forms import in_its_place
from loopxform.recipes.tile_nest import one_nest
from loopxform.recipes.tiled import Tiled
from loopxform.recipes.vectors import elements_each, is_short, is_straight
from loopxform.schedule.params import Options, Recipe
from loopxform.targets.target import Limits
from loopxform.transforms import Assume, Coalesce, Sequentialise, Unfold, possible
from loopxform.transforms.latency.vectors import divides, shape_of
from loopxform.transforms.storage.unfolding import MERGED

PLAIN: tuple[Recipe, ...] = ("elementwise", "naive")
"""What vectors may be better than."""


def in_one_row(nest: Nest, plain: Tiled, limits: Limits, options: Options) -> Tiled:
    """The nest as it is tiled (`plain`), or a loop over one row in vectors in its place, where they
    pay: by a guard of the host where sizes are not known."""
    asked = options.relayout is not None or options.Rk is not None
    if asked or limits.vector or limits.vector_width < 2 or plain.recipe not in PLAIN:
        return plain
    if not _is_flat(nest, limits.costs.word):
        return plain
    made = possible(
        lambda: _tiled(nest.alone(), limits, options), TransformError, LimitError, UnsupportedC
    )
    if isinstance(made, LoopxformError):
        return plain
    row, assumed, done = made
    return in_its_place(nest, plain, row, done, assumed, "one row", "rows follow each other")


def _is_flat(nest: Nest, word: int) -> bool:
    """Whether there are dimensions to be made one, of elements that are less than a `word` or not
    next to each other, without loops inside the nest."""
    body, x, types = nest.innermost.body, nest.parallel[-1], symbols(nest.function)
    if not is_straight(body):
        return False
    every = list(_elements(nest))
    apart = any(len(e.index) > 1 and not poly(e.index[-1]).mentions(x) for e in every)
    narrow = any(types[e.array].bytes < word for e in every)
    return (apart or narrow) and any(len(e.index) > 1 for e in every)


def _tiled(nest: Nest, limits: Limits, options: Options) -> tuple[Nest, tuple[Expr, ...], Tiled]:
    """The loop over one row, what that assumes, and the same in vectors. Raises UnsupportedC,
    TransformError, LimitError."""
    row, assumed = _as_one_row(nest, limits)
    return row, assumed, one_nest(row, {}, "vectors", limits, options, strict=True)


def _as_one_row(nest: Nest, limits: Limits) -> tuple[Nest, tuple[Expr, ...]]:
    w = Work(nest.derivation.titled("One row"), {})
    nest, before = _short_loops_inside(w, nest), w.fn.assumes
    outermost = nest.parallel[0]
    found = {e.array: _dimensions(nest, e) for e in _elements(nest)}
    steps = [
        Unfold(outermost, a, order, fresh(w.fn, f"{a}_m"))
        for a, order in sorted(found.items())
        if any(MERGED in group for group in order)
    ]
    for step in (*steps, *steps):  # what is assumed for one may say how much is touched of another
        _assuming(w, step.open_questions(w.fn))
    w.do(*steps)
    own = declared(w.fn.body)
    if any(own[s.target].turned for s in steps):
        raise UnsupportedC("rows do not follow each other", loc=nest.innermost.origin.loc)
    loop = _as_one_loop(w, nest)
    made = Nest(w.derivation, (loop,), (), nest.reserved).of(w.derivation)
    width, copies = elements_each(made, limits), {s.array: s.target for s in steps}
    for a, order in sorted(found.items()):
        row = shape_of(w.fn, copies.get(a, a))[-1]
        if len(order) > 1 and row is not None:  # rows of their own begin where vectors do
            _assuming(w, (divides(width, row),))
    assumed = tuple(e for e in w.fn.assumes if e not in before)
    return made.of(w.derivation), assumed


def _short_loops_inside(w: Work, nest: Nest) -> Nest:
    """The nest with its short parallel loops (colours) inside the others, for one work-item."""
    short = [x.var for x in _chain(nest) if is_short(x)]
    long = [v for v in nest.parallel if v not in short]
    if not short or not long:
        return nest
    w.order(list(nest.parallel), [*long, *short])
    w.do(*(Sequentialise(v) for v in short))
    return Nest(w.derivation, tuple(long), (), nest.reserved).of(w.derivation)


def _dimensions(nest: Nest, e: Load) -> tuple[str, ...]:
    """Those of an array, of which those that the parallel loops run along become one, in front of
    which short loops inside may number rows."""
    short = {s.var for _, s in walk(nest.innermost.body) if isinstance(s, For)}
    numbers = [bool(names(i) & short) for i in e.index]
    rows = numbers.index(False) if False in numbers[:-1] else len(numbers) - 1
    rest = MERGED.join(map(str, range(rows, len(e.index))))
    return (*map(str, range(rows)), rest)


def _as_one_loop(w: Work, nest: Nest) -> str:
    """Makes one of the loops of the nest, and returns its name."""
    whole, *others = (x.var for x in _chain(nest))
    for var in others:
        name = whole + var if len(var) == 1 else f"{whole}_{var}"
        name = next(n for k in count(1) if (n := name + "_" * (k - 1)) not in nest.taken)
        step = Coalesce(whole, var, name)
        _assuming(w, step.open_questions(w.fn))
        w.do(step)
        whole = name
    return whole


def _chain(nest: Nest) -> list[For]:
    return list(perfect_nest(nest.outermost)[: len(nest.parallel)])


def _assuming(w: Work, asked: tuple[Expr, ...]) -> None:
    w.do(*(Assume(condition_text(e)) for e in asked))


def _elements(nest: Nest) -> Iterator[Load]:
    own = declared(nest.innermost.body)
    for _, s in walk(nest.innermost.body):
        for e in stmt_exprs(s):
            yield from (x for x in loads(e) if x.array not in own)
