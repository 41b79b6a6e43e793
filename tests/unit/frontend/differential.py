"""The loop tree run by the interpreter, against the same C text compiled by the system."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from lowering import opaques, parsed

from loopxform.ir.nodes import Function
from loopxform.verify.cref import CSource, Library
from loopxform.verify.interp import run

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler"
)


def compare(
    text: str,
    *calls: Mapping[str, Any],
    only: str = "",
    read: Callable[[Function], Function] = lambda fn: fn,
) -> tuple[int, list[str]]:
    """How many functions of `text` are modelled (each does what the compiler makes of it), and
    why the others are not. Each of `calls` gives every parameter and global its value. Functions
    whose names do not start with `only` are left out, the others are `read` first."""
    functions = [read(f) for f in parsed(text).unit.functions if f.name.startswith(only)]
    library = Library(CSource(text=text), functions)
    compared, reasons = 0, []
    for fn in functions:
        if found := opaques(fn):
            reasons.append(f"{fn.name}: {found[0].reason}")
            continue
        for call in calls:
            _same(fn, library, call)
        compared += 1
    return compared, reasons


def _same(fn: Function, library: Library, call: Mapping[str, Any]) -> None:
    mine, theirs = (
        {p.name: np.array(call[p.name], p.type.numpy) for p in fn.objects} for _ in range(2)
    )
    want, got = library.run(fn.name, theirs), run(fn, mine)
    np.testing.assert_equal(got, want, err_msg=fn.name)
    for name, value in theirs.items():
        np.testing.assert_equal(mine[name], value, err_msg=f"{fn.name}: {name}")


def assert_same(text: str, *calls: Mapping[str, Any], only: str = "") -> None:
    """Every function of `text` is modelled, and does what the compiler makes of it."""
    _, reasons = compare(text, *calls, only=only)
    assert not reasons
