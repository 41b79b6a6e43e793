"""Pointers that may be null: `p != NULL`, `p ? p[i] : 0`, `if (!p)`.

Whether a parameter points somewhere is a number that the caller gives, `p.given`, as long as
nothing in the function makes it point elsewhere. What the loops do without the array is theirs to
say: nothing but the test is modelled here.
"""

from __future__ import annotations

from loopxform.frontend.names.ctype import CType
from loopxform.frontend.names.symbols import Symbol, Table
from loopxform.ir.types import INT


def find_given(table: Table) -> None:
    """Fills in `Table.given`."""
    for tested in dict.fromkeys(table.tests.values()):
        p = table.named(tested)
        if p is None or p in table.given or not _stays(p, table):
            continue
        number = Symbol(f"{p.name}.given", CType(INT, "int"), "param", p.decl, at=p.at, tests=p)
        table.given[p] = number
        table.symbols.append(number)


def _stays(p: Symbol, table: Table) -> bool:
    """Whether it is a parameter, a pointer to numbers, that nothing sets."""
    is_it = p.kind == "param" and p.is_modelled_array and p.owner is None
    return is_it and not (table.settings.get(p) or p.writes or p in table.exposed)
