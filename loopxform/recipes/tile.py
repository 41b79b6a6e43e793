"""Block and register tiling: the list of steps that leads from a nest to a mapped program.

The stages carry the titles of the listings of seed 000, section 2.1, which they reproduce for a
matrix product. `register` tiles groups and registers, `block` groups only, `naive` maps each
iteration to a work-item. A nest that `register` and `block` do not fit is mapped naively, and the
summary says why.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from loopxform.errors import TransformError, UnsupportedC
from loopxform.ir.names import fresh, used_names
from loopxform.ir.nodes import Decl, For, Function
from loopxform.ir.typing import symbols
from loopxform.ir.visit import loads, names, stmt_exprs, walk, writes
from loopxform.recipes.nest import Nest, counters, prepare
from loopxform.recipes.sizes import Demand, Tiles, Variant
from loopxform.transforms import (
    CopyToLocal,
    CopyToPrivate,
    Derivation,
    Distribute,
    Epilogue,
    Expand,
    Interchange,
    MapTo,
    Normalise,
    Sequentialise,
    Step,
    Stripmine,
    Unguard,
    Unroll,
    with_tiles,
)


@dataclass(frozen=True)
class Tiled:
    """The derivation, the variant that was possible, and why not the one asked for."""

    derivation: Derivation
    variant: Variant
    reason: str = ""

    @property
    def function(self) -> Function:
        return self.derivation.function


def tile(
    fn: Function, sizes: Tiles, variant: Variant = "register", *, strict: bool = False
) -> Tiled:
    """Tiles the one nest of `fn`. With `strict` a variant that does not fit is an error.

    Raises UnsupportedC where the nest cannot be mapped at all, TransformError where a step of the
    variant is refused and `strict` is set.
    """
    nest = prepare(Derivation(_named(fn, sizes, variant)))
    if variant == "naive":
        return _naive(nest, sizes, "")
    problem = _not_a_redomap(nest)
    if not problem:
        try:
            return Tiled(_tiled(nest, sizes, variant), variant)
        except TransformError as e:
            if strict:
                raise
            problem = e.message
    if strict:
        help = "leave out --variant: the nest is mapped with one work-item per iteration"
        raise UnsupportedC(problem, loc=nest.innermost.origin.loc, code="LX063", help=help)
    plain = prepare(Derivation(_named(fn, sizes, "naive")))
    return _naive(plain, sizes, problem)


def _named(fn: Function, sizes: Tiles, variant: Variant) -> Function:
    """The sizes by name, but for names that the user's program has another meaning for."""
    taken = used_names(fn)
    return with_tiles(fn, {n: v for n, v in sizes.named(variant).items() if n not in taken})


def _not_a_redomap(nest: Nest) -> str:
    """Why the nest is not `forall i: forall j: code1 (for k: ...) code2`, or nothing."""
    if len(nest.parallel) < 2:
        return f"only the loop over '{nest.parallel[0]}' is parallel: there is no block of two"
    if len(nest.parallel) > 3:
        return "more than three parallel loops"
    inner = [s for s in nest.innermost.body if isinstance(s, For)]
    if len(inner) != 1:
        return f"{len(inner)} sequential loops inside the parallel ones, not one"
    if not _stageable(nest.innermost, inner[0], nest.parallel[-2:]):
        return "no array is invariant to one of the parallel loops: tiling would reuse nothing"
    return ""


def _stageable(innermost: For, seq: For, pair: tuple[str, ...]) -> list[str]:
    """Arrays read in the sequential loop whose subscripts vary with exactly one of the two
    parallel loops: the elements are reused along the other (seed 000, section 2.4.2)."""
    own = {s.name for _, s in walk(innermost.body) if isinstance(s, Decl)}
    excluded = writes(innermost.body) | own
    out: dict[str, set[str]] = {}
    for _, s in walk((seq,)):
        for e in stmt_exprs(s):
            for x in loads(e):
                used = {n for i in x.index for n in names(i)} & set(pair)
                out.setdefault(x.array, set()).update(used)
    return [a for a, used in out.items() if len(used) == 1 and a not in excluded]


def _storage(nest: Nest) -> list[str]:
    """What an iteration of the parallel loops declares for itself."""
    own = [s.name for s in nest.innermost.body if isinstance(s, Decl)]
    return [name for name in own if name not in counters(nest.function)]


# ---------------------------------------------------------------- the variants


