"""C functions of 3 to 7 stages whose images have different scales: coordinates that are multiplied
and divided, clamped or mirrored at borders of all kinds, or asked about; stages that write every
second element, or compute every second one in another way; small tables.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

TYPES = ("float", "double", "int", "short")
HEADER = """#include <stdlib.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
"""
BEYOND = 3
"""Elements that images have behind those of their size: what is read there was cleared."""


def half(size: str, times: int) -> str:
    """A size after so many times half of it."""
    return size if times == 0 else f"({half(size, times - 1)} + 1) / 2"


@dataclass(frozen=True)
class Image:
    """What a stage writes: how many times half the size, where in it the stage begins."""

    name: str
    level: int
    margin: int


@dataclass
class Pyramid:
    """The text of a function, and how many nests its stages are."""

    rng: random.Random
    few: random.Random
    images: list[Image] = field(default_factory=lambda: [Image("in", 0, 0)])
    lines: list[str] = field(default_factory=list)
    nests: int = 0

    def text(self) -> str:
        rng = self.rng
        kind = rng.choice(TYPES)
        table = rng.random() < 0.3
        if table:
            self.nests += 1
            self.lines.append("for (int k = 0; k < 8; k++) table[k] = k * k + 1;")
        stages = rng.randint(3, 7)
        for n in range(stages):
            self._stage(f"s{n}", table, 0 if n == stages - 1 else 3)
        own = self.images[1:]
        known = [
            x.name for x in own if x.level == 0
        ]  # of others it is often not known how much is used
        seen = {own[-1].name, *rng.sample(known, min(len(known), rng.randint(0, 1)))}
        scratch = {x for x in sorted(seen - {own[-1].name}) if self.few.random() < 0.6}
        shapes = {x.name: _shape(x) for x in own}
        given = ", ".join(f"{kind} {x}{shapes[x]}" for x in sorted(seen))
        hidden = [x for x in shapes if x not in seen]
        declared = [f"{kind} {x}{shapes[x]};" for x in hidden] + [f"{kind} table[8];"] * table
        cleared = [_cleared(x) for x in own if x.name in {*hidden, *scratch}]
        body = "\n  ".join([*declared, *cleared, *self.lines])
        image = f"const {kind} in{_shape(self.images[0])}"
        said = f"#pragma loopxform scratch({', '.join(sorted(scratch))})\n" if scratch else ""
        return f"{HEADER}{said}void f(int h, int w, {image}, {given})\n{{\n  {body}\n}}\n"

    def _stage(self, name: str, table: bool, most: int) -> None:
        rng = self.rng
        near = self.images[-4:]
        level = max(0, min(most, rng.choice(near).level + rng.choice((-1, 0, 0, 1))))
        margin = rng.choice((0, 0, 0, 0, 1, 2))
        image = Image(name, level, margin)
        terms = [self._term(image, rng.choice(near)) for _ in range(rng.randint(1, 3))]
        if table and rng.random() < 0.3:
            own = [f"(int){x.name}[{BEYOND}][{BEYOND - 1}]" for x in near if x.name != "in"]
            place = rng.choice(("(y + 3 * x)", "table[(y + x) & 7]", *own[:1]))
            terms.append(f"table[{place.replace('table[', '(int)table[')} & 7]")
        value = " + ".join(terms)
        if self.few.random() < 0.3:
            rest = self.few.choice(("y % 2", "x % 2", "(x + 1) % 2", "x % 4"))
            value = f"({rest} == 0 ? {value} : {terms[-1]} + x / 2)"
        h, w = half("h", level), half("w", level)
        if rng.random() < 0.2 and margin == 0:
            image = Image(name, max(0, level - 1), 0)
            places = [(a, b) for a in (0, 1) for b in (0, 1)]
            rng.shuffle(places)
            stores = "".join(
                f" {name}[2 * y + {a}][2 * x + {b}] = {value} + {2 * a + b};" for a, b in places
            )
            if level == 0:
                image, stores = Image(name, 0, 0), f" {name}[y][x] = {value};"
            self.lines.append(_nest(0, h, w, f"{{{stores} }}"))
            self.nests += 1
        else:
            if margin and rng.random() < 0.5:
                edge = f"for (int y = 0; y < {margin}; y++) for (int x = 0; x < {w}; x++)"
                self.lines.append(f"{edge} {name}[y][x] = 3;")
                self.nests += 1
                self.lines.append(
                    f"for (int y = {margin}; y < {h}; y++) for (int x = 0; x < {w}; x++)"
                    f" {name}[y][x] = {self._all_clamped(image, rng.choice(near))};"
                )
                image = Image(name, level, 0)
            else:
                self.lines.append(_nest(margin, h, w, f"{name}[y][x] = {value};"))
            self.nests += 1
        self.images.append(image)

    def _all_clamped(self, image: Image, source: Image) -> str:
        y, x = (self._clamped(self._place(v, image, source), v, source) for v in "yx")
        return f"{source.name}[{y}][{x}]"

    def _term(self, image: Image, source: Image) -> str:
        rng = self.rng
        y, x = (self._place(v, image, source) for v in "yx")
        element = f"{source.name}[{self._safe(y, 'y', source)}][{self._safe(x, 'x', source)}]"
        if rng.random() < 0.15:
            above = f"{source.name}[{y} - 1][{self._safe(x, 'x', source)}]"
            element = f"({y} > 0 && {y} <= {half('h', source.level)} ? {above} : 2)"
        return f"{rng.randint(1, 3)} * {element}"

    def _place(self, v: str, image: Image, source: Image) -> str:
        rng, finer = self.rng, image.level - source.level
        if finer == 0:
            return f"({v} + {rng.choice((0, 0, 1, 2, -1, -2))})"
        if finer > 0:
            return f"({1 << finer} * {v} + {rng.choice((0, 1, -1))})"
        n = 1 << -finer
        up = rng.choice((0, 0, n - 1))
        return rng.choice((f"(({v} + {up}) / {n})", f"(({v} + {up}) >> {-finer})"))

    def _safe(self, e: str, v: str, source: Image) -> str:
        plain = e in (f"({v} + 0)", f"({v} + 1)", f"(2 * {v} + 0)", f"(2 * {v} + 1)") or "/" in e
        return e if plain and self.rng.random() < 0.5 else self._clamped(e, v, source)

    def _clamped(self, e: str, v: str, source: Image) -> str:
        size = half({"y": "h", "x": "w"}[v], source.level)
        low, last = source.margin, f"{size} - 1"
        forms = (
            f"MAX(MIN({e}, {last}), {low})",
            f"MIN(MAX({e}, {low}), {last})",
            f"({e} < {low} ? {low} : {e} > {last} ? {last} : {e})",
        )
        if self.few.random() < 0.25:
            forms = (
                f"MAX({last} - abs({last} - abs({e})), {low})",
                f"MAX(MIN({e}, 2 * ({last}) - ({e})), {low})",
                f"MIN(MAX(abs({e}), {low}), {last})",
                f"MAX(({e} < 0 ? -{e} : {e} > {last} ? 2 * ({last}) - {e} : {e}), {low})",
                f"MAX(({e} > {last} ? 2 * ({last}) + 1 - {e} : {e}), {low})",
            )
        return self.rng.choice(forms)


def _shape(x: Image) -> str:
    h, w = (f"{half(size, x.level)} + {BEYOND}" for size in "hw")
    return f"[{h}][{w}]"


def _nest(margin: int, h: str, w: str, body: str) -> str:
    columns = f"for (int x = {margin}; x < {w} - {margin}; x++)"
    return f"for (int y = {margin}; y < {h}; y++) {columns} {body}"


def _cleared(x: Image) -> str:
    h, w = (f"{half(size, x.level)} + {BEYOND}" for size in "hw")
    return f"for (int y = 0; y < {h}; y++) for (int x = 0; x < {w}; x++) {x.name}[y][x] = 1;"


def pyramid(seed: int) -> tuple[str, int]:
    """A function, and of how many nests its stages are, which are its last ones."""
    made = Pyramid(random.Random(seed), random.Random(seed + 1000))
    text = made.text()
    return text, made.nests
