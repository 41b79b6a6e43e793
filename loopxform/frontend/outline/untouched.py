"""What leaves memory alone: stores of another type, and calls that only compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from pycparser import c_ast

from loopxform.ir.functions import is_known

Differ = Callable[[frozenset[str], frozenset[str]], bool]
"""Whether no object is of two types, of which the words are given."""


def never(_a: frozenset[str], _b: frozenset[str]) -> bool:
    return False


def differ(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether objects of two types are never one (C11 6.5p7): a real and an integer, or two sorts
    of real."""
    real = {"float", "double", "_Float16"}
    return a != b and bool((a | b) & real) and a | b <= real | {"int", "long", "short", "_Bool"}


def is_pure(call: c_ast.FuncCall) -> bool:
    """Whether it is a call of the C library that changes nothing."""
    return isinstance(call.name, c_ast.ID) and is_known(cast(str, call.name.name))
