"""Random loops over time as people write them, hostile ones included, which may pass for stencils
in time and are none.

A core (two arrays, planes that take turns, swapped pointers, fields, copies) in one to three
dimensions, with statements before, between and behind its nests: scalars and coefficients that the
loop sets, from data or not, bounds that change, conditions, ends, one more array, calls. What the
loop leaves in scalars and counters is stored in `out`. Nothing is undefined in C: arrays are larger
than what is touched, and numbers are cut.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

DTYPES = {"float": "f4", "double": "f8", "int": "i4"}
MORE = 4
"""By how much extents exceed the sizes."""
SIZES = ("n", "m", "l")
COUNTERS = ("i", "j", "k")


@dataclass
class Hostile:
    """One function `f`, and what it takes."""

    name: str
    text: str
    arrays: dict[str, tuple[str, tuple[str, ...]]]
    sizes: tuple[str, ...]

    def arguments(self, sizes: dict[str, int], seed: int, alias: str = "") -> dict[str, Any]:
        """Numbers and arrays. With an `alias`, one array begins inside of another."""
        rng = np.random.default_rng(seed)
        args: dict[str, Any] = dict(sizes)
        args["q"] = 1
        for name, (kind, extents) in self.arrays.items():
            dims = [int(eval(e, {}, dict(sizes))) for e in extents]
            values = rng.integers(0, 200, dims) if kind == "int" else rng.random(dims)
            args[name] = values.astype(DTYPES[kind])
        kind = self.arrays["A"][0]
        number = np.dtype(DTYPES[kind]).type
        args["c"] = number(3 if kind == "int" else 0.375)
        args["d"] = number(5 if kind == "int" else 0.625)
        if alias:
            one, other, away = alias.split()
            self._overlap(args, one, other, int(away))
        return args

    @staticmethod
    def _overlap(args: dict[str, Any], one: str, other: str, away: int) -> None:
        a, b = args[one], args[other]
        whole = np.zeros(a.size + b.size + away, a.dtype)
        whole[: a.size] = a.ravel()
        args[one] = whole[: a.size].reshape(a.shape)
        args[other] = whole[away : away + b.size].reshape(b.shape)


@dataclass
class TimeLoopWriter:
    """Writes one."""

    rng: random.Random
    suffix: str = ""
    extras: int | None = None
    arrays: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)

    def program(self) -> Hostile:
        rng = self.rng
        self.rank = rng.choice((1, 2, 2, 2, 3))
        self.kind = rng.choice(("float", "double", "double", "int"))
        self.size_type = rng.choice(("int", "int", "int", "int", "long", "unsigned", "size_t"))
        self.var_type = rng.choice((self.size_type, self.size_type, "int"))
        self.flat = rng.random() < 0.3
        self.core_name = rng.choice(
            ("jacobi",) * 2 + ("planes", "host", "fields", "parity", "copy") * 2 + ("swap",)
        )
        if self.core_name in ("planes", "host"):
            self.flat = False
        self.tmp_place = rng.choice(("nest", "nest", "time", "function"))
        self.calm = rng.random() < 0.6
        if self.calm:
            self.size_type = self.var_type = "int"
            self.tmp_place = rng.choice(("nest", "nest", "function"))
        self.sizes = SIZES[: self.rank]
        self.vars = COUNTERS[: self.rank]
        self.globals: list[str] = []
        planes = 2 if self.core_name in ("planes", "host") else 0
        fields = {"planes": "A", "host": "A", "fields": "ABD"}.get(self.core_name, "AB")
        if rng.random() < 0.15 and "D" not in fields:
            fields += "D"
        self.fields = fields
        for name in fields:
            self.array(name, planes if name == "A" else 0)
        self.array("W", 0)
        self.arrays["v"] = (self.kind, (f"{self.sizes[-1]} + {MORE}",))
        self.arrays["w"] = (self.kind, ("4",))
        self.arrays["len"] = ("int", ("2",))
        self.arrays["out"] = ("double", ("8",))
        core = self.core()
        self.is_const = rng.random() < 0.5
        count = self.extras if self.extras is not None else rng.choice((0, 0, 1, 1, 2))
        for _ in range(count):
            core.insert(rng.randint(0, len(core)), rng.choice(self.hostile())(self))
            self.is_const = False
        return Hostile("f" + self.suffix, self.text(core), self.arrays, self.sizes)

    # ------------------------------------------------------------ the function

    def text(self, body: list[str]) -> str:
        rng = self.rng
        params = [f"{rng.choice((self.size_type, 'int', 'int'))} T"]
        params += [f"{self.size_type} {n}" for n in self.sizes]
        params += ["int q", f"{self.kind} c", f"{self.kind} d"]
        params += [self.param(name) for name in self.arrays]
        header, before, time, close = self.time()
        inner = "\n".join(f"    {x}" for x in body)
        start = [
            f"{self.kind} s = {self.literal()}, tmp = {self.literal()}, err = 0;",
            f"int cur = 0, k2 = {rng.choice((0, 1, 2))};",
            *before,
        ]
        if self.core_name == "swap":
            start.append(self.swap_locals())
        if rng.random() < 0.2:
            start.append(
                rng.choice(("s = w[0];", "k2 = len[0] % 3;", "tmp = v[0];", "cur = q - 1;"))
            )
        if self.tmp_place == "time":
            value = f" = {self.literal()}" if rng.random() < 0.2 else ""
            inner = f"    {self.kind} tmp2{value};\n{inner}"
        loop = f"  {header} {{\n{inner}\n  {close}}}"
        if rng.random() < 0.1:
            loop = f"  for (int o = 0; o < 2; o++) {{\n{loop}\n  s = s + 1;}}"
        last = {"s": "s", "tmp": "tmp", "err": "err", "cur": "cur", "k2": "k2", "T": "(double)T"}
        if time:
            last["t"] = time
        ends = [f"out[{n}] = {e};" for n, e in enumerate(last.values()) if rng.random() < 0.25]
        lines = [*(f"  {x}" for x in start), loop, *(f"  {x}" for x in ends)]
        helper = f"static {self.kind} half{self.suffix}({self.kind} x) {{ return x / 2; }}\n"
        top = "\n".join(self.globals)
        name = "f" + self.suffix
        return (
            f"#include <stddef.h>\n{top}{helper}void {name}({', '.join(params)})\n{{\n"
            + "\n".join(lines)
            + "\n}\n"
        )

    def array(self, name: str, planes: int) -> None:
        extents = tuple(f"{n} + {MORE}" for n in self.sizes)
        self.arrays[name] = (self.kind, (str(planes), *extents) if planes else extents)

    def param(self, name: str) -> str:
        kind, extents = self.arrays[name]
        const = "const " if name == "len" or (name in "vW" and self.is_const) else ""
        if name in ("w", "len", "out"):
            return f"{const}{kind} {name}[{extents[0]}]"
        if self.core_name == "swap" and name in "AB" and not self.flat and self.rank > 1:
            return f"{kind} (*{name}){''.join(f'[{e}]' for e in extents[1:])}"
        if (self.flat or (self.rank == 1 and self.rng.random() < 0.4)) and name != "v":
            return f"{const}{kind} *{name}"
        restrict = "restrict " if self.rng.random() < 0.1 else ""
        first, *rest = extents
        return f"{const}{kind} {name}[{restrict}{first}]{''.join(f'[{e}]' for e in rest)}"

    def time(self) -> tuple[str, list[str], str, str]:
        """The header, what stands in front of it, what the counter is called behind it, and what
        stands at the end of the body."""
        rng, type = self.rng, self.rng.choice((self.var_type, "int", "int"))
        turning = self.core_name == "planes"
        forms = [
            (f"for ({type} t = 0; t < T; t++)", [], "", ""),
            (f"for ({type} t = 0; t < T; t++)", [], "", ""),
            (f"for ({type} t = 0; t < T; t++)", [], "", ""),
            (f"for ({type} t = 1; t <= T; ++t)", [], "", ""),
            (f"for ({type} t = 3; t < T + 3; t++)", [], "", ""),
            ("for (t = 0; t < T; t++)", [f"{type} t;"], "t", ""),
            (f"{type} t = 0; while (t < T)", [], "t", "t++; "),
        ]
        if self.calm:
            return rng.choice(forms[:5])
        if not turning:
            forms += [
                (f"for ({type} t = q; t < T; t++)", [], "", ""),
                ("for (int t = (int)T; t > 0; t--)", [], "", ""),
                (f"for ({type} t = 0; t < T; t += 2)", [], "", ""),
                (f"for ({type} t = 0; t < T && s < 90; t++)", [], "", ""),
            ]
        return rng.choice(forms)

    # ------------------------------------------------------------ cores

    def core(self) -> list[str]:
        rng = self.rng
        match self.core_name:
            case "jacobi":
                return [self.nest("B", "A"), self.nest("A", "B")]
            case "copy":
                return [self.nest("B", "A", plain=True), self.nest("A", "B")]
            case "planes":
                n = rng.choice(("(t + 1) % 2", "(t + 1) & 1", "1 - t % 2"))
                return [self.nest(f"A[{n}]", f"A[{rng.choice(('t % 2', 't & 1'))}]")]
            case "host":
                start = rng.choice(
                    ("int next = 1 - cur;", "int next = (cur + 1) % 2;", "int next = cur ^ 1;")
                )
                return [start, self.nest("A[next]", "A[cur]"), "cur = next;"]
            case "swap":
                return [self.nest("b", "a"), "swap = a; a = b; b = swap;"]
            case "parity":
                test = rng.choice(("t % 2 == 0", "t & 1", "(t + 1) % 3 == 0"))
                return [f"if ({test}) {{ {self.nest('B', 'A')} }} else {{ {self.nest('A', 'B')} }}"]
            case _:
                return [
                    self.nest("A", "ABD", add=True),
                    self.nest("B", "ABD", add=True),
                    self.nest("D", "ABD", add=True),
                ]

    def swap_locals(self) -> str:
        kind = self.kind
        if self.flat or self.rank == 1:
            return f"{kind} *a = A, *b = B, *swap;"
        inner = "".join(f"[{n} + {MORE}]" for n in self.sizes[1:])
        return f"{kind} (*a){inner} = A, (*b){inner} = B, (*swap){inner};"

    # ------------------------------------------------------------ nests

    def element(self, array: str, places: list[str]) -> str:
        name = array.split("[")[0]
        is_flat = self.flat and name in "ABDWab"
        if not is_flat:
            return array + "".join(f"[{p}]" for p in places)
        index = places[0]
        for place, size in zip(places[1:], self.sizes[1:]):
            index = f"({index}) * ({size} + {MORE}) + {place}"
        return f"{array}[{index}]"

    def nest(self, target: str, sources: str, *, plain: bool = False, add: bool = False) -> str:
        rng = self.rng
        if target == "A" and sources == "B" and rng.random() < 0.5:
            plain = True
        ranges = [
            (rng.choice((0, 1, 1, 1, 2, 3)), rng.choice((0, 1, 1, 1, 2, 3))) for _ in self.sizes
        ]
        if plain and rng.random() < 0.5:
            ranges = [(0, 0) for _ in self.sizes]
        self.now = ranges
        return self.loops(target, sources, ranges, plain=plain, add=add)

    def loops(
        self, target: str, sources: str, ranges: list[tuple[int, int]], *, plain: bool, add: bool
    ) -> str:
        rng, type = self.rng, self.var_type
        heads = []
        for var, size, (lo, hi) in zip(self.vars, self.sizes, ranges):
            more = MORE - hi
            form = rng.random() * (0.8 if self.calm else 1)
            if form < 0.7:
                heads.append(f"for ({type} {var} = {lo}; {var} < {size} + {more}; {var}++)")
            elif form < 0.8:
                heads.append(f"for ({type} {var} = {lo}; {var} <= {size} + {more - 1}; ++{var})")
            elif form < 0.9 and type in ("int", "long"):
                heads.append(f"for ({type} {var} = {size} + {more - 1}; {var} >= {lo}; {var}--)")
            else:
                heads.append(f"for ({type} {var} = {lo}; {var} + {hi} < {size} + {MORE}; {var}++)")
        places = list(self.vars)
        if rng.random() < 0.05:
            rng.shuffle(heads)
        lhs = self.element(target, places)
        return " ".join(heads) + " " + self.body(lhs, target, sources, plain=plain, add=add)

    def body(self, lhs: str, target: str, sources: str, *, plain: bool, add: bool) -> str:
        rng = self.rng
        if plain:
            value = self.read(sources, target, near=True)
            return f"{lhs} = {value};"
        names = [*sources] if add else [sources]
        value = self.value(names, target)
        tmp, before = {
            "nest": ("x", f"{self.kind} x; "),
            "time": ("tmp2", ""),
            "function": ("tmp", ""),
        }[self.tmp_place]
        form = rng.random()
        if add and form < 0.7:
            return f"{lhs} = {self.cut(f'{lhs} - {value}')};"
        if form < 0.6:
            return f"{lhs} = {value};"
        if form < 0.75:
            whole = self.cut(f"{tmp} + {self.term(names, target)}")
            return f"{{ {before}{tmp} = {value}; {lhs} = {whole}; }}"
        if form < 0.8 and not self.calm and self.tmp_place != "time":
            cond = f"{self.read(names[0], target)} > {self.literal()}"
            if self.tmp_place == "nest":
                before = f"{self.kind} x = c; "
            return f"{{ {before}if ({cond}) {tmp} = {value}; {lhs} = {tmp}; }}"
        if form < 0.9:
            cond = f"{self.read(names[0], target)} > {self.literal()}"
            return f"if ({cond}) {lhs} = {value};"
        cond = f"{self.read(names[0], target)} > {self.literal()}"
        return f"if ({cond}) {lhs} = {value}; else {lhs} = {self.cut(self.term(names, target))};"

    def cut(self, e: str) -> str:
        if self.kind == "int":
            return f"({e}) & {self.rng.choice((127, 255))}"
        return (
            f"{self.rng.choice(('0.25f', '0.5'))} * ({e})"
            if self.kind == "float"
            else f"0.5 * ({e})"
        )

    def value(self, names: list[str], target: str) -> str:
        rng = self.rng
        terms = [self.term(names, target) for _ in range(rng.choice((1, 2, 3, 4)))]
        return self.cut(" + ".join(terms))

    def term(self, names: list[str], target: str) -> str:
        rng = self.rng
        form = rng.random()
        read = self.read(rng.choice(names), target)
        if form < 0.62:
            return read
        if form < 0.8:
            by = rng.choice(
                (
                    "c",
                    "s",
                    "w[1]",
                    "w[k2]",
                    f"v[{self.vars[-1]}]",
                    self.element("W", list(self.vars)),
                    "d",
                )
            )
            return f"{by} * {read}" if self.kind != "int" else f"({by} & 3) * {read}"
        if form < 0.86:
            return rng.choice(("t", "t % 3", "(int)t", "k2", "cur", self.vars[0], "q"))
        if form < 0.92:
            return f"half{self.suffix}({read})"
        if self.calm:
            return read
        return f"({self.vars[-1]} > 1 ? {read} : {self.literal()})"

    def read(self, source: str, target: str, *, near: bool = False) -> str:
        rng = self.rng
        places = []
        own = source == target
        far = rng.random() < 0.03 and not self.calm
        for var, (lo, hi) in zip(self.vars, self.now):
            away = 0 if near else rng.randint(-min(lo, 2), min(hi, 2))
            if own and not far:
                away = 0
            if rng.random() < 0.35:
                away = 0
            places.append(f"{var} {'+' if away > 0 else '-'} {abs(away)}" if away else var)
        return self.element(source, places)

    def literal(self) -> str:
        if self.kind == "int":
            return self.rng.choice(("1", "2", "60"))
        return self.rng.choice(("0.5", "0.25", "1"))

    # ------------------------------------------------------------ what stands beside the nests

    def place(self) -> list[str]:
        rng = self.rng
        return [rng.choice(("0", "1", f"{n} + 3", f"{n} / 2", "2")) for n in self.sizes]

    def some(self) -> str:
        name = self.rng.choice(self.fields)
        if self.core_name in ("planes", "host") and name == "A":
            name = self.rng.choice(("A[0]", "A[t % 2]" if self.core_name == "planes" else "A[cur]"))
        return self.element(name, self.place())

    def any_core(self) -> tuple[str, str]:
        match self.core_name:
            case "planes":
                return "A[(t + 1) % 2]", "A[t % 2]"
            case "host":
                return "A[cur]", "A[1 - cur]"
            case "swap":
                return self.rng.choice((("a", "b"), ("b", "a")))
            case _:
                return self.rng.choice((("A", "B"), ("B", "A")))

    def hostile(self) -> tuple[Any, ...]:
        return (
            TimeLoopWriter.border,
            TimeLoopWriter.border,
            TimeLoopWriter.scalar_of_data,
            TimeLoopWriter.scalar,
            TimeLoopWriter.coefficient,
            TimeLoopWriter.single,
            TimeLoopWriter.one_more_array,
            TimeLoopWriter.end,
            TimeLoopWriter.convergence,
            TimeLoopWriter.bound,
            TimeLoopWriter.under_a_condition,
            TimeLoopWriter.call,
            TimeLoopWriter.last_value,
            TimeLoopWriter.small_loop,
        )

    def border(self) -> str:
        """A border is copied, or set."""
        rng, d = self.rng, self.rng.randrange(self.rank)
        target, source = self.any_core()
        if self.rank == 1 or rng.random() < 0.15:
            inner = [rng.choice(("1", "2"))] + [rng.choice(("1", "2")) for _ in self.sizes[1:]]
            return f"{self.element(target, ['0'] * self.rank)} = {self.element(target, inner)};"
        heads, places, from_ = [], [], []
        at, of = rng.choice(
            (("0", "1"), ("0", "2"), (f"{self.sizes[d]} + 3", f"{self.sizes[d]} + 2"), ("0", "0"))
        )
        for n, (var, size) in enumerate(zip(self.vars, self.sizes)):
            if n == d:
                places.append(at)
                from_.append(of)
                continue
            lo = rng.choice((0, 1))
            heads.append(
                f"for ({self.var_type} {var} = {lo}; {var} < {size} + {MORE - lo}; {var}++)"
            )
            places.append(var)
            from_.append(var)
        value = rng.choice(
            (
                self.element(target, from_),
                self.element(source, from_),
                "c",
                "t",
                "s",
                "v[0]",
                "w[k2]",
            )
        )
        second = self.element(
            target, [x if n != d else f"{self.sizes[d]} + 3" for n, x in enumerate(places)]
        )
        lhs = self.element(target, places)
        if at == "0" and rng.random() < 0.4:
            return f"{' '.join(heads)} {{ {lhs} = {value}; {second} = {value}; }}"
        return f"{' '.join(heads)} {lhs} = {value};"

    def scalar_of_data(self) -> str:
        some = self.some()
        return self.rng.choice(
            (
                f"s = {some};",
                f"s = {self.cut(f's + {some}')};",
                f"tmp = {some};",
                f"k2 = {some} > {self.literal()};",
                f"if ({some} > {self.literal()}) s = {self.literal()};",
                f"err = {some}; s = {self.cut('err')};",
            )
        )

    def scalar(self) -> str:
        return self.rng.choice(
            (
                "k2 = (k2 + 1) % 3;",
                "k2 = t % 3;",
                "k2 = 1 - k2 % 2;",
                f"s = {self.cut('s + 1')};",
                f"s = {self.literal()};",
                "s = t;",
                "cur = cur + 1;" if self.core_name != "host" else "k2 = cur & 1;",
                "k2 = cur & 1;",
                "if (t % 2) k2 = 1; else k2 = 2;",
                "if (t == 2) k2 = 0;",
                "tmp = s; s = c; c = tmp;",
                "c = d;",
            )
        )

    def coefficient(self) -> str:
        all_of_v = f"for ({self.var_type} x = 0; x < {self.sizes[-1]} + {MORE}; x++)"
        return self.rng.choice(
            (
                "w[1] = c;",
                "w[k2] = s;",
                "w[t % 4] = c;",
                f"w[1] = {self.some()};",
                f"w[0] = {self.cut('w[0] + w[1]')};",
                "v[0] = w[1];",
                f"v[t % 3] = {self.some()};",
                f"for (int x = 0; x < 4; x++) w[x] = {self.cut('w[x] + 1')};",
                f"{all_of_v} v[x] = {self.cut('v[x] + w[0]')};",
                f"{all_of_v} s = v[x];",
            )
        )

    def single(self) -> str:
        target, _ = self.any_core()
        lhs = self.element(target, self.place())
        return f"{lhs} = {self.rng.choice(('c', 't', 's', 'v[1]', lhs, self.some()))};"

    def one_more_array(self) -> str:
        rng = self.rng
        some = self.some()
        target = rng.choice(("D", "W")) if "D" in self.fields else "W"
        self.now = [(1, 1) for _ in self.sizes]
        copy = self.loops(target, self.any_core()[0], self.now, plain=True, add=False)
        return rng.choice(
            (
                copy,
                copy,
                f"out[6] = {some};",
                f"out[t % 4] = {some};",
                f"out[5] += {some};",
                "out[7] = t;",
            )
        )

    def end(self) -> str:
        some = self.some()
        return self.rng.choice(
            (
                "if (t == 5) break;",
                "if (t > 3) break;",
                f"if ({some} > {self.rng.choice(('0.9', '0.99', '100'))}) break;",
                "if (s > 3) break;",
                f"if ({some} > 0.9) return;",
                "if (t == 2) { t++; continue; }",
                "if (t == 2) t++;",
                "if (t == 4) T = 6;",
                "T = T;",
            )
        )

    def convergence(self) -> str:
        rng = self.rng
        heads = " ".join(
            f"for ({self.var_type} {var} = 1; {var} < {size} + 3; {var}++)"
            for var, size in zip(self.vars, self.sizes)
        )
        target, source = self.any_core()
        a, b = (self.element(x, list(self.vars)) for x in (target, source))
        update = rng.choice(
            (
                f"err = err > {a} - {b} ? err : {a} - {b};",
                f"err += {a} > {b};",
                f"if ({a} > {b}) err = 1;",
            )
        )
        test = rng.choice(
            ("if (err < 0.1) break;", f"s = {self.cut('err')};", "", "if (err > 1000) break;")
        )
        return f"err = 0; {heads} {update} {test}"

    def bound(self) -> str:
        """A nest whose bounds change, or what makes them change."""
        rng, n = self.rng, self.sizes[0]
        target, source = self.any_core()
        rest = " ".join(
            f"for ({self.var_type} {var} = 1; {var} < {size} + 3; {var}++)"
            for var, size in zip(self.vars[1:], self.sizes[1:])
        )
        i = self.vars[0]
        change = (
            f"{self.element(target, list(self.vars))} = {self.element(source, list(self.vars))};"
        )
        ends = (
            f"{n} + 1 + k2",
            f"{n} + 1 + t % 2",
            f"{n} + len[0] % 3",
            "k2 + 1",
            f"(t < 3 ? {n} : 1)",
        )
        first, end = rng.choice(("0", "k2", "t % 2", "q")), rng.choice(ends)
        nest = f"for (int {i} = {first}; {i} < {end}; {i}++) {rest} {change}"
        return rng.choice((nest, nest, nest, f"if ({n} > 2) {n} = {n} - 1;"))

    def under_a_condition(self) -> str:
        target, source = self.any_core()
        self.now = [(1, 1) for _ in self.sizes]
        nest = self.loops(target, source, self.now, plain=True, add=False)
        some = self.some()
        cond = self.rng.choice(
            (
                "t % 2",
                "t == 3",
                "k2 == 1",
                f"{some} > {self.literal()}",
                "s > 0.3",
                f"{self.sizes[0]} > 3",
                "q",
                "T > 4",
            )
        )
        return f"if ({cond}) {{ {nest} }}"

    def call(self) -> str:
        some = self.some()
        return self.rng.choice((f"s = half{self.suffix}(s);", f"s = half{self.suffix}({some});"))

    def last_value(self) -> str:
        """A nest that leaves a scalar."""
        rng = self.rng
        target, source = self.any_core()
        heads = " ".join(
            f"for ({self.var_type} {var} = 1; {var} < {size} + 3; {var}++)"
            for var, size in zip(self.vars, self.sizes)
        )
        a, b = (self.element(x, list(self.vars)) for x in (target, source))
        name = rng.choice(("tmp", "s", "err"))
        return rng.choice(
            (
                f"{heads} {{ {name} = {b}; {a} = {self.cut(name)}; }}",
                f"{heads} {{ {a} = {self.cut(f'{name} + {b}')}; {name} = {b}; }}",
                f"{heads} {{ if ({b} > {self.literal()}) {name} = {b}; {a} = {name}; }}",
                f"{heads} {{ k2 = {self.vars[0]} % 3; {a} = {self.cut(f'k2 + {b}')}; }}",
            )
        )

    def small_loop(self) -> str:
        """A loop of a few iterations around nests, or one that has a plane apart."""
        target, source = self.any_core()
        self.now = [(1, 1) for _ in self.sizes]
        nest = self.loops(target, source, self.now, plain=True, add=False)
        return self.rng.choice(
            (
                f"for (int z = 0; z < 2; z++) {{ {nest} }}",
                f"for (int z = 0; z < q; z++) {{ {nest} }}",
                f"for (int z = 0; z < 3; z++) {self.element(target, ['z'] * self.rank)} = c + z;",
            )
        )


def hostile(seed: int, suffix: str = "", extras: int | None = None) -> Hostile:
    return TimeLoopWriter(random.Random(f"hostile {seed}"), suffix, extras).program()
