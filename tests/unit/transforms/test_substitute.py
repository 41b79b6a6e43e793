"""Substitute: a scalar that grows with the iterations is replaced by its value."""

from __future__ import annotations

import random

import pytest
from conftest import Golden
from deriving import assert_step, c, derived, refusal

from loopxform.analysis.verdict import judge

PACKED = c("int j = 0; for (int i = 0; i < n; i++) { b[j] = a[i]; j++; }")
ROOM = "int n, float a[n+1], float b[n+1]"

LISTINGS = {
    "count": (PACKED, "substitute j i"),
    "update-first": (
        c("int k = 3; for (int i = 0; i < n - 8; i++) { k++; b[k] = a[k + 1] + k; }"),
        "substitute k i",
    ),
    "by-two-read-after": (
        c("int j = 0; for (int i = 0; i < n / 2; i++) { b[j] = a[i]; j = j + 2; } a[0] = j;", ROOM),
        "substitute j i",
    ),
    "strided-down": (
        c(
            "int j = 0; for (int i = n - 1; i >= 0; i -= 3) { b[j] = a[i]; j = 1 + j; } a[0] = j;",
            ROOM,
        ),
        "substitute j i",
    ),
    "falling": (
        c("int j = n; for (int i = 2; i < n; i += 2) { j -= 2; b[j] = a[i]; }"),
        "substitute j i",
    ),
    "start-unknown": (
        c(
            "int j = s; for (int i = 0; i < n; i++) { b[i] = a[i] + j % 7u; j += 3; }",
            "int n, int s, float a[n], float b[n]",
        ),
        "substitute j i",
    ),
    "by-a-parameter": (
        c(
            "int j = 0; for (int i = 0; i < n; i++) { b[i] = j; j += s; }",
            "int n, int s, float a[n], float b[n]",
        ),
        "substitute j i",
    ),
    "inner-loop": (
        c(
            "int p = 0; for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { "
            "b[p] = a[j]; p++; }",
            "int n, float a[n], float b[n*n]",
        ),
        "substitute p j",
    ),
    "outer-loop-after-inner": (
        c(
            "int p = 0; for (int i = 0; i < n; i++) for (int j = 0; j < 4; j++) { "
            "b[p] = a[j]; p++; }",
            "int n, float a[4], float b[4*n]",
        ),
        "substitute p j",
        "substitute p i",
    ),
    "unsigned": (
        c("unsigned j = 0; for (int i = 0; i < n; i++) { b[j] = a[i]; j += 1; } a[0] = j;", ROOM),
        "substitute j i",
    ),
    "twice": (
        c("int j = 0; for (int i = 1; i < n; i += 2) { b[j] = 1; j++; b[j] = 2; j++; }", ROOM),
        "substitute j i",
    ),
    "through-another": (
        c(
            "int j = -1, k; for (int i = 0; i < n; i++) { k = j + 1; b[k] = 1; j = k + 2; "
            "b[j] = 2; } a[0] = j;",
            "int n, float a[4], float b[4*n]",
        ),
        "substitute j i",
    ),
}

REFUSALS = {
    "under-a-condition": (
        c("int j = 0; for (int i = 0; i < n; i++) if (a[i] > 1) { b[j] = a[i]; j++; }"),
        "substitute j i",
    ),
    "twice-and-otherwise": (
        c("int j = 0; for (int i = 1; i < n; i += 2) { b[j] = 1; j++; if (i > 4) j++; }"),
        "substitute j i",
    ),
    "by-what-changes": (
        c("int j = 0; for (int i = 0; i < n; i++) { b[i] = j; j += i; }"),
        "substitute j i",
    ),
    "in-the-bound": (
        c("int j = 0; for (int i = 0; i < n - j; i++) { b[i] = 1; j++; }"),
        "substitute j i",
    ),
    "real": (
        c("float t = 0; for (int i = 0; i < n; i++) { b[i] = t; t += 1; }"),
        "substitute t i",
    ),
    "unknown": (PACKED, "substitute j x"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


def test_the_loop_becomes_parallel() -> None:
    (before,) = judge(derived(PACKED).function)
    assert before.parallel == "no"
    assert "'substitute j i' takes the dependence away" in before.reasons[0].message
    (after,) = judge(derived(PACKED, "substitute j i").function)
    assert after.parallel == "yes"


def written(rng: random.Random) -> str:
    """A loop of any direction and step, with uses on both sides of an update of any amount."""
    amount = rng.choice(["1", "2", "3", "-1", "-2", "s"])
    header = rng.choice(
        ["i = 0; i < n; i++", "i = 2; i < n; i += 2", "i = n - 1; i >= 0; i--",
         "i = n; i > 1; i -= 3", "i = 5; i < 2; i++", "i = s; i < n; i++"]
    )  # fmt: skip
    update = rng.choice(["j += {0};", "j = j + {0};", "j = {0} + j;", "j -= {0};"]).format(amount)
    use = rng.choice(["b[i] = b[i] + j;", "if (i > 2) b[i] = a[i] * j; else b[i] = j + 1;"])
    other = rng.choice(["", "a[i] = j - 1;", "for (int k = 0; k < 2; k++) a[i] += j * k;"])
    start, after = rng.choice(["0", "7", "-3", "n"]), rng.choice(["", "b[0] = b[0] + j;"])
    parts = rng.choice([(use, update, other), (update, use, other), (other, update, use)])
    body = " ".join(parts)
    text = f"int j = {start}; for (int {header}) {{ {body} }} {after}"
    return c(text, "int n, int s, float a[n+1], float b[n+1]")


def test_any_loop_computes_the_same() -> None:
    for seed in range(60):
        assert_step(written(random.Random(seed)), "substitute j i")
