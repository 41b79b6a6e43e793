"""The grid of a launch in words, for bounds of every form."""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.codegen.opencl.describe import grid
from loopxform.codegen.opencl.launch import mapping_of


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("int i = 0; i < n; i++", "ceil(n / (Tx*Ty)) groups"),
        ("int i = 2; i < n - 2; i++", "ceil((n - 4) / (Tx*Ty)) groups"),
        ("int i = n - 1; i > m; i--", "ceil((n - m - 1) / (Tx*Ty)) groups"),
    ],
)
def test_grid(header: str, text: str) -> None:
    source = f"void f(int n, int m, float a[n]) {{ for ({header}) a[i] = 0; }}"
    derivation = lx.loads(source).routine().tile(recipe="naive").derivation
    assert grid(mapping_of(derivation.function)) == text