@dataclass
class _Work:
    """The derivation under construction. The only mutable thing in a recipe."""

    derivation: Derivation
    sizes: Tiles

    @property
    def fn(self) -> Function:
        return self.derivation.function

    def size(self, text: str) -> str:
        """A product of tile sizes, each by its name or, where that is taken, its number."""
        named = dict(self.fn.tiles)
        words = text.split("*")
        return "*".join(n if n in named else str(getattr(self.sizes, n)) for n in words)

    def stage(self, title: str) -> None:
        self.derivation = self.derivation.titled(title)

    def do(self, *steps: Step) -> None:
        self.derivation = self.derivation.run(steps)

    def attempt(self, step: Step) -> bool:
        """Applies a step that the recipe can do without."""
        try:
            self.do(step)
        except TransformError:
            return False
        return True


@dataclass(frozen=True)
class _Names:
    """The loops of one tiled dimension: over groups, over threads, inside a thread."""

    group: str
    thread: str
    item: str


def _dimension(fn: Function, var: str, levels: int) -> _Names:
    """i -> iii, ii, i; row -> row_g, row_t, row. Levels 2 has no loop inside a thread."""
    if len(var) == 1:
        group, thread = var * 3, var * 2
    else:
        group, thread = f"{var}_g", f"{var}_t"
    if levels == 2:
        group, thread = thread, var
    clash = used_names(fn) - {var}
    group = fresh(fn, group) if group in clash else group
    thread = fresh(fn, thread) if thread in clash else thread
    return _Names(group, thread, var)


def _tiled(nest: Nest, sizes: Tiles, variant: Variant) -> Derivation:
    """Block tiling, and register tiling inside the blocks."""
    w = _Work(nest.derivation, sizes)
    y, x = nest.parallel[-2:]
    levels = 3 if variant == "register" else 2
    rows, columns = _dimension(w.fn, y, levels), _dimension(w.fn, x, levels)
    seq = next(s for s in nest.innermost.body if isinstance(s, For))
    stage = _stageable(nest.innermost, seq, (y, x))
    storage = _storage(nest)
    kk = fresh(w.fn, seq.var * 2 if len(seq.var) == 1 else f"{seq.var}_o")

    _stripmine(w, rows, columns, seq.var, kk, variant)
    inside = _interchange_outer(w, rows, columns, variant)
    w.stage("Listing 5: Array expansion before distribution")
    w.do(*(Expand(name, tuple(inside)) for name in storage))
    w.stage(f"Listing 6: Distributing parallel loops of indices {', '.join(inside)}")
    w.do(Distribute(tuple(inside)))
    _interchange_inner(w, inside, kk, seq.var, variant)
    _normalise(w, rows, columns, seq.var, variant)
    _map(w, nest, rows, columns)
    staged = _copies(w, stage, kk, seq.var, variant)
    if not staged:
        raise TransformError("tile", CopyToLocal(stage[0], kk).check(w.fn))
    _after_mapping(w, storage, kk, seq.var)
    return w.derivation


def _stripmine(w: _Work, rows: _Names, columns: _Names, k: str, kk: str, variant: Variant) -> None:
    w.stage("Listing 3: Stripmining of all loops")
    for d, (t, r) in ((rows, ("Ty", "Ry")), (columns, ("Tx", "Rx"))):
        if variant == "register":
            w.do(
                Stripmine(d.item, w.size(f"{t}*{r}"), d.group),
                Stripmine(d.item, w.size(r), d.thread),
            )
        else:
            w.do(Stripmine(d.item, w.size(t), d.group))
    if kk:
        w.do(Stripmine(k, w.size("Tk"), kk))


def _interchange_outer(w: _Work, rows: _Names, columns: _Names, variant: Variant) -> list[str]:
    """Group loops outermost, then threads, then the loops inside a thread; the inner ones."""
    w.stage("Listing 4: Interchanging parallel loops")
    if variant == "register":
        w.do(
            Interchange(rows.item, columns.group),
            Interchange(rows.thread, columns.group),
            Interchange(rows.item, columns.thread),
        )
        return [rows.thread, columns.thread, rows.item, columns.item]
    w.do(Interchange(rows.item, columns.group))
    return [rows.item, columns.item]


def _interchange_inner(w: _Work, inside: list[str], kk: str, k: str, variant: Variant) -> None:
    w.stage("Listing 7: Interchanging inner parallelism inside sequential loops")
    w.do(*(Interchange(var, kk) for var in reversed(inside)))
    if variant == "register":
        w.do(*(Interchange(var, k) for var in reversed(inside[2:])))


def _normalise(w: _Work, rows: _Names, columns: _Names, k: str, variant: Variant) -> None:
    if variant == "register":
        w.stage("Listing 8: Sequentializing innermost loops")
        w.do(Sequentialise(f"{rows.item}*"), Sequentialise(f"{columns.item}*"))
    w.stage("Listing 9: Normalizing sequential loops")
    w.do(Normalise(k))
    if variant == "register":
        w.do(Normalise(f"{columns.item}*"), Normalise(f"{rows.item}*", "innermost"))


