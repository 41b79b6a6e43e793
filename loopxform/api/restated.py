"""Loops judged as what they mean, where they are not understood as they are written.

    for (y...) { q = out + y*w; for (x...) *q++ = f(y, x); }     the loop over y is parallel
    for (i...) if (a[i] > a[best]) best = i;                     a reduction (argmax of best)
    for (i...) if (a[i] > h) h = a[i]; else if (a[i] < l) l = a[i];    one of h and l, if h = l
    for (i = 0; i < h * w; i++) out[i % w][i / w] = in[i];       parallel, where 1 <= w
    for (i < d[1]) for (j < d[0]) out[i*d[0] + j] = 0;           parallel, if d and out are apart

The elements that the first one sets are `out[q]`, of which nothing is known; where subscripts that
count are in closed form they are `out[y*w + x]`. An iteration has the same elements, so what holds
of the arrays there holds here, while scalars are what they are in the loop as it is written: one
that counts through all iterations still orders them. The second one reads `best` to find it; with
the value `a[best]` in a variable of its own it is the reduction of a pair (`track-extremum`). The
third one asks for each extremum apart (`extrema_apart`), the fourth one has the iterations of two
loops (`product_loops`), and of the last one nothing sets the numbers in the subscripts
(`steady_numbers`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from loopxform.analysis.assumptions import names_in
from loopxform.analysis.spelling import spelled, without_subscripts
from loopxform.analysis.verdict import ENOUGH, Answer, LoopVerdict, judge
from loopxform.ir.nodes import Bin, Cast, Expr, For, Function
from loopxform.ir.printer import expr_text
from loopxform.ir.typing import symbols
from loopxform.ir.visit import at, declared, loops_around, names
from loopxform.prepare.extrema_apart import with_extrema_apart
from loopxform.prepare.loop_alone import loop_alone
from loopxform.prepare.steady_numbers import SteadyNumbers
from loopxform.source import Loc

_Key: TypeAlias = tuple[Loc | None, str]


def restated(
    verdicts: Sequence[LoopVerdict],
    fn: Function,
    several: Iterable[Loc],
    seconds: float | None = None,
) -> tuple[LoopVerdict, ...]:
    """The verdicts, better ones for loops of which dependences alone are unknown, or keep scalars
    in order. `several` are places of more than one loop, of which nothing can be told."""
    ordered: dict[_Key, LoopVerdict] = {
        (v.loc, v.var): v
        for v in verdicts
        if v.parallel not in ENOUGH["reduction"] and v.left and v.loc and v.loc not in several
    }
    if not ordered:
        return tuple(verdicts)
    arrays = _arrays(fn)
    scalars = {k: v for k, v in ordered.items() if arrays.isdisjoint(v.left)}
    left = {k: v for k, v in ordered.items() if v.parallel == "unknown"}
    counted = {k: v for k, v in left.items() if arrays.issuperset(v.left)}
    placed = {k: v for k, v in scalars.items() if len(v.left) == 1}
    better = _counted(fn, counted, arrays, seconds) | _placed(fn, placed, seconds)
    better |= _judged(fn, with_extrema_apart(fn), scalars, seconds, _in_place)
    better |= _steady(fn, {k: v for k, v in counted.items() if k not in better}, arrays, seconds)
    for key in [k for k in counted if k not in better]:
        alone = _alone(fn, counted[key], arrays, seconds)
        better |= {} if alone is None else {key: alone}
    for key in counted.keys() - better.keys():
        two = _as_two(fn, counted[key], arrays, seconds)
        better |= {} if two is None else {key: two}
    return tuple(better.get((v.loc, v.var), v) for v in verdicts)


def _judged(
    fn: Function,
    made: Function,
    left: dict[_Key, LoopVerdict],
    seconds: float | None,
    join: Callable[[LoopVerdict, LoopVerdict], LoopVerdict | None],
) -> dict[_Key, LoopVerdict]:
    """What `join` makes of the verdicts on loops in `fn` and in `made`."""
    if made is fn:
        return {}
    places = frozenset(v.loc for v in left.values() if v.loc is not None)
    found: dict[_Key, LoopVerdict] = {(v.loc, v.var): v for v in judge(made, seconds, only=places)}
    joined = {
        key: join(left[key], v)
        for key, v in found.items()
        if key in left and v.parallel in ENOUGH["reduction"]
    }
    return {key: v for key, v in joined.items() if v is not None}


def _counted(
    fn: Function,
    left: dict[_Key, LoopVerdict],
    arrays: frozenset[str],
    seconds: float | None,
) -> dict[_Key, LoopVerdict]:
    """Loops of which arrays alone are unknown, with subscripts that count in closed form."""
    if not left:
        return {}
    from loopxform.api.loops_as_meant import as_matrices, with_loops_as_meant  # loads steps

    meant = with_loops_as_meant(fn)
    rows = any(p.array and len(p.shape) > 1 and p.shape[0] is None for p in fn.objects)
    meant = as_matrices(meant, of_rows=True) if rows else meant
    own = symbols(meant).keys() - symbols(fn).keys()
    return _judged(fn, meant, left, seconds, lambda v, x: _joined(v, x, own, arrays))


def _steady(
    fn: Function,
    left: dict[_Key, LoopVerdict],
    arrays: frozenset[str],
    seconds: float | None,
) -> dict[_Key, LoopVerdict]:
    """Loops of which arrays alone are unknown, with subscripts of numbers that nothing sets."""
    if not left:
        return {}
    from loopxform.api.loops_as_meant import as_matrices, with_loops_as_meant  # loads steps

    steady = SteadyNumbers(fn)
    if not steady.texts:
        return {}
    made = as_matrices(with_loops_as_meant(steady.function))
    if steady.asks(made):
        return {}
    return _judged(fn, made, left, seconds, lambda v, x: _in_words(fn, steady, made, v, x, arrays))


def _in_words(
    fn: Function,
    steady: SteadyNumbers,
    made: Function,
    v: LoopVerdict,
    x: LoopVerdict,
    arrays: frozenset[str],
) -> LoopVerdict:
    """The verdict on a loop by that of what steady numbers made of it, in the user's words."""
    own = symbols(made).keys() - symbols(fn).keys() - steady.texts.keys()
    texts = replace(fn, spelling=tuple(steady.texts.items()))
    verdict = spelled(_joined(v, x, own, arrays), texts)
    apart = steady.assumed(names_in(at(fn, v.path)))
    return replace(verdict, assumes=tuple(dict.fromkeys((*verdict.assumes, *apart))))


