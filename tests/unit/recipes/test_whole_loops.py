"""Loops that data end, as loops of the tree: what they become, and what stays as it is."""

from __future__ import annotations

import pytest
from deriving import assert_same_meaning, c, start

from loopxform.ir.nodes import Function, Opaque, While
from loopxform.ir.printer import listing
from loopxform.ir.visit import walk
from loopxform.prepare.while_loops import whole_loops

CASES = {
    "while": ("while (s > 2) { s /= 2; a[0] += s; }", "while (s > 2)\n  s /= 2;\n  a[0] += s;\n"),
    "do": (
        "do { s /= 2; a[0] += s; } while (s > 2);",
        "more = 1;\nwhile (more)\n  s /= 2;\n  a[0] += s;\n  more = s > 2;\n",
    ),
    "a-number": (
        "while (s) s /= 2; a[0] = s;",
        "while (s)\n  s /= 2;\na[0] = s;\n",
    ),
    "for-on-data": (
        "int i; for (i = 0; i < n && a[0] > i; i++) a[0] -= 1; a[1] = i;",
        "i = 0;\nwhile (i < n && a[0] > i)\n  a[0] -= 1;\n  i += 1;\na[1] = i;\n",
    ),
    "step-in-a-condition": (
        "while (a[0] < n && s-- > 2) a[0] += s; a[1] = s;",
        "go = 0;\nif (a[0] < n)\n  s_2 = s;\n  s -= 1;\n  go = s_2 > 2 != 0;\nwhile (go)\n"
        "  a[0] += s;\n  go = 0;\n  if (a[0] < n)\n    s_3 = s;\n    s -= 1;\n"
        "    go = s_3 > 2 != 0;\na[1] = s;\n",
    ),
    "break": (
        "for (int i = 0; i < n; i++) { a[i] += 1; if (a[i] > 2) break; a[i] += 3; }",
        "more = 1;\nfor (i_2 = 0; more && i_2 < n; i_2++)\n  a[i_2] += 1;\n  if (a[i_2] > 2)\n"
        "    more = 0;\n  if (more)\n    a[i_2] += 3;\n",
    ),
    "break-and-the-count": (
        "int i; for (i = n - 1; i >= 0; i--) if (a[i] > 2) break; a[0] = i;",
        "more = 1;\ni = n - 1;\nfor (i_2 = n - 1; more && i_2 > -1; i_2--)\n  if (a[i_2] > 2)\n"
        "    more = 0;\n  if (more)\n    i = i_2 + -1;\na[0] = i;\n",
    ),
    "endless": (
        "while (1) { s -= 1; if (s < 0) { a[0] = s; break; } else a[1] = s; a[2] = s; }",
        "more = 1 != 0;\nwhile (more)\n  s -= 1;\n  if (s < 0)\n    a[0] = s;\n    more = 0;\n"
        "  else\n    a[1] = s;\n  if (more)\n    a[2] = s;\n    more = 1 != 0;\n",
    ),
    "break-of-the-inner": (
        "while (s > 2) { s /= 2; for (int j = 0; j < n; j++) if (a[j] > s) break; }",
        "while (s > 2)\n  s /= 2;\n  more = 1;\n  for (j_2 = 0; more && j_2 < n; j_2++)\n"
        "    if (a[j_2] > s)\n      more = 0;\n",
    ),
}


def function(body: str) -> Function:
    return start(c(body, "int n, int s, float a[n + 3]"))[0].start


@pytest.mark.parametrize("name", CASES)
def test_the_loops_of_the_tree(name: str) -> None:
    body, expected = CASES[name]
    assert listing(whole_loops(function(body))) == expected


@pytest.mark.parametrize("name", ["while", "do", "a-number", "for-on-data", "step-in-a-condition"])
def test_they_mean_the_same(name: str) -> None:
    fn = function(CASES[name][0])
    assert any(isinstance(s, While) for _, s in walk(fn.body))
    assert_same_meaning(fn, whole_loops(fn), (0, 1, 4, 9))


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i += 2) if (a[i] > 2) break;",
        "while (a[0] > 0 || s-- > 2) a[0] -= 1;",
        "again: s -= 1; a[0] += 1; if (s > 0) goto again;",
        "while (s > 0) { s -= 1; unknown(a); }",
    ],
)
def test_what_stays_unknown(body: str) -> None:
    fn = whole_loops(function(body))
    assert any(isinstance(s, Opaque) for _, s in walk(fn.body))


def test_counting_loops_are_left_alone() -> None:
    fn = function("for (int i = 0; i < n; i++) a[i] = s;")
    assert whole_loops(fn) is fn
