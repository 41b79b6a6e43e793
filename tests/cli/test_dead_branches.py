"""Branches that no program reaches do not keep what stands around them on the host."""

from __future__ import annotations

from pathlib import Path

import pytest

import loopxform as lx
from loopxform.cli.offload_summary import lines

DEAD = [
    "if (0) { for (int i = 0; i < n; i++) a[c[a[i] > 0]] += b[i]; }",
    'if (DEBUG) for (int i = 0; i < n; i++) printf("%g", a[i]);',
    "if (DEBUG > 1 && n > 3) { int k = 0; while (c[k] > 0) { a[k] = b[c[k]]; k = c[k]; } }",
    "if (1 || n) ; else for (int i = 1; i < n; i++) a[i] = a[i - 1] / 3;",
    'while (0) for (int i = 0; i < n; i++) printf("%g", a[i]);',
]

REACHED = [
    "if (n) { for (int i = 0; i < n; i++) a[c[a[i] > 0]] += b[i]; }",
    "if (n > 2) goto in; if (0) { in: for (int i = 1; i < n; i++) a[i] = a[c[i]] / 3; }",
    'do for (int i = 0; i < n; i++) printf("%g", a[i]); while (0);',
]


def offloaded(statement: str, tmp_path: Path) -> str:
    """The summary of a function with a statement between two nests that become one."""
    nest = "for (int i = 0; i < n; i++) a[i] = a[i] + b[i];"
    head = "#include <stdio.h>\n#define DEBUG 0\n"
    text = f"{head}void f(int n, float *a, float *b, int *c) {{\n{nest}\n{statement}\n{nest}\n}}\n"
    (tmp_path / "f.c").write_text(text)
    done = lx.load(tmp_path / "f.c").offload()
    return "\n".join(lines(done)) + f" of {len(done.regions)}"


@pytest.mark.parametrize("statement", DEAD)
def test_they_are_left_out(statement: str, tmp_path: Path) -> None:
    assert offloaded(statement, tmp_path) == "summary: 2 loops of 2 on the device of 1"


@pytest.mark.parametrize("statement", REACHED)
def test_what_may_be_reached_stays(statement: str, tmp_path: Path) -> None:
    text = offloaded(statement, tmp_path)
    assert text.startswith("summary: 2 loops of ")
    assert " left on the host" in text


def test_a_declaration_keeps_its_scope(tmp_path: Path) -> None:
    statement = "if (1) { float t = 2; for (int i = 0; i < n; i++) b[i] *= t; } else a[0] = 1;"
    assert offloaded(statement, tmp_path).startswith("summary: 3 loops of 3 on the device of 1")