def _alone(
    fn: Function, v: LoopVerdict, arrays: frozenset[str], seconds: float | None
) -> LoopVerdict | None:
    """A loop that is understood without what stands around it, or around its nest."""
    from loopxform.api.loops_as_meant import as_matrices  # loads steps

    outermost = (v.path[:n] for n in range(1, len(v.path) + 1))
    found = ((p, loop_alone(fn, p)) for p in outermost)
    nest = next((p for p, made in found if made is not None), v.path)
    for place in dict.fromkeys((nest, v.path)):
        one = loop_alone(fn, place)
        if one is None:
            continue
        steady = SteadyNumbers(one)
        made = as_matrices(steady.function)
        if made.objects == steady.function.objects:
            continue
        around = {s.var for s in loops_around(fn, v.path)}
        asked = {n for e in made.assumes if e not in fn.assumes for n in names(e)}
        asked = asked.union(*(steady.places.get(n, ()) for n in asked))
        if around & asked or steady.asks(made, frozenset(declared(fn.body))):
            continue
        places = frozenset([v.loc]) if v.loc is not None else frozenset[Loc]()
        for x in judge(made, seconds, only=places):
            kept = arrays.isdisjoint(x.private)  # nothing behind the loop reads them here
            if x.var == v.var and x.parallel in ENOUGH["reduction"] and kept:
                return _in_words(fn, steady, made, v, x, arrays)
    return None


