"""Tiles that are turned in registers (the step `turn-tile`): W vectors of rows of what is read, W
of rows of what is stored, past the caches where those begin on a multiple of a vector.

#if LX_NONTEMPORAL
{
  float16 v[16];
  for (c < 16) v[c] = vload16(0, &a[i0 + c][j0]);
  LX_TRANSPOSE(float16, 16, v);
  for (c < 16) LX_STORE_NONTEMPORAL(float16, 16, &b[j0 + c][i0], v[c]);
}
#else
the loops as they are
#endif

Elements that a work-item keeps are filled by a macro, which is loops for other compilers:

LX_TURN_TILE(float, 16, 512, c, t, a, (i0 + c)*m + j0);

There are several such sets of vectors where several arrays are read, or where a row of the tile is
longer than a vector.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from loopxform.codegen import cexpr
from loopxform.codegen.opencl.cooperative_copy import OwnNames
from loopxform.codegen.opencl.dialect import KernelDialect
from loopxform.ir.affine import simplify
from loopxform.ir.nodes import Bin, Cast, Const, Expr, Load, Var
from loopxform.ir.types import INT
from loopxform.ir.visit import map_expr, substitute
from loopxform.transforms.latency.turn_tile import TurnedTile

NONTEMPORAL = "LX_NONTEMPORAL"
"""Whether the compiler is PoCL's, and has stores past the caches. (Oclgrind 21.10 has them too, and
now and then overwrites memory of its own where vectors of bytes are stored.)"""

TURN_TILE = "LX_TURN_TILE"

_CHOICE = """
#if !defined(LX_NONTEMPORAL) && defined(POCL_DEVICE_ADDRESS_BITS) && defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define LX_NONTEMPORAL 1
#endif
#endif
#ifndef LX_NONTEMPORAL
#define LX_NONTEMPORAL 0
#endif"""
_TRANSPOSE = """
/* Turns n vectors of n elements in registers. */
#define LX_TRANSPOSE(type, n, v) \\
  _Pragma("unroll") for (int lx_n = 1; lx_n < n; lx_n *= 2) { \\
    type lx_w[n]; \\
    _Pragma("unroll") for (int lx_k = 0; lx_k < n / 2; ++lx_k) { \\
      lx_w[2*lx_k].even = v[lx_k].lo, lx_w[2*lx_k].odd = v[lx_k + n / 2].lo; \\
      lx_w[2*lx_k + 1].even = v[lx_k].hi, lx_w[2*lx_k + 1].odd = v[lx_k + n / 2].hi; \\
    } \\
    _Pragma("unroll") for (int lx_k = 0; lx_k < n; ++lx_k) v[lx_k] = lx_w[lx_k]; \\
  }"""
_STORE = """
/* Stores a vector past the caches: compilers that have no such store keep the loops. What begins
   elsewhere than a vector goes through the caches. */
#define LX_STORE_NONTEMPORAL(type, n, at, v) \\
  if ((size_t)(at) % sizeof(type) == 0) __builtin_nontemporal_store(v, (__global type *)(at)); \\
  else vstore##n(v, 0, at)"""


_TURN_TILE = """
/* Sets to[k][c] to from[at + k], n by n elements, where `at` depends on c. The caches fetch what
   lies `ahead` bytes further. */
#if defined(LX_VECTOR_TILES) || defined(POCL_DEVICE_ADDRESS_BITS)
#define LX_TURN_TILE(type, n, ahead, c, to, from, at) \\
  { \\
    type##n lx_v[n]; \\
    _Pragma("unroll") for (int c = 0; c < n; ++c) { \\
      if (ahead) __builtin_prefetch((const void *)((uintptr_t)&from[at] + ahead)); \\
      lx_v[c] = vload##n(0, &from[at]); \\
    } \\
    LX_TRANSPOSE(type##n, n, lx_v) \\
    _Pragma("unroll") for (int c = 0; c < n; ++c) vstore##n(lx_v[c], 0, &to[c][0]); \\
  }
#else
#define LX_TURN_TILE(type, n, ahead, c, to, from, at) \\
  for (int c = 0; c < n; ++c) for (int lx_k = 0; lx_k < n; ++lx_k) to[lx_k][c] = from[(at) + lx_k];
#endif"""


def helpers(text: str) -> Iterator[str]:
    """The definitions of macros that kernels use."""
    stored, own = NONTEMPORAL in text, f"{TURN_TILE}(" in text
    if stored:
        yield _CHOICE
    if stored or own:
        yield _TRANSPOSE
    if stored:
        yield _STORE
    if own:
        yield _TURN_TILE


