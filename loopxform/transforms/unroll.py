"""Unrolling: for i in 0..n: S(i) -> S(0); ...; S(n-1), or by a factor with a remainder loop.

Always legal: the same statements in the same order. `unroll i` leaves the replication to the
compiler of the kernel (the loop is marked), `unroll i full` replicates here, `unroll i 4` makes a
loop of four copies and one for what is left. (Seed 000, step 5b.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify
from loopxform.ir.nodes import Bin, Const, For, Function, Stmt, Var
from loopxform.ir.visit import at, declared, rename, replace_at, resolve
from loopxform.transforms.base import Step, ascending, some_loops, whole_loop
from loopxform.transforms.bounds import fixed_trips, replace_iterator

MOST_COPIES = 4096


@dataclass(frozen=True)
class Unroll(Step):
    """Unrolls a loop: `factor` is "" (mark for the kernel compiler), "full", or a number."""

    loop: str
    factor: str = ""

    verb: ClassVar[str] = "unroll"
    usage: ClassVar[str] = "unroll LOOP [full|FACTOR]   (LOOP* for every loop of that name)"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        sites = some_loops(fn, self.loop)
        if isinstance(sites, Obstacle):
            return (sites,)
        if self.factor not in ("", "full") and not _number(self.factor):
            return (
                Obstacle(
                    "LX025",
                    f"'{self.factor}' is not an unroll factor",
                    sites[0].loop.origin.loc,
                    remedy="use full, or a number of 2 or more",
                ),
            )
        obstacles = [o for s in sites for o in (*whole_loop(s), *ascending(s))]
        obstacles += [o for s in sites for o in self._fixed(s.loop)]
        return tuple(obstacles)

    def _fixed(self, loop: For) -> list[Obstacle]:
        """Marking and full unrolling need a constant trip count that no bound cuts short."""
        if self.factor not in ("", "full"):
            return []
        fixed = fixed_trips(loop)
        count = None if fixed is None or fixed[1] else fixed[0].value
        if count is not None and count <= MOST_COPIES:
            return []
        why = "is not a constant" if count is None else f"is {count}, more than {MOST_COPIES}"
        return [
            Obstacle(
                "LX134",
                f"the trip count of '{loop.var}' {why}",
                loop.origin.loc,
                remedy=f"stripmine and normalise it first, or give a factor: unroll {loop.var} 4",
            )
        ]

    def rewrite(self, fn: Function) -> Function:
        for site in reversed(resolve(fn, self.loop)):
            loop = at(fn, site.path)
            assert isinstance(loop, For)
            fn = replace_at(fn, site.path, self._unrolled(loop))
        return fn

    def _unrolled(self, loop: For) -> tuple[Stmt, ...]:
        origin = loop.origin.then(str(self))
        if not self.factor:
            return (replace(loop, unroll=True, origin=origin),)
        if self.factor == "full":
            fixed = fixed_trips(loop)
            assert fixed is not None
            count = fixed[0].value or 0
            return tuple(s for n in range(count) for s in _copy(loop, n))
        return _by_factor(loop, int(self.factor))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the same statements in the same order"


def _number(text: str) -> bool:
    return text.isdigit() and 2 <= int(text) <= MOST_COPIES


def _copy(loop: For, n: int) -> tuple[Stmt, ...]:
    """The body for the n-th iteration after lo."""
    value = simplify(Bin("+", loop.lo, Bin("*", Const(n), loop.step)))
    return _scoped(replace_iterator(loop.body, loop.var, value), n)


def _by_factor(loop: For, factor: int) -> tuple[Stmt, ...]:
    """for (i = lo; i < lo + n/F*F; i += F) {S(i) ... S(i+F-1)}  for (...; i < hi; i++) S(i)."""
    stride = simplify(Bin("*", Const(factor), loop.step))
    trip = simplify(Bin("-", loop.hi, loop.lo))
    middle = simplify(Bin("+", loop.lo, Bin("*", Bin("/", trip, stride), stride)))
    body: tuple[Stmt, ...] = ()
    for n in range(factor):
        value = simplify(Bin("+", Var(loop.var), Bin("*", Const(n), loop.step)))
        body += _scoped(replace_iterator(loop.body, loop.var, value), n)
    main = replace(loop, hi=middle, step=stride, body=body)
    return (main, replace(loop, lo=middle))


def _scoped(body: tuple[Stmt, ...], n: int) -> tuple[Stmt, ...]:
    """Storage declared in the body gets a name per copy."""
    return rename(body, {name: f"{name}_{n}" for name in declared(body)})
