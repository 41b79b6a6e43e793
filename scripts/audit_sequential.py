"""Lists the loops of which one work-item, or a handful, runs more than 1000 iterations.

python scripts/audit_sequential.py PATH... [-I DIR]... [-D NAME[=VALUE]]... [--fp LEVEL]
    [--items N] [--iterations N] [--limit SECONDS] [--left]
python scripts/audit_sequential.py --programs scripts/programs/NAME.toml FOLDER [--only NAME,NAME]

Files and tables are those of offload_programs.py. A loop is listed where it runs in order in a
kernel, at most --items work-items run it (32), and it and those around it may have more than
--iterations iterations (1000): where a bound is no number, they may. What runs once is no loop. Of
loops inside each other it is the outermost such loop. Its row says what the report says of it, once
for all kernels that it is in, and who runs it:

    weighed   the device or the user's loops, by their times when the program runs, copies counted
    device    always the device: data decide how long the loops of its part run

With --left also the loops that stay on the host, and why.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf

from offload_programs import Program, apart, meant, parser, require_there, seconds_for

import loopxform as lx
from loopxform.api.offloaded_regions import OffloadedRegion
from loopxform.cli.offload_summary import by_work
from loopxform.cli.offload_text import kernels_of
from loopxform.cli.users_names import UsersNames
from loopxform.ir.affine import to_expr
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Bin, Cast, Const, Expr, For, Stmt
from loopxform.ir.types import INT
from loopxform.ir.visit import bodies, map_expr, names
from loopxform.offload.program_state import Part
from loopxform.transforms.edges.bounds import ends_of, trips_to


def main() -> int:
    args = options()
    os.environ["LOOPXFORM_CACHE"] = "off"
    programs, having, listed = 0, 0, 0
    for program in meant(args):
        rows = apart(audited, program, args)
        programs, having, listed = programs + 1, having + bool(rows), listed + len(rows)
        for row in rows:
            print(f"{program.name}: {row}", flush=True)
    print(f"{listed} loops of {having} programs, of {programs}")
    return 0


def options() -> argparse.Namespace:
    p = parser(__doc__)
    p.add_argument("--items", type=int, default=32, metavar="N", help="work-items (default 32)")
    p.add_argument("--iterations", type=int, default=1000, metavar="N", help="default 1000")
    p.add_argument("--left", action="store_true", help="loops that stay on the host too")
    args = p.parse_args()
    require_there(p, args)
    return args


def audited(program: Program, args: argparse.Namespace) -> list[str]:
    """The rows of a program."""
    from loopxform.budget import Budget, within

    try:
        with within(Budget.of(seconds_for(program, args), None)):
            file = lx.load(program.file, include=program.include, define=program.define)
            done = file.offload(fp=args.fp)
    except lx.LoopxformError as e:
        return [f"not read: {_said(e)}"]
    users = UsersNames(file)
    rows = [row for r in done.regions for row in _in_kernels(r, users, args)]
    left = (users.in_error(e) for _, e in by_work(done)) if args.left else ()
    return [
        *dict.fromkeys(rows),
        *(f"line {e.loc.line if e.loc else '?'}: left: {_said(e)}" for e in left),
    ]


def _said(e: lx.LoopxformError) -> str:
    return f"{e.message} [{e.code}]" + (f"; {e.help}" if e.help else "")


def _in_kernels(r: OffloadedRegion, users: UsersNames, args: argparse.Namespace) -> Iterator[str]:
    parts = kernels_of(r.done, r.entry.plan)
    chosen = "device" if r.entry.host.operations is None else "weighed"
    for k in r.entry.plan.kernels:
        sizes = [p.name for p in k.function.params if p.type == INT and not p.array]
        counts = Counts(dict(k.function.tiles), frozenset(sizes), args)
        for loop in counts.long(k.function.body):
            place = loop.origin.loc
            line = place.line if place else "?"
            what = _told(r, loop, parts.get(k.name)) or f"{k.name}, part of another kernel's work"
            yield f"line {line}: {users.of(loop.var)}: {chosen}, {users.in_text(what)}"


def _told(r: OffloadedRegion, loop: For, part: Part | None) -> str:
    """What the report says of a loop: by itself, or of the kernel that it is in."""
    at = loop.origin.loc
    own = (p for p in r.done.parts if p.loc == at and p.why and p.tiled is None)
    best = next(own, part)
    return f"{best.kind}: {best.why}" if best else ""


@dataclass(frozen=True)
class Counts:
    """How often the loops of a kernel run, whose tile sizes are known; `sizes` are any `int`."""

    tiles: dict[str, int]
    sizes: frozenset[str]
    args: argparse.Namespace

    def long(self, body: tuple[Stmt, ...], around: tuple[For, ...] = ()) -> Iterator[For]:
        """The loops that few work-items run for many iterations."""
        for s in body:
            own = (*around, s) if isinstance(s, For) else around
            repeats = isinstance(s, For) and s.level is None and self.most(s, around) > 1
            if isinstance(s, For) and repeats and self.is_long(own):
                yield s
                continue
            for inner in bodies(s):
                yield from self.long(inner, own)

    def is_long(self, around: tuple[For, ...]) -> bool:
        """Whether the last of these loops, which stand around each other, is such a loop."""
        *outer, loop = around
        most = {True: 1.0, False: 1.0}
        for n, x in enumerate(outer):
            most[x.level is not None] *= self.most(x, around[:n])
        items = most[True] * self.below(loop.body, around, mapped=True)
        turns = most[False] * self.below((loop,), tuple(outer), mapped=False)
        return bool(items <= self.args.items and turns > self.args.iterations)

    def below(self, body: tuple[Stmt, ...], around: tuple[For, ...], *, mapped: bool) -> float:
        """Work-items that share a body, or iterations in order that it takes."""
        total = 0.0
        for s in body:
            own = (*around, s) if isinstance(s, For) else around
            counts = isinstance(s, For) and (s.level is not None) == mapped
            times = self.most(s, around) if isinstance(s, For) and counts else 1
            total += times * max((self.below(b, own, mapped=mapped) for b in bodies(s)), default=0)
        return max(1, total)

    def most(self, loop: For, around: tuple[For, ...]) -> float:
        """How many iterations a loop may have, at the first or the last one of those around it."""
        corners: tuple[dict[str, int], ...] = ({}, {})
        for x in around:
            for corner, end in zip(corners, (x.lo, Bin("-", x.hi, Const(1)))):
                if names(end) <= corner.keys():
                    corner[x.var] = evaluate(end, self.tiles | corner)
        plain = replace(loop, lo=_plain(loop.lo), hi=_plain(loop.hi))
        counts = [to_expr(n) for end in ends_of(plain) if (n := trips_to(plain, end)) is not None]
        each = (self.largest(e, corners) for e in counts)
        return max(1, min((n for n in each if n is not None), default=inf))

    def largest(self, count: Expr, corners: tuple[dict[str, int], ...]) -> int | None:
        """The largest value of a count at some corners; None where more than a size is unknown."""
        unknown = [names(count) - self.tiles.keys() - c.keys() for c in corners]
        if not all(x <= self.sizes and len(x) < 2 for x in unknown):
            return None
        ends = [dict.fromkeys(self.sizes, n) for n in (1, INT.most)]
        return max(evaluate(count, e | self.tiles | c) for c in corners for e in ends)


def _plain(e: Expr) -> Expr:
    """A bound without the conversions that keep it from wrapping around."""
    return map_expr(e, lambda x: x.operand if isinstance(x, Cast) else x)


if __name__ == "__main__":
    sys.exit(main())
