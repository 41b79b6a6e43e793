"""Declared extents of arrays at a loop, and what they say of subscripts: C has no element outside.

double t[n];  for (...) { ... t[0] ... }      0 < n, wherever t[0] is read
"""

from __future__ import annotations

from loopxform.analysis.accesses import Access
from loopxform.analysis.formula import Translator
from loopxform.analysis.linear import Conj, at_least
from loopxform.analysis.region import Region, visible
from loopxform.ir.nodes import Assign, Decl, Expr, For, Function, Opaque
from loopxform.ir.visit import Path, at, enclosing, names, walk, writes


def declared_shape(fn: Function, path: Path, name: str) -> tuple[Expr, ...] | None:
    """The extents of an array of the function or of the file, which are at the loop at `path` what
    they were where it is declared; None where they are not known there."""
    storage = visible(fn, path).get(name)
    if storage is not None and storage.decl is not None:
        array = at(fn, storage.decl)
        if not isinstance(array, Decl) or not array.shape:
            return None
        sizes = frozenset[str]().union(*map(names, array.shape))
        kept = not sizes or _are_kept(fn, path, sizes, storage.decl)
        return array.shape if kept else None
    owner = next((p for p in fn.objects if p.name == name), None)
    if owner is None or not owner.is_global or owner.pointer or owner.flat or not owner.shape:
        return None
    shape = tuple(e for e in owner.shape if e is not None)
    return shape if len(shape) == len(owner.shape) else None


def inside(where: Region, access: Access, shape: tuple[Expr, ...], case: int) -> Conj:
    """What holds in a case of an access because its subscripts are inside of `shape`."""
    found: Conj = ()
    subscripts, _ = access.cases[case]
    for subscript, extent in zip(subscripts, shape):
        translator = Translator(where.names.at(where.scope, ()))
        sizes = translator.cases(extent)
        if subscript is None or sizes is None or len(sizes) != 1 or not translator.known:
            continue
        ((size, when),) = sizes
        found = (*found, *when, at_least(subscript, {}), at_least(size, subscript, 1))
    return found


def _are_kept(fn: Function, path: Path, sizes: frozenset[str], decl: Path) -> bool:
    """Whether variables have the values at a loop that they gave to the size of an array at its
    declaration: nothing assigns to them later, nobody else knows them, and no statement around the
    loop is unknown in which anything may happen."""
    known = {p.name for p in fn.objects if p.is_global or p.pointer or p.is_member}
    around = enclosing(fn, path)
    if sizes & known or any(isinstance(s, Opaque) and not s.loop for s in around):
        return False
    later = [s for place, s in walk(fn.body) if place > decl]
    counted = any(isinstance(s, For) and s.var in sizes for s in later)
    return not (counted or any(isinstance(s, Assign) and sizes & writes((s,)) for s in later))
