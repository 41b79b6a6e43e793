"""Statements of a sequential loop in loops of their own, in the order of their dependences.

    for i: for j: { t = 0;
                    for k < i: { c[k][j] += b[i][j] * a[i][k];  t += b[k][j] * a[i][k]; }
                    c[i][j] = c[i][j] + t; }
      ->   for i: for j: { t[i][j] = 0;  for k < i: t[i][j] += b[k][j] * a[i][k]; }
           for i: for j: c[i][j] = c[i][j] + t[i][j]
           for i: for j: for k < i: c[k][j] += b[i][j] * a[i][k]

Inner loops of several statements are distributed first, and scalars get an element for each
iteration. The two branches that a loop consists of get loops of their own, too. (Allen and Kennedy,
"Optimizing Compilers for Modern Architectures", sections 2.4.4 and 5.3: distribution with expanded
scalars.)
"""

from __future__ import annotations

from collections.abc import Callable

from loopxform.ir.nodes import Decl, For
from loopxform.ir.visit import declared, loops, perfect_nest, resolve, writes
from loopxform.offload.array_expansion import expanded, lacks_room
from loopxform.offload.program_state import Program
from loopxform.prepare.perfect_nest import told_apart
from loopxform.recipes.deriving import Work
from loopxform.transforms import Derivation, Distribute, DistributeBranches
from loopxform.transforms.restructure.distribute import REORDERED


def by_statements(program: Program, s: For, is_parallel: Callable[[Derivation, str], bool]) -> bool:
    """Gives the statements of a loop, of those perfectly nested in it and of the loops in these
    loops of their own, where not all `is_parallel` yet; False where not all of them are then."""
    chain = perfect_nest(s)
    inner = [x for x in chain[-1].body if isinstance(x, For) and _has_several(x)]
    if not inner or is_parallel(program.derivation, s.var):
        return False
    w = Work(program.derivation.titled(f"The statements of {s.var} in loops of their own"), {})
    for x in inner:
        w.attempt(Distribute((x.var,), reordered=REORDERED))
    scalars = {n for n, d in declared(w.fn.body).items() if not d.shape} & writes(s.body)
    for name in sorted(scalars):
        wide = expanded(w.derivation, name, s.var)
        w.derivation = w.derivation if wide is None else wide
    if not w.attempt(Distribute(tuple(x.var for x in chain), reordered=REORDERED)):
        return False
    path, before = resolve(program.fn, s.var)[0].path, declared(program.fn.body)
    arrays = [d for n, d in declared(w.fn.body).items() if d.shape and d is not before.get(n)]
    if any(lacks_room(program.fn, path, d) for d in arrays):
        return False
    after = told_apart(w.derivation)
    others = {site.loop.var for site in loops(program.fn)} - {s.var}
    outermost = [
        x.loop.var
        for x in loops(after.function)
        if x.loop.var not in others and len(x.path) == len(path)
    ]
    if not all(is_parallel(after, v) for v in outermost):
        return False
    program.derivation = after
    return True


def by_branches(
    program: Program,
    s: For,
    is_parallel: Callable[[Program, For], bool],
    has_more: Callable[[Program, Derivation], bool],
) -> bool:
    """Gives the two branches that a loop consists of loops of their own, where that makes loops
    parallel; False where it does not."""
    step = DistributeBranches(s.var)
    if is_parallel(program, s) or step.check(program.fn):
        return False
    titled = program.derivation.titled(f"The branches of {s.var} in loops of their own")
    after = told_apart(titled.then(step))
    if not has_more(program, after):
        return False
    program.derivation = after
    return True


def _has_several(s: For) -> bool:
    return len([x for x in s.body if not isinstance(x, Decl)]) > 1
