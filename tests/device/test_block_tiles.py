"""Stages in overlapped block tiles that others look up: what the user's C does, to the last bit."""

from __future__ import annotations

import pytest
from harness import assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.verify.cref import CSource

IMAGE = "int h, int w, const unsigned char a[h][w], int b[h][w]"
EACH = "for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)"
CASES = {
    "by-an-element": (
        f"int s[256]; unsigned char t[h][w]; for (int k = 0; k < 256; k++) s[k] = k * k;"
        f" {EACH} t[i][j] = a[i][j] * 2;"
        f" {EACH} b[i][j] = s[t[i][j > 0 ? j - 1 : 0]];"
    ),
    "copies": (
        "short t[2 * h][2 * w], p[h][w], q[h][w], r[h][w];"
        " for (int y = 0; y < 2 * h; y++) for (int x = 0; x < 2 * w; x++)"
        " t[y][x] = a[y / 2][x / 2] * 3 + y - x;"
        f" {EACH} {{ p[i][j] = t[2 * i][2 * j + 1]; q[i][j] = t[2 * i + 1][2 * j]; }}"
        f" {EACH} r[i][j] = p[i][j];"
        f" {EACH} b[i][j] = p[i][j] + (i > 0 ? r[i - 1][j] : 0) - q[i][j > 0 ? j - 1 : 0];"
    ),
    "every-second": (
        "int t[h][w], s[h][w];"
        f" {EACH} t[i][j] = i % 2 && (j + 1) % 2 ? a[i / 2][j / 2] : a[(i + 1) / 2][j / 2] - j % 4;"
        " for (unsigned i = 0; i < (unsigned)h; i++) for (unsigned j = 0; j < (unsigned)w; j++)"
        " s[i][j] = j % 2 == 0 ? a[i][j / 2] : 1 + a[i][(j + 1) / 2];"
        f" {EACH} b[i][j] = i % 2 == 0 ? t[i / 2][j] + s[i][j] : t[(i - 1) / 2][j] * 2;"
    ),
    "by-itself": (
        "int s[8]; for (int k = 0; k < 8; k++) s[k] = 3 * k & 7;"
        f" {EACH} b[i][j] = s[s[s[(i + j) & 7]]] + a[i][j];"
    ),
    "by-a-number-made-whole": (
        "double s[8]; for (int k = 0; k < 8; k++) s[k] = k * 0.75;"
        f" {EACH} b[i][j] = (int)s[(int)s[(i + j) & 7] & 7] + a[i][j];"
    ),
    "a-row": (
        f"int t[h][w]; for (int y = h / 4; y < h; y++) for (int x = 0; x < w; x++)"
        f" t[y][x] = a[y][x]; if (h > 3 && h < 16) {EACH} b[i][j] = t[3][j];"
    ),
    "from-a-size-on": (
        "int t[w]; for (int x = h < 0 ? 0 : h; x < w; x++) t[x] = x;"
        " for (int i = 0; i < h; i++) for (int j = 0; j < w; j++) b[i][j] = t[w - 1] + a[i][j];"
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_as_the_users_c(name: str) -> None:
    text = f"void f({IMAGE}) {{ {CASES[name]} }}"
    done = lx.loads(text)["f"].offload(contract=False, tile_stages=(4, 8, 16))
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    sizes = [{"h": h, "w": w} for h, w in ((1, 2), (4, 5), (3, 19), (9, 17), (20, 33))]
    assert_runs_agree(plan, CSource(text=text), sizes, 5)
