"""Running values of rows, a group for each:

    forall r (a group): { s = 0; for j < n: { s += a[r, j]; y[r, j] = s; } z[r] = s; }
 -> forall r (a group):
      the first work-item: s = 0
      for jj (chunks of T): the values of a chunk in parts, from s on (`recipes.scan`)
        the first work-item: s is what the chunk ends with
      the first work-item: z[r] = s

What a chunk reads and stores lies in local memory. Where values would be rounded differently, the
first work-item runs a whole chunk, in order: other groups hide the latency of that. (Kirk and Hwu,
"Programming Massively Parallel Processors", section 11.6.)
"""

from __future__ import annotations

from math import isqrt

from loopxform.analysis.running import Scan, scan_of
from loopxform.errors import Obstacle, TransformError
from loopxform.ir.names import fresh, outer_name
from loopxform.ir.nodes import Assign, Copy, Decl, For, Function, Load, Stmt
from loopxform.ir.visit import Path, at, declared, loops, reads, replace_at, resolve, walk, writes
from loopxform.model.choice import Choice
from loopxform.prepare.parallel_band import Nest, sequential
from loopxform.recipes.base import NO_CHUNKS, Mapped, Question
from loopxform.recipes.deriving import Work
from loopxform.recipes.scan import (
    ScanInGroup,
    along,
    fixed_length,
    in_parts,
    local_bytes,
    new_loops,
    run_once,
)
from loopxform.schedule.params import KINDS, Options
from loopxform.targets.target import Limits
from loopxform.transforms import (
    CopyToLocal,
    MapTo,
    Parallelise,
    PromoteToLocal,
    ReduceThenScan,
    RoundRobin,
    Scalarise,
    ScalarToMemory,
    SeparateFullTiles,
    StageStores,
    Stripmine,
    UnitLoop,
)
from loopxform.transforms.restructure.places import place_text


class RunningValues(ScanInGroup):
    """Chunks of rows, and, where the recipe is asked for, whole rows."""

    def match(self, question: Question) -> Choice | str:
        nest = question.facts.nest
        found = sequential(nest.innermost.body)
        if len(found) != 1 or not _is_row(nest, found[0], question.costs.scan_terms):
            return super().match(question)
        path = next(s.path for s in loops(nest.function) if s.loop is found[0])
        scan = scan_of(nest.function, path) if question.asked else None
        if not isinstance(scan, Scan) or scan.only_reduces:
            return NO_CHUNKS
        k = found[0].var
        return Choice(self.name, (), k, group=("Tx",), shared=((k,),))

    def map(self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits) -> Mapped:
        (loop,) = sequential(nest.innermost.body)
        if not _is_row(nest, loop, limits.costs.scan_terms):
            return super().map(w, nest, choice, options, limits)
        stored, read = (along(loop, stored=x) for x in (True, False))
        staged, start = [*stored, *read], w.derivation
        while True:
            kept = [a for a in stored if a in staged], [a for a in read if a in staged]
            _Row(w, nest, loop.var, options, limits).map(*kept)
            used = local_bytes(w, nest.parallel[-1])
            if used <= limits.local_bytes:
                return Mapped(choice)
            if not staged:
                text = f"a chunk needs {used} bytes, and there is room for {limits.local_bytes}"
                raise TransformError("promote-to-local", (Obstacle("LX169", text),))
            staged.pop()
            w.derivation = start


def _is_row(nest: Nest, loop: For, chunk: int) -> bool:
    """Whether a loop has more iterations than a chunk; those of a chain have lengths of their
    own."""
    length = fixed_length(loop)
    return not nest.innermost.chained and (length is None or length > chunk)


def stays_in_order(fn: Function, var: str, allowed: str) -> bool:
    """Whether all that keeps running values from being computed in parts is that they would be
    rounded differently."""
    problems = ReduceThenScan(var, "2", allowed).check(fn)
    return bool(problems) and all(o.code == "LX191" for o in problems)


