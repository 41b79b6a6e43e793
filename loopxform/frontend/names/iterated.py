"""What iterations set that is declared outside of their loop, as the user's text has it.

    int *p; for (i...) { p = a + i; *p = 1; }      the loop over i sets p

The loop tree may know better than to set it (`a[i] = 1;`). In the text it is one variable for all
iterations all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pycparser import c_ast

from loopxform.frontend.names.variables import Variables
from loopxform.frontend.syntax.tree import every


def iterated(loops: Sequence[c_ast.Node], variables: Variables) -> Iterator[tuple[str, list[str]]]:
    """For the place of each loop of a function, as it is written, the variables."""
    for loop in loops:
        inside = set(map(id, every(loop)))
        sets = {d: variables.sets[id(d)] for d in variables.used([loop])}
        yield place(loop), [d.name for d, at in sets.items() if any(id(x) in inside for x in at)]


def place(loop: c_ast.Node) -> str:
    """What the loop is known by after it was rewritten."""
    return str(loop.coord)
