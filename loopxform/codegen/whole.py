"""What can be written: objects whose memory is known."""

from __future__ import annotations

from loopxform.codegen.structs import require_layout
from loopxform.errors import EmitError
from loopxform.ir.nodes import Decl, Function
from loopxform.ir.visit import walk


def require_whole(fn: Function) -> None:
    """Raises EmitError where a function allocates memory, or uses structs whose layout is not
    known."""
    for _, s in walk(fn.body):
        if isinstance(s, Decl) and s.heap:
            raise EmitError(
                f"'{s.name}' is allocated in the function, which only 'check' reads",
                loc=s.origin.loc,
                help="allocate it in the caller, and pass it as a parameter",
            )
    require_layout(fn)
