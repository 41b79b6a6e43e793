"""What a store may modify, by types (C11 6.5p7): compilers rely on it, and so may the loop tree.

    *p = 1.0f;           modifies no int and no pointer, whatever p points to
    s->rows[i][j] = 0;   of doubles: s->rows and s->n are what they were

Types that differ in their sign or qualifiers are one type, char is every type, and so is what is
reached through a union. All pointers are one type, because compilers disagree about `void *`. A
struct that is stored as a whole modifies what its members may. Under `-fno-strict-aliasing` every
store may modify everything.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias

from loopxform.frontend.names.ctype import Array, CType
from loopxform.ir.types import may_alias

Member: TypeAlias = tuple[str, str]
"""The key of a struct, and the name of what is directly in it."""


@dataclass
class Aliasing:
    """`members` are the types of the members of each struct, those that are not modelled too;
    `united` the structs that unions hold."""

    members: dict[str, dict[str, CType]] = field(default_factory=dict)
    united: set[str] = field(default_factory=set)
    strict: bool = True

    def member(self, t: CType | None, name: str) -> CType | None:
        """The type of a member of an object of type `t`; None where it may be any."""
        return self.members.get(t.record, {}).get(name) if t and t.record else None

    def may_be_one(self, a: Member | None, b: Member | None) -> bool:
        """Whether members of two structs may be one object: of structs of two types only where
        unions hold both."""
        if a is None or b is None or a == b:
            return a == b
        return a[0] != b[0] and {a[0], b[0]} <= self._inside_unions()

    def _inside_unions(self) -> set[str]:
        """The structs that lie in unions, in those that do, and so on."""
        found: set[str] = set()
        waiting = list(self.united)
        while waiting:
            key = waiting.pop()
            if key not in found:
                found.add(key)
                held = (t for t in self.members.get(key, {}).values() if not _element(t).derived)
                waiting += [t.record for t in held if t.record]
        return found

    def may_modify(self, stored: CType | None, kept: CType) -> bool:
        """Whether a store through an lvalue of one type (None: of any) may modify an object of
        another."""
        if stored is None or kept.united or not self.strict:
            return True
        a, b = _element(stored), _element(kept)
        if a.record and not a.derived:
            inside = self.members.get(a.record)
            return inside is None or any(self.may_modify(t, b) for t in inside.values())
        if a.derived and b.derived:
            return True
        if a.derived or b.derived:
            number = (b if a.derived else a).base
            return number is None or "char" in number.c
        return a.base is None or b.base is None or may_alias(a.base, b.base)


def _element(t: CType) -> CType:
    """The type of the elements of an array."""
    while t.derived and isinstance(t.derived[0], Array):
        t = replace(t, derived=t.derived[1:])
    return t
