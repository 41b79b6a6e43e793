"""Terms of the model of costs, against figures that are worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from deriving import corpus

import loopxform as lx
from loopxform.floating_point import LEVELS, PERMITTED, Level
from loopxform.frontend import parse_file
from loopxform.model.access_counts import text, tiled
from loopxform.model.cost import (
    Cost,
    arithmetic,
    balance,
    cost,
    microseconds,
    operand_packing,
    packing,
    transposition,
    worthwhile_iterations,
)
from loopxform.recipes.tile import estimate, tile
from loopxform.schedule.params import Recipe
from loopxform.targets.profile import PROFILES
from loopxform.targets.target import Limits, unmeasured
from loopxform.transforms import Dispatch

(MM,) = parse_file("mm.c", text=corpus("mm")).unit.functions
GENERIC, H100 = PROFILES["generic"], PROFILES["h100"]
ROUND = replace(GENERIC, bandwidth=1000, peak=32000)
"""32 operations in the time of a byte: a segment of 32 bytes takes as long as 1024 operations, one
that caches serve a third of that."""


def mm(recipe: Recipe, limits: Limits = ROUND, **sizes: int) -> Cost:
    """The product of two matrices of 1024 x 1024 floats."""
    return cost(estimate(tile(MM, sizes, recipe, limits), limits))


def amounts(c: Cost) -> dict[str, Fraction]:
    return {t.name: t.amount for t in c.terms}


def test_a_product_in_registers() -> None:
    """16 x 16 work-items of 8 x 8 elements: 64 tiles, each of which reads 64 boxes of 128 x 16 and
    of 16 x 128 floats, 2 and 16 segments a row; results are written 8 apart."""
    boxes = 64 * 64
    assert amounts(mm("register")) == {
        "global memory": boxes * (128 * 2 + 16 * 16) + 1024 * 1024,
        "local memory": 2 * 1024**3 // 8,
        "arithmetic": 2 * 1024**3,
    }


def test_one_work_item_each() -> None:
    """A warp of 2 rows of 16: 2 segments of A, 2 of B (neighbours along j) each term, 4 of C."""
    warps = 1024 * 1024 // 32
    assert amounts(mm("naive")) == {
        "global memory": warps * (1024 * (2 + 2) + 4),
        "local memory": 0,
        "arithmetic": 2 * 1024**3,
    }


@pytest.mark.parametrize("recipe", ["register", "block", "one-sided"])
def test_words_of_local_memory_are_the_reads_that_the_program_makes(recipe: Recipe) -> None:
    """The formula of table 3, for sizes that are multiples of the tiles."""
    done = tile(MM, {}, recipe, GENERIC)
    sizes = {"M": 1024, "N": 1024, "U": 1024, **done.sizes}
    reads = sum(t.count.value(sizes) for t in tiled(done.derivation).local_reads)
    words = amounts(cost(estimate(done, GENERIC)))["local memory"]
    assert words == reads, text(tiled(done.derivation).local_reads)


def test_times() -> None:
    """In segments that caches serve: three to one of memory, which is 1024 operations."""
    c = mm("register")
    operation = Fraction(3, 1024)
    assert c["global memory"] == amounts(c)["global memory"]
    assert c["arithmetic"] == 2 * 1024**3 * operation
    assert c["local memory"] == pytest.approx(2 * 1024**3 / 8 * 2 * 2.6 * operation)
    assert c.time == sum(t.time for t in c.terms)
    scale = microseconds(ROUND)
    assert scale == pytest.approx(32 / 3000 / 1000)
    assert microseconds(GENERIC) is None
    # 2 * 1024^3 operations at 32 TFLOP/s
    assert float(c["arithmetic"]) * scale == pytest.approx(2 * 1024**3 / 32e6)


def test_units_without_work() -> None:
    """64 tiles on 48 units are two waves, of which the second has 32 units without work."""
    limits = replace(ROUND, compute_units=48)
    done = tile(MM, {"Ty": 16, "Tx": 16}, "register", limits)
    c = cost(estimate(done, limits))
    busy = c["arithmetic"] + c["local memory"]
    assert amounts(c)["waves"] == 32 + Fraction(limits.costs.fill) * 48
    assert c["waves"] == amounts(c)["waves"] * busy / 64


def test_launches() -> None:
    limits = replace(ROUND, costs=replace(ROUND.costs, launch=4))
    assert amounts(mm("naive", limits))["launches"] == 1
    scale = microseconds(limits)
    assert scale
    assert float(mm("naive", limits)["launches"]) * scale == pytest.approx(4)


def test_from_how_many_iterations_on_operands_are_packed() -> None:
    """8 bytes of a copy against a 24th of the two operations of an iteration; on the device where
    that was measured, what was measured."""
    assert (packing(H100), operand_packing(H100), transposition(H100)) == (1920, 1920, 2112)
    for name in ("gtx780ti", "a100", "rtx2080ti"):
        device = PROFILES[name]
        assert (
            packing(device) == operand_packing(device) == round(96 * device.peak / device.bandwidth)
        )
        assert transposition(device) > packing(device)
    assert packing(replace(H100, pack=0)) == 0
    assert packing(unmeasured(replace(H100, pack=0))) == 0
    assert packing(unmeasured(H100)) == pytest.approx(1920, rel=0.01)
    unknown = unmeasured(replace(H100, bandwidth=0, peak=0))
    assert (balance(unknown), packing(unknown)) == (20, 1920)


def test_short_sums_are_no_reason_to_copy_operands() -> None:
    """By what two launches take; where nobody knows that, from a default on; never, where operands
    are not packed."""
    assert worthwhile_iterations(H100) == 523
    assert worthwhile_iterations(unmeasured(H100)) == worthwhile_iterations(PROFILES["a100"]) == 512
    assert worthwhile_iterations(replace(H100, pack_operands=0)) == 0


ROOTS = """
#include <math.h>
void f(int n, const float a[n], float b[n]) {
  for (int i = 0; i < n; i++) b[i] = a[i] / (a[i] + 1.0f) + sqrtf(a[i]) * expf(a[i]) + a[i] / 2.0f;
}
"""


@pytest.mark.parametrize("level", LEVELS)
def test_quotients_roots_and_functions(level: Level) -> None:
    """As the device has them under `fast` alone; half of a number is a product."""
    (fn,) = parse_file("f.c", text=ROOTS).unit.functions
    c = cost(estimate(tile(fn, {}, None, H100), H100), fp=PERMITTED[level])
    slow = dict.fromkeys(("quotients", "square roots", "functions"), 1024)
    assert amounts(c).items() >= {"arithmetic": 5 * 1024, **slow}.items()
    costs, one = H100.costs, c["arithmetic"] / (5 * 1024)
    native = level == "fast"
    assert c["quotients"] == 1024 * one * (costs.native_quotient if native else costs.quotient)
    root = costs.native_square_root if native else costs.square_root
    assert c["square roots"] == 1024 * one * root
    assert c["functions"] == 1024 * one * costs.function


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("x[i] /= a[i]", "quotients"),
        ("x[i] += a[i] / a[i]", "quotients"),
        ("x[i] /= 3", "quotients by constants"),
        ("x[i] += a[i] / 3.0f", "quotients by constants"),
        ("x[i] = a[i] * 0.5f", ""),
        ("x[i] = a[i] / 4", ""),
    ],
)
def test_quotients_in_assignments(text: str, kind: str) -> None:
    body = f"void f(int n, float x[n], const float a[n]) {{ for (int i = 0; i < n; i++) {text}; }}"
    (fn,) = parse_file("f.c", text=body).unit.functions
    found = amounts(cost(estimate(tile(fn, {}, None, H100), H100)))
    assert {k: n for k, n in found.items() if "quotients" in k} == ({kind: 1024} if kind else {})


@pytest.mark.parametrize(("level", "operations"), [("contract", 29), ("fast", 1)])
def test_a_quotient_by_a_constant_is_no_division(level: Level, operations: int) -> None:
    """On the devices for which it is written as multiply-adds; elsewhere a compiler divides."""
    body = "void f(int n, float x[n]) { for (int i = 0; i < n; i++) x[i] = (x[i] + 1) / 3; }"
    (fn,) = parse_file("f.c", text=body).unit.functions
    e = estimate(tile(fn, {}, None, H100), H100)
    c = {t.name: t for t in cost(e, fp=PERMITTED[level]).terms}
    assert c["quotients by constants"].time == operations * c["arithmetic"].time
    assert PROFILES["mi250"].costs.quotient_by_constant == PROFILES["mi250"].costs.quotient


def test_n_body_is_as_much_quicker_as_was_measured() -> None:
    """7.52 ms for 65536 bodies, 3.01 with `fast`: the arithmetic of the model says 0.42."""
    (fn,) = parse_file("f.c", text=corpus("nests/nbody")).unit.functions
    e = estimate(tile(fn, {}, None, H100), H100)
    exact, fast = (
        sum(t.time for t in arithmetic(e, PERMITTED[level])) for level in ("contract", "fast")
    )
    assert float(fast / exact) == pytest.approx(3.01 / 7.52, abs=0.05)


@pytest.mark.parametrize("bound", ["m / 2", "m % 7", "(m + n) / 3"])
def test_amounts_of_rounded_bounds_are_taken_at_nominal_sizes(bound: str) -> None:
    """The versions of a sum of unknown length have costs."""
    text = (
        "void f(int n, int m, float *restrict s, const float a[n][m]) {\n"
        f"  for (int i = 0; i < n; i++) for (int j = 0; j < {bound}; j++) s[i] += a[i][j];\n}}\n"
    )
    parts = lx.loads(text)["f"].offload(limits="h100", fp="reassociate").parts
    steps = [r.step for p in parts if p.tiled for r in p.tiled.derivation.records]
    variants = [v for s in steps if isinstance(s, Dispatch) for v in s.variants]
    assert any(v.cost for v in variants)
