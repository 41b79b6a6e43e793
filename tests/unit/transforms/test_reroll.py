"""Reroll: a loop whose body is that of several iterations as a loop over one of them."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

INTS = "int n, int m, int a[n + m + 9], const int b[n + m + 9]"


def unrolled(header: str, *statements: str, before: str = "", after: str = "") -> str:
    return c(f"{before} for ({header}) {{ {' '.join(statements)} }} {after}", INTS)


FOUR = tuple(f"a[i + {n}] = 2 * b[i + {n}] + a[i];".replace(" + 0]", "]") for n in range(4))
SAME = tuple(f"a[i + {n}] += 2 * b[i + {n}];" for n in range(4))
SUM = tuple(f"s += b[i + {n}] * (i + {n});".replace("(i + 0)", "i") for n in range(4))
PAIRS = ("a[i] = b[i];", "a[i + 1] = 3;", "a[i + 2] = b[i + 2];", "a[i + 3] = 3;")
GUARDED = ("if (b[i] > 0) a[i] = i;", "if (b[i + 1] > 0) a[i + 1] = i + 1;")

LISTINGS = {
    "same": (unrolled("int i = 0; i < n; i += 4", *SAME), "reroll i"),
    "tail": (unrolled("int i = 0; i + 3 < n; i += 4", *SAME), "reroll i"),
    "until": (unrolled("int i = 0; i <= n - 4; i += 4", *SAME), "reroll i"),
    "fixed": (unrolled("int i = 1; i < 5; i += 4", *SAME), "reroll i"),
    "from-m": (unrolled("int i = m; i < m + 8; i += 4", *SAME), "reroll i"),
    "sum": (
        unrolled("int i = 0; i < n - 3; i += 4", *SUM, before="int s = 0;", after="a[0] = s;"),
        "reroll i",
    ),
    "two-statements": (unrolled("int i = 0; i + 3 < n; i += 4", *PAIRS), "reroll i"),
    "of-two": (unrolled("int i = 0; i + 3 < n; i += 4", *SAME[:1], SAME[2]), "reroll i"),
    "guarded": (unrolled("int i = 0; i + 1 < n; i += 2", *GUARDED), "reroll i"),
    "last-value": (
        unrolled("i = 0; i + 3 < n; i += 4", *SAME, before="int i;", after="a[0] = i;"),
        "reroll i",
    ),
    "two-ends": (unrolled("int i = 0; i + 3 < n && i < m; i += 4", *SAME), "reroll i"),
}
REFUSALS = {
    "once": (unrolled("int i = 0; i < n; i += 4", SAME[0]), "reroll i"),
    "another-order": (unrolled("int i = 0; i < n; i += 4", *reversed(SAME)), "reroll i"),
    "interleaved": (unrolled("int i = 0; i < n; i += 2", PAIRS[0], PAIRS[2], PAIRS[1], PAIRS[3]),
                    "reroll i"),
    "one-missing": (unrolled("int i = 0; i < n; i += 4", *SAME[:3]), "reroll i"),
    "another-number": (unrolled("int i = 0; i < n; i += 4", *SAME[:3], "a[i + 3] += 3 * b[i + 3];"),
                       "reroll i"),
    "fixed-element": (unrolled("int i = 0; i < n; i += 4", *FOUR), "reroll i"),
    "several-sums": (
        unrolled("int i = 0; i < n; i += 2", "s += b[i];", "t += b[i + 1];",
                 before="int s = 0, t = 0;", after="a[0] = s + t;"), "reroll i",
    ),
    "far-away": (unrolled("int i = m; i < n; i += 4", *SAME), "reroll i"),
    "downwards": (unrolled("int i = n; i > 3; i -= 2", "a[i] = 1;", "a[i - 1] = 1;"), "reroll i"),
    "parallel-mapped": (unrolled("int i = 0; i < n; i += 4", *SAME), "parallelise i",
                        "map i group.x", "reroll i"),
}  # fmt: skip


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps, sizes=(0, 1, 2, 5, 8, 11)))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
