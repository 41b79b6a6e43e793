"""Contractions as one product: kernels and written C, for sizes with which the copies pay and for
others."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from c_project import assert_same, caller_of, project_of, require_opencl, run_app
from deriving import c, every_step
from harness import assert_runs_agree, simulate_launches

from loopxform.codegen import emit
from loopxform.codegen.host.temporaries import NEVER
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.frontend import parse_file
from loopxform.ir.nodes import Function
from loopxform.ir.visit import reads, writes
from loopxform.offload.program import offload
from loopxform.recipes.tile import tile
from loopxform.runtime.schedule import launched, not_known
from loopxform.targets.profile import PROFILES
from loopxform.targets.target import Limits
from loopxform.transforms import Derivation, Unfold
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource, Library
from loopxform.verify.group.execute import execute

H100 = PROFILES["h100"]
TINY = replace(
    H100,
    compute_units=1,
    group_size=16,
    registers=40,
    warp=4,
    warp_tile=(2, 2),
    smaller_tiles=("Ty*1/2",),
    packed_tiles=("Tk*2 buffers*2",),
    costs=replace(H100.costs, launch=0, least_warps=1, packed_elements=4),
)
"""Groups of 4 x 4 work-items, of which one fills the device."""

CONTRACT = (Path(__file__).parents[2] / "corpus" / "nests" / "contract.c").read_text()
SIZES = ("na", "nb", "nc", "nd", "ne", "nf")
NAMES = ", ".join(f"int {n}" for n in SIZES)


def text(a: str, b: str, result: str, terms: str = "ef", **how: str) -> str:
    """A sum of products of elements `a` and `b`, which `result` numbers, over `terms`: `aebf`."""
    kind, loops = how.get("kind", "float"), how.get("loops", result)
    to = "C" + "".join(f"[{v}]" for v in result)
    start, end = how.get("start", "0").format(to), how.get("end", "{0} = s;").format(to)
    x, y = ("".join(f"[{v}]" for v in index) for index in (a, b))
    every = {v: f"for (int {v} = 0; {v} < n{v}; {v}++) " for v in (*loops, *terms)}
    nest = "".join(every[v] for v in loops), "".join(every[v] for v in terms)
    shapes = ("".join(f"[n{v}]" for v in index) for index in (a, b, result))
    params = "const {0} A{1}, const {0} B{2}, {0} C{3}".format(kind, *shapes)
    used = ", ".join(f"int n{v}" for v in sorted({*a, *b}))
    return c(f"{nest[0]}{{ {kind} s = {start}; {nest[1]}s += A{x} * B{y}; {end} }}",
             f"{used}, {params}")  # fmt: skip


TEXTS = {
    "contract": CONTRACT.replace("contract(", "f("),
    "batches": text("abef", "fcae", "abc"),
    "turned-result": text("aebf", "fdce", "acbd"),
    "as-it-is": text("efab", "fdce", "abcd"),
    "rows-of-sums": text("abef", "cef", "abc"),
    "matrix": text("aebf", "efd", "abd"),
    "one-term": text("aeb", "ed", "abd", "e"),
    "three-terms": text("acbd", "dfcb", "af", "bcd"),
    "loops-in-another-order": text("aebf", "fdce", "abcd", loops="dcba"),
    "added": text("aebf", "fdce", "abcd", start="{0}"),
    "scaled": text("aebf", "fdce", "abcd", end="{0} = 2 * s - 3 * {0};"),
    "doubles": text("aebf", "fdce", "abcd", kind="double"),
    "ints": text("aebf", "fdce", "abcd", kind="int"),
    "pointers": c(
        "for (int a = 0; a < na; a++) for (int b = 0; b < nb; b++) for (int c = 0; c < nc; c++)"
        " for (int d = 0; d < nd; d++) { float s = 0; for (int e = 0; e < ne; e++)"
        " for (int f = 0; f < nf; f++) s += A[((a*ne + e)*nb + b)*nf + f] * B[((f*nd + d)*nc + c)"
        "*ne + e]; C[((a*nb + b)*nc + c)*nd + d] = s; }",
        f"{NAMES}, const float *A, const float *B, float *C",
    ),
}
TEXTS["parts"] = TEXTS["contract"].replace("b < nb", "b < nb-1").replace("f < nf", "f+1 < nf")
TEXTS["unsigned"] = TEXTS["contract"].replace("int ", "unsigned ")
TEXTS["longs"] = TEXTS["contract"].replace("int ", "long ")
EVERY = (
    (9, 5, 8, 6, 3, 5),
    (8, 4, 12, 3, 4, 2),
    (16, 3, 2, 16, 2, 9),
    (33, 1, 40, 2, 5, 1),
    (1, 17, 1, 16, 3, 4),
    (5, 1, 1, 1, 1, 1),
    (4, 0, 3, 2, 2, 3),
    (4, 3, 3, 2, 0, 3),
)
"""The first four as one product, the others as they are or nothing at all."""


@cache
def derivation(name: str, limits: Limits = TINY) -> Derivation:
    (fn,) = parse_file("f.c", text=TEXTS[name]).unit.functions
    return tile(fn, {}, None, limits).derivation


@cache
def plan(name: str) -> Plan:
    return emit.kernel(derivation(name), fp=SEPARATE)


def sizes_of(fn: Function, numbers: tuple[int, ...]) -> dict[str, int]:
    return {n: m for n, m in zip(SIZES, numbers) if n in {p.name for p in fn.params}}


def product_runs(p: Plan, sizes: Mapping[str, int]) -> bool:
    """Whether the host takes the one product."""
    numbers = (n for n, _ in launched(p, sizes, not_known))
    return any(n.endswith("_m") for k in numbers for n in reads(p.kernels[k].function.body))


@pytest.mark.parametrize("name", TEXTS)
def test_the_executor_finds_no_fault_and_the_same_results(name: str) -> None:
    fn = derivation(name).start
    as_product = 0
    for n, numbers in enumerate(EVERY):
        args = arguments(fn, sizes_of(fn, numbers), n)
        expected, found = copy.deepcopy(dict(args)), copy.deepcopy(dict(args))
        Library(CSource(text=TEXTS[name]), [fn]).run("f", expected)
        execute(plan(name), found, seed=n)
        assert not compare(expected, found), (name, numbers)
        as_product += product_runs(plan(name), sizes_of(fn, numbers))
    assert as_product >= 2


ON_A_DEVICE = ("contract", "batches", "turned-result", "as-it-is")
AS_WRITTEN = ("contract", "turned-result", "as-it-is", "scaled", "pointers")


@pytest.mark.device
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in ON_A_DEVICE[:1] else pytest.mark.slow) for n in TEXTS],
)
def test_bit_identical_to_the_c_program(name: str) -> None:
    every = [sizes_of(derivation(name).start, numbers) for numbers in EVERY]
    assert_runs_agree(plan(name), CSource(text=TEXTS[name]), every, 3)


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n == "as-it-is" else pytest.mark.slow) for n in AS_WRITTEN],
)
def test_the_drop_in_computes_what_the_function_did(tmp_path: Path, name: str) -> None:
    require_opencl()
    file = tmp_path / "user.c"
    file.write_text(TEXTS[name])
    start = derivation(name).start
    every = [arguments(start, sizes_of(start, numbers), 1) for numbers in EVERY]
    app = project_of(tmp_path, derivation(name), file).build(caller_of(start, *every))
    assert_same(run_app(app))


@pytest.mark.slow
@pytest.mark.oclgrind
@pytest.mark.parametrize("name", ON_A_DEVICE)
def test_no_race_and_nothing_out_of_bounds(name: str) -> None:
    fn = derivation(name).start
    args = arguments(fn, sizes_of(fn, EVERY[0]), 1)
    report, after = simulate_launches(plan(name), args)
    assert report.clean, report.findings[0]
    expected = copy.deepcopy(dict(args))
    Library(CSource(text=TEXTS[name]), [fn]).run("f", expected)
    assert not compare({n: expected[n] for n in after}, after)


@pytest.mark.slow
@pytest.mark.optimised
@pytest.mark.device
@pytest.mark.parametrize("sizes", [(20, 18, 21, 16, 6, 4), (16, 17, 30, 12, 5, 3)], ids=str)
def test_in_the_tiles_of_a_large_device(sizes: tuple[int, ...]) -> None:
    one = replace(H100, compute_units=1, costs=replace(H100.costs, launch=0))
    p = emit.kernel(derivation("contract", one), fp=SEPARATE)
    assert product_runs(p, dict(zip(SIZES, sizes)))
    assert_runs_agree(p, CSource(text=TEXTS["contract"]), [dict(zip(SIZES, sizes))], 3)


def test_an_array_that_lies_in_that_order_is_not_copied() -> None:
    """The host gives the kernels the array itself; no kernel would copy it."""
    unfolded = {s.array for s in every_step(derivation("as-it-is")) if isinstance(s, Unfold)}
    assert unfolded == {"A", "B", "C"}
    p = plan("as-it-is")
    never = {b.param.name: b.like for b in p.temporaries if b.when == NEVER}
    assert never == {"A_m": "A", "C_m": "C"}
    used = [reads(k.function.body) | writes(k.function.body) for k in p.kernels]
    assert [sum({x, f"{x}_m"} <= names for names in used) for x in "ABC"] == [0, 1, 0]


def test_in_a_function_of_several_nests() -> None:
    """A nest before it sets an operand, one behind it changes the result."""
    rows = "for (int a = 0; a < na; a++) for (int b = 0; b < nb; b++)"
    before = f"{rows} for (int e = 0; e < ne; e++) A[a][e][b][0] = a - e;"
    after = f"{rows} for (int c = 0; c < nc; c++) C[a][b][c][0] *= 2;"
    head, _, body = TEXTS["contract"].replace("const float A", "float A").partition("{")
    text = f"{head}{{{before}{body.rstrip().removesuffix('}')}{after}}}"
    (fn,) = parse_file("f.c", text=text).unit.functions
    done = offload(fn, {}, TINY)
    assert any(isinstance(s, Unfold) for s in every_step(done.derivation))
    p, found = emit.kernel(done.derivation, fp=SEPARATE), 0
    for n, numbers in enumerate(EVERY[:4]):
        args = arguments(fn, sizes_of(fn, numbers), n)
        expected, own = copy.deepcopy(dict(args)), copy.deepcopy(dict(args))
        Library(CSource(text=text), [fn]).run("f", expected)
        execute(p, own, seed=n)
        assert not compare(expected, own), numbers
        found += product_runs(p, sizes_of(fn, numbers))
    assert found >= 2
