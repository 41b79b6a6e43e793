"""Large products from packed operands: written C and kernels, for sizes
with which copies are made, an array stands for its copy, or neither."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NoReturn

import pytest
from c_project import PEDANTIC, assert_same, caller_of, project_of, require_opencl, run_app
from deriving import every_step
from harness import assert_runs_agree

from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.frontend import parse_file
from loopxform.ir.nodes import For, Function
from loopxform.ir.visit import walk
from loopxform.recipes import tile_nest
from loopxform.recipes.operand_packing import packed_operands
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.targets.target import Limits
from loopxform.transforms import Derivation, Dispatch, PackOperands
from loopxform.verify.check_run import arguments
from loopxform.verify.cref import CSource

CORPUS = Path(__file__).parents[2] / "corpus"
H100 = PROFILES["h100"]
FREE = replace(H100.costs, launch=0, copied_iterations=0)
SMALL = replace(H100, pack_operands=20, transpose_operands=40, pack=24, compute_units=1, costs=FREE)
"""Copies from few iterations on; all shapes of tiles are worth it for some sizes, and so are copies
for short sums."""

SUM = "float s = {first}; for (int k = 0; k < U; k++) s {op} {a} * {b}; C[i][j] = s;"
PARAMS = "int M, int U, int N, const float A{a}, const float B{b}, float C[M][N]"


def text(a: str, b: str, x: str, y: str, *, more: str = "0", op: str = "+=") -> str:
    body = SUM.format(a=x, b=y, first=more, op=op)
    params = PARAMS.format(a=a, b=b)
    nest = f"for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) {{ {body} }}"
    return f"void f({params})\n{{ {nest} }}\n"


TEXTS = {
    "plain": text("[M][U]", "[U][N]", "A[i][k]", "B[k][j]"),
    "straight": text("[U][M]", "[U][N]", "A[k][i]", "B[k][j]", more="C[i][j]", op="-="),
    "both-turned": text("[M][U]", "[N][U]", "A[i][k]", "B[j][k]"),
    "longs": text("[M][U]", "[U][N]", "A[i][k]", "B[k][j]").replace("int ", "long "),
    "unsigned": text("[M][U]", "[N][U]", "A[i][k]", "B[j][k]").replace("int ", "unsigned "),
    "part-of-rows": text("[M][U+3]", "[U+2][N+1]", "A[i][k+2]", "B[k+1][j]"),
    "pointers": text("[]", "[]", "A[i*U+k]", "B[k*N+j]"),
}
TEXTS["numbers"] = re.sub(
    r"\b[MUN]\b",
    lambda m: {"M": "44", "U": "35", "N": "45"}[m[0]],
    TEXTS["plain"].replace("int M, int U, int N, ", ""),
)
SIZES = (
    (41, 19, 45),
    (44, 35, 44),
    (60, 16, 30),
    (150, 33, 131),
    (90, 21, 101),
    (88, 24, 44),
    (40, 20, 36),
    (3, 4, 5),
    (41, 0, 41),
)


ON_A_DEVICE = ("plain", "both-turned", "numbers")
AS_WRITTEN = ("both-turned", "longs", "unsigned", "part-of-rows", "pointers")
"""Texts whose kernels run alone, and with the C that is written; each in one way at least."""


@cache
def derivation(name: str) -> Derivation:
    (fn,) = parse_file("f.c", text=TEXTS[name]).unit.functions
    return tile(fn, {}, None, SMALL).derivation


@cache
def plan(name: str) -> Plan:
    return emit.kernel(derivation(name), fp=SEPARATE)


def sizes_of(name: str) -> list[dict[str, int]]:
    if name == "numbers":
        return [{}]
    every = [dict(zip("MUN", sizes)) for sizes in SIZES]
    return [s for s in every if name != "pointers" or s["U"]]


ALWAYS = ("plain", "pointers", "unsigned", "numbers")
"""Each takes seconds to tile."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in ALWAYS else pytest.mark.slow) for n in TEXTS],
)
def test_tiles_are_copied_ahead_from_copies(name: str) -> None:
    assert any(isinstance(s, PackOperands) for s in every_step(derivation(name)))
    ahead = [s for _, s in walk(derivation(name).function.body) if asynchronous(s)]
    # Three shapes, one of them with offsets in 64 bits.
    assert len(ahead) == (1 if name == "numbers" else 4)


@pytest.mark.slow
def test_shapes_that_need_too_many_registers_are_left_out() -> None:
    """The others stay: 12 x 8 elements need more than the 8 x 8 of the largest tile."""
    (fn,) = parse_file("f.c", text=TEXTS["plain"]).unit.functions
    for registers, wanted in ((255, "128x128 96x128 64x128"), (128, "128x128 64x128")):
        done = tile(fn, {}, None, replace(H100, registers=registers)).derivation
        (dispatch,) = (r.step for r in done.records if isinstance(r.step, Dispatch))
        labels = (v.label.split(", ") for v in dispatch.variants)
        packed = dict.fromkeys(x for x, *how in labels if "async copies" in how)
        assert [*packed][::-1] == wanted.split()


