"""Every nest of `corpus/nests`: judged, tiled, and run like the user's C."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpus_nests import FIELDS, FOLDER, NAMES, RECIPES, Nest, nest
from harness import simulate_launches

from loopxform.cli import main
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.ir.nodes import For
from loopxform.ir.visit import walk, writes
from loopxform.recipes.tiled import Tiled
from loopxform.runtime.selection import choose
from loopxform.schedule.params import Recipe
from loopxform.schedule.tiling_options import TAKEN
from loopxform.verify.check_run import Comparison, arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource, Library
from loopxform.verify.tolerance import tolerance_of

Capture = pytest.CaptureFixture[str]

SCREEN = 40
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only")
SEED = 4
SMALL = {"Ty": 8, "Tx": 8, "Tk": 4, "Ry": 2, "Rx": 2}
"""Tiles whose kernels compile quickly."""

SHORTER = {"softmax_rows": {"Tk": 16}}
"""PoCL 3 takes minutes to compile the 128 exponentials of a tile of the recipe."""

KNOWN: dict[str, dict[str, str]] = {"verdicts": {}, "tiling": {}}
"""What is not yet as it should be, and why. It has to fail: the list can only shrink."""


def every(*asked: str, names: Iterable[str] = NAMES) -> pytest.MarkDecorator:
    """A test of each nest; those of which one of the things asked is known to fail must fail."""
    known = {name: why for a in asked for name, why in KNOWN[a].items()}
    marks = {name: pytest.mark.xfail(strict=True, reason=why) for name, why in known.items()}
    params = [pytest.param(n, marks=[marks[n]] if n in marks else []) for n in names]
    return pytest.mark.parametrize("name", params)


# ---------------------------------------------------------------- what the corpus is


def test_every_nest_is_described() -> None:
    assert {p.stem for p in FOLDER.iterdir()} == set(NAMES)
    assert len(NAMES) >= 48
    found = [nest(name) for name in NAMES]
    assert {n.field for n in found} == set(FIELDS)
    assert {r for n in found for r in (n.recipe, *n.fits)} == set(RECIPES)
    for n in found:
        assert n.about
        assert n.sizes.keys() == n.residual.keys()
        given = n.sizes.keys() | n.fixed.keys()
        assert given <= {p.name for p in n.routine.function.params}, n.name


def test_only_functions_of_the_device_are_tolerated() -> None:
    for n in map(nest, NAMES):
        fn = n.routine.function
        allowed = tolerance_of(fn, contract=False)
        written = [p.type for p in fn.params if p.name in writes(fn.body) and p.type.is_float]
        most = [allowed.relative(np.zeros(0, t.numpy)) for t in written]
        assert max(most, default=0.0) <= (n.tolerance or 0.0), n.name
        assert allowed.exact == (n.tolerance is None), n.name


def test_a_compiler_has_no_objection() -> None:
    files = [str(nest(name).file) for name in NAMES]
    subprocess.run(["cc", *STRICT, *files], check=True)


# ---------------------------------------------------------------- what the commands say


@every("verdicts")
def test_verdicts(name: str, capsys: Capture) -> None:
    assert main(["check", str(nest(name).file), "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["functions"]
    assert tuple(loop["parallel"] for loop in found["loops"]) == nest(name).verdicts


@pytest.mark.opencl_sdk
@every("tiling")
def test_a_screen_says_what_was_done(name: str, tmp_path: Path, capsys: Capture) -> None:
    assert main(["tile", str(nest(name).file), "-o", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{name}: ")
    assert len(said.splitlines()) <= SCREEN
    drop_in = str(tmp_path / f"{name}_opencl.c")
    subprocess.run(["cc", *STRICT, "-pedantic", drop_in], check=True)


def depth(t: Tiled) -> int:
    """How many loops there are in a nest."""
    return sum(isinstance(s, For) for _, s in walk((t.nest.outermost,)))


@every("tiling")
def test_recipes(name: str) -> None:
    n = nest(name)
    tiled = n.routine.tile().tiled
    deepest = max((tiled, *tiled.rest), key=depth)
    assert deepest.recipe == n.recipe
    assert all(n.routine.tile(recipe=r).tiled.recipe == r for r in n.fits)


# ---------------------------------------------------------------- what the kernels compute


def compiled(n: Nest, tiles: Mapping[str, int], recipe: Recipe | None = None) -> Comparison:
    taken = {s: size for s, size in tiles.items() if recipe is None or s in TAKEN[recipe]}
    tiled = n.routine.tile(contract=False, recipe=recipe, **taken)
    plan = emit.kernel(tiled.derivation, fp=SEPARATE)
    return Comparison(plan, CSource(str(n.file)), choose())


def check(both: Comparison, n: Nest, scalars: Mapping[str, float]) -> int:
    """Fails unless the kernel computes what the C program does; how many elements it wrote."""
    found = both.run(scalars, SEED, inputs=n.inputs)
    assert found.ok, (n.name, scalars, found.mismatches)
    return found.elements


@pytest.mark.device
@every("tiling")
def test_runs_like_the_c_program(name: str) -> None:
    n = nest(name)
    for recipe in (None, *n.fits):
        both = compiled(n, SMALL, recipe)
        assert check(both, n, n.scalars)
        for scalars in n.ones():
            check(both, n, scalars)


@pytest.mark.slow
@pytest.mark.device
@every("tiling")
def test_runs_with_the_tiles_of_the_recipe(name: str) -> None:
    run_with_tiles_of_the_recipe(name, None)


@pytest.mark.slow
@pytest.mark.optimised
@pytest.mark.device
@pytest.mark.parametrize("recipe", RECIPES)
def test_an_optimised_kernel_of_each_recipe(recipe: Recipe) -> None:
    """Of one nest each: for the kernels of all PoCL takes minutes."""
    fit = (name for name in NAMES if recipe in (nest(name).recipe, *nest(name).fits))
    run_with_tiles_of_the_recipe(next(fit), recipe)


def run_with_tiles_of_the_recipe(name: str, recipe: Recipe | None) -> None:
    n = nest(name)
    both = compiled(n, SHORTER.get(name, {}), recipe)
    for scalars in ({**n.sizes, **n.fixed}, n.scalars, *n.ones()):
        check(both, n, scalars)


EVERY_SWITCH: Mapping[str, Any] = {
    "vector": 4,
    "index": 32,
    "stages": 2,
    "register_pipeline": True,
    "swizzle_groups": 2,
    "warp_tile": (2, 2),
    "serpentine": 2,
    "block_cyclic": 2,
    "pad": True,
}


@pytest.mark.slow
@pytest.mark.device
@every("tiling")
def test_runs_with_every_switch(name: str) -> None:
    n = nest(name)
    tiled = n.routine.tile(contract=False, **SMALL, **EVERY_SWITCH)
    plan = emit.kernel(tiled.derivation, fp=SEPARATE)
    both = Comparison(plan, CSource(str(n.file)), choose())
    assert check(both, n, n.scalars)
    for scalars in n.ones():
        check(both, n, scalars)


SIMULATED = (
    "csr",
    "binomial_option",
    "edit_diagonal",
    "ellpack",
    "embedding_bag",
    "erosion",
    "force_vector",
    "hamming",
    "lava_boxes",
    "matvec_transposed",
    "median_3x3",
    "pair_histogram",
    "row_histogram",
    "softmax_rows",
    "triangular_product",
    "wave_3d",
    "word_counts",
)


@pytest.mark.oclgrind
@pytest.mark.parametrize(
    "switches", [{}, pytest.param(EVERY_SWITCH, marks=pytest.mark.slow)], ids=["plain", "every"]
)
@pytest.mark.parametrize("name", SIMULATED)
def test_touches_only_what_the_c_program_touches(name: str, switches: Mapping[str, Any]) -> None:
    n = nest(name)
    tiled = n.routine.tile(contract=False, Ty=2, Tx=3, Tk=4, Ry=2, Rx=2, **switches)
    plan = emit.kernel(tiled.derivation, fp=SEPARATE)
    args = arguments(plan.start, n.small(9), SEED, n.inputs)
    library = Library(CSource(str(n.file)), [plan.start])
    library.read_constants(n.name, args)
    report, after = simulate_launches(plan, args)
    assert report.clean, report.findings[0]
    library.run(n.name, args)
    relative = n.tolerance or 0.0
    assert not compare({x: args[x] for x in after}, after, rtol=relative, atol=relative)


@pytest.mark.slow
@every("tiling")
def test_tiled_c_for_a_cpu_is_bit_identical(name: str) -> None:
    n = nest(name)
    fn, tiles = n.routine.function, {"Ty": 2, "Tx": 2, "Tk": 4, "Ry": 3, "Rx": 4}
    used = n.routine.tile(limits="cpu").sizes.keys() & tiles.keys()
    tiled = n.routine.tile(limits="cpu", **{size: tiles[size] for size in used})
    (text,) = tiled.openmp.files.values()
    args = arguments(tiled.derivation.start, {**n.residual, **n.fixed}, SEED, n.inputs)
    results = []
    for source in (CSource(str(n.file)), CSource(text=text, flags=("-fopenmp",))):
        results.append({k: v.copy() if hasattr(v, "copy") else v for k, v in args.items()})
        Library(source, [fn]).run(fn.name, results[-1])
    assert not compare(*results)
