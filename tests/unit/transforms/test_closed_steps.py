"""What a step of time writes is carried by kernels, or nobody needs it. The nests are taken for
parallel, as statements are that one work-item runs: nothing but the proof stands in the way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopxform.frontend import parse_file
from loopxform.ir.nodes import For, Function, Stmt
from loopxform.ir.visit import map_body
from loopxform.transforms import TimeBoxes

BACK = "for (int i = 1; i < n; i++) a[i] = b[i];"
STEP = f"for (int i = 1; i < n; i++) b[i] = a[i - 1] * s; {BACK}"
ONCE = "for (int o = 0; o < 1; o++)"
CASES = {
    "nothing-else": (STEP, "", ""),
    "set-in-every-iteration": (
        f"for (int i = 1; i < n; i++) {{ s = a[i - 1]; b[i] = s * 2; }} {BACK}",
        "",
        "",
    ),
    "set-by-data": (f"{STEP} {ONCE} s = b[0];", "", "may read what another one set 's' to"),
    "set-by-data-first": (f"{ONCE} s = b[0]; {STEP}", "", "may read what another one set 's' to"),
    "set-under-a-condition": (
        f"for (int i = 1; i < n; i++) {{ if (a[i] > 1) s = a[i - 1]; b[i] = s; }} {BACK}",
        "",
        "may read what another one set 's' to",
    ),
    "read-behind": (
        f"for (int i = 1; i < n; i++) {{ s = a[i - 1]; b[i] = s; }} {BACK}",
        "c[0] = s;",
        "'s' is read behind the loop that sets it",
    ),
    "of-others": (
        f"{STEP} {ONCE} g = a[1];",
        "",
        "the loop sets 'g', which belongs to others",
    ),
    "in-bounds": (
        f"{ONCE} k = a[1] > 1; for (int i = 1 + k; i < n; i++) b[i] = a[i - 1]; {BACK}",
        "",
        "the bounds of the loop over 'i' are not the same in all steps",
    ),
    "between-the-nests": (
        f"{ONCE} k = a[1] > 1; j = k; for (int i = 1; i < n; i++) b[i] = a[i - 1] + j; {BACK}",
        "",
        "'k' is used outside of the nests that set it",
    ),
    "coefficients": (
        f"{STEP} for (int i = 0; i < n; i++) c[i] = a[i]; for (int i = 1; i < n; i++) a[i] = c[0];",
        "",
        "'c' is not read at a constant distance",
    ),
    "host-read-behind": (f"{STEP} k = t + 1;", "c[0] = k;", "'k' is read behind the loop"),
}


def program(body: str, behind: str) -> Function:
    text = f"""float g;
    void f(int T, int n, float a[n], float b[n], float c[n]) {{
      float s = 3; int k = 0, j = 0;
      for (int t = 0; t < T; t++) {{ {body} }} {behind} }}"""
    (fn,) = parse_file("f.c", text=text).unit.functions
    (at,) = (n for n, s in enumerate(fn.body) if isinstance(s, For))

    def parallel(s: Stmt) -> tuple[Stmt, ...]:
        return (replace(s, parallel=True) if isinstance(s, For) else s,)

    loop = fn.body[at]
    assert isinstance(loop, For)
    loop = replace(loop, body=map_body(loop.body, parallel))
    return replace(fn, body=(*fn.body[:at], loop, *fn.body[at + 1 :]))


@pytest.mark.parametrize("case", CASES)
def test_what_a_step_of_time_writes(case: str) -> None:
    body, behind, expected = CASES[case]
    refused = [o.message for o in TimeBoxes("t", ("2",), ("5",), "1").check(program(body, behind))]
    assert len(refused) == bool(expected), refused
    assert all(expected in message for message in refused), refused
