"""Random steps for a function, with parameters taken from it."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import MISSING, fields

from loopxform.ir.affine import value_of
from loopxform.ir.condition_text import condition_text
from loopxform.ir.nodes import Copy, Decl, Function
from loopxform.ir.visit import after, loops, loops_around, walk
from loopxform.transforms import (
    STEPS,
    Assume,
    BeginAt,
    BoundExtent,
    BoundTrips,
    BufferSlice,
    ClampEdges,
    CopyToLocal,
    CopyToPrivate,
    Distribute,
    Expand,
    Fuse,
    Interchange,
    MapTo,
    Normalise,
    Pad,
    Parallelise,
    Permute,
    Privatise,
    PromoteToLocal,
    Relayout,
    Rematerialise,
    Reorder,
    Reverse,
    Rfactor,
    RoundRobin,
    Scalarise,
    ScalarToMemory,
    SeparateFullTiles,
    Sequentialise,
    ShiftInwards,
    Skew,
    Split,
    Step,
    Stripmine,
    Substitute,
    UnitLoop,
    Unroll,
)
from loopxform.transforms.restructure.places import place_text

# fmt: off
OTHERS = frozenset([
    "sink-tail", "pad", "hoist", "bounding-box", "rename", "distribute-guard", "final-value",
    "remove-unit-loop", "exit-flag", "skip-empty-tiles", "index32", "dispatch", "assume",
    "vectorise", "warp-tile", "pipeline", "block-cyclic", "serpentine", "pack",
    "register-pipeline", "specialise", "copy-parameter", "swizzle-groups", "convert-on-copy",
    "store-vectors", "pack-operands", "coalesce", "unstripmine", "reroll", "unsplit", "unfold",
    "atomic-updates", "privatise-updates", "widen-updates", "buffer-box",
    "turn-accesses", "distribute-branches", "online-softmax", "flatten", "track-extremum",
    "signed-counters",
])
# fmt: on
"""Drawn where programs have a use for them: `restructured`, `kernel_steps`, `test_random_updates`,
`test_places_of_extrema`."""

CHOSEN = (
    *(Parallelise, Privatise, Scalarise, Substitute, Stripmine, Interchange, Reverse, Skew),
    *(Rematerialise, Expand, Distribute, Fuse, Split, Sequentialise, Normalise, Unroll, MapTo),
    *(Rfactor, UnitLoop, Permute, PromoteToLocal, Relayout, CopyToLocal, CopyToPrivate),
    *(ScalarToMemory, ClampEdges, Pad, SeparateFullTiles, RoundRobin, BoundExtent),
    *(BufferSlice, Reorder, BeginAt, BoundTrips, ShiftInwards),
)
"""What `Chooser` has parameters for."""

OF_A_LOOP = tuple(
    kind
    for verb, kind in STEPS.items()
    if verb not in OTHERS
    and kind not in CHOSEN
    and [f.name for f in fields(kind) if f.default is MISSING] == ["loop"]
)
"""The others, as long as a loop is all they need."""


class Chooser:
    """Steps that may or may not apply to a function, with parameters taken from it."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def step(self, fn: Function) -> Step:
        rng = self.rng
        makers = [
            lambda: Parallelise(self.loop(fn)),
            lambda: Parallelise(self.loop(fn)),
            lambda: Privatise(self.scalar(fn), self.loop(fn)),
            lambda: Scalarise(self.array(fn), self.loop(fn)),
            lambda: Substitute(self.scalar(fn), self.loop(fn)),
            lambda: Substitute(self.scalar(fn), self.loop(fn)),
            lambda: Stripmine(self.loop(fn), rng.choice([*dict(fn.tiles), "2", "3"])),
            lambda: self.interchange(fn),
            lambda: self.interchange(fn),
            lambda: Reverse(self.loop(fn)),
            lambda: self.skew(fn),
            lambda: Rematerialise(self.loop(fn)),
            lambda: Expand(self.scalar(fn), self.chain(fn)),
            lambda: Distribute(self.chain(fn)),
            lambda: self.fuse(fn),
            lambda: self.fuse(fn),
            lambda: Split(self.loop(fn), self.point(fn)),
            lambda: Sequentialise(self.loop(fn)),
            lambda: Normalise(self.loop(fn), rng.choice(["body", "innermost"])),
            lambda: Unroll(self.loop(fn), rng.choice(["", "full", "2", "3"])),
            lambda: MapTo(self.loop(fn), rng.choice(["group.x", "group.y", "thread.x"])),
            lambda: Rfactor(self.loop(fn), rng.choice(["2", "3"])),
            lambda: Rfactor(self.loop(fn), rng.choice(["2", "3"]), strided="strided"),
            lambda: RoundRobin(self.loop(fn), rng.choice(["2", "3"])),
            lambda: UnitLoop(self.loop(fn), "beside"),
            lambda: Permute(self.own_array(fn), rng.choice([("1", "0"), ("0",)])),
            lambda: BoundExtent(self.own_array(fn), (rng.choice(["3", "40"]),)),
            lambda: PromoteToLocal(self.own_array(fn)),
            lambda: BeginAt(self.loop(fn), rng.choice("001")),
            lambda: BoundTrips(self.loop(fn), rng.choice(["2", "3", "40"])),
            lambda: Relayout(self.array(fn), tuple(rng.choice(["1,0", "0,2,1"]).split(","))),
            lambda: CopyToLocal(self.array(fn), self.loop(fn)),
            lambda: self.copy_to_private(fn),
            lambda: BufferSlice(self.array(fn), self.loop(fn)),
            lambda: Split(self.loop(fn), "full-tiles"),
            lambda: ScalarToMemory(self.scalar(fn)),
            lambda: UnitLoop(self.place(fn), rng.choice("112")),
            lambda: Reorder(self.place(fn), rng.choice("112")),
            lambda: ClampEdges((self.scalar(fn),)),
            lambda: Pad(self.staged(fn)),
            lambda: SeparateFullTiles(self.innermost_group(fn)),
            lambda: self.shift_inwards(fn),
            *(lambda kind=kind: kind(self.loop(fn)) for kind in OF_A_LOOP),
        ]
        return rng.choice(makers)()

    def loop(self, fn: Function) -> str:
        """`i`, or `i#2` where several loops run over i."""
        site = self.rng.choice(loops(fn))
        same = [s.path for s in loops(fn) if s.loop.var == site.loop.var]
        if len(same) == 1 or self.rng.random() < 0.05:
            return site.loop.var
        number = same.index(site.path) + 1
        return f"{site.loop.var}{self.rng.choice(['*', f'#{number}', f'#{number}'])}"

    def shift_inwards(self, fn: Function) -> Step:
        """Of a loop over tiles, if there is one, or what that asks of its size."""
        tiles = [s for s in loops(fn) if (value_of(s.loop.step) or 0) > 1]
        shifted = ShiftInwards(self.rng.choice(tiles).loop.var if tiles else self.loop(fn))
        asked = shifted.open_questions(fn)
        return Assume(condition_text(asked[0])) if tiles and asked else shifted

    def chain(self, fn: Function) -> tuple[str, ...]:
        """A loop, or it and one around it."""
        site = self.rng.choice(loops(fn))
        around = [s.loop.var for s in loops(fn) if s.path == site.path[: len(s.path)]]
        return tuple(around[-self.rng.choice([1, 1, 2]) :])

    def array(self, fn: Function) -> str:
        return self.rng.choice([p.name for p in fn.params if p.array])

    def copy_to_private(self, fn: Function) -> Step:
        """Of a staged copy in a loop beside it, if there is one."""
        made = [(p, s) for p, s in walk(fn.body) if isinstance(s, Copy) and s.collective]
        if not made:
            return CopyToPrivate(self.array(fn), self.loop(fn))
        path, copy = self.rng.choice(made)
        beside = [s for s in loops(fn) if s.path[: len(path) - 1] == path[:-1]]
        site = self.rng.choice(beside or loops(fn))
        same = [s.path for s in loops(fn) if s.loop.var == site.loop.var]
        return CopyToPrivate(copy.target, f"{site.loop.var}#{same.index(site.path) + 1}")

    def staged(self, fn: Function) -> str:
        """A loop that starts with copies, if there is one."""
        made = [s for s in loops(fn) if any(isinstance(x, Copy) for x in s.loop.body)]
        return self.rng.choice(made).loop.var if made else self.loop(fn)

    def innermost_group(self, fn: Function) -> str:
        """The last loop over groups, if there is one."""
        made = [s.loop for s in loops(fn) if s.loop.level and s.loop.level.kind == "grid"]
        return made[-1].var if made else self.loop(fn)

    def scalar(self, fn: Function) -> str:
        return self.rng.choice([s.name for _, s in walk(fn.body) if isinstance(s, Decl)] or ["t"])

    def own_array(self, fn: Function) -> str:
        """An array that the function declares, if there is one."""
        own = [s.name for _, s in walk(fn.body) if isinstance(s, Decl) and s.shape]
        return self.rng.choice(own or [self.array(fn)])

    def place(self, fn: Function) -> str:
        """Of a statement, or beside the last one."""
        path = self.rng.choice([p for p, _ in walk(fn.body)])
        return place_text(path if self.rng.random() < 0.9 else (*path[:-1], 99))

    def interchange(self, fn: Function) -> Step:
        site = self.rng.choice(loops(fn))
        inner = [s for s in loops(fn) if s.path == (*site.path, 0)]
        return Interchange(site.loop.var, inner[0].loop.var if inner else "j")

    def skew(self, fn: Function) -> Step:
        """Over a loop around it, if there is one."""
        site = self.rng.choice(loops(fn))
        same = [s.path for s in loops(fn) if s.loop.var == site.loop.var]
        around = [x.var for x in loops_around(fn, site.path)] or [self.loop(fn)]
        ref = f"{site.loop.var}#{same.index(site.path) + 1}"
        return Skew(ref, self.rng.choice(around), self.rng.choice(["1", "1", "-1", "2", "0"]))

    def fuse(self, fn: Function) -> Step:
        """Of neighbours, if there are any."""
        numbers: Counter[str] = Counter()
        named = {}
        for site in loops(fn):
            numbers[site.loop.var] += 1
            named[site.path] = f"{site.loop.var}#{numbers[site.loop.var]}"
        pairs = [p for p in named if after(p) in named]
        if not pairs or self.rng.random() < 0.1:
            return Fuse(self.loop(fn), self.rng.choice(["", self.loop(fn)]))
        first = self.rng.choice(pairs)
        return Fuse(named[first], self.rng.choice(["", named[after(first)]]))

    def point(self, fn: Function) -> str:
        """Below, between and above the values of a loop, on its stride or not."""
        site = self.rng.choice(loops(fn))
        around = [x.var for x in loops_around(fn, site.path)]
        names = [p.name for p in fn.params if not p.array and p.type.is_integer]
        size, other = (self.rng.choice([*names, *around, "hi"]) for _ in range(2))
        forms = ["{0}", "{0}/2", "{0}-1", "({0}+{1})/2", "2*{0}-{1}", "lo+{0}%3", "min({0},{1}+1)"]
        plain = ["2", "lo+1", "lo+2", "hi-1", "hi-3", "hi/2"]
        return self.rng.choice([*plain, *forms]).format(size, other)


class FuseOrSplit(Chooser):
    """Nothing but fusing and splitting, and what makes foralls of the loops."""

    def step(self, fn: Function) -> Step:
        kind = self.rng.choice(["parallelise", "parallelise", "fuse", "fuse", "split"])
        sequential = [n for n, s in enumerate(loops(fn)) if not s.loop.parallel]
        if kind == "parallelise" and sequential:
            site = loops(fn)[self.rng.choice(sequential)]
            same = [s.path for s in loops(fn) if s.loop.var == site.loop.var]
            return Parallelise(f"{site.loop.var}#{same.index(site.path) + 1}")
        return self.fuse(fn) if kind == "fuse" else Split(self.loop(fn), self.point(fn))


class SinkOrParallelise(Chooser):
    """Nothing but sinking into loops and making foralls of them."""

    def step(self, fn: Function) -> Step:
        if self.rng.random() < 0.4:
            return Parallelise(self.loop(fn))
        chosen = tuple(dict.fromkeys(self.scalar(fn) for _ in range(self.rng.choice([0, 0, 1, 2]))))
        return Rematerialise(self.loop(fn), chosen)
