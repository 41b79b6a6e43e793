"""TileStages: nests that follow one another in one kernel, in overlapped block tiles."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
from conftest import Golden
from deriving import assert_step, c, derived, refusal

from loopxform.ir.nodes import For, If
from loopxform.ir.visit import replace_at, walk
from loopxform.verify.check_run import arguments
from loopxform.verify.interp import Program

DOWN = (
    "for (int y = 0; y < h; y++) for (int x = 0; x < w; x++)"
    " t[y][x] = a[2 * y][2 * x] + a[2 * y + 1][2 * x + 1];"
)
UP = (
    "for (int i = 0; i < 2 * h - 1; i++) for (int j = 0; j < 2 * w - 1; j++)"
    " b[i][j] = t[i / 2][j / 2] + t[(i + 1) >> 1][(j + 1) >> 1];"
)
PYRAMID = "int h, int w, const float a[2 * h][2 * w], float b[2 * h][2 * w]"
COPY = "for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) t[y][x] = a[y][x];"
PLAIN = "int h, int w, const float a[h][w], float b[h][w]"


def image(*nests: str, arguments: str = PLAIN, own: str = "float t[h][w];") -> str:
    return c(" ".join((own, *nests)), arguments)


def reading(value: str, domain: str = "int i = 0; i < h; i++") -> str:
    return f"for ({domain}) for (int j = 0; j < w; j++) b[i][j] = {value};"


CLAMPED = reading("t[i > 0 ? i - 1 : 0][j] + t[i < h - 1 ? i + 1 : h - 1][j]")
BAYER = (
    "for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) {"
    " t[2 * y][2 * x] = a[y][x]; t[2 * y][2 * x + 1] = 2 * a[y][x];"
    " t[2 * y + 1][2 * x] = 3 * a[y][x]; t[2 * y + 1][2 * x + 1] = 4 * a[y][x]; }"
)
QUADS = (
    "for (int i = 0; i < 2 * h; i++) for (int j = 0; j < 2 * w - 1; j++)"
    " b[i][j] = t[i][j] - t[i][j + 1];"
)
BORDER = (
    "for (int x = 0; x < w; x++) t[0][x] = 7;"
    "for (int y = 1; y < h; y++) for (int z = 0; z < w; z++) t[y][z] = a[y - 1][z];"
)
TABLE = (
    "for (int k = 0; k < 16; k++) t[k] = k * k;"
    "for (int i = 0; i < h; i++) for (int j = 0; j < w; j++) b[i][j] = a[i][j] + t[(i + j) & 15];"
)
INTEGERS = "int h, int w, const int a[h][w], int b[h][w]"
PLANES = (
    "for (int k = 0; k < 3; k++) for (int y = 0; y < h; y++) for (int x = 0; x < w; x++)"
    " t[y][x][k] = a[y][x] * k;"
    "for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)"
    " b[i][j] = t[i][j][0] + t[i][j][1] + t[i][j][2];"
)
SEEN = "int h, int w, const float a[2 * h][2 * w], float t[h][w], float b[2 * h][2 * w]"
MIRRORED = reading(
    "t[i < 1 ? 1 - i : i - 1][j] + t[i + 3 < h + 2 ? i + 3 : 2 * (h + 1) - (i + 3)][j]"
    " + t[i][j < 2 ? 2 - j : j - 2]"
)
BORDERED = "for (int y = 0; y < h + 2; y++) for (int x = 0; x < w + 2; x++) t[y][x] = 2 * y + x;"
CONDITION = reading("i > 0 ? t[i - 1][j] : 0")
TWO = (
    "for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) { p[y][x] = a[y][x]; q[y][x] = 1; }"
    "for (int i = 0; i < h; i++) for (int j = 0; j < w; j++) b[i][j] = p[i][j] + q[i][j];"
    "for (int u = 0; u < h; u++) for (int v = 0; v < w; v++) d[u][v] = p[u][v] - q[u][v];"
)
COPIES = (
    "for (int y = 0; y < 2 * h + 2; y++) for (int x = 0; x < 2 * w + 2; x++) t[y][x] = a[y][x] + 1;"
    "for (int k = 0; k <= h; k++) for (int l = 0; l <= w; l++) {"
    " p[k][l] = t[2 * k][2 * l + 1]; q[k][l] = t[2 * k + 1][2 * l]; }"
    "for (int m = 0; m < h; m++) for (int n = 0; n < w; n++) r[m][n] = p[m + 1][n];"
    "for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)"
    " b[i][j] = p[i][j + 1] - q[i + 1][j] + (i > 0 ? r[i - 1][j] : 0) + q[i][j];"
)
COPIED = "int h, int w, const {0} a[2 * h + 2][2 * w + 2], {0} b[h][w]"
KEPT = "{0} t[2 * h + 2][2 * w + 2], p[h + 1][w + 1], q[h + 1][w + 1], r[h][w];"


def copies(type: str) -> str:
    """Copies of every second element, and a copy of one of them."""
    return image(COPIES, arguments=COPIED.format(type), own=KEPT.format(type))


PAIRS = (
    "for (int y = 0; y < h; y++) for (int x = 0; x < 2 * w; x++)"
    " t[y][x] = x % 2 == 0 ? 3 * a[y][x / 2] : a[y][x / 2] + a[y][x / 2 + 1];"
    "for (int i = 0; i < h; i++) for (int j = 0; j < 2 * w; j++)"
    " b[i][j] = i % 2 == 0 ? t[i][j] : t[i][j] + t[i < h - 1 ? i + 1 : h - 1][j];"
)
WIDE = "int h, int w, const float a[h][w + 1], float b[h][2 * w]"

LISTINGS = {
    "pairs": (image(PAIRS, arguments=WIDE, own="float t[h][2 * w];"), "tile-stages y,i 4,8 16"),
    "copies": (copies("short"), "tile-stages y,k,m,i 4,8 16"),
    "copies-for-other-banks": (copies("float"), "tile-stages y,k,m,i 4,8 16"),
    "mirrored": (image(BORDERED, MIRRORED, own="float t[h + 2][w + 2];"), "tile-stages y,i 4,8 16"),
    "down-and-up": (image(DOWN, UP, arguments=PYRAMID), "tile-stages y,i 4,8 16"),
    "seen": (image(DOWN, UP, arguments=SEEN, own=""), "tile-stages y,i 4,8 16"),
    "clamped": (image(COPY, CLAMPED), "tile-stages y,i 4,8 16"),
    "lattice": (
        image(
            BAYER,
            QUADS,
            arguments=PYRAMID.replace("a[2 * h][2 * w]", "a[h][w]"),
            own="float t[2 * h][2 * w];",
        ),
        "tile-stages y,i 4,8 16",
    ),
    "border": (image(BORDER, reading("t[i][j] + 1")), "tile-stages x,y,i 4,8 16"),
    "table": (image(TABLE, arguments=INTEGERS, own="int t[16];"), "tile-stages k,i 4,8 16"),
    "planes": (image(PLANES, own="float t[h][w][3];"), "tile-stages k,i 4,8 16"),
    "condition": (image(COPY, CONDITION), "tile-stages y,i 4,8 16"),
    "turned": (
        image(
            COPY,
            "for (int i = 0; i < w; i++) for (int j = 0; j < h; j++) b[i][j] = t[j][i];",
            arguments=PLAIN.replace("b[h][w]", "b[w][h]"),
        ),
        "tile-stages y,i 4,8 16",
    ),
    "two-results": (
        image(TWO, arguments=f"{PLAIN}, float d[h][w]", own="float p[h][w], q[h][w];"),
        "tile-stages y,i,u 4,8 16",
    ),
    "enough-tiles": (image(COPY, CLAMPED), "tile-stages y,i 4,8 16 10"),
    "sizes-by-name": (
        c(
            "int k = (h + 1) / 2; float t[h][w];"
            "for (int y = 0; y < k; y++) for (int x = 0; x < w; x++) t[y][x] = a[2 * y][x];"
            "for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)"
            " b[i][j] = t[i / 2][j] + t[(i + 1) / 2 < k ? (i + 1) / 2 : k - 1][j];",
            "int h, int w, const float a[h + 1][w], float b[h][w]",
        ),
        "tile-stages y,i 4,8 16",
    ),
    "four-dimensions": (
        c(
            "float t[3][2][h][w];"
            "for (int f = 0; f < 3; f++) for (int c = 0; c < 2; c++) for (int y = 0; y < h; y++)"
            " for (int x = 0; x < w; x++) t[f][c][y][x] = a[f][c][y][x] * a[f][c][y][x];"
            "for (int g = 0; g < 3; g++) for (int d = 0; d < 2; d++) for (int i = 0; i < h; i++)"
            " for (int j = 0; j < w; j++) b[g][d][i][j] = t[g][d][i][j > 0 ? j - 1 : 0];",
            "int h, int w, const float a[3][2][h][w], float b[3][2][h][w]",
        ),
        "tile-stages f,g 1,1,4,8 16",
    ),
}
FAR = (
    "for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)"
    " b[i][j] = j < 1 ? t[i][1000000000 * j + 5] : 0;"
)
REFUSALS = {
    "far-under-a-condition": (image(COPY, FAR), "tile-stages y,i 4,8 16"),
    "divided-sizes": (
        image(
            "for (int k = 0; k < 8; k++) t[k] = 2 * k;",
            reading("t[n / m]"),
            arguments=f"{PLAIN}, int n, int m",
            own="float t[8];",
        ),
        "tile-stages k,i 4,8 16",
    ),
    "distance": (
        image(COPY, reading("t[n][j]"), arguments=f"{PLAIN}, int n"),
        "tile-stages y,i 4,8 16",
    ),
    "both-ways": (
        image(
            COPY,
            reading("t[i][j] + t[j][i]").replace("j < w", "j < h"),
            arguments=PLAIN.replace("w]", "h]"),
            own="float t[h][h];",
        ).replace("x < w", "x < h"),
        "tile-stages y,i 4,8 16",
    ),
    "two-scales": (image(COPY, reading("t[i][j] + t[i / 2][j]")), "tile-stages y,i 4,8 16"),
    "reversed": (image(COPY, reading("t[h - 1 - i][j]")), "tile-stages y,i 4,8 16"),
    "on-data": (
        image(
            COPY.replace("float", "int"),
            reading("t[a[i][j]][j]"),
            arguments=INTEGERS,
            own="int t[h][w];",
        ),
        "tile-stages y,i 4,8 16",
    ),
    "not-written": (
        image(COPY.replace("y = 0", "y = 1"), reading("t[i][j]")),
        "tile-stages y,i 4,8 16",
    ),
    "every-second": (
        image(
            "for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) t[2 * y][x] = a[y][x];",
            reading("t[i][j]"),
            own="float t[2 * h][w];",
        ),
        "tile-stages y,i 4,8 16",
    ),
    "written-over": (
        image(
            COPY,
            "for (int i = 0; i < h; i++) for (int j = 0; j < w; j++) b[i][j] = t[i][j];"
            "for (int u = 0; u < h; u++) for (int v = 0; v < w; v++) t[u][v] = b[u][v];"
            "for (int p = 0; p < h; p++) for (int q = 0; q < w; q++) b[p][q] = t[p][q];",
        ),
        "tile-stages y,i,u 4,8 16",
    ),
    "in-place": (
        image(
            "for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) b[y][x] += 1;", own=""
        ).replace("{  ", "{ "),
        "tile-stages y 4,8 16",
    ),
    "written-twice": (
        image(COPY.replace("t[", "b["), reading("7").replace("h; i", "1; i"), own=""),
        "tile-stages y,i 4,8 16",
    ),
    "on-a-condition": (
        image(
            "for (int y = 0; y < h; y++) for (int x = 0; x < w; x++)"
            " if (a[y][x] > 0) t[y][x] = a[y][x];",
            reading("t[i][j]"),
        ),
        "tile-stages y,i 4,8 16",
    ),
    "sizes": (image(COPY, CLAMPED), "tile-stages y,i 4,8,2 16"),
    "no-size": (image(COPY, CLAMPED), "tile-stages y,i 4,x 16"),
    "nobody-reads": (image(COPY), "tile-stages y 4,8 16"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))


@pytest.mark.parametrize(("h", "w", "middle", "edges"), [(12, 24, 1, 1), (4, 8, 0, 1)])
def test_tiles_in_the_middle_answer_once(h: int, w: int, middle: int, edges: int) -> None:
    """Results lack what some tiles compute where either version does nothing, if tiles take it."""
    fn = derived(image(COPY, CLAMPED), "tile-stages y,i 4,8 16").function
    path, version = [(p, s) for p, s in walk(fn.body) if isinstance(s, If)][1]
    assert version.orelse
    given = arguments(fn, {"h": h, "w": w}, 3)
    results = []
    for arms in ({}, {"then": ()}, {"orelse": ()}):
        found = copy.deepcopy(given)
        changed = (replace(version, **arms),)
        Program(replace_at(fn, path, changed)).run(found, order_seed=1)
        results.append(found["b"])
    whole, without_middle, without_edges = results
    assert np.array_equal(whole, without_middle) is not bool(middle)
    assert np.array_equal(whole, without_edges) is not bool(edges)


PLANES = (
    "for (int p = 0; p < 4; p++) for (int y = 0; y < h; y++) for (int x = 0; x < w; x++)"
    " t[p][y][x] = a[p][y][x] * a[{0}][y][x];",
    "for (int q = 0; q < 4; q++) for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)"
    " b[q][i][j] = t[q][i][j] + t[q][i < h - 1 ? i + 1 : h - 1][j];",
)


@pytest.mark.parametrize(
    ("plane", "tile", "order"), [("3", "1", "yxz"), ("p", "1", "zyx"), ("3", "2", "zyx")]
)
def test_groups_that_read_the_same_plane_are_neighbours(plane: str, tile: str, order: str) -> None:
    """The innermost loop over groups is the one along planes, where they share one."""
    arguments, own = (x.replace("[h]", "[4][h]") for x in (PLAIN, "float t[h][w];"))
    text = image(PLANES[0].format(plane), PLANES[1], arguments=arguments, own=own)
    step = f"tile-stages p,q {tile},4,8 16"
    assert_step(text, step)
    loops = [s for _, s in walk(derived(text, step).function.body) if isinstance(s, For)]
    grid = [x for x in loops if x.level is not None and x.level.kind == "grid"]
    assert [x.var[0] for x in grid] == list(order)
    assert [x.level.dimension for x in grid if x.level is not None] == [2, 1, 0]
