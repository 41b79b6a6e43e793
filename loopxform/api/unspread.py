"""Why statements stay on the host that the device could run, one iteration after the other."""

from __future__ import annotations

import re

from loopxform.analysis.verdict import judge
from loopxform.api.offload import OffloadedRoutine
from loopxform.errors import LoopxformError, UnsupportedC
from loopxform.ir.nodes import For, Function
from loopxform.ir.visit import walk


def unspread(owner: str, fn: Function, done: OffloadedRoutine) -> LoopxformError:
    """Of a function called `owner`, what of it could be offloaded, and what became of that."""
    part = next((p for p in done.parts if p.loops), done.parts[0])
    places = {s.var: s.origin.loc for _, s in walk(fn.body) if isinstance(s, For)}
    own = next((places[v] for v in part.loops if v in places), None)
    why, help = _changeable(part.why)
    error = UnsupportedC(
        f"no loop can run in parallel: {why}" if why else "no loop can run in parallel",
        loc=own or next(iter(places.values()), None) or part.loc or fn.origin.loc,
        code="LX062",
        help=help
        or f"name the function to have it on one work-item all the same: --function {owner}, "
        f'or file["{owner}"].offload() in Python',
    )
    answers = {v.parallel for v in judge(fn)}
    if answers and answers <= {"no", "reduction"}:
        error.status = 1
    return error


def _changeable(why: str) -> tuple[str, str]:
    """A reason without what would take it away, and that."""
    if m := re.search(r" \((allow it: [^()]*)\)$", why):
        return why[: m.start()], m.group(1)
    if m := re.search(r"; (\w+) is an induction variable, (.*): 'substitute .*$", why):
        return why[: m.start()], f"in place of '{m.group(1)}' write what it is: {m.group(2)}"
    return why, ""
