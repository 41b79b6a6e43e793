"""Imports point downwards, and each outside library has one home."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "loopxform"
BASE = {
    "display",
    "source",
    "errors",
    "nearest",
    "trace",
    "records",
    "budget",
    "written",
    "floating_point",
}
LAYERS: dict[str, set[str]] = {
    "display": set(),
    "source": set(),
    "quotation": {"source"},
    "errors": {"display", "source", "quotation"},
    "nearest": set(),
    "budget": {"source", "errors"},
    "trace": set(),
    "records": set(),
    "floating_point": {"records"},
    "written": {"source", "errors"},
    "json_text": {"source", "errors", "records"},
    "version": set(),
    "cache": {"trace"},
    "compiler": {"cache", "errors", "trace"},
    "codes": set(),
    "files": BASE,
    "settings": BASE | {"compiler"},
    "ir": BASE,
    "frontend": BASE | {"compiler", "ir"},
    "analysis": BASE | {"ir"},
    "transforms": BASE | {"ir", "analysis"},
    "targets": BASE,
    "schedule": BASE | {"ir", "transforms"},
    "prepare": BASE | {"ir", "analysis", "transforms"},
    "model": BASE | {"ir", "analysis", "transforms", "targets", "schedule", "prepare"},
    "recipes": BASE | {"ir", "analysis", "transforms", "targets", "schedule", "prepare", "model"},
    "codegen": BASE | {"ir", "analysis", "transforms", "targets"},
    "runtime": BASE | {"cache", "compiler", "ir", "targets", "codegen"},
    "verify": BASE | {"compiler", "ir", "analysis", "codegen", "runtime"},
    "validate": {"source", "errors", "compiler"},
}
LAYERS["offload"] = LAYERS["recipes"] | {"recipes"}
LAYERS["tune"] = LAYERS["recipes"] | {"recipes", "cache"}
"""What a package may import besides itself. `api`, `bench`, `report`, `lsp`, `cli` and `__init__`
may import anything below them."""

TOP = {"__init__", "__main__", "api", "bench", "cli", "lsp", "report"}
INSIDE = {
    "frontend": ("text", "syntax", "desugar", "names", "pragmas", "lower", "outline"),
    "api": ("arguments", "source", "verdicts", "annotated", "judged", "facade", "reading", "check"),
}
"""Parts of a package, each of which imports none of those behind it."""

STILL = {
    *(("frontend.names", "frontend.lower"), ("frontend.names", "frontend.pragmas")),
    *(("frontend.pragmas", "frontend.lower"), ("frontend.syntax", "frontend.desugar")),
}
"""Imports against that order which are to go."""

FENCED: dict[str, tuple[str, ...]] = {
    "pycparser": ("frontend", "validate"),
    "pcpp": ("frontend.text.macros",),
    "islpy": ("analysis.sets", "analysis.boxes", "analysis.transfers", "validate"),
    "jinja2": ("codegen.render",),
    "pyopencl": ("runtime",),
    "numpy": ("bench", "runtime", "verify", "cli", "validate.expressions"),
    "matplotlib": ("bench.plot",),
    "PIL": ("cli.pictures",),
    "tqdm": ("cli.inputs",),
    "shtab": ("cli.completion",),
    "distributed": ("cli.cluster",),
    "pygls": ("lsp.server",),
    "lsprotocol": ("lsp.server", "lsp.protocol"),
}


@cache
def imports() -> dict[str, tuple[ast.Import | ast.ImportFrom, ...]]:
    """The imports of each module, at the top or inside functions."""
    every = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        nodes = ast.walk(ast.parse(path.read_text()))
        every[name] = tuple(n for n in nodes if isinstance(n, ast.Import | ast.ImportFrom))
    return every


def imported(name: str) -> Iterator[str]:
    """Every module that a module names in an import."""
    for node in imports()[name]:
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        else:
            assert node.level == 0, "imports are absolute"
            assert node.module
            if node.module == "loopxform":
                yield from (f"loopxform.{a.name}" for a in node.names)
            else:
                yield node.module


def test_imports() -> None:
    every = ((name, m) for name in imports() for m in imported(name))
    assert [f"{name} imports {m}" for name, m in every if not may_import(name, m)] == []


def may_import(name: str, module: str) -> bool:
    """Whether a module may import another one."""
    own = name.split(".")[0]
    top, *rest = module.split(".")
    if top == "loopxform":
        return not rest or own in TOP or rest[0] in LAYERS[own] | {own}
    homes = FENCED.get(top, ())
    return top in sys.stdlib_module_names or any(f"{name}.".startswith(f"{h}.") for h in homes)


def test_every_package_has_a_layer() -> None:
    found = {name.split(".")[0] for name in imports()}
    assert found - TOP == set(LAYERS)


def test_layers_have_no_cycle() -> None:
    order = list(LAYERS)
    assert all(order.index(b) < order.index(a) for a, below in LAYERS.items() for b in below)


def part_of(module: str) -> str | None:
    """The part of a package that a module belongs to: `frontend.text`; None where it has none."""
    package, _, rest = module.partition(".")
    first = rest.partition(".")[0]
    return f"{package}.{first}" if first in INSIDE.get(package, ()) else None


def test_parts_of_packages_import_those_before_them() -> None:
    against = set()
    for name in imports():
        here = part_of(name)
        for module in imported(name) if here else ():
            there = part_of(module.removeprefix("loopxform."))
            package = name.partition(".")[0]
            if here and there and there.startswith(f"{package}."):
                order = [f"{package}.{x}" for x in INSIDE[package]]
                if order.index(there) > order.index(here):
                    against.add((here, there))
    assert against == STILL


def test_validator_shares_no_code_with_what_it_judges() -> None:
    """By whatever way: what it imports imports nothing of that either."""
    below = imports_between_modules()
    reached = {m for m in below if m.split(".")[0] == "validate"}
    while more := {m for own in reached for m in below.get(own, ())} - reached:
        reached |= more
    assert "validate.reading.reader" in reached
    of_errors = {"source", "quotation", "cache", "trace", "display"}
    others = {"compiler", "errors"} | of_errors
    assert {m.split(".")[0] for m in reached} - {"validate"} <= others


def test_validator_loads_no_code_that_it_judges() -> None:
    loading = "import sys, loopxform.validate.validation; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", loading], capture_output=True, text=True, check=True
    )
    loaded = {x.split(".")[1] for x in run.stdout.split() if x.startswith("loopxform.")}
    assert "validate" in loaded
    assert not loaded & {"transforms", "recipes", "schedule", "codegen", "analysis", "ir", "model"}


def test_modules_import_in_no_circle() -> None:
    """Those inside functions and those for types count as well."""
    below = imports_between_modules()
    while loaded := [m for m, needs in below.items() if needs.isdisjoint(below)]:
        for m in loaded:
            del below[m]
    assert not below


def imports_between_modules() -> dict[str, set[str]]:
    """What each module of the package imports of it."""
    names = {name.removesuffix(".__init__") for name in imports()}
    below = {}
    for name, nodes in imports().items():
        own = name.removesuffix(".__init__")
        inside = (
            n
            for n in nodes
            if isinstance(n, ast.ImportFrom) and n.module and n.module.startswith("loopxform.")
        )
        below[own] = {m for n in inside for m in _modules_of(n, names)} - {own}
    return below


def _modules_of(node: ast.ImportFrom, names: set[str]) -> Iterator[str]:
    assert node.module
    module = node.module.removeprefix("loopxform.")
    for a in node.names:
        yield f"{module}.{a.name}" if f"{module}.{a.name}" in names else module