class _Row:
    """An iteration of a nest whose loop `var` is computed in chunks, on its way to a group."""

    def __init__(self, w: Work, nest: Nest, var: str, options: Options, limits: Limits) -> None:
        self.w, self.nest, self.var, self.limits = w, nest, var, limits
        self.allowed = "reassociate" if options.reassociate else ""
        self.over = outer_name(w.fn, var)

    def map(self, stored: list[str], read: list[str]) -> None:
        """With what is stored and read by way of local memory. Raises TransformError."""
        w, items = self.w, self.w.sizes["Tx"]
        own = max(1, self.limits.costs.scan_terms // KINDS["scan"].tiles.Tx)
        (site,) = resolve(w.fn, self.var)
        scan = scan_of(w.fn, site.path)
        assert isinstance(scan, Scan)
        w.stage("Chunks of the row, one after the other")
        w.do(Stripmine(self.var, str(own * items), self.over))
        before = {site.loop.var for site in loops(w.fn)}
        for array in stored:
            w.attempt(StageStores(array, self.var))
        shared = [v for v in new_loops(w, before) if w.attempt(Parallelise(v))]
        if stays_in_order(w.fn, self.var, self.allowed):
            between = self.var
        else:
            w.stage("Running values of the chunks of work-items")
            between = in_parts(w, self.var, own, self.allowed)
            if items > self.limits.costs.combined_alone:
                between = in_parts(w, between, 1 << (isqrt(items - 1).bit_length()), self.allowed)
        w.do(Parallelise(self._passed_on(between, [v.var for v in scan.values])))
        w.stage("What the chunks read in local memory")
        for array in read:
            w.attempt(CopyToLocal(array, self.over))
        w.stage("Mapping each row to a group")
        for v in shared:
            w.do(RoundRobin(v, w.size("Tx"), fresh(w.fn, f"{v}_t")))
        self._alone()
        w.do(*(MapTo(v, "group.x") for v in self.nest.parallel))
        w.do(*(MapTo(s.var, "thread.x") for _, s in self._steps() if isinstance(s, For)))
        made = [s for _, s in self._steps() if isinstance(s, Decl) and s.shape and not s.space]
        w.do(*(PromoteToLocal(s.name) for s in made))
        w.attempt(SeparateFullTiles(self.over))

    def _passed_on(self, between: str, values: list[str]) -> str:
        """The first work-item passes the values on from chunk to chunk, in memory; it keeps them in
        scalars while it runs a whole chunk."""
        once = run_once(self.w, between)
        self.w.do(*(ScalarToMemory(v) for v in values))
        for v in values if between == self.var else ():
            self.w.attempt(Scalarise(v, once))
        return once

    def _steps(self) -> list[tuple[Path, Stmt]]:
        """What the group does, one after the other: but for the loop over chunks."""
        (row,), (chunks,) = (
            resolve(self.w.fn, self.nest.parallel[-1]),
            resolve(self.w.fn, self.over),
        )
        beside = [(*row.path, n) for n, s in enumerate(row.loop.body) if s is not chunks.loop]
        inside = [(*chunks.path, n) for n, _ in enumerate(chunks.loop.body)]
        return [(p, at(self.w.fn, p)) for p in (*beside, *inside)]

    def _alone(self) -> None:
        """The first work-item does what else writes to memory. Raises TransformError where others
        would need what it computes."""
        while (place := next((x for x in self._steps() if _writes_memory(x[1])), None)) is not None:
            path, s = place
            once = fresh(self.w.fn, "once")
            self.w.do(UnitLoop(place_text(path), "1", once), Parallelise(once))
            rest = replace_at(self.w.fn, resolve(self.w.fn, once)[0].path, ())
            scalars = {n for n, d in declared(self.w.fn.body).items() if not d.shape}
            needed = writes((s,)) & scalars & reads(rest.body)
            if needed:
                why = f"the first work-item of a group would set '{min(needed)}' for all"
                raise TransformError("map", (Obstacle("LX151", why, s.origin.loc),))


def _writes_memory(s: Stmt) -> bool:
    """Whether a statement that is not shared out does."""
    if isinstance(s, Decl | Copy) or (isinstance(s, For) and s.parallel):
        return False
    return any(isinstance(x, Assign) and isinstance(x.target, Load) for _, x in walk((s,)))
