"""What can be written: objects whose memory is known, and functions whose text is."""

from __future__ import annotations

from loopxform.codegen.structs import require_layout
from loopxform.errors import EmitError
from loopxform.ir.nodes import Decl, Function
from loopxform.ir.routines import UNWRITTEN, unwritten
from loopxform.ir.visit import walk


def require_whole(fn: Function) -> None:
    """Raises EmitError where a function allocates memory, uses structs whose layout is not known,
    or calls functions that only a C compiler can read."""
    for p in fn.globals:
        if p.kept and not p.values:
            raise EmitError(
                f"'{p.name}' keeps its value between calls (static)",
                loc=p.origin.loc,
                help="make it a variable of the file or a parameter",
            )
    if (why := unwritten(fn)) is not None:
        raise EmitError(why[0], loc=why[1], help=UNWRITTEN)
    for _, s in walk(fn.body):
        if isinstance(s, Decl) and s.heap:
            raise EmitError(
                f"'{s.name}' is allocated in the function, which only 'check' reads",
                loc=s.origin.loc,
                help="allocate it in the caller, and pass it as a parameter",
            )
    require_layout(fn)