def asynchronous(s: object) -> bool:
    return isinstance(s, For) and bool(s.asynchronous)


@pytest.mark.device
@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("plain", slice(0, None, 2)),
        pytest.param("straight", slice(None), marks=[pytest.mark.slow, pytest.mark.optimised]),
        *(pytest.param(n, slice(None), marks=pytest.mark.slow) for n in ON_A_DEVICE),
    ],
    ids=str,
)
def test_bit_identical_to_the_c_program(name: str, part: slice) -> None:
    assert_runs_agree(plan(name), CSource(text=TEXTS[name]), sizes_of(name)[part], 3)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("pointers", slice(1, None, 2)),
        *(pytest.param(n, slice(None), marks=pytest.mark.slow) for n in AS_WRITTEN),
    ],
    ids=str,
)
def test_the_drop_in_computes_what_the_function_did(tmp_path: Path, name: str, part: slice) -> None:
    require_opencl()
    file = tmp_path / "user.c"
    file.write_text(TEXTS[name])
    start = derivation(name).start
    every: list[Mapping[str, object]] = [arguments(start, s, 1) for s in sizes_of(name)[part]]
    app = project_of(tmp_path, derivation(name), file).build(PEDANTIC + caller_of(start, *every))
    assert_same(run_app(app, LOOPXFORM_VERBOSE="1"))


def test_bounds_that_are_numbers_are_hidden() -> None:
    """Where a compiler knew them, it would unroll the loop over tiles."""
    source = plan("numbers").source
    assert re.search(r"int end = 35 / Tk \* Tk;\s+LX_HIDE\(end\);", source)
    assert "#define LX_HIDE" in source
    assert "LX_HIDE" not in plan("plain").source


def mm(name: str = "mm") -> Function:
    (fn,) = parse_file(str(CORPUS / f"{name}.c")).unit.functions
    return fn


class DecidedError(Exception):
    """Whether there are to be copies, once that is decided."""


@pytest.fixture
def packed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., bool]:
    """Whether copies are to be made: the steps that follow, which take seconds, are not applied."""

    def decided(*given: Any) -> NoReturn:
        raise DecidedError(packed_operands(*given) is not None)

    def ask(fn: Function, limits: Limits = H100, **asked: object) -> bool:
        options = replace(Options(), **asked)  # type: ignore[arg-type]
        try:
            done = tile(fn, {}, None, limits, options=options)
        except DecidedError as e:
            return bool(e.args[0])
        return any(isinstance(s, PackOperands) for s in every_step(done.derivation))

    monkeypatch.setattr(tile_nest, "packed_operands", decided)
    return ask


ASKED = (
    {"stages": 1},
    {"stages": 2},
    {"async_copies": True},
    {"vector": 1},
    {"pack": 0},
    {"register_pipeline": False},
    {"pad": True},
    {"relayout": ()},
    {"index": 64},
    {"separate_full_tiles": True},
)


def test_it_is_decided_as_it_is_done(packed: Callable[..., bool]) -> None:
    """`test_tiles_are_copied_ahead_from_copies` says what is done."""
    assert packed(parse_file("f.c", text=TEXTS["plain"]).unit.functions[0], SMALL)
    assert packed(mm())


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_what_the_user_asks_for_is_all_that_is_done(
    packed: Callable[..., bool], asked: dict[str, object]
) -> None:
    assert not packed(mm(), **asked)


@pytest.mark.parametrize(
    "name", ["nests/gemm_half", "nests/gemm_double", "batched", "nests/conv_layer"]
)
def test_other_nests_are_as_they_were(packed: Callable[..., bool], name: str) -> None:
    """Elements that are no words, and more dimensions than two, were not seen to gain."""
    assert not packed(mm(name))


@pytest.mark.parametrize("profile", ["generic", "rtx2080ti", "mi250", "pocl", "cpu"])
def test_only_where_the_device_copies_on_its_own(packed: Callable[..., bool], profile: str) -> None:
    assert not packed(mm(), PROFILES[profile])


@pytest.mark.parametrize(("m", "n"), [*product((4096, 512), repeat=2)])
def test_sizes_that_are_numbers(packed: Callable[..., bool], m: int, n: int) -> None:
    """Copies are made where they pay, in the better of the two shapes."""
    fixed = (("M", m), ("N", n), ("U", 4096))
    assert packed(mm(), specialise=fixed) == (m == n == 4096)
