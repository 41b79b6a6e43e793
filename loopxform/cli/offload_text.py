"""What `offload` tells on the terminal: what every part of the function became, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from loopxform.analysis.missing_updates import CODE
from loopxform.api.offload import OffloadedRoutine
from loopxform.api.offloaded_regions import OffloadedRegion
from loopxform.api.splice import OffloadedFile
from loopxform.cli import permission_text, transfers_text
from loopxform.cli.plan_text import versions
from loopxform.cli.users_names import UsersNames
from loopxform.codegen.host.schedule import Repeat, every
from loopxform.codegen.opencl import describe
from loopxform.codegen.opencl.kernel_plan import KernelPlan
from loopxform.codegen.plan import Plan
from loopxform.errors import InputError
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import For
from loopxform.ir.visit import walk
from loopxform.offload.program_state import Part
from loopxform.quotation import Paint, plain
from loopxform.transforms import Dispatch


def file_lines(done: OffloadedFile, *, whole: bool, paint: Paint = plain) -> Iterator[str]:
    """What became of every loop of a file."""
    users = UsersNames(done.file)
    for r in done.regions:
        own = users if r.region.whole else users.passing(done.original.outlined(r.region).passed)
        yield from lines(r.done, r.entry.plan, named_place(r, done), own, whole=whole)
    for name, why in done.left:
        left = f"left on the host, in '{name}'"
        yield users.in_error(why).render(done.file.parsed.sources, paint, left)
    for m in done.missing:
        error = InputError(m.message, loc=m.loc, code=CODE, help=m.help, width=len(m.array))
        yield error.render(done.file.parsed.sources, paint, "warning")


def named_place(r: OffloadedRegion, done: OffloadedFile) -> str:
    """The function, and where in it the region is that is not all of it."""
    owner = r.region.owner.name
    if r.region.whole:
        return owner
    first, last = (done.text.plain.count("\n", 0, x) + 1 for x in (r.region.start, r.region.end))
    return f"{owner}, line {first}" if first == last else f"{owner}, lines {first} to {last}"


def lines(
    done: OffloadedRoutine, plan: Plan, name: str, users: UsersNames, *, whole: bool
) -> Iterator[str]:
    """What became of a part of the file that is called `name`, a line each; the `whole` report
    names transfers and launches too."""
    yield headline(plan, name)
    kernels = _Kernels(plan, done.parts)
    steps = (r.step for r in done.derivation.records)
    chosen = {s.loop: s for s in steps if isinstance(s, Dispatch) and s.thresholds}
    for part in done.parts:
        yield from _part(part, kernels.of(part), users, whole=whole)
        if part.loop in chosen:
            rows = versions(chosen.pop(part.loop))
            yield from (f"  {'':<9} {'':<18} {row.strip()}" for row in rows)
    tiled = [p.tiled for p in done.parts if p.tiled is not None]
    if gain := permission_text.faster(done, tiled):
        yield f"  --fp fast {gain}"
    if whole:
        yield from transfers_text.lines(plan, users)


class _Kernels:
    """The kernel of each part: the last one of several with its loop, one after the other where
    parts are several, too."""

    def __init__(self, plan: Plan, parts: Sequence[Part]) -> None:
        self.left: dict[str, list[KernelPlan]] = {}
        for k in plan.kernels:
            for x in dict.fromkeys(_loops(k)):
                self.left.setdefault(x, []).append(k)
        for loop, count in Counter(p.loop for p in parts).items():
            del self.left.get(loop, [])[:-count]

    def of(self, part: Part) -> KernelPlan | None:
        found = self.left.get(part.loop)
        return found.pop(0) if found else None


def headline(plan: Plan, name: str) -> str:
    """`f: 3 kernels, 1 of them on one work-item; 1 loop of the host`."""
    single = sum(_is_single(k) for k in plan.kernels)
    repeated = sum(isinstance(x, Repeat) for x in every(plan.schedule))
    text = f"{name}: {_counted(len(plan.kernels), 'kernel')}"
    if single:
        text += f", {single} of them on one work-item"
    return f"{text}; {_counted(repeated, 'loop')} of the host" if repeated else text


def _is_single(k: KernelPlan) -> bool:
    return k.mapping.group_size == 1 and all(value_of(e) == 1 for e in k.grid)


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' if n != 1 else ''}"


def became(done: OffloadedRoutine, plan: Plan) -> dict[str, str]:
    """What each kernel that stands for a part is, with its place, by the name of the kernel."""
    return {name: f"{_span(p)}: {form(p)}" for name, p in kernels_of(done, plan).items()}


def kernels_of(done: OffloadedRoutine, plan: Plan) -> dict[str, Part]:
    """The part that each kernel stands for, by the name of the kernel."""
    kernels = _Kernels(plan, done.parts)
    found = ((kernels.of(part), part) for part in done.parts if part.kind != "host")
    return {k.name: part for k, part in found if k is not None}


def _part(
    part: Part, kernel: KernelPlan | None, users: UsersNames, *, whole: bool
) -> Iterator[str]:
    place = _place(part)
    names = [*dict.fromkeys(map(users.of, part.loops))]
    loops = f"loop{'s' if len(names) > 1 else ''} {', '.join(names)}"
    others = "loop on data" if part.kind == "host" else "statements"
    what = (users.copying_at(part.loc) or loops) if part.loops else others
    what = f"copy of {users.of(part.copied)}" if part.copied else what
    if part.kind == "host":
        yield f"  {place:<9} {what:<18} on the host, in order"
    else:
        yield f"  {place:<9} {what:<18} {form(part)}{_named(kernel)}"
    if part.lines:
        yield f"  {'':<9} {'':<18} the nests at lines {', '.join(map(str, part.lines))}"
    if part.why:
        yield f"  {'':<9} {'':<18} because {users.in_text(part.why)}"
    if whole and kernel is not None and part.tiled is not None:
        grid, group = describe.grid(kernel.mapping), describe.group(kernel.mapping)
        grid = users.of_arguments(grid)
        yield f"  {'':<9} {'':<18} {grid}, each {group}"
        if kernel.local_bytes:
            yield f"  {'':<9} {'':<18} local memory {describe.local_memory(kernel.mapping)}"


def _place(part: Part) -> str:
    return f"line {part.loc.line}" if part.loc else ""


def _span(part: Part) -> str:
    return f"lines {min(part.lines)} to {max(part.lines)}" if part.lines else _place(part)


def form(part: Part) -> str:
    """How the device runs a part."""
    if part.about:
        return part.about
    if part.tiled is None:
        return "one work-item, in order"
    sizes = ", ".join(f"{n}={v}" for n, v in part.tiled.sizes.items())
    return f"{part.tiled.choice.title}, {sizes}"


def _named(kernel: KernelPlan | None) -> str:
    return f" ({kernel.name})" if kernel else ""


def _loops(k: KernelPlan) -> list[str]:
    return [s.var for _, s in walk(k.function.body) if isinstance(s, For)]
