"""Barriers: all items of a group reach them together."""

from __future__ import annotations

from dataclasses import dataclass, field

import islpy as isl
from pycparser import c_ast

from loopxform.validate.model import Barrier
from loopxform.validate.reading.stores import Stores
from loopxform.validate.reading.syntax import fences_of, line_of
from loopxform.validate.unmodelled import Unmodelled


@dataclass
class Barriers(Stores):
    all_items: isl.Set = field(init=False)
    """The items of a group, whatever its number."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.all_items = self.domain

    def barrier(self, s: c_ast.FuncCall) -> None:
        if self.flags or not self.in_kernel:
            raise Unmodelled("a barrier under a condition on data", line_of(s))
        if self.items:
            self.uniform(s)
        self.program.barriers.append(
            Barrier(self.domain, self.launch, self.phase, self.groups, line_of(s), fences_of(s))
        )

    def uniform(self, s: c_ast.Node) -> None:
        """All items of a group go through a statement alike. Raises Unmodelled."""
        if not self._whole_groups().is_subset(self.domain):
            raise Unmodelled("a barrier that some items of a group may not reach", line_of(s))

    def _whole_groups(self) -> isl.Set:
        """All items of the groups of which an item is in the domain."""
        domain = self.domain
        for d in self.items:
            domain = domain.project_out(isl.dim_type.set, d, 1).insert_dims(isl.dim_type.set, d, 1)
        more = self.dims - self.all_items.dim(isl.dim_type.set)
        return domain.intersect(self.all_items.add_dims(isl.dim_type.set, more))
