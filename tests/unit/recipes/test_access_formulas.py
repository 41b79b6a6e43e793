"""Accesses as formulas: what they say, and what they do not claim."""

from __future__ import annotations

import pytest
from c_texts import MM
from deriving import c, start, untiled
from tilings import Tiles, tile

from loopxform.model import access_counts
from loopxform.transforms import Derivation

SIZES = "int n, int m, const int a[n], const int rows[n + 1], int b[n][m]"


def loop(v: str, lo: str, hi: str) -> str:
    return f"for (int {v} = {lo}; {v} < {hi}; {v}++) "


ROWS = loop("i", "0", "n")
BOTH = ROWS + loop("j", "0", "m")
WRITES = {
    BOTH + "b[i][j] = 0;": "m*n",
    ROWS + loop("j", "i", "n") + "b[i][j] = 0;": "n*(n + 1)/2",
    ROWS + loop("j", "0", "i") + loop("k", "0", "j") + "b[i][j] += k;": "n*(n*n + 2 - 3*n)/6",
    ROWS + loop("j", "0", "n") + "if (j <= i) b[i][j] = 0;": "n*(n + 1)/2",
    ROWS + loop("j", "0", "n") + "if (j != i) b[i][j] = 0;": "n*n - n",
    ROWS + loop("j", "0", "n") + "if (j == i) b[i][j] = 0;": "n",
    ROWS + loop("j", "0", "3") + "if (i < 0 || j != 1) b[i][j] = 0;": "2*n",
    BOTH + "if (a[i] > 0) b[i][j] = 0;": "at most m*n",
    BOTH + "if (j <= i) b[i][j] = 0;": "at most m*n",
    BOTH + "if (m > 5) b[i][j] = 0;": "at most m*n",
    ROWS + loop("j", "i", "m") + "b[i][j] = 0;": "at most m*n",
    ROWS + loop("j", "rows[i]", "rows[i + 1]") + "b[i][0] = j;": "n*trips(j)",
    # An average cannot be multiplied by what varies with it.
    ROWS + loop("j", "0", "a[i]") + loop("k", "0", "i") + "b[i][k] = j;": "n*trips(j)*trips(k)",
}


@pytest.mark.parametrize("body", WRITES)
def test_writes(body: str) -> None:
    (program, *_) = start(c(body, SIZES))
    assert (
        access_counts.text(access_counts.naive(Derivation(program.start)).global_writes)
        == WRITES[body]
    )


def test_the_bound_of_a_loop_is_read_once_more_than_the_loop_runs() -> None:
    (program, *_) = start(c(ROWS + loop("j", "0", "rows[i]") + "b[i][0] = j;", SIZES))
    found = access_counts.naive(Derivation(program.start))
    assert access_counts.text(found.global_reads) == "n + n*trips(j)"
    assert access_counts.averages(found) == ("trips(j)",)


def test_the_table_of_the_seed() -> None:
    done = tile(untiled(MM), Tiles(2, 4, 2, 2, 2)).derivation
    rows = [access_counts.text(terms) for _, terms in access_counts.tiled(done).rows()]
    copied = "M*N*U/(Tx*Rx) + M*N*U/(Ty*Ry)"
    assert sorted(rows[0].split(" + ")) == sorted(copied.split(" + "))
    assert rows[1] == "M*N"
    assert sorted(rows[2].split(" + ")) == ["M*N*U/Rx", "M*N*U/Ry"]
    assert rows[3] == rows[0]
