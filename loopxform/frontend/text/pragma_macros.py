"""Macros in pragmas, expanded in place."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, TypeAlias

Expand: TypeAlias = Callable[[list[Any]], Any]
"""What macros stand for in tokens of pcpp."""


def expand_pragma(tokens: list[Any], expand: Expand) -> None:
    """Those of OpenMP (OpenMP 5.2, 3.1), and the arguments of ours."""
    if tokens and tokens[0].value == "omp":
        _expand_all(tokens, expand)
    elif tokens and tokens[0].value == "loopxform":
        _expand_arguments(tokens, expand)


def _expand_all(tokens: list[Any], expand: Expand) -> None:
    expanded = expand([copy(t) for t in tokens[1:]])
    for t in tokens[1:]:
        t.value = " "
    tokens[-1].value = "omp" + "".join(t.value for t in expanded).replace("\n", " ")
    tokens[0].value = " "


def _expand_arguments(tokens: list[Any], expand: Expand) -> None:
    """Macros in the arguments of an annotation stand for what they are defined as; the names of its
    options do not."""
    depth = 0
    for n, t in enumerate(tokens):
        depth += {"(": 1, ")": -1}.get(t.value, 0)
        following = next((x.value for x in tokens[n + 1 :] if x.value.strip()), "")
        if depth and t.type == "CPP_ID" and following != "=":
            t.value = "".join(x.value for x in expand([copy(t)])).strip()
