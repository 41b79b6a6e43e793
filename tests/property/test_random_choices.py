"""Random loops whose conditions choose what they store: whatever steps make of them means the same.

Every failure names its seed, which makes the same program again.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest
from deriving import TILES, assert_same_meaning

import loopxform as lx
from loopxform.transforms import (
    BranchChoice,
    Carry,
    DeferUpdate,
    Derivation,
    ForwardSubstitute,
    IfConvert,
    MergeCopy,
    Peel,
    RowSums,
    with_tiles,
)

KINDS = ("int", "int", "unsigned", "long", "short", "unsigned char", "unsigned long")
FIRST = ("i == 0", "i > 0", "i", "!i", "0 < i", "i >= 1", "i != 0", "i < 1", "b[i] > 1", "i == 1")
PARAMS = (
    "int n, const {0} a[restrict n], const {1} b[restrict n], {2} y[restrict n + 1], "
    "int z[restrict n]"
)


def operand(rng: random.Random) -> str:
    return rng.choice(["a[i]", "b[i]", "i", "3", "(a[i] & 3)", "(a[i] + b[i])", "a[i] * b[i]"])


def choice(rng: random.Random, target: str, depth: int = 0) -> str:
    """Statements that set `target`, by conditions."""
    e, f = operand(rng), operand(rng)
    last = f"({rng.choice(['i > 0', 'i', 'i >= 1'])} ? y[i] : {rng.choice(['0', '2'])})"
    whole = rng.choice([f"{e} + {f}", f"{f} + {e}", f"{f} - {e}", f"{f} * {e}", e, f"{f} + {last}"])
    cond = rng.choice(FIRST)
    if cond in ("i > 0", "i", "0 < i", "i >= 1", "i != 0") and rng.random() < 0.5:
        whole = f"{f} {rng.choice('+-')} y[i]"
    forms = [
        f"if ({cond}) {target} = {whole}; else {target} = {f};",
        f"{target} = {f}; if ({cond}) {target} {rng.choice(['+=', '-=', '*=', '^=', '='])} {e};",
        f"{target} = {f}; {target} += {whole};",
        f"{target} = ({cond}) ? {f} : {f} + {e};",
    ]
    if depth < 1:
        forms.append(f"if ({cond}) {{ {choice(rng, target, 1)} }} else {choice(rng, target, 1)}")
    return rng.choice(forms)


def program(seed: int) -> str:
    rng = random.Random(seed)
    kinds = [rng.choice(KINDS) for _ in range(3)]
    if rng.random() < 0.2:
        kinds = ["float"] * 3
    kind = rng.choice(kinds)
    body = [f"{kind} v;", choice(rng, "v"), f"y[i + 1] = v{rng.choice(['', ' + 1', ' - v'])};"]
    if rng.random() < 0.5:
        body[-1] = f"{choice(rng, 'y[i + 1]')} z[i] = (int)v + 1;"
    if rng.random() < 0.5:
        body += [f"{kind} w = s + {operand(rng)};", "z[i] = (int)w;", "s = w;"]
        rng.random() < 0.2 and body.insert(-1, "z[i] = s > 3;")
    if rng.random() < 0.3:
        body.append(f"s = {operand(rng)} > 2 ? (s + {operand(rng)}) * 3 : {operand(rng)};")
    text = " ".join(body)
    if "float" in kinds:
        text = text.replace("^=", "+=").replace("(a[i] & 3)", "a[i]")
    params = PARAMS.format(*kinds)
    return f"void f({params}) {{ {kind} s = 2; for (int i = 0; i < n; i++) {{ {text} }} }}"


BLOCKS = (0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 3)))
"""Eighty programs each."""


@pytest.mark.parametrize("block", BLOCKS)
def test_steps_keep_the_meaning(block: int) -> None:
    taken = Counter[str]()
    for seed in range(block * 80, block * 80 + 80):
        rng = random.Random(seed + 1)
        fn = lx.loads(program(seed))["f"].function
        d = Derivation(with_tiles(fn, TILES))
        steps = [IfConvert("i"), ForwardSubstitute("v", "i"), MergeCopy("w", "i"), Peel("i")]
        rng.shuffle(steps)
        for step in (*steps, Carry("y", "i"), BranchChoice("s", "i"), BranchChoice("y_last", "i")):
            d, _ = d.optional(step)
        try:
            assert_same_meaning(fn, d.function, (0, 1, 2, 5))
        except AssertionError as e:
            raise AssertionError((seed, program(seed), [str(r.step) for r in d.records])) from e
        taken.update({r.step.verb for r in d.records})
    verbs = ("if-convert", "forward-substitute", "merge-copy", "peel", "carry", "branch-choice")
    assert all(taken[v] >= 5 for v in verbs), taken


X, UP, LEFT, CORNER = "x[i + 1][j + 1]", "x[i][j + 1]", "x[i + 1][j]", "x[i][j]"
ROW, COLUMN = ("i > 0", "i", "0 != i", "i >= 1"), ("j > 0", "j", "!(j == 0)", "1 <= j")


def table(seed: int) -> str:
    """A summed-area table, or nearly one."""
    rng = random.Random(seed)
    row, column = rng.choice(ROW), rng.choice(COLUMN)
    lo = (0 if rng.random() < 0.8 else 1), (0 if rng.random() < 0.8 else 1)
    top, side = ("1" if first else c for first, c in zip(lo, (row, column)))
    up, left = rng.choice([UP, UP, UP, LEFT]), rng.choice([LEFT, LEFT, LEFT, CORNER])
    own, kind = rng.choice(KINDS), rng.choice(KINDS)
    header = f"for (int i = {lo[0]}; i < n; i++) for (int j = {lo[1]}; j < m; j++)"
    forms = [
        f"{X} = a[i][j] + ({top} ? {up} : 0) + ({side} ? {left} : 0) "
        f"- ({top} && {side} ? {CORNER} : 0);",
        f"{X} = a[i][j]; if ({top}) {X} += {up}; if ({side}) {X} += {left}; "
        f"if ({side} && {top}) {X} -= {CORNER};",
        f"if (!({top}) && !({side})) {X} = a[i][j]; else if (!({top})) {X} = a[i][j] + "
        f"{left}; else if (!({side})) {X} = a[i][j] + {up}; "
        f"else {X} = {left} + {up} - {CORNER} + a[i][j];",
        f"{kind} v = a[i][j]; if ({top}) v += {up}; if ({side}) v += {left}; "
        f"if ({top} && {side}) v -= {CORNER}; {X} = v;",
        f"{own} u = {top} ? {up} : 0, l = {side} ? {left} : 0; "
        f"{X} = a[i][j] + u + l - ({top} && {side} ? {CORNER} : 0);",
    ]
    params = f"int n, int m, const {kind} a[restrict n][m], {own} x[restrict n + 1][m + 1]"
    return f"void f({params}) {{ {header} {{ {rng.choice(forms)} }} }}"


@pytest.mark.parametrize("block", BLOCKS)
def test_tables_keep_their_meaning(block: int) -> None:
    taken = Counter[str]()
    for seed in range(block * 80, block * 80 + 80):
        fn = lx.loads(table(seed))["f"].function
        d = Derivation(with_tiles(fn, TILES))
        d, _ = d.optional(IfConvert("j"))
        for name in "vul":
            d, _ = d.optional(ForwardSubstitute(name, "j"))
        d, _ = d.optional(RowSums("x", "j"))
        d, _ = d.optional(DeferUpdate("x", "j"))
        try:
            assert_same_meaning(fn, d.function, (0, 1, 2, 5))
        except AssertionError as e:
            raise AssertionError((seed, table(seed), [str(r.step) for r in d.records])) from e
        taken.update({r.step.verb for r in d.records})
    assert 10 <= taken["row-sums"] <= 70, taken
    assert taken["forward-substitute"] >= 5, taken
