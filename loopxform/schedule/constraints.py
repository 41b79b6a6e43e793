"""Constraints of a schedule: what its parameters may need of a device, as data.

    {"what": "local memory", "formula": "4*Tk*Ty*Ry + 4*Tk*Tx*Rx", "most": 49152, "unit": "bytes"}

`tile --json` writes them beside the steps, and `apply --script` holds the sizes against them before
it applies one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from loopxform.records import record


@record
class Constraint:
    """What a sum of products of sizes and numbers may be at most."""

    what: str
    formula: str
    most: int
    unit: str = ""

    @property
    def names(self) -> frozenset[str]:
        """The sizes in the formula."""
        tree = ast.walk(ast.parse(self.formula, mode="eval"))
        return frozenset(x.id for x in tree if isinstance(x, ast.Name))

    def total(self, sizes: Mapping[str, int]) -> int:
        """Raises KeyError for a size that is not given, ValueError for another kind of formula."""
        return _value(ast.parse(self.formula, mode="eval").body, sizes)

    def broken(self, sizes: Mapping[str, int]) -> str:
        """`local memory: 4*Tk*Tx = 4*64*256 = 65536 > 49152 bytes`; "" where the sizes fit."""
        total = self.total(sizes)
        if total <= self.most:
            return ""
        numbers = re.sub(r"[A-Za-z_]\w*", lambda m: str(sizes[m.group()]), self.formula)
        steps = dict.fromkeys((self.formula, numbers, str(total)))
        return f"{self.what}: {' = '.join(steps)} > {self.most} {self.unit}".rstrip()

    def to_json(self) -> dict[str, str | int]:
        unit = {"unit": self.unit} if self.unit else {}
        return {"what": self.what, "formula": self.formula, "most": self.most, **unit}


def constraint(data: object) -> Constraint:
    """What `to_json` wrote. Raises ValueError with what is wrong."""
    match data:
        case {"what": str(what), "formula": str(formula), "most": int(most), **more} if set(
            more
        ) <= {"unit"} and isinstance(more.get("unit", ""), str):
            found = Constraint(what, formula, most, str(more.get("unit", "")))
        case _:
            raise ValueError(f"not a constraint: {data!r}")
    try:
        found.total(dict.fromkeys(found.names, 1))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
        raise ValueError(f"not a sum of products of sizes: {formula!r}") from e
    return found


def _value(e: ast.expr, sizes: Mapping[str, int]) -> int:
    match e:
        case ast.Name(name):
            return sizes[name]
        case ast.Constant(int(number)) if type(number) is int:
            return number
        case ast.BinOp(left, ast.Add(), right):
            return _value(left, sizes) + _value(right, sizes)
        case ast.BinOp(left, ast.Mult(), right):
            return _value(left, sizes) * _value(right, sizes)
        case _:
            raise ValueError(f"neither a size nor a number: {ast.unparse(e)}")
