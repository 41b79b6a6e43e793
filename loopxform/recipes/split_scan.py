"""Running values of rows in chunks, in kernels of their own:

    forall r: { s = 0; for j < n: { s += a[r, j]; y[r, j] = s; } }
 -> part[m, n/T]
    forall r: forall jj: part[r, jj/T] = the sum of a chunk of T elements of a row
    forall r: { s = 0; for c: the running values of part[r, c] }
    forall r: forall jj: T iterations, from part[r, jj/T] on

All of them are nests again. Groups run the chunks where these lie along the rows; where they lie
across, `forall jj: forall r`, and neighbouring work-items run chunks of neighbouring columns.
(`reduce-then-scan`.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from loopxform.errors import LoopxformError
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Decl, For, Stmt
from loopxform.ir.visit import declared, loops, perfect_nest, reads, resolve, writes
from loopxform.prepare.parallel_band import Nest, sequential
from loopxform.prepare.perfect_nest import told_apart
from loopxform.recipes.deriving import Work
from loopxform.recipes.tile_nest import one_nest
from loopxform.recipes.tiled import Tiled
from loopxform.recipes.versions import REFUSALS
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import (
    Distribute,
    Expand,
    Interchange,
    Permute,
    ReduceThenScan,
    Scalarise,
    possible,
)
from loopxform.transforms.edges.bounds import fixed_trips


def in_chunks(
    nest: Nest, var: str, sizes: Sequence[int], limits: Limits, options: Options, *, rows: bool
) -> Tiled:
    """The nest in chunks of `sizes[0]` iterations of its loop `var`; what these make of running
    values is passed on in chunks of `sizes[1]`, and so on. Raises UnsupportedC, TransformError,
    LimitError."""
    parts = _parts(nest, var, sizes, "reassociate" if options.reassociate else "", rows=rows)
    done: list[Tiled] = []
    for part in parts:
        now = part.of(done[-1].derivation) if done else part
        done.append(_mapped(now, limits, options, rows=rows))
    first, *rest = done
    return replace(first, derivation=done[-1].derivation, rest=tuple(rest))


def _mapped(nest: Nest, limits: Limits, options: Options, *, rows: bool) -> Tiled:
    """A nest of chunks, or one that passes values on. Raises UnsupportedC, TransformError,
    LimitError."""
    plain = partial(one_nest, nest, {}, None, limits, options, strict=False, few=rows)
    inside = sequential(nest.innermost.body)
    if not rows or not inside:
        return plain()
    if fixed_trips(inside[0]) is not None and (done := plain()).recipe in ("reduce", "scan"):
        return done
    derive = partial(one_nest, nest, {}, "scan", limits, options, strict=True)
    group = possible(derive, *REFUSALS)
    return plain() if isinstance(group, LoopxformError) else group


def _parts(
    nest: Nest, var: str, sizes: Sequence[int], allowed: str, *, rows: bool
) -> tuple[Nest, ...]:
    """The nests, one after the other, of one derivation. Raises TransformError."""
    w = Work(nest.derivation.titled("Running values in chunks"), {})
    known = declared(w.fn.body).keys()
    outside = {s.loop.var for s in loops(w.fn) if s.path[: len(nest.path)] != nest.path}
    chunks, between = list[str](), var
    for size in sizes:
        before = {s.loop.var for s in loops(w.fn)}
        w.do(ReduceThenScan(between, str(size), allowed))
        w.derivation = told_apart(w.derivation, nest.function)
        body = nest.of(w.derivation).innermost.body
        new = [s for s in body if isinstance(s, For) and s.var not in before]
        chunks += [s.var for s in new if s.parallel]
        between = next(s.var for s in new if not s.parallel)
    made = [n for n, d in declared(w.fn.body).items() if n not in known and d.shape]
    shared = _shared(nest.of(w.derivation).innermost.body, chunks)
    w.do(*(Expand(name, nest.parallel) for name in shared))
    w.stage("The chunks are nests of their own")
    w.do(Distribute(nest.parallel, tuple(chunks)))
    w.derivation = told_apart(w.derivation, nest.function)
    if not rows:
        for name in made:
            rank = len(nest.parallel) + 1
            w.do(Permute(name, (str(rank - 1), *map(str, range(rank - 1)))))
        for chunk in chunks:
            for outer in reversed(_around(w, chunk)):
                w.do(Interchange(outer, chunk))
    level = len(nest.path)
    tops = [s for s in loops(w.fn) if s.loop.var not in outside and len(s.path) == level]
    for inner in (list(_foralls(s.loop))[-1] for s in tops):
        for name in set(shared) - {*made}:
            _in_scalar(w, name, inner)
    found = (Nest(w.derivation, tuple(_foralls(s.loop)), (), nest.reserved) for s in tops)
    return tuple(x.of(w.derivation) for x in found)


def _in_scalar(w: Work, name: str, inner: str) -> None:
    """The value of an iteration of the loop `inner` in a scalar, but for what it sets alone."""
    body = resolve(w.fn, inner)[0].loop.body
    if name in reads(body):
        w.attempt(Scalarise(name, inner, fresh(w.fn, f"{name}_acc")))


def _foralls(loop: For) -> Iterator[str]:
    for s in perfect_nest(loop):
        if not s.parallel:
            return
        yield s.var


def _around(w: Work, var: str) -> list[str]:
    """The loops of the nest around one of chunks."""
    (site,) = resolve(w.fn, var)
    return [
        s.loop.var for s in loops(w.fn) if s.loop.parallel and s.path == site.path[: len(s.path)]
    ][:-1]


def _shared(body: tuple[Stmt, ...], chunks: Sequence[str]) -> list[str]:
    """What the body declares and more than one of the parts uses that it falls into."""
    parts: list[tuple[Stmt, ...]] = [()]
    for s in body:
        if isinstance(s, For) and s.var in chunks:
            parts += [(s,), ()]
        elif not isinstance(s, Decl):
            parts[-1] = (*parts[-1], s)
    own = [s.name for s in body if isinstance(s, Decl)]
    used = [reads(p) | writes(p) for p in parts]
    return [n for n in own if sum(n in u for u in used) > 1]
