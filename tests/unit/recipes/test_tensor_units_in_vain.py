"""Tensor units that are asked for, and that no product can use: the report says so, and why."""

from __future__ import annotations

import pytest
from c_texts import MM

import loopxform as lx
from loopxform.cli.summary import headline
from loopxform.floating_point import Level
from loopxform.targets.profile import PROFILES

H100 = PROFILES["h100"]
HALVES = MM.replace("float A", "_Float16 A").replace("float B", "_Float16 B")
HALVES = HALVES.replace("A[i][k] * B", "(float)A[i][k] * (float)B")
DISTANCES = MM.replace("A[i][k] * B[k][j]", "(A[i][k] - B[k][j]) * (A[i][k] - B[k][j])")
BOTH = MM.replace("float", "double").replace(
    "A[i][k] * B[k][j]", "A[i][k] * B[k][j] + B[i][k] * A[k][j]"
)
SCALED = "void f(int n, float a[n]) { for (int i = 0; i < n; i++) a[i] *= 2; }"
SINGLE = {"Ty": 8, "Tx": 8, "Tk": 16, "Ry": 4, "Rx": 4, "index": 64, "pack": 0, "vector": 1}
"""One kernel, which takes less time to derive."""

NO_TILE = "what the loop over 'k' computes is no product of tiles"


@pytest.mark.parametrize(
    ("text", "level", "sizes", "reason"),
    [
        (MM, "reassociate", {}, "products of float need --fp fast"),
        (HALVES, "contract", {}, "products of _Float16 need --fp reassociate"),
        (MM.replace("float", "int"), "fast", {}, "there are none for products of int"),
        (MM, "fast", {"Ry": 3}, f"{NO_TILE}: 'i' has 3 iterations, no multiple of 2"),
        (DISTANCES, "fast", {}, "what is summed up is not a product of two elements alone"),
        (BOTH, "contract", {}, "products that are added to each other first need --fp reassociate"),
        (SCALED, "fast", {}, "nothing here is a product of two arrays in register tiles"),
        (MM, "fast", {}, ""),
        (HALVES, "reassociate", {}, ""),
    ],
)
def test_tile_says_why(text: str, level: Level, sizes: dict[str, int], reason: str) -> None:
    (routine,) = lx.loads(text)
    one = SINGLE | sizes if routine.name == "mm" else {}
    done = routine.tile(fp=level, tensor_units=True, limits=H100, **one)
    _, told, why = headline(done).partition("no tensor units: ")
    assert (bool(told), why) == (bool(reason), reason)


@pytest.mark.parametrize("level", ["contract", "fast"])
def test_offload_says_why_an_annotation_is_in_vain(level: Level) -> None:
    options = "tensor-units, Ty=8, Tx=8, Tk=16, Ry=4, Rx=4, index=64, pack=0"
    text = MM.replace("  for (int i", f"#pragma loopxform tile({options})\n  for (int i", 1)
    (region,) = lx.loads(text).offload(fp=level, limits=H100).regions
    told = ["no tensor units: products of float need --fp fast" in p.why for p in region.done.parts]
    assert told == [level == "contract"]
