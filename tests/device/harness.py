"""The corpus, tiled, run and compared with the user's C: what the tests of this folder share."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from tilings import Tiled, tile

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.host.buffers import Buffer
from loopxform.codegen.host.schedule import flags
from loopxform.codegen.opencl.families import named
from loopxform.codegen.opencl.kernel_plan import KernelPlan
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.frontend import parse_file
from loopxform.ir.nodes import Function, Param
from loopxform.runtime.device import DeviceInfo
from loopxform.runtime.kernel import CompiledKernel, room_for
from loopxform.runtime.launch import Launch, Room
from loopxform.runtime.oclgrind import (
    AS_WRITTEN,
    Checks,
    SimulatedLaunch,
    run_kernels_under_oclgrind,
)
from loopxform.runtime.oclgrind_report import OclgrindReport
from loopxform.runtime.schedule import Ask, launched, not_known
from loopxform.runtime.selection import choose
from loopxform.runtime.structs import with_numbers
from loopxform.schedule.params import Recipe, Tiles
from loopxform.verify.check_run import Comparison, RunResult, arguments, run
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource, Library
from loopxform.verify.interp import Program
from loopxform.verify.values import Wanted

CORPUS = Path(__file__).parents[2] / "corpus"

Arguments = Mapping[str, Any]

Sizes = tuple[int, int, int]
"""M, U, N, as the tables of Cholewa-Madsen and Holst list them."""

PROGRAMS = tuple(sorted(p.stem for p in CORPUS.glob("*.c")))


def source(name: str) -> CSource:
    return CSource(str(CORPUS / f"{name}.c"))


@cache
def program(name: str) -> Function:
    """The function of a corpus file: the one with the file's name."""
    functions = parse_file(source(name).path).unit.functions
    return next(fn for fn in functions if fn.name == name)


@cache
def tiled(name: str, tiles: Tiles, recipe: Recipe = "register") -> Tiled:
    return tile(program(name), tiles, recipe, strict=True)


@cache
def plan(name: str, tiles: Tiles, recipe: Recipe = "register") -> Plan:
    """Without contraction, so that results are those of the C program to the last bit."""
    return emit.kernel(tiled(name, tiles, recipe).derivation, fp=SEPARATE)


@cache
def kernel(name: str, tiles: Tiles, recipe: Recipe = "register") -> CompiledKernel:
    return CompiledKernel(plan(name, tiles, recipe), choose())


@cache
def reference(name: str) -> Library:
    """The user's C, compiled with -ffp-contract=off."""
    return Library(source(name), [program(name)])


def sizes_of(name: str, m: int, u: int, n: int) -> dict[str, int]:
    """Numbers for the sizes a program takes (P, the number of products of a batch, is 3)."""
    known = {"M": m, "U": u, "N": n, "P": 3}
    return {p.name: known[p.name] for p in program(name).params if p.name in known}


