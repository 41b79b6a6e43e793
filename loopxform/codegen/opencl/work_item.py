"""What one work-item executes: statements inside the loops over threads, and whatever the whole
group runs in step, statement by statement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

from loopxform.codegen import cexpr
from loopxform.codegen.opencl.cooperative_copy import OwnNames
from loopxform.codegen.opencl.dialect import KernelDialect
from loopxform.codegen.opencl.launch import Mapping, ThreadLoop
from loopxform.codegen.opencl.local_tile import Blocks, LocalTile
from loopxform.codegen.opencl.record_vectors import RECORDS, record_lines
from loopxform.codegen.opencl.speculated import is_once, without_rare_cases
from loopxform.codegen.opencl.turned_tile import NONTEMPORAL, own_tile, turned_lines
from loopxform.codegen.opencl.vector_moves import loaded_vector, stored_vector
from loopxform.errors import EmitError
from loopxform.ir import whiles
from loopxform.ir.affine import poly, simplify, value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    If,
    Load,
    Slice,
    Stmt,
    Var,
)
from loopxform.ir.types import INT, Space
from loopxform.ir.visit import map_expr, map_exprs, names, substitute, substitute_body, writes
from loopxform.transforms.edges.bounds import conjunction
from loopxform.transforms.latency.speculate import changed
from loopxform.transforms.latency.store_vectors import stored
from loopxform.transforms.latency.turn_tile import turned_tile

READ = "LX_READ"
TURN = "LX_TURN"
"""Reads a vector of a tile into registers, and where it stands (templates/kernels.cl.j2)."""


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

    @abstractmethod
    def tile_products(self, s: For) -> list[str]:
        """A loop that is a product of tiles."""

    def _items(self, body: tuple[Stmt, ...]) -> list[str]:
        return [line for s in body for line in self._item(s)]

    def _item(self, s: Stmt) -> list[str]:
        match s:
            case For() if s.level is not None:
                return self.thread_nest(s)
            case For() if s.speculated:
                return self._speculated(replace(s, speculated=False))
            case For() if s.dealt:
                return self._item(self._dealt(s))
            case For() if s.serpentine:
                return self._there_and_back(s, s.body[0])
            case For() if s.stores:
                return self._stores(s)
            case For() if s.turned:
                return self._turned(s)
            case For() if s.tensor:
                return self.tile_products(s)
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
        if s.width > 1 and s.source not in self.dialect.tiles:
            return self._from_memory(s)
        if s.width > 1 and s.source in self.dialect.tiles:
            tile = self.dialect.tiles[s.source]
            fast = s.slices[tile.order[-1]]
            turns = self.mapping.dealt(fast.lo)
            if tile.blocks and fast.size is not None:
                return self._vectors(s, tile, tile.blocks)
            if turns and self._vectors_lie(s, tile, fast, turns):
                return self._in_turns(s, tile, tile.order[-1], turns)
            if fast.size is not None and turns is None and tile.holds(s.width):
                return self._in_a_row(s, tile, tile.order[-1])
        bits = s.source in self.dialect.packed
        if self.dialect.several and s.source in self.dialect.tiles and not bits:
            tile = self.dialect.tiles[s.source]
            turns = self.mapping.dealt(s.slices[tile.order[-1]].lo)
            alone = sum(x.size is not None for x in s.slices) == 1
            if turns and alone and s.slices[tile.order[-1]].size is not None:
                return self._in_turns(replace(s, width=1), tile, tile.order[-1], turns)
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
            turns = self.mapping.dealt(x.lo)
            index.append(Bin("+", x.lo, turns.element(Var(c)) if turns else Var(c)))
            pad = "  " * (len(counters) - 1)
            out.append(f"{pad}#pragma unroll")
            out.append(f"{pad}for (int {c} = 0; {c} < {self._text(x.size, 11)}; ++{c})")
        d = replace(d, types={**d.types, **dict.fromkeys(counters, INT)})
        target = Load(s.target, tuple(Var(c) for c in counters))
        move = cexpr.assign(Assign(target, Load(s.source, tuple(index))), d)
        return [*out, f"{'  ' * len(counters)}{move};"]

    def _from_memory(self, s: Copy) -> list[str]:
        """Vectors of global memory, a loop for each dimension but that of a single vector."""
        heads, index, held = list[str](), list[Expr](), list[Expr]()
        for x in s.slices:
            step = s.width if x is s.slices[-1] else 1
            count = None if x.size is None else (value_of(x.size) or 0) // step
            c: Expr = Const(0)
            if count is not None and not (count == 1 and step > 1):
                c = Var(self.own.counters[len(heads)])
                heads.append(f"for (int {c.name} = 0; {c.name} < {count}; ++{c.name})")
            place = Bin("*", c, Const(step)) if step > 1 else c
            index.append(x.lo if c == Const(0) else simplify(Bin("+", x.lo, place)))
            held += [place] if x.size is not None else []
        counters = dict.fromkeys(self.own.counters[: len(heads)], INT)
        d = replace(self.dialect, types={**self.dialect.types, **counters})
        kind = f"{d.type_name(d.types[s.target])}{s.width}"
        place_text, v = d.load(Load(s.source, tuple(index))), self.own.v
        lines = [f"const {kind} {v} = {loaded_vector(kind, s.width, f'&{place_text}')};"]
        for n in range(s.width):
            at = (*held[:-1], simplify(Bin("+", held[-1], Const(n))))
            lines.append(f"{cexpr.expr(Load(s.target, at), d)} = {v}.s{n:x};")
        out = [f"{'  ' * max(1, len(heads))}{line}" for line in lines]
        for depth in reversed(range(len(heads))):
            pad, brace = "  " * depth, " {" if depth == len(heads) - 1 else ""
            out = [f"{pad}#pragma unroll", f"{pad}{heads[depth]}{brace}", *out]
        if not heads:
            return ["{", *out, "}"]
        return [*out, f"{'  ' * (len(heads) - 1)}}}"]

    def _vectors(self, s: Copy, tile: LocalTile, blocks: Blocks) -> list[str]:
        """A vector of a tile at a time."""
        item = self.own.local_ids[blocks.dimension]
        first = blocks.own(Var(self.own.c0), item)
        if self.dialect.several:
            own = Bin("*", Const(blocks.width), Var(item))
            count = self._text(self.mapping.group_shape[blocks.dimension])
            first = Bin("+", own, Var(self._turn(blocks.width, blocks.width, count)))
        d = replace(self.dialect, types={**self.dialect.types, self.own.c0: INT})
        text = d.element(Load(s.source, tuple(x.lo for x in s.slices)), at=first)
        return self._moved(s, tile, text, blocks.width, blocks.rows)

    def _moved(
        self, s: Copy, tile: LocalTile, place: str, width: int, rows: int, *, one: bool = False
    ) -> list[str]:
        """Reads `rows` elements of a tile into registers, a vector from `place` on at a time; `one`
        vector in all needs no loop."""
        c, v = self.own.c0, self.own.v
        kind = self.dialect.type_name(tile.decl.type)
        target = self.dialect.held(s.target)
        head = ["#pragma unroll", f"for (int {c} = 0; {c} < {rows // width}; ++{c})"]
        if self.dialect.several:
            read = f"{READ}({kind}, {width}, {target}, {'0' if one else c}, &{place})"
            return [read] if one else [*head, f"  {read}"]
        kind = f"{kind}{width}"
        parts = [str(n) if one else f"{c}*{width}{f' + {n}' if n else ''}" for n in range(width)]
        return [
            *(["{"] if one else [head[0], f"{head[1]} {{"]),
            f"  const {kind} {v} = *(__local const {kind} *)&{place};",
            *(f"  {target}[{at}] = {v}.s{n:x};" for n, at in enumerate(parts)),
            "}",
        ]

    def _vectors_lie(self, s: Copy, tile: LocalTile, part: Slice, turns: ThreadLoop) -> bool:
        """Whether the elements that a work-item copies are vectors of the tile: they begin in turns
        at multiples of the width in rows that are vectors."""
        whole = part.size is not None and (value_of(part.size) or 1) % s.width == 0
        start = simplify(substitute(part.lo, {turns.loop.var: turns.value("#")}))
        aligned = poly(start) == poly(Bin("*", Var("#"), Const(turns.cyclic)))
        alone = sum(x.size is not None for x in s.slices) == 1
        return whole and aligned and alone and turns.cyclic % s.width == 0 and tile.holds(s.width)

    def _in_a_row(self, s: Copy, tile: LocalTile, at: int) -> list[str]:
        """A vector of a tile at a time, of neighbours."""
        index = [x.lo for x in s.slices]
        rows = value_of(s.slices[at].size or Const(0)) or 0
        one = rows == s.width
        if not one:
            index[at] = Bin("+", index[at], Bin("*", Var(self.own.c0), Const(s.width)))
        d = replace(self.dialect, types={**self.dialect.types, self.own.c0: INT})
        place = d.element(Load(s.source, tuple(index)))
        return self._moved(s, tile, place, s.width, rows, one=one)

    def _in_turns(self, s: Copy, tile: LocalTile, at: int, turns: ThreadLoop) -> list[str]:
        """A vector of a tile at a time, of elements that are dealt out."""
        index = tuple(x.lo for x in s.slices)
        lo = index[at]
        each: Expr = Bin("*", Var(self.own.c0), Const(s.width))
        if self.dialect.several and s.width in (1, turns.cyclic):
            each = Var(self._turn(s.width, turns.cyclic, self._text(turns.count)))
        elif turns.cyclic == s.width:
            each = Bin("*", Var(self.own.c0), Bin("*", turns.count, Const(s.width)))
        else:
            each = turns.element(each)
        first = (*index[:at], Bin("+", lo, each), *index[at + 1 :])
        rows = value_of(s.slices[at].size or Const(0)) or 0
        numbers = {self.own.c0: INT, **({each.name: INT} if isinstance(each, Var) else {})}
        d = replace(self.dialect, types={**self.dialect.types, **numbers})
        return self._moved(s, tile, d.element(Load(s.source, first)), s.width, rows)

    def _turn(self, width: int, neighbours: int, items: str) -> str:
        """Where the vector of a number stands, of elements that are dealt out."""
        return f"{TURN}({width}, {self.own.c0}, {neighbours}, {items})"

    def _declaration(self, s: Decl) -> list[str]:
        if s.space is Space.LOCAL:
            return []
        kept = self.mapping.kept.get(s.name, ())
        pair = f"[{self.dialect.pairs[s.name]}]" if s.name in self.dialect.pairs else ""
        sizes = pair + "".join(f"[{self._text(s.shape[n])}]" for n in kept)
        value = "" if s.name not in self.partly_set else " = {0}" if sizes else " = 0"
        return [f"{self.dialect.type_name(s.type)} {self.dialect.name(s.name)}{sizes}{value};"]

    def _loop(self, s: For, body: list[str]) -> list[str]:
        if s.var in writes(s.body):
            raise EmitError(f"loop variable '{s.var}' is assigned", loc=s.origin.loc)
        kind, var = self.dialect.counter_type(s.type), self.dialect.name(s.var)
        step = value_of(s.step) or 1
        by = {1: f"++{var}", -1: f"--{var}"}.get(step, f"{var} += {self._text(s.step)}")
        test = cexpr.expr(whiles.test(s), self.dialect)
        if whiles.is_while(s):
            return [f"while ({test}) {{", *indented(body), "}"]
        shared = s.live_out or s.var in names(s.lo)
        head = f"for ({'' if shared else kind + ' '}{var} = {self._text(s.lo)}; {test}; {by}) {{"
        vectors = [f"#pragma simd {s.simd}"] if s.simd else []
        hint = ["#pragma unroll"] if s.unroll else vectors
        return [*hint, head, *indented(body), "}"]

    def _speculated(self, s: For) -> list[str]:
        """The loop without rare cases, and again with them where one came up. Only the loop where
        quotients may be as the device has them, or arrays would have to be set back."""
        plain = self.dialect
        if plain.approximate or plain.quick or any(plain.kept.get(n) for n in changed(s)):
            return self._once(s)
        quick, back = without_rare_cases(s, plain, self.own)
        self.dialect = replace(plain, quick=quick)
        attempt = quick.attempt(self.own.quick, indented(self._once(s)))
        self.dialect = plain
        return [
            "{",
            *(f"  const {kind} {before} = {n};" for n, (kind, before) in back.items()),
            *indented(attempt),
            *(f"    {n} = {before};" for n, (_, before) in back.items()),
            *indented(indented(self._once(replace(s, unroll=False)))),
            "  }",
            "}",
        ]

    def _once(self, s: For) -> list[str]:
        """A loop; what it holds where that is one iteration (the step `gather-quotients`)."""
        return self._items(s.body) if is_once(s) else self._item(s)

    def _dealt(self, s: For) -> For:
        """A loop over the elements of a work-item: the number of an element is that of a register,
        and where it is dealt out to is its place."""
        turns = next(t for t in self.mapping.threads if t.loop.var == s.dealt)
        kept, own = self.mapping.kept, f"{s.var} "

        def held(e: Expr) -> Expr:
            register = isinstance(e, Load) and e.array in kept
            return substitute(e, {s.var: Var(own)}) if register else e

        body = map_exprs(s.body, held)
        body = substitute_body(body, {s.var: turns.element(Var(s.var))})
        return replace(s, body=substitute_body(body, {own: Var(s.var)}), dealt="")

    def _there_and_back(self, s: For, inner: Stmt) -> list[str]:
        """Two unrolled loops (the step `serpentine`): down and up the rows of a band, its columns
        from left to right, those of the next band from right to left."""
        assert isinstance(inner, For)
        inner = self._dealt(inner) if inner.dealt else inner
        d, own, rows = self.dialect, self.own, s.serpentine
        band, column, row = own.c0, own.c1, own.c2
        i, j = (f"const {d.counter_type(x.type)} {d.name(x.var)}" for x in (s, inner))
        height, width = (self._text(x.hi, 12) for x in (s, inner))
        turn = f"{band} % 2" if rows == 1 else f"{band} / {rows} % 2"
        body = [
            f"{i} = {band} + ({column} % 2 ? {rows - 1} - {row} : {row});",
            *self._items(inner.body),
        ]
        if rows == 1:
            body[0] = f"{i} = {band};"
        else:
            body = unrolled(row, str(rows), "1", body)
        across = [f"{j} = {turn} ? {width} - 1 - {column} : {column};", *body]
        return unrolled(band, height, str(rows), unrolled(column, width, "1", across))

    def _stores(self, s: For) -> list[str]:
        """The elements of a work-item, a vector at a time (the step `store-vectors`): computed,
        read before where they are changed, and stored."""
        found = stored(s)
        if found is None:
            return self._records(s)
        target, width = found.target, s.stores
        scalar = self.dialect.types[target.array]
        kind, place = self.dialect.type_name(scalar), f"&{self._text(target)}"
        names = {f"{self.own.v} {n}": f"{self.own.v}.s{n:x}" for n in range(width)}
        d = replace(
            self.dialect,
            names={**self.dialect.names, **names},
            types={**self.dialect.types, **dict.fromkeys(names, scalar)},
        )
        before, parts = list[str](), list[str]()
        for n, own in enumerate(names):
            e = _with_own(found.value, target, Var(own))
            if e != found.value:
                vector = loaded_vector(f"{kind}{width}", width, place)
                before = [f"const {kind}{width} {self.own.v} = {vector};"]
            e = substitute(e, {s.var: simplify(Bin("+", Var(s.var), Const(n)))})
            parts.append(cexpr.expr(e if d.type_of(e) == scalar else Cast(scalar, e), d))
        body = [*before, stored_vector(kind, place, parts)]
        if found.conditions:
            test = cexpr.expr(conjunction(list(found.conditions)), self.dialect)
            body = [f"if ({test}) {{", *indented(body), "}"]
        return unrolled(self.dialect.name(s.var), self._text(s.hi, 12), str(width), body)

    def _records(self, s: For) -> list[str]:
        """The members of records, a vector at a time, and one by one."""
        plain = self._loop(s, self._items(s.body))
        return [f"#ifdef {RECORDS}", *record_lines(s, self.dialect), "#else", *plain, "#endif"]

    def _turned(self, s: For) -> list[str]:
        """A tile that is turned in registers (the step `turn-tile`), and as loops."""
        tile = turned_tile(s)
        assert tile is not None
        if tile.target.array in self.mapping.kept:
            return [own_tile(tile, self.dialect, self.own)]
        turned = turned_lines(tile, self.dialect, self.own)
        plain = self._loop(s, self._items(s.body))
        return [f"#if {NONTEMPORAL}", *turned, "#else", *plain, "#endif"]

    def _if(self, s: If, emit: Callable[[tuple[Stmt, ...]], list[str]]) -> list[str]:
        out = [f"if ({cexpr.expr(s.cond, self.dialect)}) {{", *indented(emit(s.then)), "}"]
        if s.orelse:
            out[-1] = "} else {"
            out += [*indented(emit(s.orelse)), "}"]
        return out

    def _text(self, e: Expr, outer: int = 0) -> str:
        return cexpr.expr(e, self.dialect, outer)


def _with_own(e: Expr, element: Load, own: Expr) -> Expr:
    """An expression with something in place of an element."""
    return map_expr(e, lambda x: own if x == element else x)


def unrolled(var: str, end: str, step: str, body: list[str]) -> list[str]:
    """An unrolled loop from 0 on."""
    by = f"++{var}" if step == "1" else f"{var} += {step}"
    head = f"for (int {var} = 0; {var} < {end}; {by}) {{"
    return ["#pragma unroll", head, *indented(body), "}"]


DIRECTIVES = ("#if", "#else", "#endif")


def indented(lines: list[str]) -> list[str]:
    """Directives that choose stay where they are."""
    return ["  " + x if x and not x.startswith(DIRECTIVES) else x for x in lines]
