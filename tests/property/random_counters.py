"""Random functions that count their subscripts: cursors that grow in loops, bounds in variables,
clipped windows, blocks that count from 0."""

from __future__ import annotations

import random

SIZE = 9000
START = 4000
"""Subscripts stay inside of an array of `SIZE`: they begin here."""

PARAMS = f"int n, int m, int a[{SIZE}], const int len[8], const int b[{SIZE}]"


class Counters:
    def __init__(self, rng: random.Random) -> None:
        self.rng, self.count = rng, 0

    def function(self, name: str) -> str:
        self.count = 0
        first = [self._counter() for _ in range(self.rng.randint(1, 3))]
        names = [x.split()[1] for x in first]
        loops = [self._loop(names, [], 0) for _ in range(self.rng.randint(1, 2))]
        last = f"a[{self.rng.choice(names)}] += 1;" if self.rng.random() < 0.4 else ""
        return f"void {name}({PARAMS}) {{ {' '.join([*first, *loops, last])} }}"

    def _name(self, head: str) -> str:
        self.count += 1
        return f"{head}{self.count}"

    def _counter(self) -> str:
        kind = self.rng.choice(["int", "int", "long", "unsigned", "short"])
        return f"{kind} {self._name('t')} = {START + self.rng.randint(-9, 9)};"

    def _growth(self, name: str, around: list[str]) -> str:
        most = ["1", "1", "2", "-1", "3", "m", "n", "m - n", "2 * m", *around[-1:]]
        by = self.rng.choice(most)
        plain = [f"{name} += {by};", f"{name} = {name} + {by};", f"{name} -= {by};"]
        return self.rng.choice([f"{name}++;", *plain, f"if (b[{name}] > 40) {name} += {by};"])

    def _access(self, names: list[str], around: list[str]) -> str:
        at = self.rng.choice(names)
        also = self.rng.choice([*around, "0", "1"])
        target = self.rng.choice([f"a[{at}]", f"a[{at} + {also}]", f"a[{at} - {also}]"])
        return f"{target} {self.rng.choice(['=', '+='])} b[{at}] % 7 + {also};"

    def _loop(self, names: list[str], around: list[str], depth: int) -> str:
        v = self._name("i")
        head, before = self._header(v, around)
        inside = [*around, v]
        parts = [self._access(names, inside) for _ in range(self.rng.randint(1, 2))]
        parts += [self._growth(x, inside) for x in names if self.rng.random() < 0.5]
        if self.rng.random() < 0.3:
            p = self._name("p")
            parts.insert(0, f"int {p} = {self.rng.choice(names)};")
            parts += [f"a[{p}] = 3; {p} += 2; a[{p}] += 1;"]
        if depth < 2 and self.rng.random() < 0.6:
            parts.insert(self.rng.randint(0, len(parts)), self._loop(names, inside, depth + 1))
        return f"{before} {head} {{ {' '.join(parts)} }}"

    def _header(self, v: str, around: list[str]) -> tuple[str, str]:
        """The header of a loop, and what stands in front of it."""
        size = self.rng.choice("nm")
        x = self.rng.choice(around or ["1"])
        end = self._name("e")
        bounds = [
            f"int {end} = len[{x} & 7]; if ({end} > {size}) {end} = {size};",
            f"int {end} = len[{x} & 7] < {size} ? len[{x} & 7] : {size};",
            f"int {end} = {size}; if ({x} > 2) {end} = {x};",
            f"int {end} = {size} - {x}; a[{START} + {x}] = {end};",
        ]
        kind = self.rng.randint(0, 6)
        if kind == 0:
            return f"for (int {v} = 0; {v} < {end}; {v}++)", self.rng.choice(bounds)
        if kind == 1:
            return f"for (int {v} = {size} - 1; {v} >= 0; {v}--)", ""
        if kind == 2:
            lo = f"({x} - 2 > 0 ? {x} - 2 : 0)"
            return f"for (int {v} = {lo}; {v} <= {x} + 2 && {v} < {size}; {v}++)", ""
        if kind == 3:
            tiles = self._name("w")
            inner = f"({size} - {tiles} < 2 ? {size} - {tiles} : 2)"
            outer = f"for (int {tiles} = 0; {tiles} < {size}; {tiles} += 2)"
            return f"{outer} for (int {v} = 0; {v} < {inner}; {v}++)", ""
        if kind == 4:
            return f"for (int {v} = {x}; {v} < {size}; {v} += {self.rng.randint(1, 2)})", ""
        return f"for (int {v} = 0; {v} < {size}; {v}++)", ""
