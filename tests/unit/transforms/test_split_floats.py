"""SplitFloats: products of floats as those of the bfloat16 that they are sums of."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from c_texts import MM
from conftest import Golden
from deriving import c, derived, refusal, shown

from loopxform.api.permitted import needed, require_order
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.errors import TransformError
from loopxform.floating_point import PERMITTED
from loopxform.frontend import parse_file
from loopxform.ir.condition_text import condition_text
from loopxform.ir.device_facts import WARP
from loopxform.recipes.tile import tile
from loopxform.recipes.tiled import Tiled
from loopxform.runtime.schedule import launched
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Dispatch, SplitFloats, Variant, replay, step
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

FAST = PERMITTED["fast"]
TURNED = MM.replace("A[M][U]", "A[U][M]").replace("A[i][k]", "A[k][i]")
NOT_FROM_ZERO = MM.replace("acc = 0", "acc = C[i][j]")
TWICE = MM.replace("A[i][k] *", "A[i][k] * A[k][j] *")
READ_ELSEWHERE = MM.replace("C[i][j] = acc", "C[i][j] = acc + A[i][0]")
SUBTRACTED = MM.replace("+=", "-=")
DOUBLES = MM.replace("float A", "double A")
LATER = MM.replace("k = 0", "k = 1")
DIAGONALS = MM.replace("A[i][k]", "A[i][k+1]")
FLAT = c("for (int i = 0; i < n; i++) a[i] = b[i];")


def steps_of(text: str, last: str) -> tuple[str, ...]:
    """The step, with what it assumes before it."""
    _, loop, parts, arrays, fast = last.split()
    asked = SplitFloats(loop, parts, tuple(arrays.split(",")), fast).open_questions(
        derived(text).function
    )
    return (*(f"assume {condition_text(e)}" for e in asked), last)


LISTINGS = {
    "two": (MM, "split-floats i 2 A,B fast"),
    "three": (MM, "split-floats i 3 A,B fast"),
    "turned": (TURNED, "split-floats i 2 A:T,B fast"),
}

REFUSALS = {
    "not-permitted": (MM, "split-floats i 3 A,B"),
    "parts": (MM, "split-floats i 4 A,B fast"),
    "one-array": (MM, "split-floats i 3 A fast"),
    "sizes": (MM, "split-floats i 3 A,B fast"),
    "not-from-zero": (NOT_FROM_ZERO, "split-floats i 3 A,B fast"),
    "three-factors": (TWICE, "split-floats i 3 A,B fast"),
    "read-elsewhere": (READ_ELSEWHERE, "split-floats i 3 A,B fast"),
    "subtracted": (SUBTRACTED, "split-floats i 3 A,B fast"),
    "doubles": (DOUBLES, "split-floats i 3 A,B fast"),
    "later": (LATER, "split-floats i 3 A,B fast"),
    "other-terms": (DIAGONALS, "split-floats i 3 A,B fast"),
    "no-rows": (FLAT, "split-floats i 3 a,b fast"),
    "unknown-loop": (MM, "split-floats z 3 A,B fast"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, last = LISTINGS[case]
    done = derived(text, *steps_of(text, last))
    golden.check(shown(done))
    assert str(step(last)) == last
    again = replay(derived(text, *steps_of(text, last)[:-1]), [done.records[-1].step.to_json()])
    assert again.function == done.function


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))


# ---------------------------------------------------------------- how far results are


def numbers(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Floats of many magnitudes, with zeros."""
    values = rng.standard_normal(shape) * 2.0 ** rng.integers(-30, 31, shape)
    values[rng.random(shape) < 0.02] = 0
    return values.astype(np.float32)


def bound(parts: int, terms: int) -> float:
    """What the documentation promises."""
    return 2.0**-15 * (1 + terms / 256) if parts == 2 else 2.0**-20 * (1 + terms / 8)


@pytest.mark.parametrize("parts", [2, 3])
def test_results_are_within_the_bound(parts: int) -> None:
    fn = derived(MM, *steps_of(MM, f"split-floats i {parts} A,B fast")).function
    rng, (m, u, n) = np.random.default_rng(25 + parts), (6, 37, 5)
    a, b = numbers(rng, (m, u)), numbers(rng, (u, n))
    found = np.full((m, n), 7, np.float32)
    Program(fn).run({"M": m, "U": u, "N": n, "A": a, "B": b, "C": found})
    a, b = a.astype(float), b.astype(float)
    assert (abs(found - a @ b) <= bound(parts, u) * (abs(a) @ abs(b))).all()


