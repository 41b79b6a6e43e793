"""Unrolling: for i in 0..n: S(i) -> S(0); ...; S(n-1), or by a factor with a remainder loop.

Legal where the body does not change the bounds: the same statements in the same order. `unroll i`
leaves the replication to the compiler of the kernel (the loop is marked), `unroll i full`
replicates here, `unroll i 4` makes a loop of four copies and one for what is left. (Cholewa-Madsen
and Holst, step 5b.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify
from loopxform.ir.names import used_names
from loopxform.ir.nodes import Bin, Const, Expr, For, Function, Stmt, Var
from loopxform.ir.renaming import rename
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite, at, declared, replace_at, resolve
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import fixed_trips, iteration_value, replace_iterator
from loopxform.transforms.sites import (
    ascending,
    fixed_header,
    for_each,
    no_wrap,
    some_loops,
    unmapped,
    whole_loop,
)

MOST_COPIES = 4096


@record
class Unroll(Step):
    """Unrolls a loop: `factor` is "" (mark for the kernel compiler), "full", or a number."""

    loop: str
    factor: str = ""

    verb: ClassVar[str] = "unroll"
    usage: ClassVar[str] = "unroll LOOP [full|FACTOR]   (LOOP* for every loop of that name)"
    keeps_order: ClassVar[bool] = True

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
        return for_each(sites, lambda s: self._obstacles(fn, s))

    def _obstacles(self, fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
        shape = (*whole_loop(site), *fixed_header(site), *unmapped(site, "unroll"))
        if self.factor in ("", "full"):
            return (*shape, *self._fixed(site.loop))
        return (*shape, *ascending(site), *no_wrap(fn, site))

    def _fixed(self, loop: For) -> list[Obstacle]:
        """Marking and full unrolling need a constant trip count that no bound cuts short."""
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
            fn = replace_at(fn, site.path, self._unrolled(fn, loop))
        return fn

    def _unrolled(self, fn: Function, loop: For) -> tuple[Stmt, ...]:
        origin = loop.origin.then(str(self))
        if not self.factor:
            return (replace(loop, unroll=True, origin=origin),)
        if self.factor == "full":
            fixed = fixed_trips(loop)
            assert fixed is not None
            count = fixed[0].value or 0
            return _copies(fn, loop, [_at(fn, loop, loop.lo, n) for n in range(count)])
        return _by_factor(fn, loop, int(self.factor))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the same statements in the same order"


def _number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 5 and 2 <= int(text) <= MOST_COPIES


def _at(fn: Function, loop: For, first: Expr, n: int) -> Expr:
    """The value of the loop variable n iterations after `first`."""
    return iteration_value(replace(loop, lo=first), Const(n), symbols(fn))


def _copies(fn: Function, loop: For, values: list[Expr]) -> tuple[Stmt, ...]:
    """The body once for each value; storage declared in it gets a name per copy."""
    used, out = set(used_names(fn)), list[Stmt]()
    for n, value in enumerate(values):
        own = {name: _free(used, f"{name}_{n}") for name in declared(loop.body)}
        used |= set(own.values())
        out += rename(replace_iterator(loop.body, loop.var, value), own)
    return tuple(out)


def _free(used: set[str], name: str) -> str:
    while name in used:
        name += "_"
    return name


def _by_factor(fn: Function, loop: For, factor: int) -> tuple[Stmt, ...]:
    """for (i = lo; i < lo + n/F*F; i += F) {S(i) ... S(i+F-1)}  for (...; i < hi; i++) S(i)."""
    stride = simplify(Bin("*", Const(factor), loop.step))
    trip = simplify(Bin("-", loop.hi, loop.lo))
    middle = simplify(Bin("+", loop.lo, Bin("*", Bin("/", trip, stride), stride)))
    body = _copies(fn, loop, [_at(fn, loop, Var(loop.var), n) for n in range(factor)])
    main = replace(loop, hi=middle, step=stride, body=body)
    return (main, replace(loop, lo=middle))
