"""What may be asked of tiling besides sizes and a recipe: one table for the command line, for
annotations, for Python and for `bench --vary`.

    --swizzle-groups 8      #pragma loopxform tile(swizzle-groups=8)      tile(swizzle_groups=8)

Each option is the field of `Options` that has its name. `docs/tiling.md` says what it is for.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from loopxform.errors import IgnoredOption, UnknownThreshold, UsageError
from loopxform.nearest import did_you_mean
from loopxform.records import record
from loopxform.schedule.option_values import (
    BUFFERS,
    FIXED,
    FLAG,
    INDEX,
    ITERATIONS,
    LAYOUTS,
    LIMIT,
    PARTS,
    RECTANGLE,
    ROWS,
    SIZE,
    WIDTH,
    Kind,
)
from loopxform.schedule.params import KINDS, RECIPES, Recipe, Trait

Target: TypeAlias = Literal["opencl", "openmp"]

SIZES: Mapping[str, str] = {
    "Ty": "work-items of a work-group along the outer tiled loop",
    "Tx": "work-items of a work-group along the inner tiled loop",
    "Tk": "iterations of the sequential loop in a tile",
    "Ry": "elements that a work-item computes along the outer tiled loop",
    "Rx": "elements that a work-item computes along the inner tiled loop",
    "Tz": "work-items along a third tiled loop (stencils)",
}
RECIPE = "how to tile; auto: choose by which data is reused"


@record
class TilingOption:
    """An option, as the command line and annotations have it: its kind of value, its line of help,
    the trait of recipes that have a use for it (None: all have), and whether only a kernel on a
    device has. `former` are its names in earlier releases: still understood, with a warning."""

    name: str
    kind: Kind
    about: str
    trait: Trait | None = None
    on_device: bool = False
    former: tuple[str, ...] = ()

    @property
    def field(self) -> str:
        """The field of `Options`, and the argument in Python: `pad` for --pad and --no-pad."""
        return self.name.removeprefix("no-").replace("-", "_")


OPTIONS: tuple[TilingOption, ...] = (
    TilingOption(
        "pad",
        FLAG,
        "pad partial tiles of the sequential loop with neutral elements instead of an epilogue, "
        "where that is proven to change nothing",
        trait="tiles",
    ),
    TilingOption(
        "no-pad",
        FLAG,
        "compute partial tiles of the sequential loop in an epilogue",
        trait="tiles",
    ),
    TilingOption(
        "separate-full-tiles",
        FLAG,
        "separate versions for full tiles, without the bounds checks of partial ones",
        trait="tiles",
        former=("edge-versions",),
    ),
    TilingOption(
        "Rk",
        SIZE,
        "split-K: split the reduction into chunks of Tk*N terms that run in parallel "
        "(N is 256 if no loop is parallel)",
    ),
    TilingOption(
        "reassociate",
        FLAG,
        "allow sums and products of floats to be computed in another order",
    ),
    TilingOption(
        "relayout",
        LAYOUTS,
        "copy an array first, with its dimensions in this order, and read the copy; "
        "none: copy nothing (default: copy where that pays)",
        former=("manifest", "layouts"),
    ),
    TilingOption(
        "vector",
        WIDTH,
        "elements of a row that a copy loads at once, where alignment allows it (1: one)",
        trait="tiles",
        on_device=True,
    ),
    TilingOption(
        "index",
        INDEX,
        "bits of array offsets (64); 32: in a second kernel, for sizes that allow it",
        trait="tiles",
        on_device=True,
    ),
    TilingOption(
        "specialise",
        FIXED,
        "build the kernel for these sizes only; for others your own loops run",
    ),
    TilingOption(
        "threshold",
        LIMIT,
        "the parallelism from which on a version of a nest runs: suff_outer_par_0=4096 "
        "(tile --show-plan lists the thresholds)",
        on_device=True,
    ),
    TilingOption(
        "stages",
        BUFFERS,
        "buffers for each tile; 2: double buffering, load a tile while computing with the one "
        "before; more need asynchronous copies",
        trait="tiles",
        on_device=True,
    ),
    TilingOption(
        "async-copies",
        FLAG,
        "let the hardware copy tiles to local memory asynchronously (NVIDIA, compute "
        "capability 8.0 or newer)",
        trait="tiles",
        on_device=True,
    ),
    TilingOption(
        "tensor-units",
        FLAG,
        "compute products on tensor units, where the device has them and passes a test: those of "
        "halves with --fp reassociate, of floats with --fp fast (NVIDIA, compute capability 8.0 or "
        "newer; Intel: bytes and halves)",
        trait="register tile",
        on_device=True,
    ),
    TilingOption(
        "no-tensor-units",
        FLAG,
        "compute products with the multiply-adds of each work-item",
        trait="register tile",
        on_device=True,
    ),
    TilingOption(
        "bfloat-parts",
        PARTS,
        "with --fp fast, multiply large matrices of floats on tensor units as sums of N bfloat16 "
        "(3: as exact as floats; 2: 16 bits, twice as fast; 0: do not)",
        trait="register tile",
        on_device=True,
    ),
    TilingOption(
        "register-pipeline",
        FLAG,
        "double-buffer registers: load the operands of the next iteration in advance",
        trait="registers",
        on_device=True,
        former=("preload",),
    ),
    TilingOption(
        "no-register-pipeline",
        FLAG,
        "load operands from local memory where they are used",
        trait="registers",
        on_device=True,
        former=("no-preload",),
    ),
    TilingOption(
        "interleave-copies",
        ITERATIONS,
        "store a tile and fetch the next one between the iterations that compute, in sums of at "
        "least N iterations with double-buffered registers (0: never)",
        trait="register tile",
        on_device=True,
    ),
    TilingOption(
        "serpentine",
        ROWS,
        "traverse register tiles in serpentine order, ROWS at a time (0: in order)",
        trait="register tile",
        on_device=True,
    ),
    TilingOption(
        "block-cyclic",
        SIZE,
        "block-cyclic distribution: work-items take turns, N adjacent elements each time "
        "(1: one contiguous block each)",
        trait="several elements",
        on_device=True,
        former=("cyclic",),
    ),
    TilingOption(
        "single-columns",
        FLAG,
        "block-cyclic distribution of single columns: neighbouring work-items store neighbouring "
        "elements, wherever rows begin",
        trait="register tile",
        on_device=True,
    ),
    TilingOption(
        "shift-inwards",
        FLAG,
        "let the last tile in each dimension begin earlier, so that it is whole, where the loops "
        "have as many iterations as a tile; what it computes again, it does not store",
        trait="register tile",
        on_device=True,
    ),
    TilingOption(
        "pack",
        ITERATIONS,
        "operand packing: copy arrays with unaligned rows to padded rows if each element is read "
        "in at least N iterations (0: never)",
        trait="tiles",
        on_device=True,
    ),
    TilingOption(
        "swizzle-groups",
        SIZE,
        "threadblock swizzle: process work-groups in bands of N rows (1: row by row)",
        trait="tiles",
        former=("group-order",),
    ),
    TilingOption(
        "warp-tile",
        RECTANGLE,
        "the rectangle of work-items that run in lockstep, such as 4x8 (0x0: one row)",
        trait="block",
        on_device=True,
        former=("item-layout",),
    ),
)

NAMED: Mapping[str, TilingOption] = {o.name: o for o in OPTIONS}
AUTO = "auto"
"""The value of an option that leaves it to the plan."""

TUNED: Mapping[str, tuple[str, ...]] = {
    "stages": ("1", "2"),
    "vector": ("1", "2", "4", "8"),
    "index": ("32", "64"),
    "serpentine": ("0", "2", "4", "8"),
    "block-cyclic": ("1", "2", "4"),
    "pack": ("0", "1"),
    "swizzle-groups": ("1", "2", "4", "8", "16"),
    "warp-tile": ("0x0", "2x16", "4x8", "8x4"),
    "pad": ("on", "off"),
    "separate-full-tiles": ("on",),
    "register-pipeline": ("on", "off"),
    "async-copies": ("on",),
}
"""Options that change how fast a kernel is, and nothing that it computes, with the values that are
tried besides AUTO. Flags are on or off."""


def words(values: Mapping[str, str]) -> dict[str, str]:
    """The options of a tuning file as they are written elsewhere: `pad=off` is `no-pad`. Raises
    UsageError for a flag that is neither on nor off, or that cannot be off."""
    written = {}
    for name, text in values.items():
        if NAMED[name].kind is not FLAG:
            written[name] = text
        elif text == "on":
            written[name] = ""
        elif text == "off" and f"no-{name}" in NAMED:
            written[f"no-{name}"] = ""
        else:
            allowed = "on or off" if f"no-{name}" in NAMED else "on"
            raise UsageError(f"'{text}' is not {allowed}", help=f"{name}=on", subject=name)
    return written


VARIED = tuple(o.name for o in OPTIONS if o.kind is not FLAG and not o.kind.several)
"""Options that have one of several values."""

_CONTRACT = "fp-contract"
"""How the text of the kernel is compiled, which is no matter of tiling."""

TAKEN: Mapping[Recipe, frozenset[str]] = {
    name: frozenset(
        (
            *kind.sizes,
            *(o.name for o in OPTIONS if o.trait is None or o.trait in kind.traits),
            _CONTRACT,
        )
    )
    for name, kind in KINDS.items()
}
"""Sizes and options by recipe. Where a reduction is done in chunks, they have Tk*Rk terms, whatever
the recipe."""

EVERY = tuple(sorted(frozenset.union(*TAKEN.values())))
"""The names of all sizes and options, in one order."""

ON_DEVICE = frozenset(o.name for o in OPTIONS if o.on_device) | {_CONTRACT}
"""What only a device has a use for: in C, the compiler does what is to be done there."""


def option(name: str) -> TilingOption | None:
    """The option of a name as annotations have it, or Python (`warp_tile`). A name of earlier
    releases is understood, with a FutureWarning."""
    name = name.replace("_", "-")
    if name in NAMED:
        return NAMED[name]
    known = next((o for o in OPTIONS if name in o.former), None)
    if known is not None:
        text = f"the option '{name}' is called '{known.name}' now"
        warnings.warn(text, FutureWarning, stacklevel=3)
    return known


def require_taken(
    names: Iterable[str], recipes: Sequence[Recipe | None], target: Target = "opencl"
) -> None:
    """Raises IgnoredOption for the first of the options, as they are written (`Ry`, `--Ry`, and
    `swizzle_groups` in Python), that none of the recipes (None: any that fits), or the target, has
    a use for."""
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


def require_thresholds(asked: Iterable[str], known: Iterable[str]) -> None:
    """Raises UnknownThreshold for the first one that no guard compares with."""
    every = sorted(known)
    for name in asked:
        if name not in every:
            help = f"{did_you_mean(name, every)}the thresholds are: {', '.join(every)}"
            help = help if every else "leave it out: nothing has versions to choose between"
            raise UnknownThreshold(name, help)


def _recipes(names: Sequence[Recipe | None]) -> str:
    if len(names) == 1:
        return f"the recipe {names[0]} has"
    return f"the recipes {', '.join(map(str, dict.fromkeys(names)))} have"