LARGEST = float(np.finfo(np.float32).max)
SPECIAL = [0.0, -1.0, 2.0**-110, 1 + 2.0**-8, 1 - 2.0**-24, LARGEST, -LARGEST, 3.3895e38, 3.39e38]


def test_three_parts_are_all_of_a_float() -> None:
    """The sum of the parts is the number, up to the largest; what is no number stays so."""
    fn = derived(MM, *steps_of(MM, "split-floats i 3 A,B fast")).function
    rng = np.random.default_rng(26)
    bits = rng.integers(17 << 23, 255 << 23, 60, np.uint32)
    drawn = (bits | rng.integers(0, 2, 60, np.uint32) << 31).view(np.float32)
    a = np.concatenate([np.array(SPECIAL, np.float32), drawn])
    lost = np.array([np.inf, -np.inf, np.nan], np.float32)
    low = np.array([0x7F800001, 0x7FFFFFFF], np.uint32).view(np.float32)
    every = np.concatenate([a, lost, low])[:, None]
    found = np.zeros((len(every), 1), np.float32)
    one = np.ones((1, 1), np.float32)
    with np.errstate(invalid="ignore"):
        Program(fn).run({"M": len(every), "U": 1, "N": 1, "A": every, "B": one, "C": found})
    assert np.array_equal(found[: len(a), 0], a)
    assert not np.isfinite(found[len(a) :]).any()


# ---------------------------------------------------------------- what is written


def tiled(parts: int | None, text: str = MM) -> Tiled:
    *_, fn = parse_file("f.c", text=text).unit.functions
    options = Options(tensor_units=True, bfloat_parts=parts).within(FAST)
    return tile(fn, {}, None, PROFILES["h100"], options=options)


def variants(done: Tiled) -> list[Variant]:
    return [
        v for r in done.derivation.records if isinstance(r.step, Dispatch) for v in r.step.variants
    ]


def split(v: Variant) -> bool:
    return any(isinstance(s, SplitFloats) for s in v.steps)


@pytest.mark.parametrize(
    ("sizes", "warp", "taken"),
    [
        ((4096, 4096, 4096), 32, True),
        ((4096, 4096, 4096), 1, False),
        ((1000, 4096, 4096), 32, False),
        ((4096, 100, 4096), 32, False),
        ((4099, 777, 1921), 32, True),
        ((60000, 60000, 60000), 32, False),
    ],
)
def test_when_floats_are_split(sizes: tuple[int, int, int], warp: int, taken: bool) -> None:
    """Large products, whose copies have no more elements than an int numbers, on devices with
    warps."""
    plan = plan_of_default()
    scalars = dict(zip("MUN", sizes)) | {WARP.name: warp}
    kernels = [plan.kernels[n] for n, _ in launched(plan, scalars, lambda _: 0)]
    assert any("A_b" in k.text for k in kernels) == taken
    assert len(kernels) == (3 if taken else 1)
    assert plan.group_products


@cache
def plan_of_default() -> Plan:
    return emit.kernel(tiled(None).derivation, fp=FAST)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "parts"), [(MM, 2), (MM, 3), (TURNED, 2)])
def test_kernels_are_within_the_bound(parts: int, text: str) -> None:
    """By warps together, by each warp, and by work-items."""
    v = next(v for v in variants(tiled(parts, text)) if v.label.startswith("64x128") and split(v))
    assert v.derivation is not None
    plan = emit.kernel(v.derivation, fp=FAST)
    assert plan.group_products
    rng, (m, u, n) = np.random.default_rng(27 + parts), (5, 19, 9)
    a, b = numbers(rng, (m, u)), numbers(rng, (u, n))
    exact, most = a.astype(float) @ b.astype(float), abs(a.astype(float)) @ abs(b.astype(float))
    left = np.ascontiguousarray(a.T) if text == TURNED else a
    for form in FORMS if parts == 2 and text == MM else FORMS[:1]:
        found = np.full((m, n), 7, np.float32)
        execute(plan, {"M": m, "U": u, "N": n, "A": left, "B": b, "C": found}, **form)
        assert (abs(found - exact) <= bound(parts, u) * most).all(), form


FORMS: list[dict[str, bool]] = [{}, {"warp_groups": False}, {"asynchronous": False}]


def test_none_where_they_are_forbidden() -> None:
    assert not any(map(split, variants(tiled(0))))


def test_they_need_permission() -> None:
    """Also where the steps of a tiling are applied again."""
    derivation = tiled(2).derivation
    assert needed(derivation) == "fast"
    require_order(derivation, FAST)
    with pytest.raises(TransformError, match="results differ"):
        require_order(derivation, PERMITTED["reassociate"])
