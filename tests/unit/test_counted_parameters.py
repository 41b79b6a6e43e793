"""Parameters that loops count with: which are sizes that stay, and which are not."""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.ir.printer import listing
from loopxform.prepare.counted_parameters import with_kept_parameters

PARAMS = "int n, int m, const int *restrict a, int *restrict b"
KEPT = {
    "while (n-- > 0) b[n] = a[n];": "for (n_2 = n - 1; n_2 > -1; n_2--) b[n_2] = a[n_2];",
    "int w = n; for (n = 0; n < w; n++) b[n] = a[w];":
        "for (n_2 = 0; n_2 < n; n_2++) b[n_2] = a[n];",
    "int w = n; while (n--) b[n] = 0; for (n = 0; n < w; n++) b[n] += a[n];":
        "for (n_2 = n - 1; n_2 > -1; n_2--) b[n_2] = 0;"
        " for (n_2 = 0; n_2 < n; n_2++) b[n_2] += a[n_2];",
    "long w = n; for (n = 0; n < w; n++) b[n] = a[w];":  # a copy of another type is none
        "w = n; for (n_2 = 0; n_2 < w; n_2++) b[n_2] = a[w];",
}  # fmt: skip
CHANGED = (
    "while (n-- > 0) b[n] = a[n]; b[0] = n;",  # what the loop leaves is read
    "if (m) n = m; while (n-- > 0) b[n] = a[n];",
    "int w = n; for (int i = 0; i < m; i++) b[i] = w;",  # nothing counts with it
)


def text(body: str, *, kept: bool) -> str:
    fn = lx.loads(f"void f({PARAMS}) {{ {body} }}")["f"].function
    return " ".join(listing(with_kept_parameters(fn) if kept else fn).split())


@pytest.mark.parametrize("body", KEPT)
def test_kept(body: str) -> None:
    assert text(body, kept=True) == KEPT[body]


@pytest.mark.parametrize("body", CHANGED)
def test_changed(body: str) -> None:
    assert text(body, kept=True) == text(body, kept=False)