def _as_two(
    fn: Function, v: LoopVerdict, arrays: frozenset[str], seconds: float | None
) -> LoopVerdict | None:
    """A loop over a product whose iterations are those of two loops, neither of which carries
    anything: there is a column then."""
    loop = at(fn, v.path)
    if not isinstance(loop, For) or not isinstance(_plain(loop.hi), Bin):
        return None
    from loopxform.api.loops_as_meant import as_matrices  # loads steps
    from loopxform.frontend.lower.forward import forward_values
    from loopxform.prepare.product_loops import as_two_loops

    two = as_two_loops(fn, v.path, loop)
    if two is None:
        return None
    made = as_matrices(forward_values(two.function, symbols(two.function)), of_rows=True)
    found = {x.var: x for x in judge(made, seconds, at=v.path)}
    both = [found.get(name) for name in (two.row, two.column)]
    if not all(x is not None and x.parallel in ENOUGH["privatizable"] for x in both):
        return None
    types = symbols(fn)
    signed = any(not types[n].is_unsigned for n in names(two.width) if n in types)
    asked = (f"1 <= {expr_text(two.width)}",) if signed else ()
    own = symbols(made).keys() - types.keys()
    for x in both:
        assert x is not None
        v = _joined(v, x, own, arrays)
    return replace(v, assumes=tuple(dict.fromkeys((*v.assumes, *asked))))


def _plain(e: Expr) -> Expr:
    while isinstance(e, Cast):
        e = e.operand
    return e


def _placed(
    fn: Function, left: dict[_Key, LoopVerdict], seconds: float | None
) -> dict[_Key, LoopVerdict]:
    """Loops that keep the place of an extremum, with the extremum in a variable."""
    if not left:
        return {}
    from loopxform.prepare.tracked_extrema import tracked  # loads steps
    from loopxform.transforms import Derivation

    done = tracked(Derivation(fn))
    return _judged(fn, done.function, left, seconds, _with_place)


def _in_place(written: LoopVerdict, apart: LoopVerdict) -> LoopVerdict:
    return replace(apart, path=written.path)


def _with_place(written: LoopVerdict, tracked: LoopVerdict) -> LoopVerdict | None:
    """A loop that is the reduction of an extremum and of its place, as that of the place."""
    (name,) = written.left
    place = [r for r in tracked.reductions if r.array == name and r.op in ("argmin", "argmax")]
    value = [r for r in tracked.reductions if r.array == f"{name}_value"]
    if len(place) != 1 or len(value) != 1:
        return None
    others = tuple(r for r in tracked.reductions if r not in value)
    numbers = tuple(f"no {e} is NaN" for e in value[0].numbers)
    asked = (*numbers, *(f"no NaN is at {name} before the loop" for _ in numbers[:1]))
    assumes = (a for a in tracked.assumes if a not in value[0].assumes)
    return replace(
        tracked,
        path=written.path,
        reductions=others,
        assumes=tuple(dict.fromkeys((*assumes, *asked))),
        idioms=tuple(x for x in tracked.idioms if x.variable != f"{name}_value"),
    )


def _arrays(fn: Function) -> frozenset[str]:
    objects = (p.name for p in fn.objects if p.array)
    return frozenset([*objects, *(n for n, d in declared(fn.body).items() if d.shape)])


def _joined(
    written: LoopVerdict, closed: LoopVerdict, made: Iterable[str], arrays: frozenset[str]
) -> LoopVerdict:
    """What a loop is by its scalars as they are `written`, and by its arrays in `closed` form,
    whose subscripts may have variables that no text has."""
    reductions = (
        *written.reductions,
        *(r for r in without_subscripts(closed.reductions, made) if r not in written.reductions),
    )
    private = tuple(dict.fromkeys((*written.private, *(n for n in closed.private if n in arrays))))
    copies = tuple(dict.fromkeys((*written.copies, *(n for n in closed.copies if n in arrays))))
    result = replace(
        written,
        private=private,
        copies=copies,
        reductions=reductions,
        assumes=tuple(dict.fromkeys((*written.assumes, *without_subscripts(closed.assumes, made)))),
        reasons=(),
        left=(),
        idioms=(),
    )
    answer: Answer = "privatizable" if result.shared else "yes"
    return replace(result, parallel="reduction" if reductions else answer)
