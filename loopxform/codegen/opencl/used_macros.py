"""Which macros of templates/kernels.cl.j2 the texts of kernels use."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from loopxform.codegen.opencl.async_copy import PLACE, START_VECTOR, STARTED
from loopxform.codegen.opencl.barriers import APART
from loopxform.codegen.opencl.cooperative_copy import SPREAD
from loopxform.codegen.opencl.dialect import IF, OFFSET
from loopxform.codegen.opencl.layout import SIMD, UNROLL
from loopxform.codegen.opencl.software_pipeline import HIDE
from loopxform.codegen.opencl.tensor_product import SHORT_WORD, SPLIT, WORD
from loopxform.codegen.opencl.vector_moves import LOAD, LOAD_WORDS, STORE, STORE_WORDS
from loopxform.codegen.opencl.warp_groups import SEEN_BY_WARPS
from loopxform.codegen.opencl.work_item import READ, TURN
from loopxform.ir import warp_groups
from loopxform.ir.tensor_tiles import (
    INSTRUCTIONS,
    MATRIX_LOADS,
    SUB_GROUP_EXTENSION,
    Instruction,
    by_sub_groups,
)
from loopxform.ir.warp_groups import GROUP_INSTRUCTIONS, GroupInstruction


def used_macros(texts: Sequence[str]) -> dict[str, Any]:
    """What the template asks of them, by its name there."""
    products, groups = instructions(texts), group_instructions(texts)
    return {
        "unrolled": any(UNROLL in x for x in texts),
        "simd_widths": sorted({int(n) for x in texts for n in re.findall(rf"\b{SIMD}(\d+)", x)}),
        "vectors": _uses(texts, LOAD, STORE, START_VECTOR),
        "narrow_vectors": _uses(texts, LOAD_WORDS, *STORE_WORDS.values()),
        "asynchronous": _uses(texts, STARTED),
        "products": [i for i in products if not i.tile.function],
        "sub_groups": by_sub_groups(products),
        "sub_group_extension": SUB_GROUP_EXTENSION,
        "groups": groups,
        "done": {i.done: i for i in groups},
        "seen": _uses(texts, SEEN_BY_WARPS),
        "warps": warp_groups,
        "places": _uses(texts, PLACE),
        "words": _uses(texts, WORD),
        "short_words": _uses(texts, SHORT_WORD),
        "splits": _uses(texts, SPLIT),
        "matrices": {name: text for name, text in MATRIX_LOADS.items() if _uses(texts, name)},
        "hides": _uses(texts, HIDE),
        "apart": _uses(texts, APART),
        "conditional": _uses(texts, IF),
        "offsets": _uses(texts, OFFSET),
    }


def vector_macros(texts: Sequence[str]) -> dict[str, list[list[str]]]:
    """Those that are called for vectors of numbers of elements; texts have the numbers in them."""
    return {
        "turns": _widths(texts, rf"{TURN}\("),
        "reads": _widths(texts, rf"{READ}\(\w+, "),
        "spreads": _widths(texts, rf"{SPREAD}\("),
    }


def instructions(texts: Sequence[str]) -> tuple[Instruction, ...]:
    """The products of tiles in texts."""
    return tuple(i for i in INSTRUCTIONS.values() if _uses(texts, i.macro))


def group_instructions(texts: Sequence[str]) -> tuple[GroupInstruction, ...]:
    """The products in texts that warps compute together."""
    return tuple(i for i in GROUP_INSTRUCTIONS.values() if _uses(texts, i.macro))


def _uses(texts: Sequence[str], *words: str) -> bool:
    """Whether a text calls one of these macros."""
    return any(f"{word}(" in x for x in texts for word in words)


def _widths(texts: Sequence[str], call: str) -> list[list[str]]:
    """The numbers of the elements of each vector that a macro is called for."""
    widths = {int(m[1]) for x in texts for m in re.finditer(rf"{call}(\d+)", x)}
    return [[f"{n:x}" for n in range(width)] for width in sorted(widths)]
