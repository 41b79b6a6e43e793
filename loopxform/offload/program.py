"""Whole functions: every nest becomes kernels, with the control flow of the host between them.

    s = 0; for k: s += ...;                   one work-item, in order: nothing in it is parallel
    for t:                                    the host, one iteration after the other
      for i: for j: ...                       a nest of parallel loops, by the recipe that fits
      n = n / 2;                              the host: made of scalars of the host alone

A loop that is not parallel becomes so where parallel loops inside it can change places with it, or
its statements can have loops of their own. Scalars that pass from kernel to kernel are kept in
memory. Each step is checked where it is applied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from loopxform.analysis.host_scalars import host_scalars
from loopxform.errors import LimitError, TransformError, UnsupportedC
from loopxform.floating_point import CONTRACT, FloatingPoint
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Decl, For, Function, Opaque
from loopxform.ir.permitted import permitted
from loopxform.ir.visit import (
    counters,
    declared,
    loops,
    reads,
    resolve,
    walk,
    writes,
)
from loopxform.ir.whiles import is_while
from loopxform.offload.array_expansion import has_room_for_iterations
from loopxform.offload.flattened import Offloaded, in_versions
from loopxform.offload.fused_stages import fused_stages
from loopxform.offload.fusion import also, fused_neighbours
from loopxform.offload.host_loops import require_use, structure
from loopxform.offload.joined_kernels import joined_kernels
from loopxform.offload.one_group import in_one_group
from loopxform.offload.passed_on import stored_once
from loopxform.offload.program_state import Part, Program
from loopxform.offload.reductions import few_results, is_group_work
from loopxform.offload.sequential_rest import flagged, sequential, single
from loopxform.offload.time_tiles import time_tiled
from loopxform.prepare.blocked_loops import unblocked
from loopxform.prepare.capped_counts import counts_of_all
from loopxform.prepare.counted_parameters import with_kept_parameters
from loopxform.prepare.functions_of_floats import of_floats
from loopxform.prepare.parallel_band import Nest
from loopxform.prepare.perfect_nest import require_names, told_apart, undeclared
from loopxform.prepare.pointer_rotation import standing_pointers
from loopxform.prepare.same_stores import stored_alike
from loopxform.prepare.searches import searches_as_reductions
from loopxform.prepare.tracked_extrema import tracked
from loopxform.prepare.unrolled_loops import rerolled
from loopxform.prepare.while_loops import whole_loops
from loopxform.prepare.wide_updates import widened
from loopxform.recipes import uneven_versions
from loopxform.recipes.contraction import in_one_product
from loopxform.recipes.deriving import Work, with_numbers
from loopxform.recipes.nested_versions import nest_with_groups
from loopxform.recipes.one_row import in_one_row
from loopxform.recipes.tensor_units import with_reason
from loopxform.recipes.tile_nest import one_nest
from loopxform.recipes.tiled import Tiled
from loopxform.schedule.params import PLAIN, Options, Recipe
from loopxform.schedule.requests import Wish, Wishes
from loopxform.targets.profile import PROFILES
from loopxform.targets.target import Limits
from loopxform.transforms import (
    CopyParameter,
    Derivation,
    FinalValue,
    MapTo,
    Rename,
    ScalarToMemory,
    Stripmine,
)


def offload(
    fn: Function,
    sizes: Mapping[str, int],
    limits: Limits = PROFILES["generic"],
    options: Options = PLAIN,
    recipe: Recipe | None = None,
    asked: Wishes | None = None,
    fp: FloatingPoint = CONTRACT,
    *,
    with_loops: bool = True,
) -> Offloaded:
    """Every nest of `fn` as kernels, by `recipe` where it is given and fits; `asked` is what the
    source wishes for of each, `fp` what is permitted of floating point where it says nothing.
    Raises UnsupportedC for what is not modelled, for no loop at all (`with_loops`), and for scalars
    of the caller's that kernels would set, LimitError where sizes do not fit, AnnotationError where
    the source asks for what cannot be had.
    """
    searched = searches_as_reductions(fn, limits.search_parts)
    counting = counts_of_all(searched.fn)
    fn = with_kept_parameters(standing_pointers(whole_loops(counting.fn)))
    _require_modelled(fn, with_loops=with_loops)
    counted = _counted(_own(rerolled(Derivation(fn))).titled("Loops with names of their own"))
    asked = asked or Wishes()
    fp = replace(fp, reassociate=True) if options.reassociate else fp
    given = Wish(sizes, recipe, replace(options, reassociate=False))
    apart = undeclared(told_apart(_counters(counted)))
    named = unblocked(_specialised(apart, (given, asked.common, *asked.at.values())))
    named = of_floats(stored_alike(widened(tracked(named))), fp)
    require_names(named.function)
    own = (s.origin.loc for s in named.function.body if permitted(fp, named.function, (s,)) != fp)
    named, fused = fused_neighbours(named, {*asked.at, *(loc for loc in own if loc)})
    options = given.over(asked.common).options
    automatic = recipe is None and not asked.at

    def mapped(
        derivation: Derivation, hosts: frozenset[str] = frozenset(), *, alone: bool = False
    ) -> Offloaded:
        program = Program(derivation, options, limits.costs, fp, limits, alone=alone)
        program.fused = dict(fused)
        program.sought |= searched.sought
        program.searches |= {
            loc: str(why) for loc, why in {**counting.left, **searched.left}.items()
        }
        program.hosts |= hosts
        program.why |= dict.fromkeys(hosts, "it is sequential, and holds parallel loops")
        return _mapped(program, given, limits, asked)

    if not automatic:
        return mapped(named)
    return in_versions(named, mapped, limits, options, fp)


def _mapped(program: Program, given: Wish, limits: Limits, asked: Wishes) -> Offloaded:
    """The kernels and the host loops of a program, whose loops have names of their own. Raises as
    `offload` does."""
    structure(program, ())
    require_use(program)
    in_one_group(program, limits, given, asked)
    flagged(program)
    sequential(program, ())
    _map(program, given, limits, asked)
    _keep_in_memory(program)
    joined_kernels(program)
    _require_parts(program)
    order = {s.loop.var: n for n, s in reversed([*enumerate(loops(program.fn), 1)])}
    parts = sorted(program.parts, key=lambda p: order.get(p.loop, 0))
    return Offloaded(program.derivation, tuple(parts), tuple(program.pipelines))


def _require_modelled(fn: Function, *, with_loops: bool) -> None:
    for _, s in walk(fn.body):
        if isinstance(s, Opaque):
            raise UnsupportedC(s.reason, loc=s.origin.loc, code=s.code, help=s.help or None)
    if with_loops and not loops(fn):
        raise UnsupportedC(
            f"function '{fn.name}' has no loop nest",
            loc=fn.origin.loc,
            code="LX060",
            help="name another function: --function NAME, or file[NAME] in Python",
        )


def _specialised(derivation: Derivation, wishes: Iterable[Wish]) -> Derivation:
    """Numbers in place of the sizes that a wish fixes, in the whole function."""
    for wish in wishes:
        try:
            derivation = with_numbers(derivation, wish.options)
        except TransformError as e:
            raise wish.unmet(e) from e
    return derivation


def _own(derivation: Derivation) -> Derivation:
    """Parameters that the function sets are variables of its own."""
    fn = derivation.function
    left = {site.loop.var for site in loops(fn) if site.loop.live_out}
    for p in fn.params:
        if p.name in writes(fn.body) | left and not CopyParameter(p.name).check(fn):
            derivation = derivation.titled("Parameters that are set").then(CopyParameter(p.name))
    return derivation


def _counted(derivation: Derivation) -> Derivation:
    """What loops leave in their variables is computed, where that can be."""
    w = Work(derivation, {})
    for n in range(len(loops(w.fn))):
        site = loops(w.fn)[n]
        if site.loop.live_out:
            w.attempt(FinalValue(w.ref(site.path)))
    return w.derivation


def _counters(derivation: Derivation) -> Derivation:
    """Loops that count with a scalar which has other uses get a counter of their own."""
    w = Work(derivation, {})
    for n in range(len(loops(w.fn))):
        site = loops(w.fn)[n]
        if site.loop.var in writes(w.fn.body) and not site.loop.live_out:
            w.attempt(Rename(w.ref(site.path), fresh(w.fn, site.loop.var)))
    return w.derivation


def _map(program: Program, given: Wish, limits: Limits, asked: Wishes) -> None:
    """Every nest to groups and work-items."""
    time_tiled(program, limits, given, asked)
    if not limits.vector:
        fused_stages(program, limits, given, asked)
    for var, nest in program.nests.items():
        site = resolve(program.fn, var)[0]
        wish = given.over(asked.of(program.fn, site.path))
        wish = replace(wish, options=program.allowing(wish.options, site.loop))
        try:
            done = with_reason(_tiled(program, var, nest, wish, limits), limits, wish.options)
        except (UnsupportedC, TransformError, LimitError) as e:
            if isinstance(e, LimitError) or wish.annotation is not None:
                raise wish.unmet(e) from e
            program.why[var] = e.message
            single(program, ((site.path, site.loop),))
            continue
        asked.meet(program.fn, site.path)
        program.derivation = done.derivation
        loc = resolve(program.fn, var)[0].loop.origin.loc
        others = also(program.fused[var]) if program.fused.get(var) else ""
        said = (program.notes.get(var), program.partial.get(var), program.widened.get(var))
        why = "; ".join(x for x in (others, *said, done.reason) if x)
        copied = program.copied.get(var, "")
        program.parts.append(Part(var, loc, nest.parallel, "kernel", why, done, copied=copied))
    for name in program.singles:
        if _in_one_group(program, name, given, limits, asked):
            continue
        w = Work(program.derivation.titled("What one work-item runs in order"), {})
        outer = fresh(w.fn, f"{name}_g")
        w.do(Stripmine(name, "1", outer), MapTo(outer, "group.x"), MapTo(name, "thread.x"))
        program.derivation = w.derivation
    for loc, wish in asked.left:
        here = (s.loop.var for s in loops(program.fn) if s.loop.origin.loc == loc)
        why = next((program.why[v] for v in here if v in program.why), "it is in no parallel nest")
        raise wish.unmet(UnsupportedC(why, loc=loc, code="LX062"))
    for var in program.hosts:
        loop = resolve(program.fn, var)[0].loop
        counted = () if is_while(loop) else (var,)
        program.parts.append(Part(var, loop.origin.loc, counted, "host", program.why[var]))


def _in_one_group(program: Program, name: str, given: Wish, limits: Limits, asked: Wishes) -> bool:
    """Maps a nest of one iteration to one group, where that is a reduction."""
    site = resolve(program.fn, name)[0]
    if not is_group_work(program, site.loop.body):
        return False
    nest = Nest(program.derivation, (name,), site.path)
    sizes = given.over(asked.of(program.fn, site.path)).sizes
    try:
        options = program.allowing(program.options, site.loop)
        done = one_nest(nest, sizes, "reduce", limits, options, strict=True)
    except (UnsupportedC, TransformError):
        return False
    asked.meet(program.fn, site.path)
    program.derivation = done.derivation
    (n,) = (n for n, p in enumerate(program.parts) if p.loop == name)
    program.parts[n] = replace(program.parts[n], kind="kernel", tiled=done)
    return True


def _tiled(program: Program, var: str, nest: Nest, wish: Wish, limits: Limits) -> Tiled:
    path = resolve(program.fn, var)[0].path
    here = replace(nest, derivation=program.derivation, path=path)
    few = few_results(program, here)
    recipe, strict = wish.recipe, wish.strict and wish.annotation is not None
    several = recipe is None and bool(limits.program_tiles)
    own, options = _of_programs(limits), wish.options
    done = one_nest(here, wish.sizes, recipe, own, options, strict=strict, few=few, several=several)
    if recipe is not None or nest.parallel[0] in program.partial:
        return done
    if not wish.sizes and (product := in_one_product(here, done, limits, wish.options)) is not done:
        return product
    if not wish.sizes and (row := in_one_row(here, done, limits, wish.options)) is not done:
        return row
    versioned = uneven_versions.in_versions(here, done, wish.sizes, limits, wish.options)
    if wish.sizes or versioned is not done or program.alone:
        return versioned
    chosen = nest_with_groups(here, done, limits, wish.options)
    return chosen if has_room_for_iterations(here.function, here.path, chosen.function) else done


def _of_programs(limits: Limits) -> Limits:
    """With the shapes of tiles that functions of several nests have."""
    return replace(limits, smaller_tiles=limits.program_tiles, packed_tiles=(), split_tiles=())


def _keep_in_memory(program: Program) -> None:
    """Scalars that pass from kernel to kernel become arrays of one element."""
    hosted = host_scalars(program.fn)
    program.derivation = program.derivation.titled("Scalars that kernels pass on")
    kernels = [s for _, s in walk(program.fn.body) if isinstance(s, For) and _on_grid(s)]
    outermost = [s for s in kernels if not any(s is not k and _holds(k, s) for k in kernels)]
    used = [reads((k,)) | writes((k,)) for k in outermost]
    _require_own(program, frozenset(n for k in outermost for n in writes((k,))))
    inside = {id(s) for k in outermost for _, s in walk((k,)) if isinstance(s, Decl)}
    for name, decl in declared(program.fn.body).items():
        shared = not decl.shape and id(decl) not in inside and name not in hosted
        if shared and name not in counters(program.fn) and any(name in u for u in used):
            kept = program.derivation.then(ScalarToMemory(name))
            program.derivation = stored_once(kept, name)


def _require_parts(program: Program) -> None:
    """Raises UnsupportedC where the host needs all that the loops compute."""
    if not program.parts:
        raise UnsupportedC(
            "the loops compute nothing but scalars, which the host needs itself",
            loc=next((s.loop.origin.loc for s in loops(program.fn)), program.fn.origin.loc),
            code="LX062",
            help="leave them as they are, or have them compute an array",
        )


def _require_own(program: Program, changed: frozenset[str]) -> None:
    """Kernels get the numbers of the caller's by value. Raises UnsupportedC."""
    for p in program.fn.objects:
        if not p.array and p.name in changed:
            raise UnsupportedC(
                f"'{p.name}' belongs to the caller, and would be set by a kernel",
                loc=p.origin.loc or program.fn.origin.loc,
                code="LX140",
                help=f"set a variable of {program.fn.name} in its place"
                + (", and copy it back in the caller" if p.is_global else ""),
            )


def _on_grid(s: For) -> bool:
    return s.level is not None and s.level.kind == "grid"


def _holds(outer: For, s: For) -> bool:
    return any(x is s for _, x in walk(outer.body))
