"""Loops of the host around small nests, as one kernel of one group.

    for k (the host): { forall i: A(k, i);  forall i, j: B(k, i, j) }     two launches for each k
      ->  if (the largest nest has few iterations)
            a group: for k: { its work-items share i;  barrier;  they share i and j;  barrier }
          else
            for k (the host): ...

A group reaches a barrier sooner than the host launches a kernel, but it is one of many that run at
the same time: the host asks how many iterations a step has at most. Statements that one work-item
runs beside the loop are part of the kernel, and so is what they compute for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import takewhile

from loopxform.errors import LoopxformError, UnsupportedC
from loopxform.ir.affine import poly, value_of
from loopxform.ir.condition_text import is_readable
from loopxform.ir.names import fresh, used_names
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, For, If, Stmt
from loopxform.ir.visit import Path, declared, loops_around, resolve, walk, writes
from loopxform.offload.program_state import Part, Program
from loopxform.prepare.parallel_band import Nest, with_guards_inside
from loopxform.prepare.perfect_nest import has_few_iterations
from loopxform.recipes.deriving import Work
from loopxform.recipes.in_step import left_loops
from loopxform.recipes.registry import choices
from loopxform.recipes.tile_nest import one_nest
from loopxform.recipes.tiled import Tiled
from loopxform.recipes.version_choice import Thresholds, Version, choice, decided
from loopxform.recipes.versions import REFUSALS, times
from loopxform.schedule.params import Options
from loopxform.schedule.requests import Wish, Wishes
from loopxform.targets.target import Limits
from loopxform.transforms import (
    Derivation,
    Parallelise,
    Privatise,
    RemoveUnitLoop,
    Rename,
    UnitLoop,
    possible,
    thresholds_of,
)
from loopxform.transforms.edges.largest import most_iterations
from loopxform.transforms.restructure.places import place_text

ONE = Const(1)

ROW = 32
"""Work-items along the rows of arrays, which they read together."""

ABOUT = "one group for all steps"


def in_one_group(program: Program, limits: Limits, given: Wish, asked: Wishes) -> None:
    """Gives the outermost loops of the host a version that is one kernel of one group, where its
    work-items share all nests inside."""
    tiles = (given.options.time_tile, given.options.fuse_stages, given.options.tile_stages)
    if limits.vector or program.alone or given.sizes or given.recipe or asked.at or any(tiles):
        return
    for _, s in program.statements(()):
        if isinstance(s, For) and s.var in program.hosts and limits.costs.step_iterations:
            _with_one_group(program, s, limits, given)


def _with_one_group(program: Program, loop: For, limits: Limits, given: Wish) -> None:
    if any(map(partial(_is_unfit, program), (s for _, s in walk(loop.body)))):
        return
    nests = [x for _, x in walk(loop.body) if isinstance(x, For) and x.var in program.nests]
    amount = _most(program, nests)
    first, count = _run(program, loop)
    start = program.derivation.titled("One group for all steps")
    once = fresh(start.function, "steps")
    whole = start.tried(UnitLoop(place_text(first), str(count), once))
    if amount is None or not is_readable(amount) or isinstance(whole, LoopxformError):
        return
    alone = Derivation(whole.function).titled(whole.stage)
    options = program.allowing(given.options, loop)
    shared = partial(_shared, alone, once, nests, limits, options)
    tiled = possible(shared, *REFUSALS)
    if not isinstance(tiled, Tiled):
        return
    named = Thresholds(
        len(thresholds_of(whole)), used_names(whole.function), dict(options.threshold)
    )
    few = Bin("<", amount, named("suff_step_par", limits.costs.step_iterations))
    if decided(few) is False:
        return
    assumed = (e for e in tiled.function.assumes if e not in whole.function.assumes)
    versions = (
        Version("one group", ABOUT, tiled.derivation, (few, *assumed)),
        Version("kernels", "kernels for each step", alone.then(RemoveUnitLoop(once))),
    )
    joined = whole.tried(choice(once, versions, named))
    if isinstance(joined, LoopxformError):
        return
    program.derivation = joined
    (var,) = tiled.nest.parallel
    program.groups.add(var)
    loc = loop.origin.loc
    program.parts.append(Part(var, loc, (loop.var,), "kernel", "", tiled, about=ABOUT))


def _is_unfit(program: Program, s: Stmt) -> bool:
    """Whether a group cannot run a statement: an array of an iteration has no place there, and no
    barrier stands under a condition."""
    match s:
        case Decl():
            return bool(s.shape)
        case If():
            inside = (x for _, x in walk((s,)) if isinstance(x, For))
            return any(x.var in program.nests for x in inside)
        case _:
            return False


def _run(program: Program, loop: For) -> tuple[Path, int]:
    """Where the statements begin that are the kernel, and how many they are: the loop, and those
    beside it that one work-item runs."""
    body = program.fn.body
    (place,) = (n for n, s in enumerate(body) if s is loop)
    first = place - sum(1 for _ in takewhile(_is_single, reversed(body[:place])))
    last = place + sum(1 for _ in takewhile(_is_single, body[place + 1 :]))
    while isinstance(body[first], Decl):
        first += 1
    while isinstance(body[last], Decl):
        last -= 1
    return (first,), last - first + 1


def _is_single(s: Stmt) -> bool:
    return isinstance(s, Assign | Decl)


def _shared(
    start: Derivation,
    once: str,
    nests: Sequence[For],
    limits: Limits,
    options: Options,
) -> Tiled:
    """The loop of one iteration as a group, whose work-items share the nests. Raises UnsupportedC
    where they do not, TransformError and LimitError where they cannot."""
    w = Work(start, {})
    inside = resolve(w.fn, once)[0].loop.body
    scalars = {n for n, d in declared(w.fn.body).items() if not d.shape} & writes(inside)
    w.do(*(Privatise(n, once, "own") for n in sorted(scalars)))
    every = [s for _, s in walk(inside) if isinstance(s, For)]
    own = {s.var: fresh(w.fn, s.var) for s in every}
    w.do(*(Rename(v, name) for v, name in own.items()), Parallelise(once))
    tiled = _tiled(Nest(w.derivation, (once,), resolve(w.fn, once)[0].path), limits, options)
    shared = {v for loops in tiled.choice.shared for v in loops}
    for x in nests:
        if not has_few_iterations(x) and own[x.var] not in shared:
            text = f"work-items do not share the loop over '{x.var}'"
            raise UnsupportedC(text, loc=x.origin.loc, code="LX063")
    return tiled


def _tiled(nest: Nest, limits: Limits, options: Options) -> Tiled:
    """A nest of one iteration as a group of `step_items` work-items."""
    found, _ = choices(with_guards_inside(nest), "group", limits, kept=False)
    both = any("Ty" in choice.group for choice in found)

    def tiled(items: int) -> Tiled:
        wide = min(ROW, items) if both else items
        sizes = {"Ty": items // wide, "Tx": wide} if both else {"Tx": wide}
        return one_nest(nest, sizes, "group", limits, options, strict=True)

    costs = limits.costs
    items = min(costs.step_items, limits.group_size)
    made = tiled(items)
    body = resolve(made.function, made.nest.parallel[-1])[0].loop.body
    repeats = next(left_loops(body, costs.short_loop), None) is not None
    return tiled(min(items, costs.repeating_items)) if repeats else made


def _most(program: Program, nests: Iterable[For]) -> Expr | None:
    """How many iterations the largest of the nests has at most, those of loops inside included;
    None where the host cannot tell."""
    amounts: list[Expr] = []
    for nest in nests:
        path = resolve(program.fn, nest.var)[0].path
        around = loops_around(program.fn, path)
        for p, s in walk((nest,)):
            if isinstance(s, For) and not any(isinstance(x, For) for _, x in walk(s.body)):
                chain = (*around, *loops_around(replace(program.fn, body=(nest,)), p), s)
                counts = [most_iterations(x, chain[:n]) for n, x in enumerate(chain)]
                amounts.append(
                    reduce(times, [c for c in counts[len(around) :] if value_of(c) != 1] or [ONE])
                )
    distinct = [a for a in dict.fromkeys(amounts) if not any(_exceeds(b, a) for b in amounts)]
    return reduce(partial(Bin, "max"), distinct) if distinct else None


def _exceeds(a: Expr, b: Expr) -> bool:
    """Whether an amount is always larger than another, by a number."""
    more = (poly(a) - poly(b)).value
    return more is not None and more > 0
