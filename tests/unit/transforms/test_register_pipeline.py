"""RegisterPipeline: what work-items read of tiles, read an iteration ahead."""

from __future__ import annotations

from dataclasses import replace

import pytest
from c_texts import MM, STAGED
from conftest import Golden
from deriving import assert_step, derived, refusal

from loopxform.codegen import emit
from loopxform.codegen.opencl.describe import private_arrays
from loopxform.codegen.plan import program_plan
from loopxform.errors import EmitError
from loopxform.frontend import parse_file
from loopxform.ir.nodes import Assign, Const, Copy, Decl, For, Function, Load, Stmt, Var
from loopxform.ir.visit import loops, replace_at, walk
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.transforms.latency.register_pipeline import obstacles, parts

READ = (*STAGED, "copy-to-private A_loc k", "copy-to-private B_loc k", "clamp-edges acc")
PADDED = (*READ, "pad kk", "pipeline kk", "unroll k*")
WHOLE = (*READ, "split kk full-tiles", "pipeline kk#1", "unroll k*")
ONE_READ = (
    *STAGED,
    "copy-to-private B_loc k",
    "clamp-edges acc",
    "pad kk",
    "pipeline kk",
    "unroll k*",
)

LISTINGS = {
    "padded": (MM, *PADDED, "register-pipeline k"),
    "whole-tiles": (MM, *WHOLE, "register-pipeline k#1"),
    "copies-in-between": (MM, *PADDED, "register-pipeline k interleaved"),
    "whole-tiles-in-between": (MM, *WHOLE, "register-pipeline k#1 interleaved"),
    "three-iterations": (MM, *PADDED, "register-pipeline k 3"),
    "two-iterations-in-between": (MM, *PADDED, "register-pipeline k 2 interleaved"),
}

REFUSALS = {
    "unknown": (MM, *PADDED, "register-pipeline z"),
    "not-unrolled": (MM, *PADDED[:-1], "register-pipeline k"),
    "mapped": (MM, *PADDED, "register-pipeline jjj"),
    "no-registers": (MM, *STAGED, "pad kk", "pipeline kk", "unroll k*", "register-pipeline k"),
    "tiles-not-ahead": (MM, *READ, "pad kk", "unroll k*", "register-pipeline k"),
    "one-in-place": (MM, *ONE_READ, "register-pipeline k"),
    "several": (MM, *WHOLE, "register-pipeline k"),
    "another-word": (MM, *PADDED, "register-pipeline k between"),
    "as-many-as-there-are": (MM, *PADDED, "register-pipeline k 4"),
    "in-between-past-registers": (
        *(MM, *PADDED[:-2], "pipeline kk async", "unroll k*", "register-pipeline k interleaved"),
    ),
    "in-between-unsigned": (
        *(MM.replace("int ", "unsigned "), *PADDED, "register-pipeline k interleaved"),
    ),
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
    """One barrier an iteration; the first reads of a tile follow it."""
    text, *steps = LISTINGS[case]
    golden.check(emit.kernel(derived(text, *steps)).source)


def inner(fn: Function) -> tuple[tuple[int, ...], For]:
    site = next(s for s in loops(fn) if s.loop.var == "k")
    return site.path, site.loop


def broken(change: str) -> Function:
    """A program with the mark where it is wrong."""
    fn = derived(MM, *PADDED).function
    path, loop = inner(fn)
    own, copies, rest = parts(loop)
    first, other = copies
    moved = replace(first.slices[-1], lo=Var("kk"))
    tile = Assign(Var("acc_"), Load("A_loc", (Const(0), Const(0))))
    body: dict[str, tuple[Stmt, ...]] = {
        "odd": loop.body,
        "no-fours": loop.body,
        "written": (*own, *copies, *rest, Assign(Load(first.target, (Const(0),)), Const(0))),
        "moving": (*own, replace(first, slices=(*first.slices[:-1], moved)), other, *rest),
        "read-in-place": (*own, *copies, *rest, tile),
        "global": (*own, *copies, *rest, Assign(Load("C", (Const(0), Const(0))), Const(1))),
        "no-tile": (*own, replace(first, source="acc"), other, *rest),
    }
    new = replace(loop, preloaded=1, body=body[change])
    if change == "odd":
        new = replace(new, hi=Const(3))
    if change == "no-fours":
        new = replace(new, hi=Const(6), preloaded=2)
    return replace_at(fn, path, (new,))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("odd", "even number of iterations"),
        ("no-fours", "no multiple of 4"),
        ("written", "'A_reg' is written"),
        ("moving", "depends on 'kk'"),
        ("read-in-place", "not all that it reads of the tiles is copied first"),
        ("global", "it touches global memory"),
        ("no-tile", "'acc' is not a tile"),
    ],
)
def test_a_mark_that_is_wrong_is_not_believed(change: str, why: str) -> None:
    """Whatever came after the step: the kernel asks again."""
    fn = broken(change)
    site = next(s for s in loops(fn) if s.loop.var == "k")
    assert why in "".join(o.message for o in obstacles(fn, site))
    with pytest.raises(EmitError):
        program_plan(fn, derived(MM).start)


def test_copies_remain_what_they_are() -> None:
    """The mark is all that the step adds."""
    before = inner(derived(MM, *PADDED).function)[1]
    after = inner(derived(MM, *PADDED, "register-pipeline k").function)[1]
    assert after.preloaded
    assert not before.preloaded
    assert after.body == before.body
    assert all(isinstance(s, Copy) for s in parts(after)[1])


UNSIGNED = MM.replace("int M, int U, int N", "unsigned M, unsigned U, unsigned N")
AHEAD = Options(stages=2, pad=True, register_pipeline=True)
TILES = {"Ty": 4, "Tx": 4, "Tk": 8, "Ry": 4, "Rx": 4}


@pytest.mark.parametrize(("text", "test"), [(MM, "0 < U - Tk"), (UNSIGNED, "U > Tk")])
def test_unsigned_bounds_are_subtracted_the_other_way_round(text: str, test: str) -> None:
    """U - Tk would be a large number where U is smaller."""
    (fn,) = parse_file("f.c", text=text).unit.functions
    done = tile(fn, TILES, "register", PROFILES["generic"], options=AHEAD)
    source = emit.kernel(done.derivation).source
    assert f"if ({test})" in source, source


def test_both_registers_are_counted() -> None:
    plan = emit.kernel(derived(MM, *PADDED, "register-pipeline k"))
    shapes = {s.name: s.shape for _, s in walk(plan.function.body) if isinstance(s, Decl)}
    text = private_arrays(plan.kernels[0].mapping, shapes)
    assert "A_reg[2, Ry]" in text
    assert "B_reg[2, Rx]" in text


def test_four_registers_are_counted() -> None:
    plan = emit.kernel(derived(MM, *PADDED, "register-pipeline k 3"))
    shapes = {s.name: s.shape for _, s in walk(plan.function.body) if isinstance(s, Decl)}
    assert "A_reg[4, Ry]" in private_arrays(plan.kernels[0].mapping, shapes)
