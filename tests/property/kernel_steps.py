"""Mapped programs, and steps of which the kernels alone can say whether they are right.

Pipelines, vectors, orders of elements and the like are marks in the loop tree, of which codegen
makes kernels. Recipes make the programs, with random sizes and wishes, and random steps follow; the
kernels are run from their text by the group executor.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from deriving import every_step
from random_nests import lowered, redomaps

from loopxform.codegen import emit
from loopxform.errors import ArgumentError, LoopxformError
from loopxform.floating_point import SEPARATE
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Copy, Function
from loopxform.ir.visit import LoopSite, loops, walk
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options, Recipe
from loopxform.targets.profile import PROFILES
from loopxform.transforms import (
    Assume,
    BlockCyclic,
    ConvertOnCopy,
    Derivation,
    Dispatch,
    Index32,
    Pack,
    PackOperands,
    Pad,
    Pipeline,
    RegisterPipeline,
    Serpentine,
    SkipEmptyTiles,
    Specialise,
    Step,
    StoreVectors,
    SwizzleGroups,
    Unroll,
    Variant,
    Vectorise,
    WarpTile,
)
from loopxform.verify.check_run import arguments
from loopxform.verify.group.execute import Executor
from loopxform.verify.interp import InterpError, Program

Arguments = dict[str, Any]

SMALL = replace(PROFILES["h100"], pack_operands=3, transpose_operands=5, pack=4, compute_units=1)
"""Copies from few iterations on."""

LIMITS = (SMALL, SMALL, PROFILES["h100"], PROFILES["generic"])
RECIPES: tuple[Recipe | None, ...] = ("register", "register", "register", None, "block", "naive")

PRODUCT = (
    "void f(int M, int U, int N, const {A} A{a}, const {T} B{b}, {T} C[restrict M][N]) {{"
    " for (int i = 0; i < M; i++) for (int j = {low}; j < {high}; j++) {{ {T} s = {first};"
    " for (int k = 0; k < U; k++) s {op} {x} * {y}; C[i][j] {into} s; }} }}"
)
OTHERS = (
    "void f(int M, int N, const float W[restrict 3][3], const float A[restrict M + 2][N + 2],"
    " float C[restrict M][N]) { for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) {"
    " float s = 0; for (int p = 0; p < 3; p++) for (int q = 0; q < 3; q++)"
    " s += W[p][q] * A[i + p][j + q]; C[i][j] = s; } }",
    "void f(int M, int N, const float A[restrict M][N], float C[restrict M]) {"
    " for (int i = 0; i < M; i++) { float s = 0; for (int k = 0; k < N; k++) s += A[i][k];"
    " C[i] = s; } }",
    "void f(int N, int U, const int x[restrict N], const int y[restrict U], int C[restrict N]) {"
    " for (int i = 0; i < N; i++) { int s = 0; for (int k = 0; k < U; k++)"
    " s += (x[i] - y[k]) * (x[i] - y[k]); C[i] = s; } }",
    "void f(int M, int N, const float A[restrict M][N], float C[restrict M][N]) {"
    " for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) C[i][j] = A[i][j] + 1; }",
)
SIZES = ({"M": 9, "N": 8, "U": 7}, {"M": 8, "N": 12, "U": 8}, {"M": 3, "N": 4, "U": 0})


@dataclass(frozen=True)
class Case:
    """A program, and arguments for some sizes."""

    name: str
    text: str
    fn: Function
    runs: tuple[Arguments, ...]


def product(rng: random.Random) -> str:
    """A product of matrices in a random layout, of a triangle or of all of them."""
    kind = rng.choice(["float", "float", "float", "double", "int", "_Float16"])
    first = rng.choice([("[restrict M][U]", "A[i][k]"), ("[restrict U][M]", "A[k][i]")])
    second = rng.choice([("[restrict U][N]", "B[k][j]"), ("[restrict N][U]", "B[j][k]")])
    low, high = rng.choice([("0", "N"), ("0", "N"), ("0", "N"), ("i", "N"), ("0", "i && j < N")])
    return PRODUCT.format(
        A=rng.choice([kind, kind, "unsigned char"]) if kind == "float" else kind,
        T=kind,
        a=first[0],
        b=second[0],
        x=first[1],
        y=second[1],
        low=low,
        high=high,
        first=rng.choice(["0", "0", "C[i][j]"]),
        op=rng.choice(["+=", "+=", "-="]),
        into=rng.choice(["=", "=", "+="]),
    )


def cases(seed: int, count: int) -> Iterator[Case]:
    others = iter(redomaps(seed, count))
    for n in range(seed * 100_000, seed * 100_000 + count):
        rng = random.Random(f"kernels {n}")
        name, kind = f"seed {n}", rng.random()
        if kind < 0.2:
            _, program = next(others)
            fn = lowered(program.text)
            sizes = [{p: rng.randint(low, 9) for p in "GMNU"} for low in (4, 0)]
            yield Case(name, program.text, fn, tuple(program.arguments(fn, s, n) for s in sizes))
            continue
        text = product(rng) if kind < 0.8 else rng.choice(OTHERS)
        fn = lowered(text)
        own = [p.name for p in fn.params if not p.array]
        runs = [arguments(fn, {x: s[x] for x in own}, n) for s in SIZES]
        yield Case(name, text, fn, tuple(runs))


def derived(case: Case, rng: random.Random) -> Derivation:
    """Tiled by a recipe. Raises LoopxformError."""
    recipe = rng.choice(RECIPES)
    sizes = {"Ty": (2, 4), "Tx": (2, 4), "Tk": (2, 3, 4), "Ry": (1, 2, 4), "Rx": (2, 4)}
    if recipe != "register":
        sizes = {x: sizes[x] for x in ("Ty", "Tx")}
    given = {x: rng.choice(values) for x, values in sizes.items()}
    limits = rng.choice(LIMITS)
    options = wishes(rng) if recipe == "register" else Options()
    if recipe is None:
        given = {x: n for x, n in given.items() if x in ("Tk",)}
    return tile(case.fn, given, recipe, limits, options=options).derivation


def wishes(rng: random.Random) -> Options:
    stages = rng.choice([None, 1, 2, 3])
    return Options(
        stages=stages,
        async_copies=stages != 1 and rng.random() < 0.3,
        vector=rng.choice([None, 1, 2, 4]),
        register_pipeline=rng.choice([None, True, False]),
        serpentine=rng.choice([None, 0, 2]),
        pad=rng.choice([None, True, False]),
        swizzle_groups=rng.choice([None, None, 2]),
        warp_tile=rng.choice([None, (2, 2), (0, 0)]),
        block_cyclic=rng.choice([None, 1, 2]),
        index=rng.choice([None, 32, 64]),
        pack=rng.choice([0, 0, 4]),
        shift_inwards=rng.random() < 0.4,
        interleave_copies=rng.choice([None, None, 1, 5]),
    )


# ---------------------------------------------------------------- steps


class Marks:
    """Steps with parameters taken from a mapped program."""

    def __init__(self, fn: Function, rng: random.Random) -> None:
        self.fn, self.rng = fn, rng

    def step(self) -> Step:
        rng = self.rng
        grid = [s for s in loops(self.fn) if s.loop.level and s.loop.level.kind == "grid"]
        items = [s for s in loops(self.fn) if s.loop.level and s.loop.level.kind == "group"]
        filled = [s for s in loops(self.fn) if any(_is_copy(x, shared=True) for x in s.loop.body)]
        read = [s for s in loops(self.fn) if any(_is_copy(x, shared=False) for x in s.loop.body)]
        unrolled = [s for s in loops(self.fn) if s.loop.unroll]
        width = rng.choice(["2", "4", "4", "3"])
        kinds: list[Callable[[], Step]] = [
            lambda: Pipeline(self.loop(filled)),
            lambda: Pipeline(self.loop(filled)),
            lambda: Pipeline(self.loop(filled), rng.choice(["2", "3", "4"]), "async"),
            lambda: RegisterPipeline(self.loop(read)),
            lambda: RegisterPipeline(self.loop(read), rng.choice(["", "2", "3"]), "interleaved"),
            lambda: Serpentine(self.loop(unrolled), rng.choice(["1", "2", "4"])),
            lambda: Serpentine(self.loop(unrolled), rng.choice(["1", "2", "4"])),
            lambda: BlockCyclic(f"{self.name(items)}*", self.name(unrolled), width),
            lambda: BlockCyclic(f"{self.name(items)}*", self.name(unrolled), "2"),
            lambda: SwizzleGroups(f"{self.name(grid)}*", width),
            lambda: WarpTile(
                f"{self.name(grid)}*", rng.choice(["2", "4", "x"]), "2", rng.choice(["", "paired"])
            ),
            lambda: Vectorise(self.tile(), width),
            lambda: Vectorise(self.tile(), width),
            lambda: StoreVectors(self.loop(unrolled), width),
            lambda: StoreVectors(self.loop(unrolled[-2:]), "2"),
            lambda: Index32(self.loop(grid)),
            lambda: Unroll(self.loop(items + read), rng.choice(["", "full"])),
            lambda: Assume(self.condition()),
            lambda: Assume(self.condition()),
            lambda: Specialise(self.scalar(), rng.choice(["8", "12", "-3"])),
            lambda: ConvertOnCopy(self.tile()),
            lambda: Pad(self.loop(filled)),
            lambda: SkipEmptyTiles(self.loop(grid)),
            lambda: Pack(self.loop(grid), width),
            lambda: PackOperands(self.loop(grid), width, tuple(self.arrays())),
            lambda: Dispatch(self.loop(grid), self.variants()),
        ]
        return rng.choice(kinds)()

    def loop(self, sites: Sequence[LoopSite]) -> str:
        """One of the loops, if there is one; else any."""
        every = loops(self.fn)
        site = self.rng.choice(sites or every)
        same = [s.path for s in every if s.loop.var == site.loop.var]
        return f"{site.loop.var}#{same.index(site.path) + 1}"

    def name(self, sites: Sequence[LoopSite]) -> str:
        return self.rng.choice(sites or loops(self.fn)).loop.var

    def tile(self) -> str:
        copies = [s.target for _, s in walk(self.fn.body) if isinstance(s, Copy) and s.collective]
        return self.rng.choice(copies or ["A"])

    def scalar(self) -> str:
        return self.rng.choice([p.name for p in self.fn.params if not p.array])

    def arrays(self) -> list[str]:
        names = [p.name for p in self.fn.params if p.array]
        chosen = self.rng.sample(names, min(len(names), self.rng.choice([1, 2])))
        return [n + self.rng.choice(["", ":T"]) for n in chosen]

    def condition(self) -> str:
        n = self.scalar()
        return self.rng.choice([f"{n}%4==0", f"{n}%4==0", f"{n}%2==0", f"{n}<=64", f"{n}>=1"])

    def variants(self) -> tuple[Variant, ...]:
        """The nest as it is, for some sizes and for others; or a list that has no end."""
        guarded = Variant("some", "some sizes", "", (self.condition(),), (), ())
        last = Variant("all", "all sizes", "", (), (), ())
        return self.rng.choice([(guarded, last), (last,), (guarded,), ()])


class Copies(Marks):
    """Steps that copy the operands of a nest that nothing has mapped yet."""

    def step(self) -> Step:
        outermost = [s for s in loops(self.fn) if len(s.path) == 1]
        loop, width = self.loop(outermost), self.rng.choice(["2", "4"])
        kinds: list[Callable[[], Step]] = [
            lambda: Assume(self.bounds()),
            lambda: Assume(self.bounds()),
            lambda: PackOperands(loop, width, tuple(self.arrays())),
            lambda: Pack(loop, width),
            lambda: Dispatch(loop, self.variants()),
        ]
        return self.rng.choice(kinds)()

    def bounds(self) -> str:
        """What lets an int number the elements of a copy."""
        n, m = self.scalar(), self.scalar()
        few = [f"{n}<=2147483647/({w}*(({m}+{w - 1})/{w}))" for w in (2, 4)]
        return self.rng.choice([f"{n}>=1", f"{n}<=1073741823", *few])


def _is_copy(s: object, *, shared: bool) -> bool:
    return isinstance(s, Copy) and s.collective == shared


# ---------------------------------------------------------------- running


def expected(case: Case) -> list[Arguments | None]:
    """The arguments after each run; None where the program leaves its arrays."""
    program, after = Program(case.fn), list[Arguments | None]()
    for args in case.runs:
        own = copied(args)
        try:
            program.run(own)
        except InterpError:
            after.append(None)
        else:
            after.append(own)
    return after


def copied(args: Arguments) -> Arguments:
    return {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in args.items()}


def executed(case: Case, done: Derivation, results: Sequence[Arguments | None]) -> int:
    """Runs the kernels for all sizes that they are made for; how many runs there were. Raises
    EmitError where the program is no list of kernels."""
    plan = emit.kernel(done, fp=SEPARATE)
    ordered = done.keeps_order
    runs = 0
    for asynchronous in (True, False):
        executor = Executor(plan, asynchronous=asynchronous)
        for seed, (args, result) in enumerate(zip(case.runs, results)):
            if result is None or not _assumed(done.function, args):
                continue
            own = copied(args)
            try:
                executor.run(own, seed=seed)
            except ArgumentError:
                continue
            except LoopxformError as e:
                raise AssertionError(_failure(case, done, args, str(e))) from e
            for name, wanted in result.items():
                same = _equal(wanted, own[name], exact=ordered)
                assert same, _failure(case, done, args, f"{name} differs")
            runs += 1
    return runs


def _equal(wanted: Any, given: Any, *, exact: bool) -> bool:
    if exact or np.asarray(wanted).dtype.kind != "f":
        return np.array_equal(wanted, given, equal_nan=np.asarray(wanted).dtype.kind == "f")
    return np.allclose(wanted, given, rtol=1e-2, equal_nan=True)


def _assumed(fn: Function, args: Arguments) -> bool:
    numbers = {n: v for n, v in args.items() if not isinstance(v, np.ndarray)}
    return all(evaluate(e, numbers) for e in fn.assumes)


def _failure(case: Case, done: Derivation, args: Arguments, what: str) -> str:
    sizes = {n: v for n, v in args.items() if not isinstance(v, np.ndarray)}
    steps = "\n".join(str(s) for s in every_step(done))
    return f"{case.name}: {what}\nsizes {sizes}\n{case.text}\n{steps}"
