"""Staged compaction: for kk: { ...; for k: if (p(k)) { y[run] = e; run++; } }
  -> for kk: { y_own[T]; ...; for k: if (p(k)) { y_own[run - begin] = e; run++; }
               forall t: for (q = t; q < sum; q += S) y[begin + q] = y_own[q]; }

What a chunk of a compaction stores lies side by side, from the element on that the chunk begins
with: it is kept in local memory, from where neighbours store neighbours. Legal for chunks in a
chain of which `chain-chunks` says that they fill an array this way (one element each time that they
count on), once they look back and are mapped to groups.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Const,
    Decl,
    Expr,
    For,
    Function,
    Load,
    Stmt,
    Var,
)
from loopxform.ir.types import INT, Space
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite, loads, map_body, replace_at, stmt_exprs, walk
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.mapping.look_back import looks_back
from loopxform.transforms.mapping.map_to import LEVELS
from loopxform.transforms.sites import one_loop, parse_size, trusted


@record
class StageFilled(Step):
    """Keeps what the chunks of the loop `chunks` store in `array` in local memory, from where
    `items` work-items store it."""

    array: str
    chunks: str
    items: str

    verb: ClassVar[str] = "stage-filled"
    usage: ClassVar[str] = "stage-filled ARRAY CHUNKS ITEMS"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.chunks)
        if isinstance(site, Obstacle):
            return (site,)
        size = parse_size(fn, self.items)
        if isinstance(size, Obstacle):
            return (replace(size, loc=site.loop.origin.loc),)
        if self._filled(site) is None or looks_back(site.loop) is None or not site.loop.level:
            text = f"no chunks of '{site.loop.var}' that look back fill '{self.array}'"
            remedy = "name an array that a compaction fills, once its chunks are mapped to groups"
            return (Obstacle("LX207", text, site.loop.origin.loc, remedy=remedy),)
        if self._store(site) is None:
            text = f"'{self.array}' is stored in several places"
            remedy = "leave the stores where they are"
            return (Obstacle("LX207", text, site.loop.origin.loc, remedy=remedy),)
        return ()

    def _filled(self, site: LoopSite) -> tuple[str, str, str] | None:
        """The array, that of the counts, and how many elements a chunk has at most."""
        return next((x for x in site.loop.filled if x[0] == self.array), None)

    def _store(self, site: LoopSite) -> Assign | None:
        """The only statement that mentions the array."""
        found = [
            s
            for _, s in walk(site.loop.body)
            if any(x.array == self.array for e in stmt_exprs(s) for x in loads(e))
        ]
        s = found[0] if len(found) == 1 else None
        if not isinstance(s, Assign) or not isinstance(s.target, Load) or s.op:
            return None
        mentions = [x for e in stmt_exprs(s) for x in loads(e) if x.array == self.array]
        return s if len(mentions) == 1 and s.target.array == self.array else None

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.chunks))
        origin = site.loop.origin.then(str(self))
        filled, store, link = self._filled(site), self._store(site), looks_back(site.loop)
        items = parse_size(fn, self.items)
        assert filled is not None
        assert store is not None
        assert link is not None
        assert isinstance(store.target, Load)
        assert not isinstance(items, Obstacle)
        begin, count = _ends(link, filled[1])
        own, t = fresh(fn, f"{self.array}_own"), fresh(fn, f"{self.array}_t")
        q, place = fresh(fn, f"{self.array}_q"), store.target.index[0]
        kept = Load(own, (Bin("-", place, begin),))

        def staged(s: Stmt) -> tuple[Stmt, ...]:
            return (replace(s, target=kept, label=f"keep_{own}"),) if s is store else (s,)

        target = Load(self.array, (Bin("+", begin, Var(q)),))
        stores = Assign(target, Load(own, (Var(q),)), label=f"store_{own}")
        mine = For(q, Var(t), Cast(INT, count), items, (stores,), origin=origin)
        shared = For(
            t,
            Const(0),
            items,
            Const(1),
            (mine,),
            parallel=True,
            level=LEVELS["thread.x"],
            origin=origin,
        )
        kind = symbols(fn)[self.array]
        room = Decl(own, kind, (Const(int(filled[2])),), space=Space.LOCAL, origin=origin)
        body = (room, *map_body(site.loop.body, staged), shared)
        return replace_at(fn, site.path, (replace(site.loop, body=body, origin=origin),))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return f"a chunk fills neighbouring elements of {self.array}, each once"


def _ends(link: For, passed: str) -> tuple[Expr, Expr]:
    """The elements that hold what a chunk begins with, and what it counts."""
    first = next(
        n
        for n, s in enumerate(link.body)
        if isinstance(s, Assign) and isinstance(s.value, Load) and s.value.array == passed
    )
    begin, *rest = link.body[first + 1 :]
    made = next(s for s in rest if isinstance(s, Assign))
    assert isinstance(begin, Assign)
    return begin.target, made.value
