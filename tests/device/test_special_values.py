"""NaN, infinities and zeros of both signs where iterations are compared with each other: what C's
loops keep is kept to the last bit, whatever the recipe."""

from __future__ import annotations

import numpy as np
import pytest

import loopxform as lx
from loopxform.verify.cref import CSource, Library

LOOP = "for (int i = 0; i < n; i++)"
ROWS = "for (int i = 0; i < n; i++) { float m = a[i][0]; for (int j = 0; j < 70; j++)"
FUNCTIONS = {
    "running extrema": (
        f"float m = a[0], s = a[0]; {LOOP} {{ if (a[i] > m) m = a[i];"
        " s = a[i] < s ? a[i] : s; y[i] = m; z[i] = s; }"
    ),
    "the last one set": f"float s = -1; {LOOP} {{ if (a[i] > 0) s = a[i]; y[i] = s; }}",
    "compaction": f"int k = 0; {LOOP} if (!(a[i] < 1)) y[k++] = a[i]; z[0] = k;",
    "extrema": (
        f"float m = -0.0f, s = a[0]; {LOOP} {{ if (m < a[i]) m = a[i]; if (a[i] < s) s = a[i]; }}"
        " y[0] = m; z[0] = s;"
    ),
    "places": (
        f"float m = 1; int p = -1; {LOOP} if (a[i] < m) {{ m = a[i]; p = i; }} y[0] = m; z[0] = p;"
    ),
    "the last place": (
        f"float m = a[0]; int p = -1; {LOOP} if (a[i] >= m) {{ m = a[i]; p = i; }}"
        " y[0] = m; z[0] = p;"
    ),
    "the last place of some": (
        f"float m = 2; int p = -1; {LOOP} if (i % 3) if (a[i] <= m) {{ m = a[i]; p = i; }}"
        " y[0] = m; z[0] = p;"
    ),
    "places, one after the other": (
        f"float m = a[0]; int p = -1, q = 0; {LOOP} if (a[i] >= m) {{ m = a[i]; p = i; }}"
        " m = 2; for (int i = 0; i < n; i++) if (i % 3) if (a[i] < m) { m = a[i]; q = i; }"
        " y[0] = m; z[0] = p * 10 + q;"
    ),
    "the last place in a matrix": (
        f"float m = -__builtin_inff(); int p = -1, q = 7; {LOOP} for (int j = 0; j < 70; j++)"
        " if (m <= a[i][j]) { m = a[i][j]; p = i; q = j; } z[0][0] = p * 100 + q;"
        " if (n) y[0][0] = m;"
    ),
    "a search": (
        f"int p = -1; {LOOP} if (a[i] != a[i]) {{ p = i; break; }} z[0] = p;"
        " for (int i = 0; i < n; i++) if (1 / a[i] < 0) { y[0] = i; break; }"
    ),
    "selections": f"{LOOP} {{ y[i] = a[i] > 0 ? a[i] : -a[i]; z[i] = a[n - 1 - i]; }}",
    "extrema of rows": f"{ROWS} if (a[i][j] > m) m = a[i][j]; y[i][0] = m; }}",
    "running extrema of rows": f"{ROWS} {{ if (m > a[i][j]) m = a[i][j]; y[i][j] = m; }} }}",
    "rows and columns": f"{LOOP} for (int j = 0; j < 70; j++) y[j][i] = a[i][j];",
}
SIZES = (0, 1, 2, 63, 65, 257, 2305)


def given(name: str, n: int) -> dict[str, np.ndarray | int]:
    """Every value is drawn often, so that the first and the last of equal ones differ."""
    if "a[i][" not in FUNCTIONS[name]:
        shapes = dict.fromkeys("ayz", (n + 1,))
    else:
        n = min(n, 70)
        turned = "y[j][i]" in FUNCTIONS[name]
        shapes = {"a": (n, 70), "y": (70, n) if turned else (n, 70), "z": (1, 1)}
    drawn = np.random.default_rng(n)
    values = np.array([np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 2.5, -3], np.float32)
    return {"n": n} | {x: drawn.choice(values, shape) for x, shape in shapes.items()}


@pytest.mark.device
@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_the_c_program(name: str) -> None:
    body = FUNCTIONS[name]
    kinds = {"a": "[restrict n + 1]", "y": "[restrict n + 1]", "z": "[restrict n + 1]"}
    if "a[i][" in body:
        turned = "[restrict 70][n]" if "y[j][i]" in body else "[restrict n][70]"
        kinds = {"a": "[restrict n][70]", "y": turned, "z": "[restrict 1][1]"}
    arrays = ", ".join(f"{'const ' if x == 'a' else ''}float {x}{kinds[x]}" for x in kinds)
    text = f"void f(int n, {arrays}) {{ {body} }}\n"
    f = lx.loads(text)["f"]
    call, library = f.offload(fp="strict").compile(), Library(CSource(text=text), [f.function])
    for n in SIZES:
        expected, found = given(name, n), given(name, n)
        library.run("f", expected)
        call(**found)
        for x in "yz":
            assert np.asarray(found[x]).tobytes() == np.asarray(expected[x]).tobytes(), (n, x)
