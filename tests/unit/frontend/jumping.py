"""Random programs full of jumps."""

from __future__ import annotations

import random


class Generator:
    """Random loops full of jumps; `a` is written at the place the path leads to."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.names: list[str] = ["n"]
        self.labels = 0

    def condition(self) -> str:
        r, v = self.rng, self.rng.choice(self.names)
        one = r.choice([f"{v} > 2", f"a[{v}] % 2", f"{v} % 3 == 1", f"!({v} & 1)", "x", "x > 3"])
        return one if r.random() < 0.8 else f"{one} {r.choice(['&&', '||'])} a[0] < 9"

    def statement(self, depth: int, *, loop: bool, case: bool = False) -> str:
        r = self.rng
        v = r.choice(self.names)
        kind = r.random()
        if depth == 0 or kind < 0.3:
            leaves = [f"a[{v}] += {r.randint(1, 9)};", f"x = (x + {v}) % 7;", "a[0]++;"]
            leaves += ["continue;"] if loop else []
            leaves += ["break;"] if case else []
            leaves += ["return x;"] if not self.names[1:] and r.random() < 0.2 else []
            return r.choice(leaves)
        if kind < 0.6:
            inner = self.some(depth, loop=loop, case=case)
            other = self.some(depth, loop=loop, case=case)
            return f"if ({self.condition()}) {inner}" + r.choice(["", f" else {other}"])
        if kind < 0.7:
            return f"switch ({v}) {{ {self.cases(depth, loop=loop)} }}"
        if kind < 0.8:
            return self.labelled(depth, loop=loop, case=case)
        return self.loop(depth)

    def some(self, depth: int, *, loop: bool, case: bool = False) -> str:
        count = self.rng.randint(1, 3)
        inner = " ".join(self.statement(depth - 1, loop=loop, case=case) for _ in range(count))
        return f"{{ {inner} }}"

    def cases(self, depth: int, *, loop: bool) -> str:
        labels = ["case 0: case 4:", "case 1:", "default:", "case (2):"]
        self.rng.shuffle(labels)
        body = (self.some(depth, loop=loop, case=True) for _ in labels)
        return " ".join(f"{label} {b} break;" for label, b in zip(labels, body))

    def labelled(self, depth: int, *, loop: bool, case: bool) -> str:
        self.labels += 1
        name = f"l{self.labels}"
        inner = self.some(depth, loop=loop, case=case)
        more = self.statement(depth - 1, loop=loop, case=case)
        jump = f"if ({self.condition()}) {{ if ({self.condition()}) goto {name}; {more} }}"
        return f"{{ {jump} {inner} {name}: a[1]++; }}"

    def loop(self, depth: int) -> str:
        v = "ijk"[len(self.names) - 1] if len(self.names) < 4 else "m"
        self.names.append(v)
        if self.rng.random() < 0.3:
            inner = self.some(depth, loop=False)
            made = f"int {v} = 1; while ({v} < 6) {{ {inner} {v}++; }}"
        else:
            made = f"for (int {v} = 0; {v} < 5; {v}++) {self.some(depth, loop=True)}"
        self.names.pop()
        return f"{{ {made} }}"
