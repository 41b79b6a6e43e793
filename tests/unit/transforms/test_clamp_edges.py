"""ClampEdges: past the edge the last valid iteration is repeated, on elements nobody reads."""

from __future__ import annotations

import pytest
from c_texts import DISTRIBUTED, EXPANDED, MAPPED, MM, PARALLEL, STAGED, SWAPPED, TILED
from conftest import Golden
from deriving import assert_step, c, refusal

LISTINGS = {
    "staged": (
        MM,
        *STAGED,
        "clamp-edges acc",
    ),
    "registers": (
        MM,
        *STAGED,
        "copy-to-private A_loc k",
        "copy-to-private B_loc k",
        "clamp-edges acc",
    ),
    "direct-reads": (
        MM,
        *MAPPED,
        "clamp-edges acc",
    ),
    "bare-bounds": (
        MM,
        *SWAPPED,
        "clamp-edges acc",
    ),
    "written-operand-gets-a-default": (
        MM.replace("acc = 0", "acc = C[i][j]"),
        *MAPPED,
        "clamp-edges acc",
    ),
    "integer-division": (
        MM.replace("float", "int").replace("A[i][k] *", "(A[i][k] / (i + 1)) *"),
        *MAPPED,
        "clamp-edges acc",
    ),
    "indirect": (
        MM.replace("A[i][k]", "A[p[i]][k]").replace("(int M,", "(int M, const int p[M],"),
        *PARALLEL,
        *TILED,
        "expand acc ii,jj,i,j",
        "distribute ii,jj,i,j",
        *SWAPPED[len(DISTRIBUTED) :],
        "clamp-edges acc",
    ),
    "loops-of-one-iteration": (
        MM,
        *PARALLEL,
        *(s.replace(" Ry ", " 1 ").replace(" Rx ", " 1 ") for s in TILED),
        *EXPANDED[-1:],
        *SWAPPED[len(EXPANDED) :],
        "clamp-edges acc",
    ),
    "condition-at-the-edge": (
        MM.replace("acc += A[i][k] * B[k][j];", "if (j != N - 1) acc += A[i][k] * B[k][j + 1];"),
        *MAPPED,
        "clamp-edges acc",
    ),
    "condition-behind-a-scalar": (
        MM.replace("acc += A", "acc += (last ? 0 : C[i][j + 1]) * A")
        .replace("float acc = 0;", "int last = j == N - 1; float acc = 0;")
        .replace("C[i][j] = acc", "D[i][j] = acc")
        .replace("(int M", "(float D[][99], int M"),
        *PARALLEL,
        *TILED,
        "expand acc ii,jj,i,j",
        "expand last ii,jj,i,j",
        "distribute ii,jj,i,j",
        *SWAPPED[len(DISTRIBUTED) :],
        "clamp-edges last,acc",
    ),
    "division-by-a-scalar": (
        MM.replace("float", "int")
        .replace("int acc = 0;", "int d = N - j; int acc = 0;")
        .replace("* B[k][j]", "* B[k][j] / d"),
        *PARALLEL,
        *TILED,
        "expand acc ii,jj,i,j",
        "expand d ii,jj,i,j",
        "distribute ii,jj,i,j",
        *SWAPPED[len(DISTRIBUTED) :],
        "clamp-edges d,acc",
    ),
    "domain-without-a-first-value": (
        MM.replace("j = 0; j < N", "j = 0; j <= i && j < N")
        .replace("acc = 0", "acc = A[i][0]")
        .replace("A[i][k] * B[k][j]", "0.5f"),
        *PARALLEL,
        "bounding-box j i",
        "distribute-guard j",
        *MAPPED[len(PARALLEL) :],
        "clamp-edges acc",
    ),
    "first-value-under-a-condition-on-data": (
        MM.replace("float acc = 0;", "float acc; if (A[i][0] > 0) acc = 1; else acc = B[0][j];"),
        *MAPPED,
        "clamp-edges acc",
    ),
}

REFUSALS = {
    "not-expanded": (
        MM,
        "clamp-edges acc",
    ),
    "no-guard": (
        c("for (int i = 0; i < 4; i++) { float t = a[i]; b[i] = t; }", "float a[4], float b[4]"),
        "expand t i",
        "distribute i",
        "clamp-edges t",
    ),
    "another-statement": (
        MM.replace("C[i][j] = acc", "C[i][j] = 1; C[i][j] += acc"),
        *PARALLEL,
        "stripmine i Ty",
        "stripmine j Tx",
        "interchange i jj",
        "expand acc i,j",
        "clamp-edges acc",
    ),
    "unknown": (
        MM,
        "clamp-edges sum",
    ),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
