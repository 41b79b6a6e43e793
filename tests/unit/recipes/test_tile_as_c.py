"""Every program on the way, printed as C and compiled, computes what the user's C computes.

All steps of a derivation go into one shared library; results are compared bit by bit.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from itertools import chain

import pytest
from deriving import CORPUS, FREE_EXTENT, corpus, untiled
from tilings import Recipe, Tiles, tile

from loopxform.codegen.c.program import file_text
from loopxform.ir.nodes import Function
from loopxform.verify.compare import require_equal
from loopxform.verify.cref import CSource, Library
from loopxform.verify.inputs import make_inputs

SIZES = ((1, 1, 1), (7, 9, 8), (12, 8, 12), (0, 3, 4), (3, 0, 4), (13, 5, 1))
"""M, U, N: one, residuals in every dimension, none, and loops that run no iteration."""

TILES = (Tiles(2, 3, 4, 2, 3), Tiles(4, 2, 3, 1, 2))
ALWAYS = {"mm", "batched", "mm_ikj"}
PROGRAMS = [
    pytest.param(p.stem, marks=() if p.stem in ALWAYS else pytest.mark.slow)
    for p in sorted(CORPUS.glob("*.c"))
    if p.stem != "mm_macro"
]


def steps_of(fn: Function, recipe: Recipe) -> list[tuple[str, Function]]:
    """Every intermediate function with a name of its own."""
    derivations = [tile(fn, t, recipe).derivation for t in TILES]
    records = chain.from_iterable(d.records for d in derivations)
    return [(f"step{n}", r.result) for n, r in enumerate(records)]


def sizes_of(fn: Function, m: int, u: int, n: int) -> dict[str, int]:
    known = {"M": m, "U": u, "N": n}
    integers = [p.name for p in fn.params if not p.shape and p.type.is_integer]
    return {name: known.get(name, 2) for name in integers}


@pytest.mark.parametrize("recipe", ["register", "block", "naive"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_step_compiled_computes_the_same(name: str, recipe: Recipe) -> None:
    fn = untiled(corpus(name))
    steps = steps_of(fn, recipe)
    text = "\n".join(file_text(f, name=n) for n, f in steps)
    original = Library(CSource(str(CORPUS / f"{name}.c")), [fn])
    library = Library(
        CSource(text=text, flags=("-O0",)), [replace(f, name=n, signature="") for n, f in steps]
    )
    open_ended = {p.name: FREE_EXTENT for p in fn.params if p.shape and p.shape[0] is None}
    for m, u, n in SIZES:
        sizes = sizes_of(fn, m, u, n)
        given = make_inputs(fn, sizes, 3, shapes=open_ended, signed=True)
        expected = copy.deepcopy(given)
        original.run(fn.name, expected)
        for step, _ in steps:
            found = copy.deepcopy(given)
            library.run(step, found)
            require_equal(expected, found, what=f"{step} at {sizes}")
