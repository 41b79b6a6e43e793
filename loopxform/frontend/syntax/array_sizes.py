"""Arrays that are as long as their initialiser, with their size.

    int t[] = {1, 2, 3};   ->   int t[3] = {1, 2, 3};        C11 6.7.9p22

Each value must be one element: it is in braces, or elements are numbers or pointers. Others keep no
size: strings, designators, structs without braces around each.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from pycparser import c_ast

_NUMBERS = frozenset(
    ["_Bool", "_Complex", "char", "double", "float", "int", "long", "short", "signed", "unsigned"]
)


class ArraySizes:
    """Knows the types that a file has declared so far."""

    def __init__(self) -> None:
        self._numbers: dict[str, bool] = {}
        """Names of types, and whether elements of each are numbers or pointers wherever it is
        declared."""

    def read(self, declarations: Iterable[c_ast.Node]) -> None:
        """Completes the types of some declarations, in place."""
        for d in declarations:
            if isinstance(d, c_ast.Typedef):
                self._numbers[d.name] = self._numbers.get(d.name, True) and self._is_plain(d.type)
            elif isinstance(d, c_ast.Decl) and isinstance(d.type, c_ast.ArrayDecl):
                self._complete(d, d.type)

    def _complete(self, d: c_ast.Decl, t: c_ast.ArrayDecl) -> None:
        if t.dim is not None or not isinstance(d.init, c_ast.InitList):
            return
        given = list(d.init.exprs)
        if not given:
            return
        braced = all(isinstance(x, c_ast.InitList) for x in given) and not _is_text(given)
        named = any(isinstance(x, c_ast.NamedInitializer) for x in given)
        numbers = self._is_plain(t.type) and not _is_text(given)
        if not named and (braced or numbers or isinstance(t.type, c_ast.PtrDecl)):
            t.dim = cast(Any, c_ast.Constant)("int", str(len(given)), coord=d.coord)

    def _is_plain(self, t: c_ast.Node) -> bool:
        """Whether a type is that of a number, or of a pointer."""
        match t:
            case c_ast.PtrDecl() | c_ast.TypeDecl(type=c_ast.Enum()):
                return True
            case c_ast.TypeDecl(type=c_ast.IdentifierType(names=names)):
                return all(n in _NUMBERS or self._numbers.get(n, False) for n in names)
            case _:
                return False


def _is_text(given: list[Any]) -> bool:
    """Whether it may be the one string that an array of characters is, braces around it or not."""
    inside = given[0].exprs if isinstance(given[0], c_ast.InitList) else given
    return len(given) == 1 and any(
        isinstance(x, c_ast.Constant) and "string" in str(x.type) for x in inside
    )
