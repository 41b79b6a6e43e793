"""Loops around loops that end when data say so: their verdicts, and which of them are tiled."""

from __future__ import annotations

import pytest
from deriving import c

import loopxform as lx
from loopxform.ir.visit import loops

PARAMS = "int n, int m, int a[restrict n], const int b[restrict n]"
AROUND = {
    "while": ("int t = b[i]; while (t > 1 && t < 90) t *= 2; a[i] = t;", "yes"),
    "do": ("int t = b[i], k = 0; do { t -= k; k++; } while (t > 9 && k < m); a[i] = k;", "yes"),
    "break": ("int k; for (k = 0; k < m; k++) if (b[i] < k * k) break; a[i] = k;", "yes"),
    "element": ("while (a[i] > 1) a[i] /= 2;", "yes"),
    "nested": ("while (a[i] > 1) { int t = a[i]; while (t > 2) t -= 3; a[i] -= t + 2; }", "yes"),
    "outer-variable": ("s = b[i]; while (s > 1) s /= 2; a[i] = s;", "privatizable"),
    "perhaps-set": ("while (s < b[i]) { s *= 2; s++; } a[i] = s;", "no"),
    "perhaps-read": ("int t = b[i]; while (t > 1) { t /= 2; a[i] += a[0]; }", "unknown"),
    "perhaps-set-inside": ("int t = b[i]; while (t > 9) { s = t; t /= 2; } a[i] = s;", "unknown"),
    "sum": ("int t = b[i]; while (t > 1) { t /= 2; s += t; }", "reduction"),
    "moving-place": ("int t = b[i]; while (t < m) { t = 2 * t + 1; a[t] = i; }", "unknown"),
    "return": ("int t = b[i]; while (t > 1) { t /= 2; if (t == 5) return; } a[i] = t;", "no"),
}


def text(body: str) -> str:
    loop = f"int s = 1; for (int i = 0; i < n; i++) {{ {body} }} a[0] = s;"
    return c(loop, PARAMS)


@pytest.mark.parametrize("name", AROUND)
def test_verdict_around(name: str) -> None:
    body, verdict = AROUND[name]
    found = lx.loads(text(body))["f"].check()
    assert found[0].parallel == verdict, found[0].reasons
    assert not {"more", "w"} & {*found[0].private}


def test_paths_are_those_of_the_text() -> None:
    routine = lx.loads(text(AROUND["break"][0]))["f"]
    assert [v.path for v in routine.check()] == [s.path for s in loops(routine.function)]


@pytest.mark.parametrize("body", ["while (b[i] > a[0]) a[i]++;", "if (b[i] > 3) break; a[i] = 1;"])
def test_what_is_not_tiled(body: str) -> None:
    nest = f"for (int i = 0; i < n; i++) {{ {body} }}"
    with pytest.raises(lx.LoopxformError) as caught:
        lx.loads(c(nest, PARAMS))["f"].tile()
    assert caught.value.loc is not None
    assert caught.value.help


def test_steps_replay_on_the_text() -> None:
    routine = lx.loads(text(AROUND["while"][0]).replace("int s = 1;", "").replace("a[0] = s;", ""))[
        "f"
    ]
    done = routine.tile().derivation
    tiles = dict(done.start.tiles)
    assert routine.apply(*(r.step for r in done.records), tiles=tiles).function == done.function