def given(name: str, sizes: Mapping[str, int], seed: int) -> dict[str, Any]:
    """Random arguments. Those of `mm_bool_and` are such that both results occur."""
    args = arguments(program(name), sizes, seed)
    if name == "mm_bool_and" and args["A"].size and args["B"].size:
        m, u = args["A"].shape
        args["A"][m // 2, u // 2] = 9
        args["B"][u // 2, ::2] = 1.49
    return args


def run_c(name: str, args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments after a run of the user's C."""
    after = copy.deepcopy(dict(args))
    reference(name).run(name, after)
    return after


def run_on_device(compiled: CompiledKernel, args: Mapping[str, Any]) -> dict[str, Any]:
    after = copy.deepcopy(dict(args))
    compiled(**after)
    return after


@lru_cache(32)
def expected(
    name: str, sizes: tuple[tuple[str, int], ...], seed: int
) -> tuple[Arguments, Arguments]:
    """Arguments, and what they are after a run of the user's C; not to be changed."""
    args = given(name, dict(sizes), seed)
    return args, run_c(name, args)


def check_kernel(compiled: CompiledKernel, name: str, sizes: Mapping[str, int], seed: int) -> None:
    """Fails unless it does to every argument, bit by bit, what the C program does."""
    args, after = expected(name, tuple(sizes.items()), seed)
    found = compare(after, run_on_device(compiled, args))
    assert not found, f"{name} {dict(sizes)} seed {seed}: {found[0]}"


def check_on_device(
    name: str, tiles: Tiles, recipe: Recipe, sizes: Mapping[str, int], seed: int
) -> None:
    """As `check_kernel`, for the kernel of a program of the corpus in these tiles."""
    check_kernel(kernel(name, tiles, recipe), name, sizes, seed)


def assert_agrees(
    text: str, sizes: Mapping[str, int | float], tiles: Tiles | None = None
) -> RunResult:
    """The function `f` of a C text, tiled and run: fails unless every array is the user's."""
    function = lx.loads(text)["f"]
    given = {} if tiles is None else asdict(tiles)
    plan = emit.kernel(function.tile(contract=False, **given).derivation, fp=SEPARATE)
    result = run(plan, CSource(text=text), choose(), sizes, 7)
    assert result.ok, (plan.source, result.mismatches[0])
    assert result.elements
    return result


def assert_runs_agree(
    plan: Plan,
    source: CSource,
    every: Iterable[Mapping[str, int | float]],
    seed: int,
    device: str | None = None,
    *,
    inputs: Mapping[str, Wanted] | None = None,
) -> None:
    """For all sizes: fails unless every array is the user's, to the last bit."""
    both = Comparison(plan, source, choose(device))
    elements = 0
    for sizes in every:
        found = both.run(sizes, seed, inputs=inputs)
        assert found.ok, (dict(sizes), found.mismatches)
        elements += found.elements
    assert elements


def simulate(
    p: Plan, args: Mapping[str, Any], changed: Callable[[str], str] = str
) -> OclgrindReport:
    """The kernels under Oclgrind, or what is made of their text. They run as written: optimised
    code has instructions that Oclgrind does not know (freeze)."""
    return simulate_launches(p, args, changed)[0]


class _Recording(CompiledKernel):
    """Keeps what the host read."""

    def __init__(self, plan: Plan, device: DeviceInfo) -> None:
        super().__init__(plan, device)
        self.answers: list[int] = []

    def _told(
        self,
        follow: Callable[[Ask], Iterator[Launch]],
        rooms: Mapping[str, Room],
        read: Callable[[Room], int],
    ) -> Iterator[Launch]:
        def noted(room: Room) -> int:
            self.answers.append(read(room))
            return self.answers[-1]

        return super()._told(follow, rooms, noted)


def told(p: Plan, args: Mapping[str, Any]) -> Ask:
    """What the flags say, one question after the other, in a run on the device."""
    if not flags(p.schedule):
        return not_known
    recording = _Recording(p, choose())
    recording(**copy.deepcopy(dict(args)))
    answers = iter(recording.answers)
    return lambda _: next(answers)


def simulate_launches(
    p: Plan, args: Mapping[str, Any], changed: Callable[[str], str] = str
) -> tuple[OclgrindReport, dict[str, Any]]:
    """As `simulate`, and what the user's arrays that were launched with hold afterwards; `changed`
    is what is made of the text of the kernels."""
    report, (after,) = simulate_all(p, [args], changed)
    return report, after


@dataclass(frozen=True)
class Simulated:
    """The launches of a run, the kernels that they are of, and the names of their arrays."""

    launches: tuple[SimulatedLaunch, ...]
    numbers: tuple[int, ...]
    names: tuple[str, ...]


def assert_clean_and_right(p: Plan, given: list[dict[str, Any]]) -> None:
    """In the simulator: no race, nothing out of bounds, nothing that was never set; and what the
    program says, for each of several arguments."""
    before = copy.deepcopy(given)
    report, after = simulate_all(p, given)
    assert report.clean, report.findings
    for args, found in zip(before, after):
        Program(p.start).run(args)
        assert not compare({k: args[k] for k in found}, found)


def simulate_all(
    p: Plan, every: Sequence[Mapping[str, Any]], changed: Callable[[str], str] = str
) -> tuple[OclgrindReport, list[dict[str, Any]]]:
    """Runs with several arguments in one process, which compiles the kernels once, and what the
    user's arrays hold after each."""
    runs = [_simulated_run(p, args) for args in every]
    text = changed(_one_source(p, dict.fromkeys(n for r in runs for n in r.numbers)))
    launches = [x for r in runs for x in r.launches]
    report = run_kernels_under_oclgrind(text, launches, [AS_WRITTEN], Checks(local_bytes=1 << 20))
    arrays = iter(report.arrays)
    after = [dict(zip(r.names, islice(arrays, len(r.names)), strict=True)) for r in runs]
    assert next(arrays, None) is None
    return report, after


def _simulated_run(p: Plan, args: Mapping[str, Any]) -> Simulated:
    ask = told(p, args)
    args = {p.plain_names.get(n, n): v for n, v in args.items()}
    args = with_numbers(p.written, p.plain_names, args)
    scalars = {q.name: int(args[q.name]) for q in p.start.objects if _is_integer(q)}
    rooms = {b.param.name: room_for(b, args, scalars) for b in p.temporaries}
    known = {b.param.name: b.like for b in p.temporaries}
    steps = list(launched(p, scalars, ask))
    made = []
    for number, now in steps:
        k = replace(p.kernels[number], name=_own_name(p, number))
        made.append((k, simulated(k, {**args, **rooms, **now}, now)))
    found = [(k, x) for k, x in made if x]
    names = [a.param.name for k, _ in found for a in k.arguments if isinstance(a, Buffer)]
    names = [known.get(n, n) for n in names if not isinstance(rooms.get(n), Room)]
    return Simulated(tuple(x for _, x in found), tuple(n for n, _ in steps), tuple(names))


def _one_source(p: Plan, numbers: Iterable[int]) -> str:
    """Kernels of several programs in one, each with its own macros and name."""
    parts, defined = [p.shared], dict[str, int]()
    for n in numbers:
        parts += [f"#undef {name}" for name in defined]
        defined = dict(p.kernels[n].macros)
        parts += [f"#define {name} {value}" for name, value in defined.items()]
        parts.append(named(p.kernels[n].text, _own_name(p, n)))
    return "\n".join(parts)


def _own_name(p: Plan, number: int) -> str:
    """The name of a kernel; with its number where others have the same text."""
    name = p.kernels[number].name
    alone = sum(k.name == name for k in p.kernels) == 1
    return name if alone else f"{name}_at_{number}"


def _is_integer(p: Param) -> bool:
    return not p.array and p.type.is_integer


def simulated(
    k: KernelPlan, args: Mapping[str, Any], scalars: dict[str, int]
) -> SimulatedLaunch | None:
    """The launch of a kernel, if it has anything to do."""
    total = [g * s for g, s in zip(k.groups(scalars), k.group_shape)]
    values = [
        args[a.param.name]
        if isinstance(a, Buffer)
        else np.dtype(a.type.argument).type(args[a.name])
        for a in k.arguments
    ]
    return None if 0 in total else SimulatedLaunch(k.name, values, total, k.group_shape)


def arrays_after(p: Plan, report: OclgrindReport) -> dict[str, Any]:
    """What the user's arrays hold after `simulate`, where every kernel ran once."""
    own = {b.param.name for b in p.temporaries}
    names = [a.param.name for k in p.kernels for a in k.arguments if isinstance(a, Buffer)]
    return dict(zip((n for n in names if n not in own), report.arrays, strict=True))


def check_under_oclgrind(
    name: str, tiles: Tiles, recipe: Recipe, every: Sequence[Mapping[str, int]], seed: int
) -> OclgrindReport:
    """Fails on a race, an access out of bounds, a read of an unset value, or a wrong result for any
    of the sizes."""
    what = f"{name} {recipe} {tiles} seed {seed}"
    runs, p = [given(name, sizes, seed) for sizes in every], plan(name, tiles, recipe)
    report, after = simulate_all(p, runs)
    assert report.clean, f"{what}: {report.findings[0]}"
    for sizes, args, arrays in zip(every, runs, after):
        expected = run_c(name, args)
        found = compare({n: expected[n] for n in arrays}, arrays)
        assert not found, f"{what} {dict(sizes)}: {found[0]}"
    return report
