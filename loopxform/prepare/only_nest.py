"""The one loop nest of a function, or why there is not just one."""

from __future__ import annotations

from loopxform.errors import UnsupportedC
from loopxform.ir.nodes import Decl, For, Function, Opaque, Return, Stmt
from loopxform.ir.routines import UNWRITTEN, unwritten
from loopxform.ir.visit import LoopSite, walk


def only_nest(fn: Function) -> LoopSite:
    """The one loop nest of the function. Raises UnsupportedC for anything that is not modelled,
    for no nest, and for statements around it that a kernel cannot replace."""
    for _, s in walk(fn.body):
        if isinstance(s, Opaque):
            raise UnsupportedC(s.reason, loc=s.origin.loc, code=s.code, help=s.help or None)
    if (why := unwritten(fn)) is not None:
        raise UnsupportedC(why[0], loc=why[1], code="LX012", help=UNWRITTEN)
    nests = [(n, s) for n, s in enumerate(fn.body) if isinstance(s, For)]
    inside = next((s for _, s in walk(fn.body) if isinstance(s, For)), None)
    if not nests and inside is not None:
        raise UnsupportedC(
            f"the loop nest of '{fn.name}' is inside an if",
            loc=inside.origin.loc,
            code="LX060",
            help="move the nest into a function of its own and call that in the if; a loop without "
            "iterations needs no if",
        )
    if not nests:
        raise UnsupportedC(
            f"function '{fn.name}' has no loop nest",
            loc=fn.origin.loc,
            code="LX060",
            help="name another function: --function NAME, or file[NAME] in Python",
        )
    others = [s for s in fn.body if not isinstance(s, Decl) and not _ends(s)]
    extra = next((s for s in others if s is not nests[0][1]), None)
    if extra is not None:
        kind = "a second loop nest" if isinstance(extra, For) else "a statement outside the nest"
        raise UnsupportedC(
            f"function '{fn.name}' has {kind}",
            loc=extra.origin.loc,
            code="LX061",
            help="move the nest into a function of its own, or use loopxform offload",
        )
    return LoopSite((nests[0][0],), nests[0][1])


def _ends(s: Stmt) -> bool:
    """A `return;` at the end, which says nothing."""
    return isinstance(s, Return) and s.value is None
