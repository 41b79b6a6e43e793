"""Programs: how they were derived, their kernels, how they are called."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loopxform.api.mapped import MappedRoutine
from loopxform.api.offload import OffloadedRoutine
from loopxform.api.offloaded_regions import OffloadedRegion
from loopxform.api.splice import OffloadedFile
from loopxform.api.tile import TiledRoutine
from loopxform.cli.users_names import UsersNames
from loopxform.ir.nodes import Param
from loopxform.ir.printer import expr_text
from loopxform.report import collect, derivations, mapping
from loopxform.report.facts import FileFact, Mapping, Stage
from loopxform.report.names import Names, prefix
from loopxform.report.notebook.piece import piece
from loopxform.transforms import Derivation
from loopxform.transforms.derivation import Record

if TYPE_CHECKING:
    from loopxform.runtime.kernel import CompiledKernel

MOST_KERNELS, MOST_LINES = 2, 160
"""Kernels of a part that are shown, and lines of each."""

MOST_PARTS = 4
"""Parts of a file that are shown with their kernels; of the others the first line alone."""


def html(
    x: Derivation | Record | MappedRoutine | OffloadedFile | OffloadedRegion | CompiledKernel,
) -> str:
    match x:
        case Derivation():
            return _derivation(x)
        case Record():
            return _record(x)
        case TiledRoutine() | OffloadedRoutine():
            return _routine(x)
        case OffloadedFile():
            return _file(x)
        case OffloadedRegion():
            return _region(x)
        case MappedRoutine():
            raise TypeError(type(x).__name__)
        case _:
            return _kernel(x)


def _derivation(d: Derivation) -> str:
    stages, shown = derivations.stages(d, {})
    title = f"How {d.start.name} was derived"
    return piece(title, "derivation.html.j2", title=title, mapping=_steps(d, stages, shown))


def _record(r: Record) -> str:
    title = f"A step: {r.step}"
    stage = Stage(str(r.step), ((str(r.step), r.reason),), derivations.lines(r.result))
    nothing = Derivation(r.result)
    return piece(title, "derivation.html.j2", title=title, mapping=_steps(nothing, (stage,), ""))


def _steps(d: Derivation, stages: tuple[Stage, ...], shown: str) -> Mapping:
    most = derivations.MOST_STAGES
    return Mapping(
        title="",
        headline="",
        parts=(),
        stages=stages[:most],
        stages_left=max(0, len(stages) - most),
        variants=derivations.variants(d),
        shown=shown,
        skipped=derivations.skipped(d),
        kernels=(),
        kernels_left=0,
    )


def _routine(x: TiledRoutine | OffloadedRoutine) -> str:
    names = Names(prefix(), x.routine.file.name)
    if isinstance(x, TiledRoutine):
        fact, _ = mapping.of_tile(x, names)
    else:
        plan = x.opencl.plan
        assert plan is not None
        users = UsersNames(x.routine.file)
        fact, _ = mapping.of_offload(x, plan, names, users, x.limits, x.routine.name)
    sources = x.routine.file.parsed.sources
    return _mapped(f"{x.routine.name} on the device", [fact], names.file, sources.text(names.file))


def _mapped(title: str, facts: list[Mapping], name: str, text: str | None, **more: object) -> str:
    """Mappings beside lines of the file, which itself is not shown."""
    facts = [_shortened(x) for x in facts]
    file = FileFact("", name, "", tuple((text or "").splitlines()), (), (), ())
    values = {"brief": (), "refusals": (), **more}
    return piece(title, "mapped.html.j2", mappings=facts, file=file, **values)


def _shortened(x: Mapping) -> Mapping:
    """With as many kernels as a notebook has room for."""
    kernels = tuple(
        replace(k, lines=k.lines[:MOST_LINES], left_out=k.left_out + len(k.lines[MOST_LINES:]))
        for k in x.kernels[:MOST_KERNELS]
    )
    return replace(x, kernels=kernels, kernels_left=x.kernels_left + len(x.kernels) - len(kernels))


def _region(x: OffloadedRegion) -> str:
    file = x.done.routine.file
    names = Names(prefix(), file.name)
    users = UsersNames(file)
    owner = x.region.owner.name
    fact, _ = mapping.of_offload(x.done, x.entry.plan, names, users, x.done.limits, owner)
    return _mapped(f"A part of {owner}", [fact], file.name, file.parsed.sources.text(file.name))


def _file(x: OffloadedFile) -> str:
    """What became of its parts, and why loops stay as they are."""
    names = Names(prefix(), x.file.name)
    sources, users = x.file.parsed.sources, UsersNames(x.file)
    facts = [
        mapping.of_region(r, x, replace(names, prefix=names.of(n)), r.done.limits)[0]
        for n, r in enumerate(x.regions)
    ]
    left = {
        collect.refusal(users.in_error(e), names, sources, "stays on the host"): None
        for _, e in x.left
    }
    title = f"{x.file.name} on the device"
    shown, brief = facts[:MOST_PARTS], facts[MOST_PARTS:]
    text = sources.text(x.file.name)
    return _mapped(title, shown, x.file.name, text, brief=brief, refusals=[*left])


def _kernel(x: CompiledKernel) -> str:
    """How it is called, and how long the last call took."""
    arguments = [(p.name, _type(p), p.array) for p in x.plan.written.params]
    return piece(
        f"{x.plan.written.name}, compiled",
        "compiled.html.j2",
        name=x.plan.written.name,
        device=str(x.device),
        arguments=arguments,
        kernels=[k.name for k in x.plan.kernels],
        nanoseconds=x.nanoseconds,
    )


def _type(p: Param) -> str:
    """As the C has it: `float [M][U]`; [] where nobody says how long it is."""
    dims = "".join(f"[{'' if d is None else expr_text(d)}]" for d in p.shape)
    return f"{p.type} {dims}".rstrip()
