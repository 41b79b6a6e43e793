"""Elements that a loop reduces to, which need not exist where it has no iterations."""

from __future__ import annotations

import pytest
from deriving import c

from loopxform.api.reading import loads

PARAMS = "int n, int k, const int *a, int *h"
LOOP = "for (int i = 0; i < n; i++) "

KEPT = {
    "first": c(f"{LOOP} h[0] += a[i];", PARAMS),
    "declared": c(f"{LOOP} h[7] += a[i];", PARAMS.replace("*h", "h[8]")),
    "used-before": c(f"h[k] = 1; {LOOP} h[k] += a[i];", PARAMS),
    "always-runs": c("for (int i = 0; i < 9999; i++) h[k] += a[i];", PARAMS),
}
LEFT = {
    "by-a-number": c(f"{LOOP} h[k] += a[i];", PARAMS),
    "by-data": c(f"{LOOP} h[a[1]] += a[i];", PARAMS),
    "moved": c(f"h[k] = 1; k = k + 1000; {LOOP} h[k] += a[i];", PARAMS),
    "inner-may-not-run": c(
        "for (int i = 0; i < 9999; i++) for (int j = 0; j < n; j++) h[k] += a[j];", PARAMS
    ),
    "beyond": c(f"{LOOP} h[8] += a[i];", PARAMS.replace("*h", "h[8]")),
}


@pytest.mark.parametrize("name", KEPT)
def test_in_parts(name: str) -> None:
    done = loads(KEPT[name])["f"].offload()
    assert "reduce" in [p.tiled.recipe for p in done.parts if p.tiled]


@pytest.mark.parametrize("name", LEFT)
def test_in_order(name: str) -> None:
    *_, part = loads(LEFT[name])["f"].offload().parts
    assert part.kind == "one work-item"
    assert "the element need not exist" in part.why
