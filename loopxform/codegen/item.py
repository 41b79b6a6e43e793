"""What one work-item executes: statements inside the loops over threads, and whatever the whole
group runs in step, statement by statement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

from loopxform.codegen import cexpr
from loopxform.codegen.collective import OwnNames
from loopxform.codegen.dialect import KernelDialect
from loopxform.codegen.mapping import Blocks, LocalTile, Mapping
from loopxform.errors import EmitError
from loopxform.ir import whiles
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Assign, Bin, Copy, Decl, Expr, For, If, Load, Stmt, Var
from loopxform.ir.types import INT, Space
from loopxform.ir.visit import names, writes


@dataclass
class ItemWriter(ABC):
    """Writes the statements of a work-item."""

    mapping: Mapping
    dialect: KernelDialect
    own: OwnNames
    partly_set: frozenset[str] = frozenset()

    @abstractmethod
    def thread_nest(self, s: For) -> list[str]:
        """A loop over work-items, and those directly inside it."""

    def _items(self, body: tuple[Stmt, ...]) -> list[str]:
        return [line for s in body for line in self._item(s)]

    def _item(self, s: Stmt) -> list[str]:
        match s:
            case For() if s.level is not None:
                return self.thread_nest(s)
            case For():
                return self._loop(s, self._items(s.body))
            case If():
                return self._if(s, self._items)
            case Decl():
                return self._declaration(s)
            case Assign():
                return [f"{cexpr.assign(s, self.dialect)};"]
            case Copy() if not s.collective:
                return self._private_copy(s)
            case _:
                raise EmitError("a collective copy inside a work-item", loc=s.origin.loc)

    def _private_copy(self, s: Copy) -> list[str]:
        """A loop per dimension of the copy."""
        if s.width > 1 and s.source in self.dialect.tiles:
            tile = self.dialect.tiles[s.source]
            if tile.blocks and s.slices[tile.order[-1]].size is not None:
                return self._vectors(s, tile, tile.blocks)
        out: list[str] = []
        index: list[Expr] = []
        counters: list[str] = []
        d = self.dialect
        for x in s.slices:
            if x.size is None:
                index.append(x.lo)
                continue
            c = self.own.counters[len(counters)]
            counters.append(c)
            index.append(Bin("+", x.lo, Var(c)))
            pad = "  " * (len(counters) - 1)
            out.append(f"{pad}#pragma unroll")
            out.append(f"{pad}for (int {c} = 0; {c} < {self._text(x.size, 11)}; ++{c})")
        d = replace(d, types={**d.types, **dict.fromkeys(counters, INT)})
        target = Load(s.target, tuple(Var(c) for c in counters))
        move = cexpr.assign(Assign(target, Load(s.source, tuple(index))), d)
        return [*out, f"{'  ' * len(counters)}{move};"]

    def _vectors(self, s: Copy, tile: LocalTile, blocks: Blocks) -> list[str]:
        """A vector of a tile at a time."""
        c, v, width = self.own.c0, self.own.v, blocks.width
        kind = f"{self.dialect.type_name(tile.decl.type)}{width}"
        first = blocks.own(Var(c), self.own.local_ids[blocks.dimension])
        d = replace(self.dialect, types={**self.dialect.types, c: INT})
        text = d.element(Load(s.source, tuple(x.lo for x in s.slices)), at=first)
        target = self.dialect.name(s.target)
        parts = (f"{c}*{width}{f' + {n}' if n else ''}" for n in range(width))
        return [
            "#pragma unroll",
            f"for (int {c} = 0; {c} < {blocks.rows // width}; ++{c}) {{",
            f"  const {kind} {v} = *(__local const {kind} *)&{text};",
            *(f"  {target}[{at}] = {v}.s{n:x};" for n, at in enumerate(parts)),
            "}",
        ]

    def _declaration(self, s: Decl) -> list[str]:
        if s.space is Space.LOCAL:
            return []
        kept = self.mapping.kept.get(s.name, ())
        sizes = "".join(f"[{self._text(s.shape[n])}]" for n in kept)
        value = "" if s.name not in self.partly_set else " = {0}" if sizes else " = 0"
        return [f"{self.dialect.type_name(s.type)} {self.dialect.name(s.name)}{sizes}{value};"]

    def _loop(self, s: For, body: list[str]) -> list[str]:
        if s.var in writes(s.body):
            raise EmitError(f"loop variable '{s.var}' is assigned", loc=s.origin.loc)
        kind, var = self.dialect.type_name(s.type), self.dialect.name(s.var)
        step = value_of(s.step) or 1
        by = {1: f"++{var}", -1: f"--{var}"}.get(step, f"{var} += {self._text(s.step)}")
        test = cexpr.expr(whiles.test(s), self.dialect)
        if whiles.is_while(s):
            return [f"while ({test}) {{", *indented(body), "}"]
        shared = s.live_out or s.var in names(s.lo)
        head = f"for ({'' if shared else kind + ' '}{var} = {self._text(s.lo)}; {test}; {by}) {{"
        hint = ["#pragma unroll"] if s.unroll else []
        return [*hint, head, *indented(body), "}"]

    def _if(self, s: If, emit: Callable[[tuple[Stmt, ...]], list[str]]) -> list[str]:
        out = [f"if ({cexpr.expr(s.cond, self.dialect)}) {{", *indented(emit(s.then)), "}"]
        if s.orelse:
            out[-1] = "} else {"
            out += [*indented(emit(s.orelse)), "}"]
        return out

    def _text(self, e: Expr, outer: int = 0) -> str:
        return cexpr.expr(e, self.dialect, outer)


def indented(lines: list[str]) -> list[str]:
    return ["  " + line if line else line for line in lines]
