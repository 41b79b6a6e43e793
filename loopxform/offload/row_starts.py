"""Rows that an array of row starts delimits, in a whole function:

    for r: for k = p[r] .. p[r + 1]: { s += v[k]; y[k] = s; }
 -> a flag says whether p ascends; if it does, the rows run at the same time, else in order

(`rows-apart`.)
"""

from __future__ import annotations

from loopxform.ir.nodes import Assign, For, If, Load, Var
from loopxform.ir.visit import at, declared, resolve, walk, writes
from loopxform.offload.program_state import Program
from loopxform.prepare.perfect_nest import has_few_iterations, told_apart
from loopxform.recipes.deriving import Work
from loopxform.transforms import ForwardSubstitute, Privatise, RowsApart


def apart_by_starts(program: Program, s: For) -> For | None:
    """Runs the rows of a loop at the same time where their starts ascend: the loop that is left for
    where they do not; None where it stays as it is."""
    if has_few_iterations(s) or not any(isinstance(x, For) for _, x in walk(s.body)):
        return None
    w = Work(program.derivation.titled(f"The rows of {s.var} apart where their starts ascend"), {})
    scalars = {name for name, d in declared(w.fn.body).items() if not d.shape}
    for name in sorted(writes(s.body) & scalars - declared(s.body).keys()):
        w.attempt(Privatise(name, s.var))
    known = declared(w.fn.body).keys()
    if not w.attempt(RowsApart(s.var)):
        return None
    flags = declared(w.fn.body).keys() - known
    program.sought |= dict.fromkeys(flags, "starts of rows that do not ascend")
    w.derivation = told_apart(w.derivation, program.fn)
    for name in _starts(resolve(w.fn, s.var)[0].loop):
        w.attempt(ForwardSubstitute(name, s.var))
    chosen = at(w.fn, resolve(w.fn, s.var)[0].path[:-1])
    assert isinstance(chosen, If)
    (left,) = chosen.orelse
    assert isinstance(left, For)
    program.why[left.var] = "where the starts of its rows do not ascend, they may overlap"
    program.derivation = w.derivation
    return left


def _starts(loop: For) -> list[str]:
    """The scalars of an iteration that are elements of arrays: loops inside cannot be interchanged
    where a scalar is all that says that their iterations use one element."""
    sets = (x for x in loop.body if isinstance(x, Assign) and isinstance(x.value, Load))
    return [x.target.name for x in sets if isinstance(x.target, Var)]
