"""Random loops over time around stencils: arrays of two or three dimensions with domains of their
own, stages that read elements at random distances, and what else such loops hold.

Extents and domains are such that every read is inside; the interpreter says so of each run.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

REACH = 3
"""The farthest distance."""

KINDS = {"char": "i1", "short": "i2", "int": "i4", "float": "f4", "double": "f8"}


@dataclass
class Grid:
    """An array: by how much its extents exceed the sizes, and what a stage writes of it: from `low`
    up to the size and `high`. `planes` of it take turns; a `flat` one is a plain pointer."""

    name: str
    type: str
    more: tuple[int, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    planes: int = 1
    flat: bool = False

    def extents(self, sizes: tuple[str, ...]) -> list[str]:
        return [f"{n} + {more}" if more else n for n, more in zip(sizes, self.more)]

    def at(self, places: list[str], sizes: tuple[str, ...], plane: str = "") -> str:
        if not self.flat:
            first = f"[{plane}]" if self.planes > 1 else ""
            return self.name + first + "".join(f"[{p}]" for p in places)
        index = places[0]
        for place, extent in zip(places[1:], self.extents(sizes)[1:]):
            index = f"({index}) * ({extent}) + {place}"
        return f"{self.name}[{index}]"


@dataclass
class StencilWriter:
    """Writes one function `f`."""

    rng: random.Random
    grids: list[Grid] = field(default_factory=list)
    params: list[str] = field(default_factory=list)

    def text(self) -> str:
        rng = self.rng
        self.rank = rng.choice((2, 2, 2, 3))
        self.sizes = ("n", "m", "l")[: self.rank]
        self.vars = ("i", "j", "k")[: self.rank]
        self.whole = rng.random() < 0.3
        self.counter = "long" if rng.random() < 0.1 else "int"
        kinds = ("int", "int", "char", "short") if self.whole else ("float", "double")
        turns = rng.choice((1, 1, 1, 2, 2, 3)) if self.rank == 2 else rng.choice((1, 1, 2))
        flat = turns == 1 and rng.random() < 0.2
        count = 1 if turns > 1 and rng.random() < 0.5 else rng.choice((2, 2, 2, 3, 4))
        for name in "ABCD"[:count]:
            planes = turns if name == "A" or rng.random() < 0.3 else 1
            self.grids.append(self.grid(name, rng.choice(kinds), planes, flat=flat))
        stages = "\n".join(self.stage(g) for g in self.grids)
        return f"{self.head()}\n  {self.time()} {{\n{stages}\n  }}\n{self.tail()}}}\n"

    def grid(self, name: str, type: str, planes: int, *, flat: bool) -> Grid:
        rng = self.rng
        more = tuple(rng.choice((0, 0, 0, 1, 3)) for _ in self.sizes)
        low = tuple(rng.choice((0, 1, 1, 2, 3)) for _ in self.sizes)
        high = tuple(rng.choice((-3, -2, -1, -1, -1, 0, x)) for x in more)
        return Grid(name, type, more, low, high, planes, flat)

    def head(self) -> str:
        arrays = []
        outside = []
        for g in self.grids:
            extents = g.extents(self.sizes)
            restrict = self.rng.choice(("", "restrict "))
            if g.flat:
                arrays.append(f"{g.type} *{restrict}{g.name}")
                continue
            first = [str(g.planes)] if g.planes > 1 else []
            if not first and self.rng.random() < 0.15:
                fixed = "".join(f"[{20 + x}]" for x in g.more)
                outside.append(f"{self.rng.choice(('', 'static '))}{g.type} {g.name}{fixed};")
                continue
            outermost, *inner = (*first, *extents)
            sizes = "".join(f"[{e}]" for e in (restrict + outermost, *inner))
            arrays.append(f"{g.type} {g.name}{sizes}")
        sizes = ", ".join(f"int {n}" for n in ("T", *self.sizes, "q"))
        row = ", ".join(f"{self.scalar} {n}" for n in ("c", "d"))
        w = "".join(f"[{n} + 3]" for n in self.sizes)
        reads = f"const {self.scalar} w{w}, const {self.scalar} v[{self.sizes[-1]} + 3]"
        texts = [*outside, f"void f({sizes}, {row}, {', '.join((*arrays, reads))}) {{"]
        return "\n".join(texts)

    @property
    def scalar(self) -> str:
        return "int" if self.whole else "float"

    def time(self) -> str:
        """The header of the loop over time."""
        forms = (
            "int t = 0; t < T",
            "int t = 1; t <= T",
            "int t = 3; t < T + 1",
            "long t = 0; t < T",
        )
        free = ("int t = q; t < T",)
        turning = any(g.planes > 1 for g in self.grids)
        return f"for ({self.rng.choice(forms if turning else (*forms, *free))}; t++)"

    def tail(self) -> str:
        if self.rng.random() > 0.15 or self.grids[0].flat:
            return ""
        g, last = self.grids[0], self.sizes[-1]
        place = g.at([*["0"] * (self.rank - 1), "i"], self.sizes, "0")
        return f"  for (int i = 0; i < {last}; i++) {place} = {place} + 1;\n"

    # ------------------------------------------------------------ stages

    def stage(self, g: Grid) -> str:
        """The nest that writes an array, and what stands beside it."""
        rng = self.rng
        nest = self.nest(g, {})
        lone = [d for d in range(self.rank) if g.low[d] > 0 and not g.flat]
        if lone and rng.random() < 0.25:
            edge = self.nest(g, {rng.choice(lone): "0"})
            return f"{edge}\n{nest}" if rng.random() < 0.7 else f"{nest}\n{edge}"
        return nest

    def nest(self, g: Grid, fixed: dict[int, str]) -> str:
        rng = self.rng
        loops = []
        for d, (var, size) in enumerate(zip(self.vars, self.sizes)):
            if d not in fixed:
                bound = f"{size} + {g.high[d]}" if g.high[d] > 0 else f"{size} - {-g.high[d]}"
                form = f"{var} < {bound if g.high[d] else size}"
                loops.append(f"for ({self.counter} {var} = {g.low[d]}; {form}; {var}++)")
        if rng.random() < 0.15:
            rng.shuffle(loops)
        self.now = g, fixed
        places = [fixed.get(d, var) for d, var in enumerate(self.vars)]
        target = g.at(places, self.sizes, rng.choice(("(t + 1) % P", "(t + 1) % P")))
        target = self.turned(target, g)
        body = self.assignment(target)
        return f"    {' '.join(loops)} {body}"

    def turned(self, text: str, g: Grid) -> str:
        text = text.replace("% P", f"% {g.planes}")
        return text.replace("% 2", "& 1") if self.rng.random() < 0.3 else text

    def assignment(self, target: str) -> str:
        rng = self.rng
        form = rng.random()
        value = self.value(rng.choice((1, 2, 3, 4)))
        if self.whole:
            value = f"({value}) & {rng.choice((15, 255))}"
        if form < 0.15:
            return f"{target} {rng.choice(('+=', '-='))} {value};"
        if form < 0.35:
            type = rng.choice(("int", "short") if self.whole else ("float", "double"))
            x = self.value(2)
            x = f"({x}) & 63" if self.whole else x
            more = rng.choice((f"s += {self.read()};", "s = s > 3 ? 3 : s;", ""))
            return f"{{ {type} s = {x}; {more} {target} = s + {value}; }}"
        return f"{target} = {value};"

    def value(self, terms: int) -> str:
        rng = self.rng
        out = self.term()
        for _ in range(terms - 1):
            out = f"{out} {rng.choice('+++-')} {self.term()}"
        return f"0.25f * ({out})" if not self.whole and rng.random() < 0.8 else out

    def term(self) -> str:
        rng = self.rng
        kind = rng.random()
        if kind < 0.7:
            return self.read()
        if kind < 0.78:
            return f"{rng.choice(('c', '2', 'd'))} * {self.read()}"
        if kind < 0.84:
            return rng.choice(("t", "t % 3", self.place(0), self.place(-1), "q"))
        if kind < 0.92:
            low = f"{self.place(-1)} > {rng.choice((0, 1, 2))}"
            return f"({low} ? {self.read()} : {rng.choice(('1', self.read()))})"
        if not self.whole:
            return f"({self.read()} > {self.read()} ? {self.read()} : c)"
        return rng.choice(
            (
                f"{self.read()} / (1 + ({self.read()} & 7))",
                f"{self.read()} % 5",
                f"v[{self.read()} & 1]",
                f"({self.read()} < 3 ? v[{self.read()} & 1] : 2)",
            )
        )

    def place(self, d: int) -> str:
        """Where the element that is written is in a dimension."""
        return self.now[1].get(d % self.rank, self.vars[d])

    def read(self) -> str:
        rng = self.rng
        own, fixed = self.now
        if rng.random() < 0.2:
            places = [fixed.get(d, var) for d, var in enumerate(self.vars)]
            return rng.choice((f"v[{places[-1]}]", "w" + "".join(f"[{p}]" for p in places)))
        g = rng.choice(self.grids)
        places = []
        still = g is own and own.planes == 1
        near = rng.random() < 0.4 or still
        for d, var in enumerate(self.vars):
            low, high = -own.low[d], g.more[d] - own.high[d]
            if d in fixed:
                low, high = 0, 1
            away = max(low, min(high, 0 if near else rng.randint(-REACH, REACH)))
            if near and not still and rng.random() < 0.5:
                away = max(low, min(high, rng.choice((-1, 1))))
            base = fixed.get(d, var)
            places.append(f"{base} {'+' if away > 0 else '-'} {abs(away)}" if away else base)
        plane = rng.choice(("t % P", "t % P", "(t + 2) % P" if g.planes == 3 else "t % P"))
        return self.turned(g.at(places, self.sizes, plane), g)


def stencil(rng: random.Random) -> str:
    return StencilWriter(rng).text()


def stencil_arguments(text: str, sizes: dict[str, int], seed: int) -> dict[str, Any]:
    """Numbers and arrays for each parameter and global, in the extents that the text declares."""
    rng = np.random.default_rng(seed)
    args: dict[str, Any] = {**sizes, "q": 1}
    names = {**args, "P": 0}
    whole = "float" not in text and "double" not in text
    for n in ("c", "d"):
        args[n] = 3 if whole else np.float32(0.5)
    room = int(np.prod([sizes[n] + 3 for n in ("n", "m", "l") if n in sizes]))
    for type, star, name, extents in re.findall(
        r"(float|double|int|char|short) (\*?)(?:restrict )?([A-Dwv])((?:\[[^\]]*\])*)[,;)]", text
    ):
        texts = [e.removeprefix("restrict ") for e in re.findall(r"\[([^\]]*)\]", extents)]
        dims = [room] if star else [eval(e, {}, names) for e in texts]
        values = rng.integers(1, 9, dims) if whole else rng.random(dims)
        args[name] = values.astype(KINDS[type])
    return args
