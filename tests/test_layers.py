"""Imports point downwards, and each outside library has one home."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "loopxform"
BASE = {"source", "errors", "nearest", "trace", "records", "budget"}
LAYERS: dict[str, set[str]] = {
    "source": set(),
    "errors": {"source"},
    "nearest": set(),
    "budget": {"source", "errors"},
    "trace": set(),
    "records": set(),
    "cache": {"trace"},
    "compiler": {"cache", "errors", "trace"},
    "codes": set(),
    "files": BASE,
    "ir": BASE,
    "frontend": BASE | {"compiler", "ir"},
    "analysis": BASE | {"ir"},
    "transforms": BASE | {"ir", "analysis"},
    "recipes": BASE | {"ir", "analysis", "transforms"},
    "codegen": BASE | {"ir", "analysis", "transforms"},
    "runtime": BASE | {"cache", "compiler", "ir", "recipes", "codegen"},
    "verify": BASE | {"compiler", "ir", "analysis", "codegen", "runtime"},
}
"""What a package may import besides itself. `cli`, `annotated`, `api`, `bench`, `checked`,
`mapped`, `offloaded`, `regions`, `spliced`, `tiled`, `tune` and `__init__` may import anything
below them."""

TOP = {
    "__init__",
    "__main__",
    "api",
    "annotated",
    "arguments",
    "bench",
    "checked",
    "configured",
    "mapped",
    "offloaded",
    "regions",
    "spliced",
    "tile_arguments",
    "tiled",
    "cli",
    "tune",
}
FENCED: dict[str, tuple[str, ...]] = {
    "pycparser": ("frontend",),
    "pcpp": ("frontend.macros",),
    "islpy": ("analysis.sets", "analysis.boxes", "analysis.movement"),
    "jinja2": ("codegen.render",),
    "pyopencl": ("runtime",),
    "numpy": ("bench", "runtime", "verify", "cli", "tune"),
    "matplotlib": ("bench.plot",),
    "tqdm": ("cli.inputs",),
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        yield name, ast.parse(path.read_text())


def imported(tree: ast.Module) -> Iterator[str]:
    """Every module named in an import, at the top or inside a function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            assert node.module
            if node.module == "loopxform":
                yield from (f"loopxform.{a.name}" for a in node.names)
            else:
                yield node.module


@pytest.mark.parametrize(
    ("name", "tree"), list(modules()), ids=lambda x: x if isinstance(x, str) else ""
)
def test_imports(name: str, tree: ast.Module) -> None:
    own = name.split(".")[0]
    for module in imported(tree):
        top, *rest = module.split(".")
        if top == "loopxform":
            if rest and own not in TOP:
                assert rest[0] == own or rest[0] in LAYERS[own], f"{name} imports {module}"
        elif top not in sys.stdlib_module_names:
            homes = FENCED[top]
            assert any(f"{name}.".startswith(f"{h}.") for h in homes), f"{name} imports {module}"


def test_every_package_has_a_layer() -> None:
    found = {name.split(".")[0] for name, _ in modules()}
    assert found - TOP == set(LAYERS)


def test_layers_have_no_cycle() -> None:
    order = list(LAYERS)
    assert all(order.index(b) < order.index(a) for a, below in LAYERS.items() for b in below)
