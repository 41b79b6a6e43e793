"""Choices of what becomes of a scalar, as branches."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

PARAMS = "int n, const int a[n], const int key[n], unsigned char b[n], int y[n]"


def loop(body: str) -> str:
    return c(f"int s = 3; for (int k = 0; k < n; k++) {{ {body} y[k] = s; }}", PARAMS)


LISTINGS = {
    "anew": (loop("s = key[k] > 2 ? s + a[k] : a[k];"), "branch-choice s k"),
    "a-term": (loop("s = (key[k] > 2 ? s : 0) + a[k];"), "branch-choice s k"),
    "in-a-branch": (loop("if (a[k]) s = key[k] > 2 ? 1 : s * a[k];"), "branch-choice s k"),
    "of-choices": (
        loop("s = key[k] > 2 ? (a[k] > 4 ? s + 1 : s - 1) : (a[k] > s ? a[k] : s);"),
        "branch-choice s k",
    ),
    "another-type": (loop("s = (key[k] > 2 ? b[k] : s + 1l) / 2;"), "branch-choice s k"),
    "kept": (
        loop("s = key[k] > 2 ? a[k] : s; s = !a[k] ? s : s * 2; s = a[k] > 4 ? s : s;"),
        "branch-choice s k",
    ),
    "then-a-scan": (
        loop("s = key[k] > 2 ? s + a[k] : a[k];"), "branch-choice s k", "reduce-then-scan k 2",
    ),
}  # fmt: skip

REFUSALS = {
    "an-extremum": (loop("s = a[k] > s ? a[k] : s;"), "branch-choice s k"),
    "a-term-without-it": (loop("s += key[k] > 2 ? a[k] : 0;"), "branch-choice s k"),
    "made-at-times": (loop("s = a[k] && (key[k] > 2 ? s : 0);"), "branch-choice s k"),
    "of-an-iteration": (loop("int t = s; t = a[k] ? t : 0; s = t;"), "branch-choice t k"),
}


@pytest.mark.parametrize("name", LISTINGS)
def test_listing(name: str, golden: Golden) -> None:
    text, *steps = LISTINGS[name]
    golden.check(assert_step(text, *steps, sizes=(0, 1, 2, 5, 8)))


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name: str, golden: Golden) -> None:
    text, *steps = REFUSALS[name]
    golden.check(refusal(text, *steps))