def _map(w: _Work, nest: Nest, rows: _Names, columns: _Names) -> None:
    w.stage("Listing 10: Mapping to hardware and copying slices")
    if len(nest.parallel) == 3:
        w.do(MapTo(nest.parallel[0], "group.z"))
    # Some implementations (PoCL 3) run a work-item twice where only the first dimension is empty.
    y, x = ("x", "y") if w.sizes.Tx == 1 else ("y", "x")
    w.do(MapTo(rows.group, f"group.{y}"), MapTo(columns.group, f"group.{x}"))
    w.do(MapTo(f"{rows.thread}*", f"thread.{y}"), MapTo(f"{columns.thread}*", f"thread.{x}"))
    for d in (rows, columns):
        if d.item != d.thread:
            w.do(Unroll(f"{d.item}*"))


def _copies(w: _Work, stage: list[str], kk: str, k: str, variant: Variant) -> list[str]:
    """Stages every array that can be; reads from registers where there is a register tile."""
    staged = [a for a in stage if w.attempt(CopyToLocal(a, kk))]
    if variant == "register":
        for array in staged:
            w.attempt(CopyToPrivate(f"{array}_loc", k))
    return staged


def _after_mapping(w: _Work, storage: list[str], kk: str, k: str) -> None:
    """Full tiles without bounds checks."""
    w.stage("Redundant computation instead of bounds checks")
    w.attempt(Unguard(tuple(storage)))
    w.stage("Epilogue of the common dimension")
    w.attempt(Epilogue(kk))
    w.stage("Unrolling for the kernel compiler")
    w.attempt(Unroll(f"{k}*"))


def _naive(nest: Nest, sizes: Tiles, reason: str) -> Tiled:
    """One work-item per iteration of the outermost parallel loops, as many as form a box; `reason`
    says why no other variant was taken. Raises UnsupportedC where not even one can be mapped."""
    most = min(3, len(nest.parallel))
    problem = ""
    for count in range(most, 0, -1):
        mapped = nest.parallel[:count]
        try:
            derivation = _one_item_each(nest, sizes, mapped)
        except TransformError as e:
            problem = problem or e.obstacles[0].message
            continue
        note = f"only {', '.join(mapped)} mapped to work-items: {problem}" if problem else ""
        return Tiled(derivation, "naive", "; ".join(x for x in (reason, note) if x))
    raise UnsupportedC(
        f"the nest cannot be mapped to work-items: {problem}",
        loc=nest.innermost.origin.loc,
        code="LX063",
        help="apply single steps: loopxform explain lists them",
    )


def _one_item_each(nest: Nest, sizes: Tiles, mapped: tuple[str, ...]) -> Derivation:
    """Groups of Ty x Tx, or Ty*Tx in a row, over the loops `mapped`; the others run in order."""
    w = _Work(nest.derivation, sizes)
    w.stage("Mapping each iteration to a work-item")
    w.do(*(Sequentialise(var) for var in nest.parallel[len(mapped) :]))
    if len(mapped) == 1:
        only = _dimension(w.fn, mapped[0], 2)
        w.do(Stripmine(only.item, w.size("Ty*Tx"), only.group))
        w.do(MapTo(only.group, "group.x"), MapTo(only.thread, "thread.x"))
        return w.derivation
    y, x = mapped[-2:]
    rows, columns = _dimension(w.fn, y, 2), _dimension(w.fn, x, 2)
    w.do(Stripmine(y, w.size("Ty"), rows.group), Stripmine(x, w.size("Tx"), columns.group))
    w.do(Interchange(y, columns.group))
    _map(w, replace(nest, parallel=mapped), rows, columns)
    return w.derivation


def demand_of(fn: Function) -> Demand:
    """What the register variant would keep in local memory and registers, by element size.

    Raises UnsupportedC as `prepare` does.
    """
    nest = prepare(Derivation(fn))
    types = symbols(nest.function)
    inner = tuple(s for s in nest.innermost.body if isinstance(s, For))
    storage = _storage(nest)
    words = max([1, *(-(-types[n].bytes // 4) for n in storage)])
    if len(nest.parallel) < 2 or len(inner) != 1:
        return Demand((), (), words)
    row = nest.parallel[-2]
    stage = _stageable(nest.innermost, inner[0], nest.parallel[-2:])
    by_row = {a for a in stage if row in _subscript_names(inner, a)}
    rows = tuple(types[a].bytes for a in stage if a in by_row)
    return Demand(rows, tuple(types[a].bytes for a in stage if a not in by_row), words)


def _subscript_names(body: tuple[For, ...], array: str) -> set[str]:
    """Scalars in the subscripts of the reads of an array."""
    found = [x for _, s in walk(body) for e in stmt_exprs(s) for x in loads(e) if x.array == array]
    return {n for x in found for i in x.index for n in names(i)}
