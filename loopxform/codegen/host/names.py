"""Which names the written C file leaves to the user: all but those that its own code, OpenCL and
the C headers use where the user's are visible."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopxform.codegen.c.words import FUNCTIONS, MACRO, TYPE
from loopxform.errors import EmitError
from loopxform.ir.nodes import Decl, For, Function
from loopxform.ir.visit import walk
from loopxform.source import Loc

_OURS = re.compile(r"(lx|LX|cl|CL)_\w*|loopxform_\w*|cl[A-Z]\w*|main|free|memcpy|malloc|abort")


def require_names(fn: Function) -> None:
    """Raises EmitError for a name of the user's that means something else in the written file."""
    for name, loc in _clashes(fn):
        raise EmitError(f"'{name}' {_meaning(name)}", loc=loc, help=renamed(name))


def renamed(name: str) -> str:
    """What to do about a name that is taken."""
    return f"rename it, my_{name} for example"


def _meaning(name: str) -> str:
    """What a name is in the C file that is written."""
    if name in FUNCTIONS:
        return "is a function of C's library, whose headers the C file that is written includes"
    return "means something else in the C file that is written"


def _clashes(fn: Function) -> Iterator[tuple[str, Loc | None]]:
    own = {f"{fn.name}{suffix}" for suffix in ("_cl", "_on_host")}
    if _everywhere(fn.name) or fn.name in FUNCTIONS:
        yield fn.name, fn.origin.loc
    for owner in fn.structs:
        if _everywhere(owner.name) or _everywhere(owner.type.spelling):
            yield owner.name, owner.origin.loc
    for p in (p for p in fn.objects if not p.ends):
        if _everywhere(p.name) or p.name in own or (p.is_global and p.name in FUNCTIONS):
            yield p.name, p.origin.loc
    for _, s in walk(fn.body):
        name = s.var if isinstance(s, For) else s.name if isinstance(s, Decl) else ""
        if MACRO.fullmatch(name) or TYPE.fullmatch(name) or name in ("free", "malloc", "abort"):
            yield name, s.origin.loc


def _everywhere(name: str) -> bool:
    """Names that even a parameter cannot have."""
    return any(x.fullmatch(name) for x in (_OURS, MACRO, TYPE))
