"""The groups and the items of a launch, as dimensions of the domain."""

from __future__ import annotations

from dataclasses import dataclass, field

import islpy as isl
from pycparser import c_ast

from loopxform.validate.ctypes import ULONG
from loopxform.validate.polynomials import Polynomial, constant_of
from loopxform.validate.programs.sizes import factors_of
from loopxform.validate.reading.reader import Reader
from loopxform.validate.reading.syntax import called_name, line_of
from loopxform.validate.reading.values import Digits, Value
from loopxform.validate.unmodelled import Unmodelled

SLOWEST_FIRST = (2, 1, 0)


@dataclass
class Grid:
    """`shape` is that of a group."""

    reader: Reader
    shape: tuple[int, int, int]
    groups: list[Polynomial | Digits] = field(default_factory=list)
    items: list[Polynomial] = field(default_factory=list)
    counts: list[Polynomial | None] = field(default_factory=list)

    def __call__(self, name: str, arguments: list[c_ast.Node], node: c_ast.Node) -> Value | None:
        """What a function of OpenCL C says of the groups and items; None for another function."""
        if not name.startswith("get_"):
            return None
        numbers: dict[str, list[Polynomial | Digits | None]] = {
            "get_group_id": [*self.groups],
            "get_local_id": [*self.items],
            "get_local_size": [self.reader.number(s) for s in self.shape],
            "get_num_groups": [*self.counts],
        }
        value = None
        if name in numbers and len(arguments) == 1 and isinstance(arguments[0], c_ast.Constant):
            value = numbers[name][int(arguments[0].value.rstrip("uUlL"))]
        if value is None:
            raise Unmodelled(f"a call of {name}", line_of(node))
        return value.lifted(self.reader.dims), ULONG

    def count(self, e: c_ast.Node) -> list[Polynomial]:
        """The factors of `lx_count(a)`, `lx_count(max(a, 0) * max(b, 0))`: where one of them is not
        positive there are no groups."""
        if not (isinstance(e, c_ast.FuncCall) and called_name(e) == "lx_count"):
            raise Unmodelled("a launch whose groups are not counted", line_of(e))
        counts: list[Polynomial] = []
        for f in factors_of(e.args.exprs[0]):
            value, _ = self.reader.expr(f)
            if not isinstance(value, Polynomial):
                raise Unmodelled("a launch whose groups data count", line_of(e))
            counts.append(value)
        return counts

    def number(self, counts: list[list[Polynomial]]) -> None:
        """Adds the dimensions. `counts` are the factors of the number of groups for each axis."""
        self._number_groups(counts)
        self._number_items()

    def _number_groups(self, counts: list[list[Polynomial]]) -> None:
        """The slowest first; those of one group have none."""
        numbers: dict[int, Polynomial | Digits] = {}
        for axis in SLOWEST_FIRST:
            digits = [(self._digit(size), size) for size in counts[axis]]
            numbers[axis] = digits[0][0] if len(digits) == 1 else Digits(tuple(digits))
        self.groups = [numbers[axis] for axis in range(3)]
        self.counts = [c[0] if len(c) == 1 else None for c in counts]

    def _digit(self, count: Polynomial) -> Polynomial:
        r = self.reader
        a = count.affine
        if a is None:
            raise Unmodelled("a launch whose groups are counted by a product")
        if constant_of(a) == 1:
            return r.number(0)
        at = r.new_dimension()
        last = r.affine_of(count.lifted(r.dims))
        r.domain = r.domain.intersect(at.ge_set(r.constant(0))).intersect(at.lt_set(last))
        r.groups = (*r.groups, r.dims - 1)
        return Polynomial.of(at)

    def _number_items(self) -> None:
        r = self.reader
        numbers: dict[int, Polynomial] = {}
        groups = r.dims
        for axis in SLOWEST_FIRST:
            size = self.shape[axis]
            if size == 1:
                numbers[axis] = r.number(0)
                continue
            at = r.new_dimension()
            r.domain = r.domain.intersect(r.between(at, 0, size))
            numbers[axis] = Polynomial.of(at)
        r.items = tuple(range(groups, r.dims))
        r.all_items = _items_alone(r.domain, groups)
        self.items = [numbers[axis] for axis in range(3)]


def _items_alone(domain: isl.Set, groups: int) -> isl.Set:
    """The items, whatever their group and the sizes."""
    for d in range(groups):
        domain = domain.drop_constraints_involving_dims(isl.dim_type.set, d, 1)
    parameters = domain.dim(isl.dim_type.param)
    return domain.drop_constraints_involving_dims(isl.dim_type.param, 0, parameters)
