"""Pipeline: tiles fetched an iteration ahead, into the buffer that is not in use."""

from __future__ import annotations

from dataclasses import replace

import pytest
from c_texts import MAPPED, MM, STAGED
from conftest import Golden
from deriving import assert_step, c, derived, refusal

from loopxform.codegen import emit
from loopxform.codegen.plan import program_plan
from loopxform.errors import EmitError
from loopxform.ir.nodes import Assign, Const, Copy, Function, Load, Stmt, Var
from loopxform.ir.visit import loops, replace_at
from loopxform.transforms.latency.pipeline import obstacles

WHOLE = (
    *STAGED,
    "copy-to-private B_loc k",
    "clamp-edges acc",
    "split kk full-tiles",
    "pipeline kk#1",
)
ROW = c(
    "for (int i = 0; i < 8; i++) { float s = 0; for (int k = 0; k < n; k++) s += a[k] * x[i][k];"
    " STORE }",
    "int n, float a[n + 8], float x[8][n], float y[8]",
)
"""A row that every work-item reads."""

ROWS = (
    *("parallelise i", "stripmine i 4 ii", "stripmine k 2 kk", "expand s i", "distribute i"),
    *("interchange i kk", "interchange i k", "normalise k", "normalise i* innermost"),
    *("map ii group.x", "map i* thread.x", "copy-to-local a kk"),
)

LISTINGS = {
    "whole-tiles": (MM, *WHOLE),
    "every-tile": (MM, *STAGED, "pipeline kk"),
    "row": (ROW.replace("STORE", "y[i] = s;"), *ROWS, "pipeline kk"),
}

REFUSALS = {
    "no-tile": (MM, *MAPPED, "pipeline kk"),
    "one-iteration": (MM, *WHOLE[:-1], "pipeline kk#2"),
    "mapped": (MM, *STAGED, "pipeline jjj"),
    "unknown": (MM, *STAGED, "pipeline z"),
    "written": (
        ROW.replace("STORE", "x[i][0] = s;"),
        *ROWS[:-1],
        "copy-to-local x kk",
        "pipeline kk",
    ),
    "several": (MM, *WHOLE[:-1], "pipeline kk"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


@pytest.mark.parametrize("case", LISTINGS)
def test_kernel(case: str, golden: Golden) -> None:
    """One barrier an iteration, and two buffers."""
    text, *steps = LISTINGS[case]
    golden.check(emit.kernel(derived(text, *steps)).source)


def test_names_of_the_user_are_not_taken() -> None:
    text = MM.replace("int M", "int stage").replace("[M]", "[stage]").replace("< M", "< stage")
    text = text.replace("float C", "float A_loc_next").replace("C[i]", "A_loc_next[i]")
    source = emit.kernel(derived(text, *WHOLE)).source
    assert "int stage_ = 0;" in source
    assert "float A_loc_next_[" in source


def broken(change: str) -> Function:
    """A program with the mark where it is wrong."""
    fn = derived(MM, *WHOLE[:-1]).function
    site = next(s for s in loops(fn) if s.loop.var == "kk")
    marked = replace(site.loop, stages=2)
    copy = next(s for s in marked.body if isinstance(s, Copy))
    first = Load(copy.target, (Const(0), Const(0)))
    added: dict[str, Stmt] = {
        "copied-twice": copy,
        "tile-is-written": Assign(first, Const(0)),
        "place-changes": Assign(Var("iii"), Const(0)),
    }
    marked = replace(marked, body=(*marked.body, added[change]))
    return replace_at(fn, site.path, (marked,))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("copied-twice", "in other places too"),
        ("tile-is-written", "'A_loc' is written"),
        ("place-changes", "depends on 'iii'"),
    ],
)
def test_a_mark_that_is_wrong_is_not_believed(change: str, why: str) -> None:
    """Whatever came after the step: the kernel asks again."""
    fn = broken(change)
    with pytest.raises(EmitError, match=why):
        program_plan(fn, derived(MM).start)


def test_a_tile_that_is_read_after_the_loop() -> None:
    fn = derived(MM, *WHOLE[:-1]).function
    site = next(s for s in loops(fn) if s.loop.var == "kk")
    read = replace_at(fn, site.path, (site.loop, site.loop.body[-1]))
    (found,) = obstacles(read, site)
    assert "'A_loc' is read after the loop" in found.message
