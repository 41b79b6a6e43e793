"""Why a loop of a whole function runs in order, and what would let it run in parallel."""

from __future__ import annotations

from collections.abc import Mapping

from loopxform.analysis.extrema import extremum
from loopxform.analysis.verdict import LoopVerdict
from loopxform.ir.affine import poly, value_of
from loopxform.ir.nodes import Assign, Bin, For, If, Load, Var
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import loads, names, walk
from loopxform.ir.whiles import condition
from loopxform.offload.reductions import reason


def in_order(s: For, verdict: LoopVerdict | None, sought: Mapping[str, str]) -> str:
    """What keeps the iterations in order, with the name of what the loop is, and a remedy. `sought`
    is what searches look for, by the scalars that they reduce to."""
    cond = condition(s)
    if cond is not None:
        what = "data say so" if isinstance(cond, Var) else expr_text(cond)
        return f"it goes on while {what}; count its iterations, if their number is known before"
    if verdict is None:
        return "it cannot be mapped"
    if verdict.reasons:
        named = tuple(str(x) for x in verdict.idioms if x.kind in ("scan", "compaction"))
        remedy = _remedy(verdict) or _apart(s) or _kept(s) or _order(s)
        parts = (verdict.reasons[0].message, *named, remedy)
        return "; ".join(x for x in parts if x)
    if verdict.reductions:
        return reason(verdict, sought)
    if verdict.conditional:
        return (
            f"{', '.join(verdict.conditional)}: the last iteration that sets it decides; compare "
            "the iterations that do (if (c && i > last) last = i), and set it after the loop"
        )
    return "its loops cannot be mapped"


def _remedy(verdict: LoopVerdict) -> str:
    """What would take the dependences away, where that is the same for all such loops."""
    messages = [r.message for r in verdict.reasons]
    if not all(m.startswith("anti dependence of ") for m in messages):
        return ""
    arrays = ", ".join(dict.fromkeys(m.split()[3].rstrip(",") for m in messages))
    return f"read what later iterations write from a copy of {arrays} made before"


def _apart(s: For) -> str:
    """Two extrema of which the second one is looked for where the first has not changed."""
    for _, x in walk(s.body):
        inner = x.orelse[0] if isinstance(x, If) and len(x.orelse) == 1 else None
        if isinstance(x, If) and isinstance(inner, If) and not inner.orelse:
            first, second = _extremum(x), _extremum(inner)
            if first and second and first != second:
                both = f"test for {first} and {second} apart"
                return f"{both} (if in place of else if): they are extrema"
    return ""


def _kept(s: For) -> str:
    """An extremum whose place is kept without it, or in memory."""
    for _, x in walk(s.body):
        if not isinstance(x, If) or not isinstance(x.cond, Bin) or x.orelse:
            continue
        stores = [a for a in x.then if isinstance(a, Assign)]
        values = [a for a in stores if extremum(x.cond, a.value, a.target)]
        if values and any(isinstance(a.target, Load) for a in stores if a not in values):
            return "keep the place of the extremum in variables, and store these behind the loop"
        left, right = x.cond.left, x.cond.right
        places = {a.target.name for a in stores if isinstance(a.target, Var)}
        both = isinstance(left, Load) and isinstance(right, Load) and left.array == right.array
        if not values and both and any(places & names(e) for e in (left, right)):
            return "keep the extremum in a variable, beside its place, and compare with that"
    return ""


def _order(s: For) -> str:
    """A recurrence of several elements that earlier iterations have set."""
    sign = -1 if (value_of(s.step) or 1) < 0 else 1
    for _, x in walk(s.body):
        if not isinstance(x, Assign) or not isinstance(x.target, Load) or len(x.target.index) != 1:
            continue
        ((own,), array) = x.target.index, x.target.array
        read = (e.index[0] for e in loads(x.value) if e.array == array)
        gaps = {(poly(own) - poly(e)).value for e in read}
        back = {gap for gap in gaps if gap is not None and sign * gap > 0}
        if len(back) > 1:
            text = f"{expr_text(x.target)} is made of {len(back)} elements that were set before"
            return f"{text}, and only m*x + e of one is computed in parts"
    return ""


def _extremum(s: If) -> str:
    """The scalar that becomes an extremum in the branch, alone."""
    only = s.then[0] if len(s.then) == 1 else None
    if not isinstance(only, Assign) or not isinstance(only.target, Var) or only.op:
        return ""
    return only.target.name if extremum(s.cond, only.value, only.target) else ""
