"""Which recipe and which target take which option: what they would leave without effect is refused.

The names are those of the command line and of annotations; `docs/tiling.md` says what each does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from loopxform.errors import IgnoredOption
from loopxform.schedule.params import RECIPES, Recipe

Target: TypeAlias = Literal["opencl", "openmp"]

ANY = frozenset(["Rk", "reassociate", "manifest", "specialise", "fp-contract"])
"""What is done to the program around the tiles."""

TILED = frozenset(
    [
        *("Tx", "Tk", "pad", "no-pad", "edge-versions", "vector", "index", "stages"),
        *("async-copies", "pack", "group-order"),
    ]
)
"""What can be asked of tiles in local memory."""

TAKEN: Mapping[Recipe, frozenset[str]] = {
    "register": ANY
    | TILED
    | {"Ty", "Ry", "Rx", "preload", "no-preload", "serpentine", "cyclic", "item-layout"},
    "block": ANY | TILED | {"Ty", "item-layout"},
    "one-sided": ANY | TILED | {"Ry"},
    "1-d": ANY | TILED | {"Rx", "preload", "no-preload", "cyclic"},
    "stencil": ANY | TILED | {"Tz", "Ty", "Ry", "cyclic", "item-layout"},
    "reduce": ANY | {"Tx", "Tk"},
    "naive": ANY | {"Ty", "Tx", "Tk"},
}
"""By recipe. Where a reduction is done in chunks, they have Tk*Rk terms, whatever the recipe."""

EVERY = tuple(sorted(frozenset.union(*TAKEN.values())))
"""The names of all options, in one order."""

ON_DEVICE = frozenset(
    [
        *("vector", "index", "stages", "async-copies", "preload", "no-preload", "serpentine"),
        *("cyclic", "pack", "item-layout", "fp-contract"),
    ]
)
"""What only a device has a use for: in C, the compiler does what is to be done there."""


def require_taken(
    names: Iterable[str], recipes: Sequence[Recipe | None], target: Target = "opencl"
) -> None:
    """Raises IgnoredOption for the first of the options, as they are written (`Ry`, `--Ry`, and
    `group_order` in Python), that
    none of the recipes (None: any that fits), or the target, has a use for."""
    for written in names:
        name = written.lstrip("-").replace("_", "-")
        if target == "openmp" and name in ON_DEVICE:
            message = f"tiled C for the CPU has no use for {written}"
            help = f"leave out {written}, which is about kernels on a device"
            raise IgnoredOption(message, help=help, subject=written)
        if not any(r is None or name in TAKEN[r] for r in recipes):
            takers = ", ".join(r for r in RECIPES if name in TAKEN[r])
            help = f"leave out {written}, or choose a recipe that takes it: {takers}"
            message = f"{_recipes(recipes)} no use for {written}"
            raise IgnoredOption(message, help=help, subject=written)


def _recipes(names: Sequence[Recipe | None]) -> str:
    if len(names) == 1:
        return f"the recipe {names[0]} has"
    return f"the recipes {', '.join(map(str, dict.fromkeys(names)))} have"
