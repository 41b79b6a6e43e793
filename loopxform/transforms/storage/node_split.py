"""Node splitting: for i: A[i] = f(A[i + 1])
  -> A_old[n]; forall p: A_old[p] = A[p]; for i: A[i] = f(A_old[i + 1])

What a later iteration overwrites is read from a copy that is made before the loop, so that the
later one need not wait. Legal for reads that see no value of the loop (no flow dependence from a
write in it ends at them), if the box that the function touches is known. Other reads stay. (Kuck
and others, "Dependence graphs and compiler optimizations", 1981; Allen and Kennedy, "Optimizing
Compilers for Modern Architectures", section 5.8.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar

from loopxform.analysis.deps import dependences
from loopxform.analysis.extent import NoExtent, existing_box, explain
from loopxform.errors import Obstacle
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Param,
    Stmt,
)
from loopxform.ir.types import DOUBLE, Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    LoopSite,
    declared,
    loads,
    loops_around,
    map_body,
    map_children,
    map_expr,
    map_stmt_exprs,
    names,
    replace_at,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import new_name, one_loop, trusted, unmapped, whole_loop
from loopxform.transforms.storage.copied import COUNTERS, copy_of_box, touched, where_touched

Index = tuple[Expr, ...]


@record
class NodeSplit(Step):
    """Has `loop` read what later iterations overwrite of `array` from a copy named `copy` (default:
    A_old)."""

    array: str
    loop: str
    copy: str = ""

    verb: ClassVar[str] = "node-split"
    usage: ClassVar[str] = "node-split ARRAY LOOP [NAME]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        structure = (
            *whole_loop(site),
            *unmapped(site, self.verb),
            *new_name(fn, self.copy, site),
        )
        if structure:
            return structure
        why = self._structure(fn, site) or self._unknown(fn, site)
        if why is None and not self._old(fn, site):
            why = (
                f"no read of '{self.array}' that a later iteration of '{site.loop.var}' overwrites "
                "is sure to see the value from before the loop",
                "leave the loop in order",
            )
        if why is None:
            return ()
        return (Obstacle("LX263", why[0], site.loop.origin.loc, remedy=why[1]),)

    def _structure(self, fn: Function, site: LoopSite) -> tuple[str, str] | None:
        around = loops_around(fn, site.path)
        if site.loop.parallel or any(s.parallel for s in around):
            return "iterations that run at the same time would share the copy", "split it before"
        if any(not isinstance(s, Assign | Decl | For | If) for _, s in walk(site.loop.body)):
            return "the loop holds what is not modelled", "write it as loops and assignments"
        if any(isinstance(s, Assign) and s.atomic for _, s in walk(site.loop.body)):
            return "the loop updates elements atomically", "split it before"
        if self.array not in writes((site.loop,)) or not _indices(site.loop, self.array):
            return (
                f"'{self.array}' is not an array that the loop over '{site.loop.var}' reads and "
                "writes",
                "name an array that it does",
            )
        if self.array in declared(fn.body) or _param(fn, self.array) is None:
            return f"'{self.array}' is not an array of the caller", "name one of the parameters"
        return None

    def _unknown(self, fn: Function, site: LoopSite) -> tuple[str, str] | None:
        """What is copied must be a box that the host can compute."""
        told, param = explain(fn, self.array), _param(fn, self.array)
        assert param is not None
        if isinstance(told, NoExtent):
            return told.obstacle.message, told.obstacle.remedy or "declare its shape"
        found = existing_box(fn, self.array)
        if found is None or len(found.upper) > len(COUNTERS) or (param.flat and not found.corner):
            text = f"where the part of '{self.array}' that is touched ends is not known"
            return text, f"declare it with its shape: {param.type} {self.array}[n][m]"
        bounds = {n for e in (*found.upper, *touched(found)) for n in names(e)}
        changing = (bounds & writes(fn.body)) | (
            bounds & {s.var for s in loops_around(fn, site.path)}
        )
        if changing:
            return (
                f"the part of '{self.array}' that is touched depends on '{min(changing)}', which "
                f"'{fn.name}' changes",
                "copy the bound into another variable before the loop",
            )
        return None

    def _old(self, fn: Function, site: LoopSite) -> list[Index]:
        """The subscripts of the reads that see nothing of what the loop writes, and which a later
        iteration overwrites."""
        return [x for x in _indices(site.loop, self.array) if self._is_old(fn, site, x)]

    def _is_old(self, fn: Function, site: LoopSite, index: Index) -> bool:
        """Whether no flow dependence ends at the reads with these subscripts, and the loop carries
        an anti dependence that begins there: asked of a loop that reads nothing else of it."""
        other = fresh(fn, self.array)
        param = _param(fn, self.array)
        assert param is not None
        few = site.loop
        if param.type.is_float:
            fewer = partial(_fewer, self.array, index, symbols(fn))
            few = replace(few, body=map_body(few.body, fewer))
        alone = _reading(few, self.array, lambda e: e if e.index == index else _of(e, other))
        body = replace(alone, body=map_body(alone.body, _stored))
        apart = replace(fn, params=(*fn.params, replace(param, name=other)))
        rows = dependences(replace_at(apart, site.path, (body,)), site.path, counters=True)
        kinds = {(d.kind, d.carrier == site.path) for d in rows if d.array == self.array}
        return ("anti", True) in kinds and not kinds & {("flow", True), ("flow", False)}

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        found, old = existing_box(fn, self.array), self._old(fn, site)
        assert found is not None
        copy = self.copy or fresh(fn, f"{self.array.replace('.', '_')}_old")
        origin = site.loop.origin.then(str(self))
        order = range(len(found.upper))
        decl, nest = copy_of_box(fn, self.array, copy, found, order, origin)
        split = _reading(site.loop, self.array, lambda e: _of(e, copy) if e.index in old else e)
        made = replace_at(fn, site.path, (nest, split))
        done = replace_at(fn, site.path, (where_touched(made, site.path, found, nest), split))
        return replace(done, body=(decl, *done.body))

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        return f"no write of {site.loop.var} comes before these reads of {self.array}"


def _param(fn: Function, array: str) -> Param | None:
    return next((p for p in fn.objects if p.name == array and p.array), None)


def _of(e: Load, array: str) -> Load:
    return replace(e, array=array)


def _read(s: Stmt) -> tuple[Expr, ...]:
    """The expressions that a statement reads: of its target the subscripts."""
    if isinstance(s, Assign) and isinstance(s.target, Load):
        return (*s.target.index, *(e for e in stmt_exprs(s) if e is not s.target))
    return stmt_exprs(s)


def _indices(loop: For, array: str) -> list[Index]:
    """The subscripts of the reads of an array in the body of a loop, without those of updates."""
    every = (x for _, s in walk(loop.body) for e in _read(s) for x in loads(e))
    return list(dict.fromkeys(x.index for x in every if x.array == array))


def _reading(loop: For, array: str, change: Callable[[Load], Load]) -> For:
    """The loop with other reads of an array; what it stores stays."""

    def changed(e: Expr) -> Expr:
        return change(e) if isinstance(e, Load) and e.array == array else e

    def each(s: Stmt) -> tuple[Stmt, ...]:
        made = map_stmt_exprs(s, changed)
        if isinstance(s, Assign) and isinstance(s.target, Load):
            assert isinstance(made, Assign)
            index = tuple(map_expr(e, changed) for e in s.target.index)
            made = replace(made, target=replace(s.target, index=index))
        return (made,)

    return replace(loop, body=map_body(loop.body, each))


def _fewer(array: str, index: Index, types: Mapping[str, Scalar], s: Stmt) -> tuple[Stmt, ...]:
    """A statement without the operands of its value that are other elements of an array: nothing
    says where a floating-point number leads, or whether a condition on it holds."""

    def kept(e: Expr) -> Expr:
        if isinstance(e, Bin) and e.op in ("+", "-", "*", "/"):
            return map_children(e, kept)
        other = isinstance(e, Load) and e.array == array and e.index != index
        return Const(1.5, DOUBLE) if other else e

    if not isinstance(s, Assign) or not type_of(s.target, dict(types)).is_float:
        return (s,)
    return (replace(s, value=kept(s.value)),)


def _stored(s: Stmt) -> tuple[Stmt, ...]:
    """An update as a store: what it adds to is no read."""
    return (replace(s, op="") if isinstance(s, Assign) and s.op else s,)
