"""Elimination by columns in place of rows.

    for i: { x[i] = b[i]; for j < i: x[i] -= L[i][j]*x[j]; x[i] /= L[i][i] }
      ->   forall i: x[i] = b[i]    for j: { x[j] /= L[j][j]; forall i > j: x[i] -= L[i][j]*x[j] }

What follows an inner loop becomes its last iteration, the loops change places, the iteration is
split off again: each element sees the same updates in the same order. Each step is checked.

Where such rows are those of a matrix, the loop over columns becomes the outermost one, so that each
of its iterations updates all that is right of and below a pivot (right-looking LU and Cholesky
factorisations):

    for i: { for k < i: { a[i][k] /= a[k][k]; forall j > k: a[i][j] -= a[i][k]*a[k][j] } }
      ->   for k: { forall i > k: a[i][k] /= a[k][k]; forall i > k: forall j > k: ... }

Loops behind it join it: those over the same columns, those that have them inside.
"""

from __future__ import annotations

from loopxform.analysis.verdict import judge
from loopxform.errors import TransformError
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Decl, For, Function, Stmt
from loopxform.ir.visit import declared, loops_around, perfect_nest, resolve, writes
from loopxform.prepare.perfect_nest import told_apart
from loopxform.transforms import (
    Derivation,
    Distribute,
    Fuse,
    Interchange,
    Normalise,
    Privatise,
    Reverse,
    SinkTail,
    Split,
    Unscalarise,
    Unsplit,
)


def by_columns(derivation: Derivation, outer: str) -> Derivation | None:
    """The loop `outer` inside the last of the loops in its body; None where that makes no loop
    parallel."""
    inner = _last_loop(derivation, outer)
    return (
        _by_columns(derivation.titled(f"The columns of {outer}"), outer, inner) if inner else None
    )


def by_columns_of_sums(derivation: Derivation, outer: str) -> Derivation | None:
    """That of loops which sum up in a scalar, have nothing to sink, or count downwards."""
    inner = _last_loop(derivation, outer)
    if not inner:
        return None
    w = _in_elements(derivation.titled(f"The columns of {outer}"), outer)
    for v in (outer, inner):
        if value_of(_loop(w, v).step) != 1 and not Normalise(v).check(w.function):
            w = w.then(Normalise(v))
    return _by_columns(w, outer, inner, with_tail=_behind(w, outer, inner) is not None)


def _by_columns(
    before: Derivation, outer: str, inner: str, *, with_tail: bool = True
) -> Derivation | None:
    try:
        w = before.then(SinkTail(inner)) if with_tail else before
        statements = _loop(w, outer).body
        if len([s for s in statements if not isinstance(s, Decl)]) > 1:
            w = told_apart(w.then(Distribute((outer,))))
        rows = loops_around(w.function, resolve(w.function, inner)[0].path)[-1].var
        w = w.then(Interchange(rows, inner))
        w = w.then(Split(rows, "lo+1")) if with_tail else w
    except TransformError:
        return None
    w = told_apart(w)
    return w if len(_parallel(w.function)) > len(_parallel(before.function)) else None


def _last_loop(w: Derivation, outer: str) -> str:
    """The last loop in the body of another; "" where there is none."""
    return next((s.var for s in reversed(_loop(w, outer).body) if isinstance(s, For)), "")


def in_other_order(derivation: Derivation, outer: str) -> str:
    """The loop in the body of `outer` that would have to run the other way round for columns;
    "" where there is none."""
    fn = derivation.function
    for s in _loop(derivation, outer).body:
        if isinstance(s, For) and _is_kept_by_dependences(step := Reverse(s.var), fn):
            turned = Derivation(step.rewrite(fn))
            if by_columns_of_sums(turned, outer) is not None:
                return s.var
    return ""


def _is_kept_by_dependences(step: Reverse, fn: Function) -> bool:
    """Whether dependences speak against a step, and nothing else does."""
    codes = {o.code for o in step.check(fn)}
    return codes == {"LX101"}


def by_pivots(derivation: Derivation, rows: str) -> Derivation | None:
    """The loop over columns of a nest in `rows` outside of it; None where not all that its
    iterations do is parallel then."""
    for s in _loop(derivation, rows).body:
        inner = _last_loop(derivation, s.var) if isinstance(s, For) else ""
        if (
            isinstance(s, For)
            and inner
            and (w := by_columns_of_sums(derivation, s.var)) is not None
        ):
            return _outermost(w, rows, inner)
    return None


def _in_elements(w: Derivation, var: str) -> Derivation:
    """The scalars that the body of a loop sums up in are the elements that they are stored to."""
    body = _loop(w, var).body
    for name in sorted(
        n for n, d in declared(w.function.body).items() if not d.shape and n in writes(body)
    ):
        private = Privatise(name, var)
        own = w if private.check(w.function) else w.then(private)
        step = Unscalarise(var)
        w = w if step.check(own.function) else own.then(step)
    return w


def _outermost(w: Derivation, rows: str, column: str) -> Derivation | None:
    """That loop outside of the one over rows, with what stands behind it there."""
    try:
        w = _joined(w.titled(f"The columns of {rows}, one after the other"), rows, column)
        last = _loop(w, rows).body[-1]
        with_tail = last is not _loop(w, column)
        w = w.then(SinkTail(column)) if with_tail else w
        w = w.then(Interchange(rows, column))
        w = told_apart(w.then(Split(rows, "lo+1"))) if with_tail else w
        for s in _loop(w, column).body:
            if isinstance(s, For) and s.var not in _parallel(w.function):
                w = told_apart(w.then(Distribute((s.var,))))
    except TransformError:
        return None
    done, body = _parallel(w.function), _loop(w, column).body
    return w if all(isinstance(s, For) and s.var in done for s in body) else None


def _joined(w: Derivation, rows: str, column: str) -> Derivation:
    """The loops behind the one over columns are part of it. Raises TransformError."""
    while isinstance(behind := _behind(w, rows, column), For):
        w = _in_elements(w, behind.var)
        chain = perfect_nest(_loop(w, behind.var))
        if Fuse(column, behind.var).check(w.function) and len(chain) > 1:
            w = w.then(Interchange(behind.var, chain[1].var))
            behind = chain[1]
        w = told_apart(w.then(Fuse(column, behind.var)))
        for s in _loop(w, column).body:
            if isinstance(s, For) and not Unsplit(s.var).check(w.function):
                w = w.then(Unsplit(s.var))
    return w


def _behind(w: Derivation, rows: str, column: str) -> Stmt | None:
    """The statement behind a loop in the body of another."""
    body = _loop(w, rows).body
    (place,) = (n for n, s in enumerate(body) if isinstance(s, For) and s.var == column)
    return body[place + 1] if place + 1 < len(body) else None


def _loop(w: Derivation, var: str) -> For:
    return resolve(w.function, var)[0].loop


def _parallel(fn: Function) -> frozenset[str]:
    """The loops that are."""
    return frozenset(v.var for v in judge(fn) if v.parallel in ("yes", "privatizable"))
