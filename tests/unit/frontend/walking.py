"""Random programs that walk through arrays: pointers that move, counters that are stepped inside
expressions, loops that count down, `do`, and headers with commas."""

from __future__ import annotations

import random


class Walker:
    """A function over a, b (200 elements each, walked through from the middle) and n < 5."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.depth = 0
        self.count = 0

    def text(self, name: str) -> str:
        r = self.rng
        start = r.choice(
            ["int *p = a + 100, *q = &b[90];", "int *p, *q; p = a + 100; q = b + 100;"]
        )
        body = " ".join(self.loop() for _ in range(r.choice([1, 2, 2])))
        again = r.choice(["", "", "p = b + 60;", "q = a + 110;", "p = q + 3;"])
        more = self.loop() if again else ""
        end = r.choice(["", "a[0] = p - a;", "b[0] = k;", "b[1] = u;", "a[2] = *q;"])
        return (
            f"int {name}(int n, int *restrict a, int *restrict b, int c[200]) {{ int k = 100;"
            f" size_t u = 100; {start} {body} {again} {more} {end} return k; }}"
        )

    def place(self) -> str:
        r = self.rng
        return r.choice(
            ["*p", "*p++", "*q++", "q[1]", "p[-1]", "*(p + 2)", "a[k]", "a[k++]", "b[--k]", "*--q",
             "b[u]", "a[u++]", "c[k--]", "*c++", "c[3]"]
        )  # fmt: skip

    def two(self) -> tuple[str, str]:
        """Two places that do not step one variable twice, or step what the other reads."""
        while True:
            one, other = self.place(), self.place()
            shared = {*one} & {*other} & {*"pqkuc"}
            if not shared or not (
                {"++", "--"} & {x[n : n + 2] for x in (one, other) for n in range(9)}
            ):
                return one, other

    def statement(self) -> str:
        r = self.rng
        self.count += 1
        one, other = self.two()
        forms = [
            lambda: f"{one} = {other} + {r.randint(1, 9)};",
            lambda: f"{one} += {other};",
            lambda: r.choice(
                [
                    "p = a + k;",
                    "p = &a[105];",
                    "p++;",
                    "q -= 2;",
                    "k++, p++;",
                    "k = k + 2;",
                    "u += 3;",
                    "p = p + 1;",
                ]
            ),
            lambda: f"if ({self.place()} > {r.randint(0, 9)}) {{ {self.statement()} }}",
            lambda: f"if (p < a + {r.randint(90, 110)}) {self.place()} = 7;",
            lambda: f"{{ int t{self.count} = {one}; {other} = t{self.count}; }}",
        ]
        return r.choice(forms)()

    def loop(self) -> str:
        r = self.rng
        self.depth += 1
        self.count += 1
        i, x = f"i{self.count}", f"x{self.count}"
        items = " ".join(self.statement() for _ in range(r.randint(1, 3)))
        if self.depth < 2 and r.random() < 0.3:
            items += " " + self.loop()
        self.depth -= 1
        forms = [
            f"for (int {i} = 0; {i} < n; {i}++) {{ {items} }}",
            f"for (int {i} = 0, {x} = 9; {i} < n; {i}++, {x}--) {{ {items} b[{x}] = {i}; }}",
            f"int {i}, {x}; for ({i} = 0, {x} = n; {i} < {x}; {i}++, {x}--)"
            f" {{ {items} b[{x}] += 3; }}",
            f"int {i}, {x}; for ({x} = n, {i} = 1; {x} >= {i}; {i}++, --{x})"
            f" {{ {items} b[{x}] += 3; }}",
            f"int {i} = n; while ({i}-- > 0) {{ {items} b[{i}] += 2; }} a[1] += {i};",
            f"size_t {i}; for ({i} = n; {i}-- > 0;) {{ {items} b[{i}] += 2; }} a[1] += {i} > 9;",
            f"for (unsigned {i} = n; {i}--;) {{ {items} b[{i}] += {i}; }}",
            f"int {i} = {r.randint(0, 3)}; do {{ {items} b[{i}] += 1; {i}++; }} while ({i} < n);"
            f" a[1] += {i};",
            f"int {i} = n; do {{ {items} }} while (--{i} >= 1); a[1] += {i};",
            f"int *{x} = a + 20; for (; {x} < a + 20 + n; {x}++) {{ {items} *{x} += 1; }}"
            f" b[2] += {x} - a;",
            f"int *{x}; for ({x} = b + n; {x} > b; --{x}) {{ {items} *{x} = {x} - b; }}",
            f"int *{x} = b, *e{x} = b + n; while ({x} != e{x}) {{ {items} *{x}++ = 3; }}",
        ]
        return r.choice(forms)
