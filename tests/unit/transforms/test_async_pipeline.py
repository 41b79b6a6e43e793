"""Async: tiles copied past the registers, into as many buffers as are asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from c_texts import MM, STAGED
from conftest import Golden
from deriving import assert_step, c, derived, refusal

from loopxform.codegen import emit
from loopxform.codegen.plan import program_plan
from loopxform.errors import EmitError, UsageError
from loopxform.frontend import parse_file
from loopxform.ir.nodes import Copy, Function
from loopxform.ir.visit import loops, replace_at
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES

READ = (*STAGED, "copy-to-private A_loc k", "copy-to-private B_loc k", "clamp-edges acc")
PADDED = (*READ, "pad kk", "pipeline kk")
WHOLE = (*READ, "split kk full-tiles", "pipeline kk#1")
AHEAD = (*PADDED, "unroll k*", "register-pipeline k")

LISTINGS = {
    "padded": (MM, *PADDED, "pipeline kk async"),
    "whole-tiles": (MM, *WHOLE, "pipeline kk#1 3 async"),
    "read-ahead": (MM, *AHEAD, "pipeline kk 4 async"),
}

REFUSALS = {
    "unknown": (MM, *PADDED, "pipeline z async"),
    "in-registers": (MM, *READ, "pad kk", "pipeline kk 3"),
    "one-buffer": (MM, *PADDED, "pipeline kk 1 async"),
    "no-number": (MM, *PADDED, "pipeline kk ² async"),
    "too-many-buffers": (MM, *PADDED, "pipeline kk 9 async"),
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
    """One barrier an iteration; what comes next is started behind it."""
    text, *steps = LISTINGS[case]
    golden.check(emit.kernel(derived(text, *steps)).source)


def kernel(text: str, options: Options) -> str:
    (fn,) = parse_file("f.c", text=text).unit.functions
    sizes = {"Ty": 4, "Tx": 4, "Tk": 8, "Ry": 4, "Rx": 4}
    done = tile(fn, sizes, "register", PROFILES["generic"], options=options)
    return emit.kernel(done.derivation).source


@pytest.mark.parametrize(
    ("kind", "width", "started"),
    [
        ("float", 1, ["LX_START(4, "]),
        ("float", 4, ["LX_START(4, ", "LX_START_VECTOR(float4, 4, 16, "]),
        ("double", 2, ["LX_START(8, ", "LX_START_VECTOR(double2, 2, 16, "]),
        ("short", 1, []),
        ("short", 4, ["LX_START_VECTOR(short4, 4, 8, "]),
        ("char", 4, ["LX_START_VECTOR(char4, 4, 4, "]),
    ],
)
def test_what_hardware_copies(kind: str, width: int, started: list[str]) -> None:
    """Pieces of 4, 8 and 16 bytes; the tile that is transposed is filled element by element."""
    source = kernel(MM.replace("float", kind), Options(async_copies=True, vector=width, pad=True))
    text = source[source.index("__kernel") :]
    words = ("LX_START(4, ", "LX_START(8, ", "LX_START_VECTOR(")
    assert [w for w in words if w in text] == [
        w for w in words if any(s.startswith(w) for s in started)
    ]
    assert all(s in text for s in started)
    assert ("LX_VECTOR(" in text) == (width > 1 and kind in ("short", "char"))


def test_what_is_converted_is_copied_by_work_items() -> None:
    text = MM.replace("float acc", "double acc").replace("+= A", "+= (double)A")
    source = kernel(text, Options(async_copies=True))
    assert "__local double A_loc[2]" in source
    assert "LX_START(" not in source[source.index("__kernel") :]


def test_constants_are_copied_by_work_items() -> None:
    """They lie in memory of another kind."""
    table = "static const float w[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n"
    text = table + c(
        "for (int i = 0; i < n; i++) { float s = 0;"
        " for (int k = 0; k < 8; k++) s += w[k] * x[i][k]; y[i] = s; }",
        "int n, float x[n][8], float y[n]",
    )
    steps = (
        *("parallelise i", "stripmine i 4 ii", "stripmine k 2 kk", "expand s i", "distribute i"),
        *("interchange i kk", "interchange i k", "normalise k", "normalise i* innermost"),
        *(
            "map ii group.x",
            "map i* thread.x",
            "copy-to-local w kk",
            "pipeline kk",
            "pipeline kk async",
        ),
    )
    source = emit.kernel(derived(text, *steps)).source
    assert "__constant float w[8]" in source
    assert "LX_START(" not in source[source.index("__kernel") :]


def test_names_of_the_user_are_not_taken() -> None:
    text = MM.replace("int M", "int ahead").replace("[M]", "[ahead]").replace("< M", "< ahead")
    source = emit.kernel(derived(text, *PADDED, "pipeline kk async")).source
    assert "int stage = 0, ahead_ = 0;" in source


def test_a_mark_that_is_wrong_is_not_believed() -> None:
    """Whatever came after the step: the kernel asks again."""
    fn = derived(MM, *PADDED, "pipeline kk async").function
    with pytest.raises(EmitError, match="copies into local memory in other places too"):
        program_plan(doubled(fn), derived(MM).start)


def doubled(fn: Function) -> Function:
    """With a copy of the marked loop twice."""
    site = next(s for s in loops(fn) if s.loop.asynchronous)
    body = (*site.loop.body, next(s for s in site.loop.body if isinstance(s, Copy)))
    return replace_at(fn, site.path, (replace(site.loop, body=body),))


def test_wishes_that_contradict_each_other() -> None:
    with pytest.raises(UsageError, match="asynchronous copies need a second buffer"):
        Options(async_copies=True, stages=1)
