"""Random C functions: small loop nests of every shape the steps must cope with, and redomaps.

Subscripts are kept inside the arrays by an offset, so that any value a loop variable takes is
within bounds; the same offset everywhere makes collisions frequent.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from loopxform.frontend import parse_file
from loopxform.ir.nodes import Function

SIZES = ((3, 4), (5, 2), (0, 3), (1, 1))
OFFSET_1D, EXTENT_1D = 24, 60
OFFSET_2D, EXTENT_2D = 10, 24


def lowered(text: str) -> Function:
    """The only function of a C text."""
    (fn,) = parse_file("random.c", text=text).unit.functions
    return fn


# ---------------------------------------------------------------- nests


@dataclass
class NestWriter:
    """Writes one function over A, B (two dimensions), a, b (one) and scalars t, u."""

    rng: random.Random
    type: str = "float"
    lines: list[str] = field(default_factory=list)
    loops: list[str] = field(default_factory=list)

    def text(self) -> str:
        self.type = self.rng.choice(["float", "float", "int", "double"])
        t = self.type
        arrays = f"{t} A[{EXTENT_2D}][{EXTENT_2D}], {t} B[{EXTENT_2D}][{EXTENT_2D}]"
        arrays += f", {t} a[{EXTENT_1D}], {t} b[{EXTENT_1D}]"
        self.lines = [f"void f(int M, int N, {arrays})", "{", f"  {t} t = 1, u = 2;"]
        for _ in range(self.rng.choice([1, 1, 1, 2])):
            self.loop(1)
        if self.rng.random() < 0.4:
            self.counted()
        return "\n".join([*self.lines, "}", ""])

    def counted(self) -> None:
        """A loop with a scalar that grows in each of its iterations."""
        uses = f"b[q + {OFFSET_1D}] = t;", f"a[{OFFSET_1D} - q] += q;"
        body = self.rng.choice(["{0} q++;", "q += 2; {0} {1}", "{1} q = q + 1; {0}"]).format(*uses)
        self.emit(1, "int q = 0;")
        self.emit(1, f"for (int i = 0; i < {self.rng.choice('MN')}; i++) {{ {body} }}")

    def emit(self, depth: int, line: str) -> None:
        self.lines.append("  " * depth + line)

    def loop(self, depth: int) -> None:
        """A loop, or two neighbours that run through the same values."""
        rng, var = self.rng, "ijk"[len(self.loops)]
        header = self.header(var)
        self.one_loop(depth, var, header)
        if rng.random() < 0.3:
            other = rng.choice([var, var, "xyz"[len(self.loops)]])
            self.one_loop(depth, other, re.sub(rf"\b{var}\b", other, header))

    def one_loop(self, depth: int, var: str, header: str) -> None:
        self.emit(depth, f"for (int {var} = {header}) {{")
        self.loops.append(var)
        self.body(depth + 1)
        self.loops.pop()
        self.emit(depth, "}")

    def header(self, var: str) -> str:
        rng = self.rng
        low, high = rng.choice(["0", "0", "0", "1"]), rng.choice(["M", "N", "M", "N", "4", "N-1"])
        if self.loops and rng.random() < 0.25:
            outer = rng.choice(self.loops)
            if rng.random() < 0.5:
                low = rng.choice([outer, f"{outer}+1"])
            else:
                high = rng.choice([outer, f"{outer}+1"])
        shape = rng.random()
        if shape < 0.12:
            return f"{high}-1; {var} >= {low}; {var} -= {rng.choice([1, 1, 2])}"
        step = "++" if shape < 0.8 else f" += {rng.choice([2, 3])}"
        return f"{low}; {var} < {high}; {var}{step}"

    def body(self, depth: int) -> None:
        rng = self.rng
        if len(self.loops) < 3 and rng.random() < 0.45:
            self.loop(depth)
            return
        local = rng.random() < 0.25
        if local:
            self.emit(depth, f"{self.type} s = {self.value()};")
        for _ in range(rng.choice([1, 1, 2, 3])):
            kind = rng.random()
            if kind < 0.2 and len(self.loops) < 3:
                self.loop(depth)
            elif kind < 0.35:
                self.emit(depth, f"if ({self.condition()})")
                self.emit(depth + 1, self.assignment(local))
            else:
                self.emit(depth, self.assignment(local))

    def assignment(self, local: bool) -> str:
        rng = self.rng
        names = ["t", "u", *(["s"] * 3 if local else [])]
        target = rng.choice(names) if rng.random() < 0.3 else self.element()
        op = rng.choice(["=", "=", "=", "+=", "-="])
        value = rng.choice(names) if rng.random() < 0.3 else self.value()
        return f"{target} {op} {value};"

    def value(self) -> str:
        rng = self.rng
        form = rng.choice(["{0}", "{0} + 1", "{0} + {1}", "{0} * 2 - {1}", "{0} / 3"])
        out = form.format(self.element(), self.element())
        return f"{out} + {rng.choice(self.loops)}" if rng.random() < 0.15 else out

    def element(self) -> str:
        if self.rng.random() < 0.5:
            return f"{self.rng.choice('AB')}[{self.affine(1)}][{self.affine(1)}]"
        return f"{self.rng.choice('aab')}[{self.affine(2)}]"

    def affine(self, rank: int) -> str:
        rng = self.rng
        offset = OFFSET_2D if rank == 1 else OFFSET_1D
        used = rng.sample(self.loops, min(len(self.loops), rng.choice([0, 1, 1, 1, rank])))
        terms = [rng.choice(["", "", "", "-", "2*" if rank == 2 else ""]) + v for v in used]
        return " + ".join([*terms, str(offset + rng.choice([-1, 0, 0, 0, 1]))])

    def condition(self) -> str:
        rng = self.rng
        left = rng.choice(self.loops)
        right = rng.choice(["2", "N", "M", *self.loops])
        data = f"{self.element()} {rng.choice('<>')} 1"
        test = f"{left} {rng.choice(['<', '>', '<=', '==', '!='])} {right}"
        return rng.choice([test, test, data, f"{test} && {data}"])


def nests(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """(name, C text); the name holds the seed."""
    for n in range(seed * 100_000, seed * 100_000 + count):
        yield f"seed {n}", NestWriter(random.Random(n)).text()


class NeighbourWriter(NestWriter):
    """Writes two or three loops over the same values, one after the other."""

    def loop(self, depth: int) -> None:
        header = self.header("i")
        for _ in range(self.rng.choice([2, 2, 3])):
            var = self.rng.choice("iix")
            self.one_loop(depth, var, re.sub(r"\bi\b", var, header))

    def body(self, depth: int) -> None:
        local = self.rng.random() < 0.3
        if local:
            self.emit(depth, f"{self.type} s = {self.value()};")
        if self.rng.random() < 0.2:
            self.emit(depth, f"if ({self.condition()})")
        self.emit(depth, self.assignment(local))

    def assignment(self, local: bool) -> str:
        rng = self.rng
        target = "t" if rng.random() < 0.15 else self.element()
        value = "s" if local else rng.choice([self.element(), self.element(), "t", "2"])
        return f"{target} {rng.choice(['=', '=', '+='])} {value};"

    def element(self) -> str:
        """Of an array that the others use too, near the element of the iteration."""
        near = OFFSET_1D + self.rng.choice([-1, 0, 0, 1])
        return f"{self.rng.choice('aab')}[{self.loops[-1]} + {near}]"


def neighbours(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """(name, C text); the name holds the seed."""
    for n in range(seed * 100_000, seed * 100_000 + count):
        yield f"seed {n}", NeighbourWriter(random.Random(n)).text()


class ImperfectWriter(NestWriter):
    """Writes loops with scalars in front of an inner loop that uses them, and statements around."""

    def body(self, depth: int) -> None:
        rng = self.rng
        if len(self.loops) > 1:
            for _ in range(rng.choice([1, 1, 2])):
                self.emit(depth, self.assignment(local=True))
            return
        self.emit(depth, f"{self.type} s = {self.value()}, r = {rng.choice('2s')};")
        for _ in range(rng.choice([0, 1, 1, 2])):
            self.emit(depth, self.around())
        self.loop(depth)
        for _ in range(rng.choice([0, 0, 1])):
            self.emit(depth, self.around())

    def around(self) -> str:
        """A statement beside the inner loop; most set a scalar."""
        rng, value = self.rng, self.value()
        scalar = f"{rng.choice('rrs')} {rng.choice(['=', '=', '+='])} {rng.choice([value, 's'])};"
        if rng.random() < 0.25:
            return f"if ({self.condition()}) {scalar}"
        return scalar if rng.random() < 0.7 else f"{self.element()} = {rng.choice('rs')};"

    def assignment(self, local: bool) -> str:
        """Of an element, from the scalars of the loop around."""
        rng = self.rng
        scalars = [*"rs", "r * s"] if local else ["t"]
        target = "r" if rng.random() < 0.05 else self.element()
        return f"{target} {rng.choice(['=', '+='])} {rng.choice([*scalars, self.value()])};"


def imperfect(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """(name, C text); the name holds the seed."""
    for n in range(seed * 100_000, seed * 100_000 + count):
        yield f"seed {n}", ImperfectWriter(random.Random(n)).text()


def nest_arguments(fn: Function, m: int, n: int) -> dict[str, Any]:
    rng = np.random.Generator(np.random.PCG64(m * 31 + n))
    args: dict[str, Any] = {"M": m, "N": n}
    for p in fn.params:
        if p.array:
            shape = (EXTENT_2D, EXTENT_2D) if p.name in "AB" else (EXTENT_1D,)
            args[p.name] = (rng.uniform(-4, 4, shape)).astype(p.type.numpy)
        elif p.name not in args:
            args[p.name] = 5
    return args


# ---------------------------------------------------------------- redomaps


@dataclass(frozen=True)
class Redomap:
    """A C text of the form `forall...: code1; for k: map; code2`, and the shapes of its arrays:
    no larger than what the program may touch."""

    text: str
    shapes: dict[str, tuple[str, ...]]

    def arguments(self, fn: Function, sizes: dict[str, int], seed: int) -> dict[str, Any]:
        """Random arrays; integers are free of zeros, `idx` holds subscripts."""
        rng = np.random.Generator(np.random.PCG64(seed))
        args: dict[str, Any] = {p.name: sizes[p.name] for p in fn.params if not p.array}
        for p in fn.params:
            if p.array:
                extents = [
                    max(0, eval(d.replace("/", "//"), {}, dict(sizes))) for d in self.shapes[p.name]
                ]
                args[p.name] = _draw(rng, p.type.numpy, extents)
        return args


def _draw(rng: np.random.Generator, dtype: str, extents: list[int]) -> Any:
    if dtype.startswith("float"):
        return rng.uniform(0.5, 1.5, extents).astype(dtype)
    return (rng.integers(1, 9, extents) * rng.choice([-1, 1], extents)).astype(dtype)


@dataclass
class RedomapWriter:
    """Two or three parallel loops, one sequential one, arrays over subsets of their variables in
    random layouts, some of them flat."""

    rng: random.Random
    shapes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    params: list[str] = field(default_factory=list)

    def redomap(self) -> Redomap:
        rng = self.rng
        self.element = rng.choice(["float", "float", "double", "int"])
        self.size = {"g": "G", "i": "M", "j": "N", "k": rng.choice(["U"] * 8 + ["4", "M"])}
        batched = rng.random() < 0.2
        self.outer = ("g", "i", "j") if batched else ("i", "j")
        self.low = {v: rng.choice([0, 0, 0, 1]) for v in (*self.outer, "k")}
        first = ("g", "i", "k") if batched and rng.random() < 0.7 else ("i", "k")
        operands = [self.array("A", first), self.array("B", ("k", "j"))]
        extra = rng.choice([(), (), ("i",), ("j",), ("i", "j"), ("k",), ("i", "k")])
        if extra:
            operands.append(self.array("E", extra))
        target = self.array("C", self.outer)
        body = self.statements(operands, target)
        sizes = [f"int {name}" for name in ("G", "M", "N", "U")]
        lines = [f"void f({', '.join([*sizes, *self.params])})", "{"]
        if body[0] == "acc;":
            lines.append(f"  {self.element} {body.pop(0)}")
        for depth, v in enumerate(self.outer):
            header = f"for (int {v} = {self.low[v]}; {v} < {self.size[v]}; {v}++)"
            lines.append("  " * (depth + 1) + header)
        pad = "  " * (len(self.outer) + 1)
        lines += [f"{pad}{{", *(f"{pad}  {x}" for x in body), f"{pad}}}", "}", ""]
        return Redomap("\n".join(lines), self.shapes)

    def array(self, name: str, variables: tuple[str, ...]) -> str:
        """An access over the variables in a random order, with offsets, strides and sums."""
        rng = self.rng
        order = list(variables)
        if name != "C":
            rng.shuffle(order)
        subscripts = [self.subscript(v, plain=name == "C") for v in order]
        dims = [d for _, d in subscripts]
        self.shapes[name] = tuple(dims)
        if len(order) == 2 and rng.random() < 0.25:
            self.params.append(f"{self.element} *{name}")
            return f"{name}[({subscripts[0][0]})*({dims[1]}) + {subscripts[1][0]}]"
        leading = rng.choice(["", dims[0]])
        inner = "".join(f"[{d}]" for d in dims[1:])
        self.params.append(f"{self.element} {name}[{leading}]{inner}")
        return name + "".join(f"[{x}]" for x, _ in subscripts)

    def subscript(self, v: str, *, plain: bool) -> tuple[str, str]:
        """A subscript over `v` and the extent of its dimension."""
        rng, size = self.rng, self.size[v]
        form = rng.random()
        if form < 0.6 or plain:
            offset = rng.choice([0, 0, 0, 1, 2] if self.low[v] == 0 else [-1, 0])
            return (f"{v}{offset:+}" if offset else v), size + (f"+{offset}" if offset > 0 else "")
        if form < 0.7:
            return f"2*{v}+1", f"2*{size}"
        if form < 0.78 and self.low[v] == 0:
            return f"{size}-1-{v}", size
        if form < 0.86:
            return f"{v}/2", f"({size}+1)/2"
        if form < 0.93 and v == "k":
            other = rng.choice("ij")
            return f"{other}+k", f"{self.size[other]}+{size}"
        return f"{v}%3", "3"

    def statements(self, operands: list[str], target: str) -> list[str]:
        rng = self.rng
        value = self.combine(operands)
        size = self.size["k"]
        bound = rng.choice([size] * 6 + [f"{size}-1"]) if size != "M" else "i"
        increment = rng.choice(["k++", "k++", "k++", "k += 2"])
        loop = f"for (int k = {self.low['k']}; k < {bound}; {increment})"
        form = rng.random()
        start = rng.choice(["0", "1", operands[-1] if "k" not in operands[-1] else "2", target])
        if form < 0.25:
            head = [] if rng.random() < 0.4 else [f"{target} = {start};"]
            return [*head, f"{loop} {target} += {value};"]
        step = f"acc {rng.choice(['+=', '+=', '-=', '*='])} {value};"
        kind = rng.random()
        if kind < 0.15:
            step = f"if ({rng.choice([f'{operands[0]} > 1', 'k != 2', 'i != k'])}) {step}"
        elif kind < 0.3:
            step = f"{{ {self.element} p = {value}; acc += p * p; }}"
        elif kind < 0.4:
            step = f"{{ {step} acc += {operands[0]}; }}"
        end = rng.choice(["acc", "acc", "acc + 1", f"{target} - acc", "2 * acc + i"])
        last = f"{target} = {end};"
        if rng.random() < 0.1:
            last = f"if (i != 1) {last}"
        if form > 0.85:
            return ["acc;", f"acc = {start};", f"{loop} {step}", last]
        return [f"{self.element} acc = {start};", f"{loop} {step}", last]

    def combine(self, operands: list[str]) -> str:
        rng = self.rng
        a, b, *more = operands
        forms = ["{0} * {1}", "{0} * {1}", "({0} - {1}) * 2", "{0} + {1}", "{0} / {1}",
                 "{0} < {1} ? {0} : {1}", "{0} * {1} + k", "{0} * (i - {1})"]  # fmt: skip
        out = rng.choice(forms).format(a, b)
        if self.element == "int" and rng.random() < 0.3:
            out = f"{a} / {b}"
        return f"({out}) * {more[0]}" if more else out


def redomaps(seed: int, count: int) -> Iterator[tuple[str, Redomap]]:
    """(name, program); the name holds the seed."""
    for n in range(seed * 100_000, seed * 100_000 + count):
        yield f"seed {n}", RedomapWriter(random.Random(n)).redomap()
