"""What can be written as C: objects that have a name of their own."""

from __future__ import annotations

from loopxform.errors import EmitError
from loopxform.ir.nodes import Decl, Function
from loopxform.ir.visit import walk


def require_whole(fn: Function) -> None:
    """Raises EmitError where a function uses members of structs (`p.x` is no array in C) or
    allocates memory."""
    for _, s in walk(fn.body):
        if isinstance(s, Decl) and s.heap:
            raise EmitError(
                f"'{s.name}' is allocated in the function, which only 'check' reads",
                loc=s.origin.loc,
                help="allocate it in the caller, and pass it as a parameter",
            )
    found = [(p.name, p.origin) for p in fn.objects if p.is_member]
    found += [(s.name, s.origin) for _, s in walk(fn.body) if isinstance(s, Decl) and "." in s.name]
    for name, origin in found:
        struct, _, _ = name.partition(".")
        raise EmitError(
            f"'{struct}' is a struct, or an array of structs, which only 'check' reads",
            loc=origin.loc,
            help="use separate arrays for the members",
        )
