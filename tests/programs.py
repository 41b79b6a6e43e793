"""Programs built by hand: matrix multiplication as Cholewa-Madsen and Holst have it, before and
after tiling."""

from __future__ import annotations

from typing import Any

import numpy as np

from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Param,
    Slice,
    Stmt,
    Tile,
    Var,
)
from loopxform.ir.types import FLOAT, INT, Level, Scalar, Space

ZERO, ONE = Const(0), Const(1)
M, U, N = Var("M"), Var("U"), Var("N")


def b(left: Expr, op: str, right: Expr) -> Bin:
    return Bin(op, left, right)


def loop(var: str, lo: Expr, hi: Expr, *body: Stmt, step: Expr = ONE, **more: Any) -> For:
    return For(var, lo, hi, step, tuple(body), **more)


def forall(var: str, lo: Expr, hi: Expr, *body: Stmt, step: Expr = ONE, **more: Any) -> For:
    return For(var, lo, hi, step, tuple(body), parallel=True, **more)


def mm_params(t: Scalar = FLOAT) -> tuple[Param, ...]:
    sizes = tuple(Param(n, INT) for n in "MUN")
    return (
        *sizes,
        Param("A", t, (M, U), const=True, array=True),
        Param("B", t, (U, N), const=True, array=True),
        Param("C", t, (M, N), array=True),
    )


def mm(t: Scalar = FLOAT) -> Function:
    """Listing 2."""
    i, j, k, acc = Var("i"), Var("j"), Var("k"), Var("acc")
    product = b(Load("A", (i, k)), "*", Load("B", (k, j)))
    inner = loop("k", ZERO, U, Assign(acc, product, "+"))
    body = (Decl("acc", t), Assign(acc, ZERO), inner, Assign(Load("C", (i, j)), acc))
    nest = forall("i", ZERO, M, forall("j", ZERO, N, *body))
    return Function("mm", mm_params(t), (nest,))


