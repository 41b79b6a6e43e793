"""Fresh names that a reader still recognises: i -> ii -> iii, A -> A_loc."""

from __future__ import annotations

from loopxform.ir.nodes import Decl, For, Function
from loopxform.ir.visit import walk


def used_names(fn: Function) -> frozenset[str]:
    """Every name the function declares or refers to at the top level."""
    found = {p.name for p in fn.objects} | {n for n, _ in fn.tiles} | {fn.name}
    found |= {s.name for s in fn.structs}
    for _, s in walk(fn.body):
        if isinstance(s, For):
            found.add(s.var)
        elif isinstance(s, Decl):
            found.add(s.name)
    return frozenset(found)


def fresh(fn: Function, wanted: str) -> str:
    """`wanted`, or `wanted_2`, `wanted_3`, ... where it is taken; a name of something new has no
    dot, as those of members (`s.x`) have none in kernels."""
    used = {n.replace(".", "_") for n in used_names(fn)}
    wanted = wanted.replace(".", "_")
    name, n = wanted, 2
    while name in used:
        name, n = f"{wanted}_{n}", n + 1
    return name


def outer_name(fn: Function, var: str) -> str:
    """The name of the loop over tiles of `var`: i -> ii (or iii, ... where taken), idx -> idx_o."""
    if len(set(var)) > 1:
        return fresh(fn, f"{var}_o")
    used = used_names(fn)
    name = var + var[0]
    while name in used:
        name += var[0]
    return name
