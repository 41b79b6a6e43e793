"""Every public name says what it takes, gives and raises, with an example that runs, and is in the
reference."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import shutil
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

import loopxform as lx

ROOT = Path(__file__).parents[1]
API = ROOT / "docs" / "reference" / "api"
DIRECTIVE = re.compile(r"^::: (\S+)$", re.MULTILINE)
PUBLIC = sorted(set(lx.__all__) - {"__version__"})


def documented() -> list[str]:
    """What the reference has, by canonical names."""
    return [
        name for page in sorted(API.glob("*.md")) for name in DIRECTIVE.findall(page.read_text())
    ]


def object_of(name: str) -> Any:
    module, _, own = name.rpartition(".")
    return getattr(importlib.import_module(module), own)


def canonical(x: Any) -> str:
    return f"{x.__module__}.{x.__qualname__}"


NAMED = {name: object_of(name) for name in documented()}


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """What a user can call or read, by the classes that define it."""
    for c in cls.__mro__:
        if c.__module__.startswith("loopxform"):
            for name, x in vars(c).items():
                wrapped = getattr(x, "fget", None) or getattr(x, "func", None) or x
                wrapped = getattr(wrapped, "__func__", wrapped)
                kinds = (property, cached_property, classmethod, staticmethod)
                if not name.startswith("_") and (
                    inspect.isfunction(wrapped) or isinstance(x, kinds)
                ):
                    yield f"{c.__qualname__}.{name}", wrapped


CALLS = {n: x for n, x in NAMED.items() if inspect.isfunction(x)}
CALLS |= {n: x for cls in NAMED.values() if isinstance(cls, type) for n, x in members(cls)}


def test_every_public_name_has_a_place_in_the_reference() -> None:
    assert len(documented()) == len(set(documented()))
    assert {canonical(getattr(lx, name)) for name in PUBLIC} <= NAMED.keys()
    assert all(canonical(x) == name for name, x in NAMED.items())
    index = (API / "index.md").read_text()
    assert not [name for name in PUBLIC if f"`{name}`" not in index]
    assert not [p.name for p in API.glob("*.md") if p.name != "index.md" and p.name not in index]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_an_example(name: str) -> None:
    doc = inspect.getdoc(getattr(lx, name)) or ""
    assert len(doc.splitlines()[0]) > 10
    assert "Examples:\n    >>> " in doc  # a section of griffe, which shows it as code


@pytest.mark.parametrize("name", CALLS)
def test_every_call_is_typed_and_explained(name: str) -> None:
    x = CALLS[name]
    doc, signature = inspect.getdoc(x) or "", inspect.signature(x)
    assert doc.strip(), name
    assert signature.return_annotation is not inspect.Parameter.empty
    for p in [*signature.parameters.values()]:
        if p.name in ("self", "cls"):
            continue
        assert p.annotation is not inspect.Parameter.empty, f"{name}: {p.name} has no type"
        assert re.search(rf"\b{p.name}\b", doc), f"{name} does not explain {p.name}"


@pytest.mark.device
def test_the_page_about_python_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "python.md").read_text()
    shutil.copy(ROOT / "corpus" / "mm.c", tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for code in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        exec(code, names)
    said = capsys.readouterr().out
    assert "8 k reduction ()" in said
    assert "interchange i j -- no direction vector" in said
    assert " 9 |         acc += A[i][k] * B[k][j];" in said
    assert "restrict on A, B, C -- 2 loops" in said
    assert (tmp_path / "mm.html").is_file()


@pytest.mark.device
def test_every_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(ROOT / "corpus" / "mm.c", tmp_path)
    monkeypatch.chdir(tmp_path)
    finder, failed, count = doctest.DocTestFinder(), [], 0
    for name, x in NAMED.items():
        for test in finder.find(x, name, module=False, globs={"lx": lx}):
            said: list[str] = []
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
            outcome = runner.run(test, out=said.append)
            count += outcome.attempted
            failed += said if outcome.failed else []
    assert not failed, "".join(failed)
    assert count > 60
