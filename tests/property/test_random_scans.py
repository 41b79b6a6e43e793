"""Random loops with running values: whatever is computed in chunks means the same, in any order of
the chunks, and so do the kernels that come of it, in the executor of groups.

Every failure names its seed, which makes the same program again.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import replace

import pytest
from deriving import TILES, assert_same_meaning

import loopxform as lx
from loopxform.analysis.running import Scan, scan_of
from loopxform.codegen import emit
from loopxform.errors import LoopxformError
from loopxform.floating_point import SEPARATE
from loopxform.ir.nodes import Function, Opaque
from loopxform.ir.visit import declared, loops, resolve, walk
from loopxform.offload.program import offload
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.transforms import (
    Carry,
    ChainChunks,
    Derivation,
    Dispatch,
    LookBack,
    Normalise,
    Parallelise,
    Privatise,
    ReduceThenScan,
    StageStores,
    Stripmine,
    with_tiles,
)
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

UPDATES = (
    *("{s} += {e};", "{s} += {e};", "{s} -= {e};", "{s} = {e} + {s};", "{s} = {s} - {e} + {f};"),
    *("{s} *= {e};", "{s} = {e} * {s} + {f};", "{s} = {s} - 2 * ({s} + {e});", "{s} = {e};"),
    *("{s} ^= {e};", "{s} |= {e};", "{s} &= {e};", "if ({e} > {s}) {s} = {e};", "{s}++;"),
    *("{s} = {s} < {e} ? {s} : {e};", "{s} = {s} * {s} + {e};", "{s} += {s} & {e};"),
)
"""The last two are refused."""
KINDS = ("int", "int", "unsigned", "long", "short", "unsigned char")
HEADERS = (
    *("for (int k = 0; k < n; k++)", "for (int k = 0; k < n; k++)"),
    *("for (int k = 2; k < n; k++)", "for (int k = 1; k < n; k += 2)"),
    *("for (long k = 0; k < n; k++)", "for (int k = n - 1; k >= 0; k--)"),
    "for (int k = n - 2; k > 0; k -= 2)",
)  # fmt: skip


def program(seed: int) -> str:
    """A loop with one to three running values and what iterations do with them; sometimes one
    decides about another, or something else leads from iteration to iteration."""
    rng = random.Random(seed)
    names = ["s", "t", "u"][: rng.choice([1, 1, 1, 2, 2, 3])]
    kinds = {name: rng.choice(KINDS) for name in names}

    def operand() -> str:
        choices = ["a[k]", "a[k]", "b[k]", "k", "3", "v", "(a[k] & 3)"]
        return rng.choice([*choices, rng.choice(names)] if rng.random() < 0.05 else choices)

    def update(name: str) -> str:
        text = rng.choice(UPDATES).format(s=name, e=operand(), f=operand())
        roll = rng.random()
        if roll < 0.3:
            return f"if (b[k] > v - {rng.randint(0, 3)}) {{ {text} }}"
        if roll < 0.4:
            return f"for (int j = 0; j < 3; j++) {{ {text.replace('b[k]', 'c[k][j]')} }}"
        return text

    body = [update(name) for name in names for _ in range(rng.choice([1, 1, 1, 2]))]
    uses = [f"y[k] = {rng.choice(names)};", f"z[k] = {rng.choice(names)} + a[k];"]
    body += rng.sample(uses, rng.choice([0, 1, 1, 2]))
    if rng.random() < 0.3:
        body.append(f"if (a[k] > {rng.randint(0, 3)}) {compaction(rng)}")
    if rng.random() < 0.2:
        body.append(rng.choice(["b[k] += 1;", "d[k] = k ? d[k - 1] : 0;", "d[0] += a[k];"]))
    if seed % 2:  # stores under a condition beside what counts them
        body = [x.replace("w[i] = k;", "if (i < 3) w[i] = k;") for x in body]
        body = [x.replace("w[i - 1]", "if (v & 1) w[i - 1]") for x in body]
    rng.shuffle(body)
    for name in names:  # with signs they overflow
        if any(("*" in x or "&" in x) and f"{name} " in x for x in body):
            kinds[name] = rng.choice(["unsigned", "unsigned long"])
    running = " ".join(f"{kinds[n]} {n} = {rng.randint(-1, 3)};" for n in names)
    given = "int v;" if rng.random() < 0.3 else ""
    first = "v = a[k] * 2 + 1;" if given else "int v = a[k] * 2 + 1;"
    last = " ".join(f"r[{i}] = {n};" for i, n in enumerate(names))
    return f"""void f(int n, const int a[restrict n], int b[restrict n], const int c[restrict n][3],
       int d[restrict n], int y[restrict n], int z[restrict n], int w[restrict 2 * n + 3],
       long r[restrict 4])
{{
  {running} int i = 0; {given}
  {rng.choice(HEADERS)} {{ {first} {" ".join(body)} }}
  {last} r[3] = i;
}}
"""


def rows(seed: int, *, columns: bool) -> str:
    """The same for each row of a matrix, or each column."""
    text = program(seed)
    body = text[text.index("{") + 1 : text.rindex("}")]
    if columns:
        body = re.sub(r"\b([abdyz])\[([^\[\]]*)\]", r"\1[\2][q]", body)
    body = re.sub(rf"\b([{'cwr' if columns else 'abcdyzwr'}])\[", r"\1[q][", body)
    own = "restrict n][m" if columns else "restrict m][n"
    arrays = ", ".join(f"{'const ' if x == 'a' else ''}int {x}[{own}]" for x in "abdyz")
    return f"""void f(int m, int n, {arrays}, const int c[restrict m][n][3],
       int w[restrict m][2 * n + 3], long r[restrict m][4])
{{ for (int q = 0; q < m; q++) {{ {body} }} }}
"""


def compaction(rng: random.Random) -> str:
    return rng.choice(
        [
            *("w[i++] = a[k];", "{ w[i] = k; i++; }", "{ w[i] = k; w[i + 1] = a[k]; i += 2; }"),
            *("{ i += 2; w[i - 1] = v; }", "{ w[i + 1] = k; i++; }", "{ i++; w[i] = k; }"),
        ]
    )


"""The last two store to elements of other iterations, or may."""


def derived(fn: Function, rng: random.Random) -> Derivation:
    d = Derivation(with_tiles(fn, TILES))
    for name, decl in declared(fn.body).items():
        if not decl.shape:
            d, _ = d.optional(Privatise(name, "k"))
    d, _ = d.optional(Carry(rng.choice("dyz"), "k"))
    if rng.random() < 0.8:
        d, _ = d.optional(Normalise("k"))
    if rng.random() < 0.4:
        return chained(d, rng)
    for _ in range(rng.randint(1, 4)):
        var = rng.choice([s.loop.var for s in loops(d.function)])
        step = rng.choice(
            [
                *[ReduceThenScan(var, rng.choice(["1", "2", "3", "Ty*Ry"]))] * 4,
                StageStores(rng.choice("yzw"), var),
                Stripmine(var, "3"),
                Parallelise(var),
            ]
        )
        d, _ = d.optional(step)
    return d


def chained(d: Derivation, rng: random.Random) -> Derivation:
    """Chunks that pass values on, sometimes in parts, which look back."""
    d, _ = d.optional(ChainChunks("k", rng.choice(["1", "2", "4", "Ty*Ry"])))
    if rng.random() < 0.5:
        d, _ = d.optional(ReduceThenScan("k", rng.choice("12")))
    for chunks in [s.loop.var for s in loops(d.function) if s.loop.chained]:
        for var in {s.loop.var: None for s in loops(d.function) if not s.loop.chained}:
            d, _ = d.optional(LookBack(chunks, var, "2"))
    return d


BLOCKS = (0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 2)))
"""Sixty programs each, but for the first, which is quick."""


@pytest.mark.parametrize("block", BLOCKS)
def test_steps_keep_the_meaning(block: int) -> None:
    taken = Counter[str]()
    count = 60 if block else 20
    for seed in range(block * 60, block * 60 + count):
        fn = lx.loads(program(seed))["f"].function
        if any(isinstance(s, Opaque) for _, s in walk(fn.body)):
            continue  # signed numbers are compared as unsigned
        done = derived(fn, random.Random(seed + 1))
        try:
            assert_same_meaning(fn, done.function, (0, 1, 2, 7))
        except AssertionError as e:
            raise AssertionError((seed, [str(r.step) for r in done.records])) from e
        taken.update({r.step.verb for r in done.records})
    assert taken["reduce-then-scan"] >= count // 6, taken
    assert taken["chain-chunks"] >= taken["look-back"] >= count // 12, taken


@pytest.mark.parametrize("block", BLOCKS)
def test_kernels_agree(block: int) -> None:
    """In the executor of groups, which finds races and reads of what was never set."""
    limits = PROFILES["generic"]
    costs = replace(limits.costs, scan_terms=6, chained_terms=6, look_back=3, combined_alone=2)
    done = Counter[str]()
    for seed in range(block * 60, block * 60 + (60 if block else 5)):
        small = replace(limits, costs=costs, forward_progress=seed % 2 == 1)
        try:
            made = lx.loads(program(seed))["f"].offload(contract=False, limits=small)
        except LoopxformError:
            continue
        plan = emit.kernel(made.derivation, fp=SEPARATE)
        for n in (0, 1, 5, 6, 7, 19, 50):
            args = arguments(plan.start, {"n": n}, seed)
            expected = {k: v.copy() if hasattr(v, "copy") else v for k, v in args.items()}
            Program(plan.start).run(expected)
            execute(plan, args, seed=seed)
            assert not compare(expected, args), (seed, n)
        done.update({p.tiled.recipe for p in made.parts if p.tiled})
        done["chained"] += any(s.loop.chained for s in loops(made.derivation.function))
        done.update(r.step.verb for r in made.derivation.records)
    least = 2 if block else 1
    assert done["scan"] > done["chained"] >= least, done
    assert done["reuse-storage"] >= least, done


SMALL = replace(
    PROFILES["generic"],
    group_size=8,
    warp=4,
    costs=replace(PROFILES["generic"].costs, scan_terms=6, combined_alone=2, scan_item_terms=3),
)
"""A device of which a few rows need every version."""
THRESHOLDS = ("suff_outer_par", "suff_intra_par", "suff_group_par", "suff_inner_par")
SHAPES = ((0, 1), (1, 0), (1, 1), (2, 5), (3, 6), (1, 7), (2, 19), (1, 50), (3, 13))


@pytest.mark.parametrize("columns", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("block", BLOCKS)
def test_versions_of_rows_agree(block: int, columns: bool) -> None:
    """A work-item a row, a group, several, in the executor of groups."""
    done = Counter[str]()
    for seed in range(block * 60, block * 60 + (60 if block else 10)):
        rng = random.Random(seed)
        values = {f"{k}_{n}": rng.choice([0, 1, 4, 1000]) for k in THRESHOLDS for n in range(4)}
        try:
            fn = lx.loads(rows(seed, columns=columns))["f"].function
            made = offload(fn, {}, SMALL, Options(threshold=tuple(values.items())))
        except LoopxformError:
            continue
        plan = emit.kernel(made.derivation, fp=SEPARATE)
        for m, n in SHAPES:
            if n == 0 and ("d[q][0]" in rows(seed, columns=columns)):
                continue  # in C no row has no elements
            args = arguments(plan.start, {"m": m, "n": n}, seed)
            expected = {k: v.copy() if hasattr(v, "copy") else v for k, v in args.items()}
            Program(plan.start).run(expected)
            execute(plan, args, seed=seed)
            assert not compare(expected, args), (seed, m, n)
        steps = (r.step for r in made.derivation.records)
        done.update(v.label for s in steps if isinstance(s, Dispatch) for v in s.variants)
    assert done["chunks"] >= 1, done


@pytest.mark.parametrize("block", BLOCKS)
def test_what_is_computed_in_chunks_has_a_name(block: int) -> None:
    """`check` names the values that need all iterations before; not counters, nor what each
    iteration has a copy of."""
    named = 0
    for seed in range(block * 60, block * 60 + (60 if block else 30)):
        routine = lx.loads(program(seed))["f"]
        (verdict,) = (v for v in routine.check() if not v.depth)
        d = Derivation(routine.function)
        for name, decl in declared(d.function.body).items():
            d, _ = (d, None) if decl.shape else d.optional(Privatise(name, "k"))
        d, _ = d.optional(Normalise("k"))
        (site,) = resolve(d.function, "k")
        scan = scan_of(d.function, site.path)
        if verdict.parallel in ("yes", "privatizable") or not isinstance(scan, Scan):
            continue
        if scan.only_reduces or ReduceThenScan("k", "4").check(d.function):
            continue
        names = {x.variable for x in verdict.idioms}
        wanted = {v.var for v in scan.values if v.used}
        assert wanted & names or not wanted, (seed, names, wanted)
        named += bool(wanted & names)
    assert named >= 5, named
