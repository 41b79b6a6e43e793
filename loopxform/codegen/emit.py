"""From a derivation to the files a C project builds: used by the command line and Python."""

from __future__ import annotations

from dataclasses import dataclass

from loopxform.codegen import host, render
from loopxform.codegen.host_names import require_names
from loopxform.codegen.plan import Plan, program_plan
from loopxform.errors import EmitError
from loopxform.ir.nodes import Function
from loopxform.transforms import Derivation


@dataclass(frozen=True)
class Emitted:
    """The files by name, and the plan of the kernels (None for C only)."""

    files: dict[str, str]
    plan: Plan | None


def opencl(
    derivation: Derivation, *, stem: str, origin: str, version: str, contract: bool = True
) -> Emitted:
    """`stem.cl`, `stem_opencl.c` and `stem_opencl.h` for a mapped program.

    Raises EmitError where it cannot run as kernels behind the user's signature.
    """
    start = derivation.start
    _reachable(start)
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
        contract=contract,
    )
    name = f"{stem}_opencl"
    text, header = host.write(host.host_plan(plan, stem=name, origin=origin, version=version))
    return Emitted({f"{stem}.cl": plan.source, f"{name}.c": text, f"{name}.h": header}, plan)


def openmp(derivation: Derivation, *, stem: str, origin: str, version: str) -> Emitted:
    """`stem_openmp.c`: the transformed program as C with OpenMP pragmas, behind a guard where its
    meaning rests on what only a run can tell. Raises EmitError where that cannot be asked, or a
    name of the user's is taken."""
    from loopxform.codegen import c_guarded

    _reachable(derivation.start)
    require_names(derivation.start)
    head = [f"/* {render.comment(line)} */" for line in _header(derivation, origin, version)]
    text = c_guarded.file_text(
        derivation.start, derivation.function, reordered=not derivation.keeps_order
    )
    return Emitted({f"{stem}_openmp.c": "\n".join([*head, "", text])}, None)


def kernel(derivation: Derivation, *, contract: bool = True) -> Plan:
    """Only the kernels, to run them from here."""
    _reachable(derivation.start)
    return program_plan(derivation.function, derivation.start, contract=contract)


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
    """Provenance: the tool, the user's function, the tile sizes and every step."""
    fn: Function = derivation.start
    sizes = ", ".join(f"{n} = {v}" for n, v in fn.tiles)
    lines = [f"{fn.name} from {origin}, transformed by loopxform {version}"]
    lines += [f"tile sizes: {sizes}"] if sizes else []
    lines.append("derivation:")
    return [*lines, *(f"  {r.step}" for r in derivation.records)]
