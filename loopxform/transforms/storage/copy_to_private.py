"""Copy to private memory: for k: ... A_loc[ii+i, k] ... -> for k: A_reg = A_loc[box]; ... A_reg[i]

Each work-item copies the box that its iteration of the loop reads into registers; a single element
into a scalar (`b = B[k, j]`). Legal where the body only reads the array and the box is fixed by
tile sizes, and lies in the staged copy, or in the part of the array that the program touches. The
copy goes inside the bounds check that fills the body. (Cholewa-Madsen and Holst, section 2.2.2,
listing 10; Futhark issue 615.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.analysis.extent import existing_box
from loopxform.errors import Obstacle
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Bin, Const, Copy, Expr, Function, If, Load, Stmt, Var
from loopxform.ir.types import Space
from loopxform.ir.visit import LoopSite, Path, at, bodies, declared, replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.certain import certain
from loopxform.transforms.sites import new_name, one_loop, trusted
from loopxform.transforms.storage.staging import (
    Staging,
    insert_inside_guards,
    part_number,
    plan,
)


@record
class CopyToPrivate(Step):
    """Copies what each iteration of `loop` reads of `array` into private memory; `target` names
    the copy (default: A_loc becomes A_reg). Where the body reads several boxes of it, `part` says
    which (1, 2, ...) is copied."""

    array: str
    loop: str
    target: str = ""
    part: str = ""

    verb: ClassVar[str] = "copy-to-private"
    usage: ClassVar[str] = "copy-to-private ARRAY LOOP [NAME [PART]]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        if (misspelt := part_number(self.part, site)) is not None:
            return (misspelt,)
        staging = self._plan(fn, site)
        if isinstance(staging, Obstacle):
            return (staging,)
        return new_name(fn, self.target, site) or self._bounds(fn, site, staging)

    def _plan(self, fn: Function, site: LoopSite) -> Staging | Obstacle:
        part = int(self.part) if self.part else None
        return plan(fn, self.array, site, self._target(fn), part, single=True)

    def _bounds(self, fn: Function, site: LoopSite, staging: Staging) -> tuple[Obstacle, ...]:
        """The box lies within the staged copy, or the part of the array that is touched."""
        own, inside = declared(fn.body).get(self.array), _inside_guards(fn, (*site.path, 0))
        if own is not None and own.space is not None:
            upper: tuple[Expr, ...] | None = own.shape
            code, text = "LX166", f"the box of '{self.array}' may reach past the copy"
        else:
            known = existing_box(fn, self.array) if own is None else None
            sure = known and (known.when is None or always(fn, inside, known.when))
            upper = known.upper if known and sure else None
            code, text = "LX165", f"the box of '{self.array}' may reach past what is touched"
        for n, s in enumerate(staging.slices()):
            end = Bin("+", s.lo, s.size or Const(1))
            if upper is not None and not s.repeats:
                within = Bin("&&", Bin(">=", s.lo, Const(0)), Bin("<=", end, upper[n]))
                if always(fn, inside, within):
                    continue
            if s.size is None and not s.repeats and any(certain(fn, site, u) for u in staging.uses):
                continue
            remedy = "read it where it is, or stage it first: copy-to-local"
            return (Obstacle(code, text, site.loop.origin.loc, remedy=remedy),)
        return ()

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        staging = self._plan(fn, site)
        assert isinstance(staging, Staging)
        origin = site.loop.origin.then(str(self))
        copy: Stmt = Copy(staging.target, self.array, staging.slices(), False, origin=origin)
        if staging.box.rank == 0:
            element = Load(self.array, tuple(s.lo for s in staging.slices()))
            copy = Assign(Var(staging.target), element, label=f"load_{self.array}", origin=origin)
        space = Space.PRIVATE if staging.box.rank else None
        made = (staging.decl(space, str(self), site), copy)
        body = insert_inside_guards(site.loop.body, staging, made)
        return replace_at(fn, site.path, (replace(site.loop, body=body),))

    def _target(self, fn: Function) -> str:
        if self.target:
            return self.target
        base = self.array.removesuffix("_loc")
        return fresh(fn, f"{base}_reg")

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        return f"{self.array} is only read in the loop over {site.loop.var}, in a box of fixed size"


def _inside_guards(fn: Function, path: Path) -> Path:
    """The place inside the `if` that fills the body which begins at `path`."""
    guard = at(fn, path)
    alone = len(bodies(at(fn, path[:-1]))[0]) == 1
    if alone and isinstance(guard, If) and not guard.orelse:
        return _inside_guards(fn, (*path, 0))
    return path
