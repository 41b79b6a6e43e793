"""What a loop that returns must be to run on the device: a search, all of whose iterations may be
asked. What the device does not find out, the host does: it goes on with the loop from there."""

from __future__ import annotations

from loopxform.api.extents_in_front import with_extents_in_front
from loopxform.errors import LoopxformError, UnsupportedC
from loopxform.frontend.outline import HIT, Original, Part, Region
from loopxform.ir.nodes import For, Function, While
from loopxform.ir.visit import walk
from loopxform.prepare.searches import searches_as_reductions
from loopxform.prepare.while_loops import whole_loops
from loopxform.source import Loc
from loopxform.targets.target import Limits

NO_SEARCH = "LX253"
"""Of a loop that returns: not all of its iterations may be asked."""


def searched(original: Original, part: Part, region: Region, limits: Limits) -> Part:
    """A part; of a loop that returns with the extents that loops in front say. Raises as
    `require_searched`."""
    if region.returns is None:
        return part
    part = with_extents_in_front(original, part, region)
    require_searched(part.function, limits)
    return part


def require_searched(fn: Function, limits: Limits) -> None:
    """Raises UnsupportedC where the search that stands for a loop that returns would not be asked
    of all iterations at the same time."""
    found = searches_as_reductions(fn, limits.search_parts)
    if found.fn is not fn:
        return
    loops = (s for _, s in walk(whole_loops(fn).body) if isinstance(s, For | While))
    loc = next((s.origin.loc for s in loops), fn.origin.loc)
    why = next(iter(found.left.values()), None)
    reason = _UNKNOWN if why is None else why.message.replace(f"with {HIT}", "with a hit in it")
    help = _HELP if why is None else why.remedy
    raise UnsupportedC(f"a return leaves the loop: {reason}", loc=loc, code=NO_SEARCH, help=help)


def no_search(loc: Loc | None) -> LoopxformError:
    """Why a loop that returns cannot be read as a search."""
    reason = f"a return leaves the loop: {_UNKNOWN}"
    return UnsupportedC(reason, loc=loc, code=NO_SEARCH, help=_HELP)


def begin_of(r: Region, call: str, timed: str) -> tuple[str, ...]:
    """What stands in front of a region: the `call` that stands for it, and of a loop that returns
    what the host does then. `timed` stands in front of the user's loops, where they are to run."""
    if r.returns is None:
        return (f"{{ if (!{call}) {{{timed}",)
    home = f"lx_touch_all({int(r.returns.may_write)}); " if timed else ""
    begin = f"{{ {r.returns.declaration}if ({call}) {{ {home}"
    return (begin, *r.resumed, f"}} else {{{timed}")


_UNKNOWN = "it is no search with a known end, which counts by 1"
_HELP = "let iterations only look, at elements that all exist, for an i from a number to an end"