class Tiled:
    """Listings 7 and 10 for tile sizes Ty, Tx (items), Ry, Rx (registers), Tk (depth)."""

    def __init__(self, ty: int = 4, tx: int = 3, ry: int = 2, rx: int = 3, tk: int = 5) -> None:
        self.ty, self.tx, self.tk = Tile("Ty", ty), Tile("Tx", tx), Tile("Tk", tk)
        self.ry, self.rx = Tile("Ry", ry), Tile("Rx", rx)
        self.height, self.width = b(self.ty, "*", self.ry), b(self.tx, "*", self.rx)
        self.tiles = (("Ty", ty), ("Tx", tx), ("Ry", ry), ("Rx", rx), ("Tk", tk))

    def _items(self, *body: Stmt, levels: bool = False) -> For:
        ii, jj = Var("iii"), Var("jjj")
        limit_y = Bin("min", M, b(ii, "+", self.height))
        limit_x = Bin("min", N, b(jj, "+", self.width))
        x, y = (Level("group", 0), Level("group", 1)) if levels else (None, None)
        across = forall("jj", jj, limit_x, *body, step=self.rx, level=x)
        return forall("ii", ii, limit_y, across, step=self.ry, level=y)

    def _groups(self, *body: Stmt, levels: bool = False) -> For:
        x, y = (Level("grid", 0), Level("grid", 1)) if levels else (None, None)
        across = forall("jjj", ZERO, N, *body, step=self.width, level=x)
        return forall("iii", ZERO, M, across, step=self.height, level=y)

    def listing7(self) -> Function:
        """Parallel loops everywhere, an expanded accumulator, nothing staged."""
        i, j, k, ii, jj = (Var(n) for n in ("i", "j", "k", "ii", "jj"))
        place = (b(ii, "-", Var("iii")), b(jj, "-", Var("jjj")), b(i, "-", ii), b(j, "-", jj))
        acc = Load("acc", place)

        def registers(s: Stmt) -> For:
            high_i, high_j = Bin("min", M, b(ii, "+", self.ry)), Bin("min", N, b(jj, "+", self.rx))
            return forall("i", ii, high_i, forall("j", jj, high_j, s))

        step = registers(Assign(acc, b(Load("A", (i, k)), "*", Load("B", (k, j))), "+"))
        high_k = Bin("min", U, b(Var("kk"), "+", self.tk))
        shape = (self.height, self.width, self.ry, self.rx)
        nest = self._groups(
            Decl("acc", FLOAT, shape),
            self._items(registers(Assign(acc, ZERO))),
            loop("kk", ZERO, U, self._items(loop("k", Var("kk"), high_k, step)), step=self.tk),
            self._items(registers(Assign(Load("C", (i, j)), acc))),
        )
        return Function("mm", mm_params(), (nest,), tiles=self.tiles)

    def listing10(self, *, clamp: bool = False) -> Function:
        """Normalised loops, guards, tiles staged in local and in private memory."""
        i, j, k, ii, jj = (Var(n) for n in ("i", "j", "k", "ii", "jj"))
        iii, jjj, kk = Var("iii"), Var("jjj"), Var("kk")
        acc = Load("acc", (b(ii, "-", iii), b(jj, "-", jjj), i, j))
        inside = b(b(b(ii, "+", i), "<", M), "&&", b(b(jj, "+", j), "<", N))

        def registers(s: Stmt) -> For:
            inner = loop("j", ZERO, self.rx, If(inside, (s,)), unroll=True)
            return loop("i", ZERO, self.ry, inner, unroll=True)

        update = Assign(acc, b(Load("A_reg", (i,)), "*", Load("B_reg", (j,))), "+")
        row = Slice(b(ii, "-", iii), self.ry)
        column = Slice(b(jj, "-", jjj), self.rx)
        depth = (
            Copy("A_reg", "A_loc", (row, Slice(k, None)), False),
            Copy("B_reg", "B_loc", (Slice(k, None), column), False),
            registers(update),
        )
        guarded = If(b(b(kk, "+", k), "<", U), depth)
        slice_i = Slice(iii, self.height, M, clamp)
        slice_j = Slice(jjj, self.width, N, clamp)
        slice_k = Slice(kk, self.tk, U, clamp)
        result = Assign(Load("C", (b(ii, "+", i), b(jj, "+", j))), acc)
        nest = self._groups(
            Decl("acc", FLOAT, (self.height, self.width, self.ry, self.rx), Space.PRIVATE),
            self._items(registers(Assign(acc, ZERO)), levels=True),
            loop(
                "kk",
                ZERO,
                U,
                Decl("A_loc", FLOAT, (self.height, self.tk), Space.LOCAL),
                Decl("B_loc", FLOAT, (self.tk, self.width), Space.LOCAL),
                Copy("A_loc", "A", (slice_i, slice_k), True),
                Copy("B_loc", "B", (slice_k, slice_j), True),
                self._items(
                    Decl("A_reg", FLOAT, (self.ry,), Space.PRIVATE),
                    Decl("B_reg", FLOAT, (self.rx,), Space.PRIVATE),
                    loop("k", ZERO, self.tk, guarded),
                    levels=True,
                ),
                step=self.tk,
            ),
            self._items(registers(result), levels=True),
            levels=True,
        )
        return Function("mm", mm_params(), (nest,), tiles=self.tiles)


def mm_args(m: int, u: int, n: int, seed: int = 1) -> dict[str, Any]:
    rng = np.random.Generator(np.random.PCG64(seed))
    a = rng.random((m, u), dtype=np.float32)
    c = rng.random((u, n), dtype=np.float32)
    return {"M": m, "U": u, "N": n, "A": a, "B": c, "C": np.full((m, n), -1, np.float32)}


def copied(args: dict[str, Any]) -> dict[str, Any]:
    """The same arguments in memory of their own."""
    return {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in args.items()}
