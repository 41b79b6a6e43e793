"""Rows that an array of row starts delimits, in a whole function:

    for r: for k = p[r] .. p[r + 1]: { s += v[k]; y[k] = s; }
 -> a flag says whether p ascends; if it does, the rows run at the same time, else in order

(`rows-apart`.)
"""

from __future__ import annotations

from loopxform.ir.nodes import For, If
from loopxform.ir.visit import at, declared, resolve, walk, writes
from loopxform.offload.program_state import Program
from loopxform.prepare.perfect_nest import has_few_iterations, told_apart
from loopxform.recipes.deriving import Work
from loopxform.transforms import Privatise, RowsApart


def apart_by_starts(program: Program, s: For) -> bool:
    """Runs the rows of a loop at the same time where their starts ascend; False where it stays as
    it is."""
    if has_few_iterations(s) or not any(isinstance(x, For) for _, x in walk(s.body)):
        return False
    w = Work(program.derivation.titled(f"The rows of {s.var} apart where their starts ascend"), {})
    scalars = {name for name, d in declared(w.fn.body).items() if not d.shape}
    for name in sorted(writes(s.body) & scalars - declared(s.body).keys()):
        w.attempt(Privatise(name, s.var))
    known = declared(w.fn.body).keys()
    if not w.attempt(RowsApart(s.var)):
        return False
    flags = declared(w.fn.body).keys() - known
    program.sought |= dict.fromkeys(flags, "starts of rows that do not ascend")
    w.derivation = told_apart(w.derivation, program.fn)
    chosen = at(w.fn, resolve(w.fn, s.var)[0].path[:-1])
    assert isinstance(chosen, If)
    for x in chosen.orelse:
        assert isinstance(x, For)
        program.why[x.var] = "where the starts of its rows do not ascend, they may overlap"
    program.derivation = w.derivation
    return True
