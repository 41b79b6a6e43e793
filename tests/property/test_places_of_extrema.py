"""The place of an extremum in parts: what the loop finds, to the last bit, whatever it compares.

Values are few, so that many are equal, with zeros of both signs, infinities and NaN among them.
"""

from __future__ import annotations

import random
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from deriving import untiled

from loopxform.ir.nodes import Function
from loopxform.transforms import Derivation, Rfactor, TrackExtremum
from loopxform.verify.interp import Program

TYPES = {
    "float": ("f4", (-np.inf, -1.0, -0.0, 0.0, 1.0, np.inf, np.nan, np.nan)),
    "double": ("f8", (-np.inf, -2.5, -0.0, 0.0, 2.5, np.inf, np.nan)),
    "int": ("i4", (-(2**31), -1, 0, 1, 2**31 - 1)),
    "unsigned char": ("u1", (0, 1, 254, 255)),
}
UPDATES = (
    "if (a[k] {op} best) {{ best = a[k]; place = k; }}",
    "if (a[k] {op} best) {{ place = k; best = a[k]; }}",
    "if (best {po} a[k]) {{ best = a[k]; place = k; }}",
    "if (k & 1) if (a[k] {op} best) {{ best = a[k]; place = k; }}",
    "if (a[k] {op} best) {{ best = a[k]; place = b[k]; other = k; }}",
    "s += b[k]; if (a[k] {op} best) {{ best = a[k]; place = k; }}",
)
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def text(rng: random.Random, kind: str, op: str) -> str:
    update = rng.choice(UPDATES).format(op=op, po=TURNED[op])
    return (
        f"void f(int n, {kind} first, const {kind} *restrict a, const int *restrict b,"
        f" {kind} *restrict found, int *restrict places) {{"
        f" {kind} best = first; int place = -1, other = -2, s = 0;"
        f" for (int k = 0; k < n; k++) {{ {update} }}"
        " found[0] = best; places[0] = place; places[1] = other; places[2] = s; }"
    )


def arguments(rng: random.Random, kind: str) -> dict[str, Any]:
    dtype, values = TYPES[kind]
    n = rng.choice((0, 1, 2, 5, 11, 12))
    a = np.array([rng.choice(values) for _ in range(n + 1)], dtype)
    first = a.dtype.type(rng.choice(values)).item()
    b = np.array([rng.randint(-9, 9) for _ in range(n + 1)], "i4")
    found, places = np.zeros(1, dtype), np.zeros(3, "i4")
    return {"n": n, "first": first, "a": a, "b": b, "found": found, "places": places}


def after(fn: Function, given: dict[str, Any]) -> list[bytes]:
    own = deepcopy(given)
    Program(fn).run(own, order_seed=5)
    return [own[x].tobytes() for x in ("found", "places")]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("op", TURNED)
def test_in_chunks(kind: str, op: str) -> None:
    for seed in range(12):
        rng = random.Random(f"{kind} {op} {seed}")
        source = text(rng, kind, op)
        fn = untiled(source)
        done = Derivation(fn).then(Rfactor("k", rng.choice("1235"))).function
        for _ in range(5):
            given = arguments(rng, kind)
            assert after(fn, given) == after(done, given), (seed, source, given)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("op", TURNED)
def test_in_strided_parts(kind: str, op: str) -> None:
    """And combined in parts again."""
    for seed in range(12):
        rng = random.Random(f"strided {kind} {op} {seed}")
        source, again = text(rng, kind, op), rng.choice(("", "2"))
        fn = untiled(source)
        done = Derivation(fn).then(Rfactor("k", rng.choice("1235"), "", "strided"))
        for loop in ("k_t_c", "k_t_k") if again else ():
            done = done.then(Rfactor(loop, again, "", "strided"))
        for _ in range(6):
            given = arguments(rng, kind)
            assert after(fn, given) == after(done.function, given), (source, given)


KEPT = (
    "if (a[k] {op} a[best]) best = k;",
    "if (a[best] {po} a[k]) best = k;",
    "best = a[k] {op} a[best] ? k : best;",
    "if (-a[k] {op} -a[best]) best = k; s += b[k];",
    "if (a[n - k] {op} a[n - best]) best = k;",
)
NOT_KEPT = (
    "if (b[k] & 1) if (a[k] {op} a[best]) best = k;",
    "if (a[k] {op} a[best]) best = k; else best = 0;",
    "if (a[k] {op} a[best]) best = k + 1 - 1 < n ? n - k : k;",
    "places[1] = k; if (a[k] {op} a[best]) best = k;",
    "if (a[k] + 1 {op} a[best] + 1) best = k;",
)


def kept(rng: random.Random, kind: str, op: str, update: str, place: str) -> str:
    body = update.format(op=op, po=TURNED[op])
    first, lo = rng.choice(("0", "n", "n / 2")), rng.choice("012")
    return (
        f"void f(int n, {kind} first, const {kind} a[restrict n + 1], const int b[restrict n + 1],"
        f" {kind} found[restrict 1], int places[restrict 3]) {{ {place} best = {first}; int s = 0;"
        f" for (int k = {lo}; k < n; k++) {{ {body} }} places[0] = best; places[2] = s; }}"
    )


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("op", TURNED)
def test_of_a_place_alone(kind: str, op: str) -> None:
    """`track-extremum`, and parts of what it leaves."""
    for seed, update in enumerate(KEPT):
        rng = random.Random(f"kept {kind} {op} {seed}")
        source = kept(rng, kind, op, update, rng.choice(("int", "long")))
        fn = untiled(source)
        done = Derivation(fn).then(TrackExtremum("k"))
        parts = done.then(Rfactor("k", rng.choice("235"), "", "strided"))
        for _ in range(4):
            given = arguments(rng, kind)
            results = {str(after(x, given)) for x in (fn, done.function, parts.function)}
            assert len(results) == 1, (source, given)


@pytest.mark.parametrize("update", NOT_KEPT)
def test_not_of_a_place_alone(update: str) -> None:
    fn = untiled(kept(random.Random(1), "float", "<", update, "int"))
    assert TrackExtremum("k").check(fn)[0].code == "LX250"


def test_a_narrow_place() -> None:
    fn = untiled(kept(random.Random(1), "float", "<", KEPT[0], "signed char"))
    assert TrackExtremum("k").check(fn)[0].code == "LX250"
