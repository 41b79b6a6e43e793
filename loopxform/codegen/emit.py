"""From a derivation to the files a C project builds: used by the command line and Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loopxform.analysis.key_checks import KeyCheck
from loopxform.codegen import render
from loopxform.codegen.host import part
from loopxform.codegen.host import runtime as host_runtime
from loopxform.codegen.host.names import require_names
from loopxform.codegen.host.part_plan import HostPlan
from loopxform.codegen.plan import Plan, program_plan
from loopxform.errors import EmitError
from loopxform.floating_point import CONTRACT, FloatingPoint
from loopxform.ir.nodes import Function
from loopxform.records import record
from loopxform.targets.copies import Copies
from loopxform.targets.target import GENERIC
from loopxform.transforms import Derivation


@record
class Emitted:
    """The files by name, and the plan of the kernels (None for C only)."""

    files: dict[str, str]
    plan: Plan | None


@record
class Entry:
    """A part of the user's program as C: `text` defines `int lx_try_NAME(...)` with the
    parameters of the part, where NAME is what its derivation calls the function. It returns 1
    where the device did the work; 0 where nothing has changed and the loops have to run. With
    `NAME_cl` for buffers on the device, if that was asked for. Above it stand the runtime, and the
    structs and objects at file scope that the part uses."""

    text: str
    plan: Plan
    host: HostPlan


def entry(
    derivation: Derivation,
    *,
    origin: str,
    version: str,
    fp: FloatingPoint = CONTRACT,
    on_device: bool = True,
    asks_macros: bool = False,
    host: float | None = None,
    functions: Iterable[str] = (),
    inspector: Function | None = None,
    keys: KeyCheck | None = None,
) -> Entry:
    """A part of a file whose text stays the user's; names of parts of one file must differ. It
    calls `lx_same_NAME` where it `asks_macros`. Calls of fewer operations than `host` are the
    host's; None: host and device are compared. `functions` are those that tuning files may speak
    of, the part's own among them. The `inspector` finds ends of arrays, `keys` looks at subscripts.

    Raises EmitError where the mapped program cannot run as kernels behind its parameters.
    """
    start = derivation.restored
    if start.returns is not None:
        raise EmitError(
            f"'{start.name}' returns a value, which a kernel cannot",
            loc=start.origin.loc,
            help="write the result through a pointer parameter",
        )
    plan = program_plan(
        derivation.function,
        start,
        header=tuple(_header(derivation, origin, version)),
        fp=fp,
    )
    planned = part.host_plan(
        plan,
        origin=origin,
        on_device=on_device,
        asks_macros=asks_macros,
        host=host,
        functions=functions,
        inspector=inspector,
        keys=keys,
    )
    return Entry(part.entry(planned), plan, planned)


def runtime(version: str, entries: Sequence[Entry], copies: Copies = GENERIC.copies) -> str:
    """What stands above the entries of a file, once: includes, and the OpenCL runtime."""
    return host_runtime.text(
        version,
        tuned=any(e.host.thresholds for e in entries),
        asks_warp=any(e.host.asks_warp for e in entries),
        has_matrices=any(e.host.rows for e in entries),
        has_loops_in_order=any(e.host.in_order for e in entries),
        tile_products=tuple(dict.fromkeys(x for e in entries for x in e.host.tile_products)),
        group_products=tuple(dict.fromkeys(x for e in entries for x in e.host.group_products)),
        shares=any(e.host.shares for e in entries),
        copies=copies,
    )


def header(entries: Sequence[Entry], *, stem: str, origin: str, version: str) -> str:
    """`stem.h`: the functions of the runtime, and `NAME_cl` of the entries that have it."""
    return part.header([e.host for e in entries], stem=stem, origin=origin, version=version)


def opencl(
    derivation: Derivation,
    *,
    stem: str,
    origin: str,
    version: str,
    asked: str = "",
    fp: FloatingPoint = CONTRACT,
    host: float | None = None,
    functions: Iterable[str] = (),
    inspector: Function | None = None,
    keys: KeyCheck | None = None,
    copies: Copies = GENERIC.copies,
) -> Emitted:
    """`stem.cl`, `stem_opencl.c` and `stem_opencl.h` for a mapped program: one function in files
    of its own; `asked` are the lines of `macro_checks.errors`. `keys` looks at subscripts before
    kernels run, but not in `NAME_cl`, which is not there with an `inspector` of ends of arrays.

    Raises EmitError where it cannot run as kernels behind the user's signature.
    """
    _reachable(derivation.start)
    made = entry(
        derivation,
        origin=origin,
        version=version,
        fp=fp,
        host=host,
        functions=functions,
        on_device=inspector is None,
        inspector=inspector,
        keys=keys,
    )
    name = f"{stem}_opencl"
    text, head = part.write(made.host, stem=name, version=version, asked=asked, copies=copies)
    files = {f"{stem}.cl": made.plan.source, f"{name}.c": text, f"{name}.h": head}
    return Emitted(files, made.plan)


def openmp(
    derivation: Derivation, *, stem: str, origin: str, version: str, asked: str = ""
) -> Emitted:
    """`stem_openmp.c`: the transformed program as C with OpenMP pragmas, behind a guard where its
    meaning rests on what only a run can tell. Raises EmitError where that cannot be asked, or a
    name of the user's is taken."""
    from loopxform.codegen.c import guarded

    _reachable(derivation.start)
    require_names(derivation.start)
    head = [f"/* {render.comment(line)} */" for line in _header(derivation, origin, version)]
    text = guarded.file_text(
        derivation.restored, derivation.function, reordered=not derivation.keeps_order
    )
    above = [asked] if asked else []
    return Emitted({f"{stem}_openmp.c": "\n".join([*head, "", *above, text])}, None)


def kernel(derivation: Derivation, *, fp: FloatingPoint = CONTRACT) -> Plan:
    """Only the kernels, to run them from here."""
    _reachable(derivation.start)
    return program_plan(derivation.function, derivation.restored, fp=fp)


def _reachable(fn: Function) -> None:
    """What is written goes into a file of its own. Raises EmitError."""
    for p in fn.globals:
        if p.local:
            raise EmitError(
                f"'{p.name}' is a pointer of the function: what it points to is not known",
                loc=p.origin.loc,
                help=f"make {p.name} a parameter",
            )
        if p.static and not p.values:
            raise EmitError(
                f"'{p.name}' is static: a file of its own cannot reach it",
                loc=p.origin.loc,
                help=f"pass {p.name} as a parameter, or drop 'static'"
                + (", or list its values" if p.const else ""),
            )


def _header(derivation: Derivation, origin: str, version: str) -> list[str]:
    """Provenance: the tool, the user's function, the tile sizes and the steps, all of them where
    they are few enough to be read."""
    fn: Function = derivation.start
    sizes = ", ".join(f"{n} = {v}" for n, v in fn.tiles)
    lines = [f"{fn.name} from {origin}, transformed by loopxform {version}"]
    lines += [f"tile sizes: {sizes}"] if sizes else []
    if len(derivation.records) > MOST_STEPS:
        count = len(derivation.records)
        return [*lines, f"derivation: {count} steps, which --show-steps prints"]
    return [*lines, "derivation:", *(f"  {r.step}" for r in derivation.records)]


MOST_STEPS = 150
"""In the comment on top of a file."""
