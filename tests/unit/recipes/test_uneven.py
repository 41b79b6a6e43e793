"""Several iterations for each work-item, where data say how long they take: steps, and when."""

from __future__ import annotations

from dataclasses import replace

import pytest
from conftest import Golden
from deriving import c, corpus

import loopxform as lx
from loopxform.errors import LoopxformError
from loopxform.ir.printer import listing
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Dispatch

EACH = "for (int i = 0; i < n; i++)"
IMAGE = "for (int y = 0; y < n; y++) for (int x = 0; x < m; x++)"
LISTS = "int n, const float x[restrict n], const int m[restrict n], float y[restrict n]"
PIXELS = (
    "int n, int m, const float u[restrict n][m], const int v[restrict n][m], int a[restrict n][m]"
)
ROWS = "int n, int m, const int r[restrict n + 1], const float x[restrict m], float y[restrict n]"

COLLATZ = c(
    f"{EACH} {{ int s = i + 1, k = 0; while (s != 1) {{ "
    "s = s & 1 ? 3 * s + 1 : s / 2; k++; } y[i] = k; }",
    LISTS,
)
BREAKS = c(
    f"{IMAGE} {{ int k; for (k = 0; k < 9; k++) if ((x ^ k) == y) break; a[y][x] = k; }}", PIXELS
)
LENGTHS = c(
    f"{EACH} {{ float s = 0; for (int k = 0; k < m[i]; k++) s = 0.5f * s + k; y[i] = s; }}", LISTS
)
ESCAPE = "{ float p = %s; int k = 0; while (k < 99 && p < 4) { p = p * p + 0.1f; k++; } "

DIFFERENT = {
    "collatz": COLLATZ,
    "lengths": LENGTHS,
    "values of a list": c(f"{EACH} {ESCAPE % 'x[i]'} y[i] = k; }}", LISTS),
    "under a condition": c(
        f"{EACH} {{ int k = 0; if (m[i] > 2) {ESCAPE % 'x[i]'} y[i] = k; }} }}", LISTS
    ),
    "a generator": c(
        f"{EACH} {{ unsigned s = i; int k = 0; while (s > 9999u) {{ "
        "s = s * 1664525u + 1u; k++; } y[i] = k; }",
        LISTS,
    ),
    "integers of an image": c(
        f"{IMAGE} {{ int k = v[y][x], q = 0; while (k > 9) {{ "
        "k -= k > 20 ? 5 : 3; q++; } a[y][x] = q; }",
        PIXELS,
    ),
}
ALIKE = {
    "escape": c(f"{IMAGE} {ESCAPE % '0.01f * x * y'} a[y][x] = k; }}", PIXELS),
    "values of an image": c(f"{IMAGE} {ESCAPE % 'u[y][x]'} a[y][x] = k; }}", PIXELS),
    "common divisors": c(
        f"{EACH} {{ int p = m[i], q = i; while (q) {{ int t = p % q; p = q; q = t; }} y[i] = p; }}",
        LISTS,
    ),
    "digits": c(
        f"{EACH} {{ int p = m[i], k = 0; while (p > 0) {{ p /= 10; k++; }} y[i] = k; }}", LISTS
    ),
    "elements in step": c(
        f"{EACH} {{ float s = 0; for (int k = 0; k < m[i]; k++) s = 0.5f * s + x[k]; y[i] = s; }}",
        LISTS,
    ),
    "links": c(f"{EACH} {{ int k = i; while (m[k] != k) k = m[k]; y[i] = k; }}", LISTS),
    "rows between starts": c(
        f"{EACH} {{ float s = 0; for (int k = r[i]; k < r[i + 1]; k++) "
        "s = 0.5f * s + k; y[i] = s; }",
        ROWS,
    ),
    "few": c(f"{EACH} {ESCAPE % 'x[i]'} y[i] = k; }}", LISTS).replace("99", "20"),
    "as long as a size": c(
        f"{EACH} {{ float s = x[i]; for (int k = 0; k < n; k++) s = 0.5f * s + k; y[i] = s; }}",
        LISTS,
    ),
    "two loops": c(
        f"{EACH} {{ float s = x[i]; while (s > 1) s = s - 3; while (s < 1) s = s + 2; y[i] = s; }}",
        LISTS,
    ),
}
LISTINGS = {"one-loop": COLLATZ, "two-loops": BREAKS, "condition": DIFFERENT["under a condition"]}
REFUSALS = {
    "no-loop-that-data-end": corpus("mm"),
    "two-loops": ALIKE["two loops"],
    "rows-between-starts": ALIKE["rows between starts"],
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    done = lx.loads(LISTINGS[case])["f"].tile(recipe="uneven", limits="h100")
    steps = "\n".join(str(r.step) for r in done.derivation.records)
    golden.check(f"{steps}\n\n{listing(done.derivation.function)}")


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    (routine,) = lx.loads(REFUSALS[case])
    with pytest.raises(LoopxformError) as e:
        routine.tile(recipe="uneven", limits="h100")
    golden.check(f"{e.value}\n")


@pytest.mark.parametrize("name", [*DIFFERENT, *ALIKE])
def test_where_lengths_differ(name: str) -> None:
    """The host chooses by the number of iterations, where that is open."""
    text = {**DIFFERENT, **ALIKE}[name]
    done = lx.loads(text)["f"].offload(limits="h100")
    steps = (r.step for r in done.derivation.records)
    labels = [v.label for s in steps if isinstance(s, Dispatch) for v in s.variants]
    assert ("several" in labels) == (name in DIFFERENT), labels


def test_devices_where_nothing_was_measured() -> None:
    limits = PROFILES["h100"]
    once = replace(limits, costs=replace(limits.costs, uneven_iterations=1))
    assert len(lx.loads(COLLATZ)["f"].offload(limits=once).derivation.records) > 0
    steps = [r.step for r in lx.loads(COLLATZ)["f"].offload(limits=once).derivation.records]
    assert not any(isinstance(s, Dispatch) for s in steps)
