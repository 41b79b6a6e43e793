"""Unsplit: a loop and the rest of its iterations behind it as one loop."""

from __future__ import annotations

from itertools import product

import pytest
from conftest import Golden
from deriving import assert_same_meaning, assert_step, c, derived, refusal, start

from loopxform.errors import TransformError
from loopxform.ir.nodes import Decl
from loopxform.transforms import Unsplit, possible

INTS = "int n, int m, int a[n + m + 30], const int b[n + m + 30]"
S = "a[i] = a[i] * 2 + b[i + 1] + i;"


def both(first: str, second: str, before: str = "int i;", after: str = "", other: str = S) -> str:
    return c(f"{before} for ({first}) {{ {S} }} for ({second}) {{ {other} }} {after}", INTS)


IN_J = "a[j] = a[j] * 2 + b[j + 1] + j;"
QUARTERS, REST = "i = 0; i < n / 4 * 4; i++", "; i < n; i++"

LISTINGS = {
    "rest": (both(QUARTERS, REST), "unsplit i#1"),
    "mask": (both("i = 0; i < (n & ~3); i++", REST), "unsplit i#1"),
    "last-value": (both(QUARTERS, REST, after="a[0] = i;"), "unsplit i#1"),
    "from-the-bound": (both("int i = 0; i < n; i++", "int i = n; i < n + m; i++", before=""),
                       "assume n>=0", "assume m>=0", "unsplit i#1"),
    "another-name": (both("int i = 0; i < 4; i++", "int j = 4; j < 9; j++", before="",
                          other=IN_J),
                     "unsplit i"),
    "inverse": (c(f"for (int i = 0; i < 9; i++) {{ {S} }}", INTS), "split i 4", "unsplit i#1"),
    "parallel": (both(QUARTERS.replace("i = 0", "int i = 0"), "int i = n / 4 * 4; i < n; i++",
                      before=""), "assume n>=0",
                 "parallelise i#1", "parallelise i#2", "unsplit i#1"),
}  # fmt: skip
REFUSALS = {
    "beyond": (both("i = 0; i < m; i++", REST), "unsplit i#1"),
    "negative": (both("i = 0; i < (n + 3) / 4 * 4; i++", REST), "unsplit i#1"),
    "gap": (both("int i = 0; i < 4; i++", "int i = 5; i < 9; i++", before=""), "unsplit i#1"),
    "something-else": (both(QUARTERS, REST, other="a[i] = 1;"), "unsplit i#1"),
    "other-steps": (both(QUARTERS, "; i < n; i += 2"), "unsplit i#1"),
    "not-on-it": (both("i = 0; i < n - 1; i += 2", "; i < n; i += 2"), "unsplit i#1"),
    "nothing-behind": (both(QUARTERS, REST), "unsplit i#2"),
    "maybe-empty": (both("int i = 0; i < n; i++", "int i = n; i < n + m; i++", before=""),
                    "unsplit i#1"),
    "between": (both(QUARTERS, REST).replace("} for", "} a[0] = 1; for"), "unsplit i#1"),
}  # fmt: skip


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps, sizes=(0, 1, 2, 5, 8, 11)))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


def test_nothing_is_left_of_the_variable_between() -> None:
    after = derived(*LISTINGS["rest"]).function
    assert not [s for s in after.body if isinstance(s, Decl) and "start" in s.name]


POINTS = ("0", "n", "m", "n / 4 * 4", "n - m", "(n + 1) / 2", "n & ~3", "n % 5", "n - n % 5")


def test_every_form_that_is_accepted_means_the_same() -> None:
    accepted = 0
    for first, end, stride in product(POINTS, ("n", "m", "n + m", "n - 1"), ("1", "2")):
        for go_on in ("", f"i = {first}"):
            text = both(f"i = 0; i < {first}; i += {stride}", f"{go_on}; i < {end}; i += {stride}",
                        after="a[n + m + 20] = i;")  # fmt: skip
            before = start(text)[0]
            after = possible(lambda d=before: d.then(Unsplit("i#1")), TransformError)
            if not isinstance(after, TransformError):
                accepted += 1
                assert_same_meaning(before.function, after.function, (0, 1, 2, 3, 5, 8))
    assert accepted > 8