def own_tile(tile: TurnedTile, dialect: KernelDialect, own: OwnNames) -> str:
    """The statement that fills a tile of a work-item."""
    c, (read,) = own.c0, tile.reads
    d = replace(dialect, types={**dialect.types, c: INT})
    column = simplify(Bin("+", tile.columns.lo, Var(c)))
    values = {tile.rows.var: tile.rows.lo, tile.columns.var: column}
    source, _, at = cexpr.expr(substitute(read, values), d).removesuffix("]").partition("[")
    kind, target = d.type_name(d.types[tile.target.array]), d.name(tile.target.array)
    sizes = f"{kind}, {tile.height}, {tile.rows.ahead}"
    return f"{TURN_TILE}({sizes}, {c}, {target}, {source}, {at});"


def turned_lines(tile: TurnedTile, dialect: KernelDialect, own: OwnNames) -> list[str]:
    """What a work-item does with a tile."""
    return _TurnedWriter(tile, dialect, own).lines()


class _TurnedWriter:
    def __init__(self, tile: TurnedTile, dialect: KernelDialect, own: OwnNames) -> None:
        self.tile, self.own = tile, own
        self.dialect = replace(dialect, types={**dialect.types, own.c0: INT})
        self.side = tile.height
        self.scalar = dialect.types[tile.target.array]
        self.kind = f"{dialect.type_name(self.scalar)}{self.side}"
        self.parts = range(tile.width // self.side)
        several = len(tile.reads) * len(self.parts) > 1
        self.vectors = {
            (e, part): f"{own.v}[{n}]" if several else own.v
            for n, (e, part) in enumerate((e, part) for e in tile.reads for part in self.parts)
        }

    def lines(self) -> list[str]:
        each = f"[{len(self.vectors)}]" if len(self.vectors) > 1 else ""
        body = [f"{self.kind} {self.own.v}{each}[{self.side}];"]
        body += self._each(self._read(e, part, v) for (e, part), v in self.vectors.items())
        body += [f"LX_TRANSPOSE({self.kind}, {self.side}, {v});" for v in self.vectors.values()]
        body += self._each(self._stored(part) for part in self.parts)
        return ["{", *(f"  {line}" for line in body), "}"]

    def _each(self, statements: Iterator[str]) -> list[str]:
        """Statements for each vector of a tile."""
        c = self.own.c0
        head = ["#pragma unroll", f"for (int {c} = 0; {c} < {self.side}; ++{c}) {{"]
        return [*head, *(f"  {s}" for s in statements), "}"]

    def _read(self, e: Load, part: int, vector: str) -> str:
        row = self._column(part, Var(self.own.c0))
        place = self._text(self._at(e, self.tile.rows.lo, row))
        return f"{vector}[{self.own.c0}] = vload{self.side}(0, &{place});"

    def _stored(self, part: int) -> str:
        c = Var(self.own.c0)
        row = simplify(Bin("+", self.tile.rows.lo, c))
        place = self._text(self._at(self.tile.target, row, self._column(part)))
        value = self._value(part, row)
        return f"LX_STORE_NONTEMPORAL({self.kind}, {self.side}, &{place}, {value});"

    def _value(self, part: int, row: Expr) -> str:
        """A vector of results: one that was turned, or made of its elements."""
        if self.tile.value in self.tile.reads:
            return f"{self.vectors[self.tile.reads[0], part]}[{self.own.c0}]"
        lanes = [self._lane(part, row, n) for n in range(self.side)]
        return f"(({self.kind})({', '.join(lanes)}))"

    def _lane(self, part: int, row: Expr, n: int) -> str:
        element = f"[{self.own.c0}].s{n:x}"
        held = {e: f"{self.vectors[e, part]}{element}" for e in self.tile.reads}
        d = replace(
            self.dialect,
            names={**self.dialect.names, **{v: v for v in held.values()}},
            types={**self.dialect.types, **dict.fromkeys(held.values(), self.scalar)},
        )
        value = map_expr(self.tile.value, lambda x: _held(x, held))
        e = self._at(value, row, self._column(part, Const(n)))
        return cexpr.expr(e if d.type_of(e) == self.scalar else Cast(self.scalar, e), d)

    def _column(self, part: int, further: Expr | None = None) -> Expr:
        """The value of the inner variable where a vector begins, or further on."""
        first = Bin("+", self.tile.columns.lo, Const(part * self.side))
        return simplify(first if further is None else Bin("+", first, further))

    def _at(self, e: Expr, row: Expr, column: Expr) -> Expr:
        values = {self.tile.rows.var: row, self.tile.columns.var: column}
        return substitute(e, values)

    def _text(self, e: Expr) -> str:
        return cexpr.expr(e, self.dialect)


def _held(e: Expr, held: Mapping[Load, str]) -> Expr:
    """The register of an element that is in one."""
    return Var(held[e]) if isinstance(e, Load) and e in held else e
