"""If-conversion: if (c) x = a; else x = b; -> x = c ? a : b;
  x = a; if (c) x += b;  -> x = a + (c ? b : 0);
  if (c) x = b + a; else x = a;  -> x = (c ? b : 0) + a;

Control that only chooses what is stored becomes a choice of values, of which no more are computed
than before: what an iteration stores is one expression then, which other steps can take apart.
Legal where both branches store to the same elements, one after the other, and the condition reads
none of them; where statements follow each other and store to one element, if the later one reads no
other that might be the same. Sums of integers wrap around; a real number is added to -0.0, which
changes none. (Allen, Kennedy, Porterfield and Warren, "Conversion of control dependence to data
dependence", 1983; Allen and Kennedy, "Optimizing Compilers for Modern Architectures", section 7.2.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, TypeAlias

from loopxform.errors import Obstacle
from loopxform.ir.affine import poly
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Const,
    Expr,
    Function,
    If,
    Load,
    Select,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.types import BOOL, HALF, Scalar, promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import loads, names, replace_at, substitute
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import one_loop, trusted, unmapped_loop

Types: TypeAlias = dict[str, Scalar]
Term: TypeAlias = tuple[int, Expr]

NEUTRAL = {"+": 0, "-": 0, "*": 1, "^": 0, "|": 0}


@record
class IfConvert(Step):
    """Makes one store of those that conditions choose from, in the body of `loop`."""

    loop: str

    verb: ClassVar[str] = "if-convert"
    usage: ClassVar[str] = "if-convert LOOP"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = unmapped_loop(fn, self.loop, self.verb)
        if isinstance(site, tuple):
            return site
        body = site.loop.body
        if converted(body, symbols(fn)) != body:
            return ()
        text = f"no conditions in the loop over '{site.loop.var}' just choose what it stores"
        remedy = "name a loop such as: if (c) x[i] = a; else x[i] = b;"
        return (Obstacle("LX229", text, site.loop.origin.loc, remedy=remedy),)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        body = converted(site.loop.body, symbols(fn))
        origin = site.loop.origin.then(str(self))
        return replace_at(fn, site.path, (replace(site.loop, body=body, origin=origin),))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the conditions choose what is stored, and nothing else"


def converted(body: Sequence[Stmt], types: Types) -> tuple[Stmt, ...]:
    """A body with one store where conditions choose from several to one element. Loops inside stay
    as they are."""
    done: list[Stmt] = []
    for s in body:
        joined = _joined(done[-1], s, types) if done else None
        if joined is not None:
            done[-1] = joined
        else:
            done += _chosen(s, types)
    return tuple(done)


def _chosen(s: Stmt, types: Types) -> tuple[Stmt, ...]:
    """The stores that a condition chooses from, each as one."""
    if not isinstance(s, If):
        return (s,)
    then, orelse = (converted(b, types) for b in (s.then, s.orelse))
    made = [_choice(s.cond, a, b, types) for a, b in zip(then, orelse)]
    stored = {x.target.name if isinstance(x.target, Var) else x.target.array for x in made if x}
    apart = len(made) == 1 or not names(s.cond) & stored
    if made and len(then) == len(orelse) and all(made) and apart:
        return tuple(x for x in made if x)
    kept = replace(s, then=then, orelse=orelse)
    return (s if kept == s else kept,)


def _choice(cond: Expr, a: Stmt, b: Stmt, types: Types) -> Assign | None:
    if not (isinstance(a, Assign) and isinstance(b, Assign)) or a.atomic or b.atomic:
        return None
    target = _one_target(cond, a.target, b.target)
    if a.op != b.op or target is None:
        return None
    own = type_of(target, types)
    found = type_of(a.value, types), type_of(b.value, types)
    if own in (BOOL, HALF) or HALF in found or (a.op and found[0] != found[1]):
        return None
    if a.op:
        return replace(a, target=target, value=Select(cond, a.value, b.value))
    value = _factored(cond, a.value, b.value, own, types)
    if value is None:
        value = Select(cond, *(_as(own, x.value, types) for x in (a, b)))
    return replace(a, target=target, value=value)


def _one_target(cond: Expr, a: Var | Load, b: Var | Load) -> Var | Load | None:
    """What both branches of a condition store to: of `i == 0 ? x[0] : x[i]`, x[i]."""
    if _is_same(a, b):
        return a
    match cond:
        case Un("!", operand):
            return _one_target(operand, b, a)
        case Bin("!=", left, right):
            return _one_target(Bin("==", left, right), b, a)
        case Var():
            return _one_target(Bin("==", cond, Const(0)), b, a)
        case Bin("==", Var(name), value) if isinstance(b, Load) and not [*loads(value)]:
            there = Load(b.array, tuple(substitute(e, {name: value}) for e in b.index))
            return b if isinstance(a, Load) and _is_same(a, there) else None
        case _:
            return None


def _joined(a: Stmt, b: Stmt, types: Types) -> Assign | None:
    """Two statements of which the second one stores to the element of the first once more."""
    if not isinstance(a, Assign) or a.op or a.atomic:
        return None
    only = converted(b.then, types) if isinstance(b, If) and not b.orelse else (b,)
    later, cond = only[0] if len(only) == 1 else None, b.cond if isinstance(b, If) else None
    if not isinstance(later, Assign) or later.atomic or not _is_same(a.target, later.target):
        return None
    op, value = _update(later)
    again = later.target.index if isinstance(later.target, Load) else ()
    touched = [value, *again, *([cond] if cond is not None else [])]
    own = type_of(a.target, types)
    if own in (BOOL, HALF) or any(_may_read(a.target, e) for e in touched):
        return None
    first = _as(own, a.value, types)
    if op and own.is_float and is_product(a.value):
        return None  # in one expression with a sum it could be fused
    if not op:
        overridden = cond and replace(a, value=Select(cond, _as(own, value, types), first))
        return overridden or None
    if cond is None:
        return replace(a, value=Bin(op, first, value))
    if op not in NEUTRAL or not _adds_in(own, type_of(value, types)):
        return None
    kept = Select(cond, value, _neutral(op, type_of(value, types)))
    return replace(a, value=Bin(op, first, kept))


def is_product(e: Expr) -> bool:
    """Whether the value is that of a product, which compilers may fuse with a sum around it."""
    match e:
        case Bin(op):
            return op == "*"
        case Un(_, operand) | Cast(_, operand):
            return is_product(operand)
        case Select(_, then, orelse):
            return is_product(then) or is_product(orelse)
        case _:
            return False


def _update(s: Assign) -> tuple[str, Expr]:
    """The operator and the operand of `x op= e` and `x = x op e`; "" where it is no update."""
    match s.value:
        case Bin(op, left, right) if not s.op and op in NEUTRAL and left == s.target:
            return op, right
        case _:
            return s.op, s.value


def _factored(cond: Expr, a: Expr, b: Expr, own: Scalar, types: Types) -> Expr | None:
    """`(cond ? u : 0) + r` of a choice between u + r and r, or the other way round."""
    whole = [type_of(e, types) for e in (a, b)]
    if own.is_integer and all(t.is_integer for t in whole) and any(_wide(own, t) for t in whole):
        made = _common_terms(cond, a, b, own, types)
        if made is not None:
            return made
    for more, rest, turned in ((a, b, False), (b, a, True)):
        kind, plain = type_of(more, types), type_of(rest, types)
        fits = plain.is_float if kind.is_float else promote(plain) == kind
        found = _operand_beside(more, rest) if fits and kind.is_float == own.is_float else None
        if found is not None and _adds_in(kind, type_of(found[1], types)):
            op, extra = found
            none = _neutral(op, type_of(extra, types))
            picked = Select(cond, none, extra) if turned else Select(cond, extra, none)
            return Bin(op, rest, picked)
    return None


def _operand_beside(e: Expr, rest: Expr) -> tuple[str, Expr] | None:
    """The operator and the other operand of an expression that has `rest` as one of its own."""
    match e:
        case Bin(op, left, right) if op in NEUTRAL and left == rest:
            return op, right
        case Bin(op, left, right) if op in NEUTRAL and op != "-" and right == rest:
            return op, left
        case _:
            return None


def _common_terms(cond: Expr, a: Expr, b: Expr, own: Scalar, types: Types) -> Expr | None:
    first, second = _terms(a, 1, own, types), _terms(b, 1, own, types)
    common = list[Term]()
    for term in first[:]:
        if term in second:
            first.remove(term)
            second.remove(term)
            common.append(term)
    alone = len(common) == 1 and len(first) + len(second) == 1
    every = (type_of(e, types) for _, e in (*common, *first, *second))
    is_wide = _wide(own, *every)
    if not common or (first and second) or not (alone or is_wide):
        return None
    if not is_wide and any(sign < 0 for sign, _ in (*first, *second)):
        return None  # negated, it would wrap around before it is made wider
    picked = Select(cond, *(_sum(x) if x else Const(0) for x in (first, second)))
    made: Expr = picked
    for sign, e in common:
        made = Bin("+" if sign > 0 else "-", made, e)
    return made


def _terms(e: Expr, sign: int, own: Scalar, types: Types) -> list[Term]:
    """The terms of sums that are computed in a type at least as wide as the one they are for."""
    match e:
        case Bin("+" | "-" as op, left, right) if _wide(own, type_of(e, types)):
            other = sign if op == "+" else -sign
            return [*_terms(left, sign, own, types), *_terms(right, other, own, types)]
        case Un("-", operand) if _wide(own, type_of(e, types)):
            return _terms(operand, -sign, own, types)
        case _:
            return [(sign, e)]


def _sum(terms: Sequence[Term]) -> Expr:
    (sign, made), *rest = sorted(terms, key=lambda t: -t[0])
    made = made if sign > 0 else Un("-", made)
    for sign, e in rest:
        made = Bin("+" if sign > 0 else "-", made, e)
    return made


def _wide(own: Scalar, *found: Scalar) -> bool:
    """Whether sums of such types say all that the type of the result keeps."""
    return all(t.is_integer and promote(t).bytes >= own.bytes for t in found)


def _adds_in(own: Scalar, operand: Scalar) -> bool:
    """Whether a neutral number of the operand's type leaves values of the other as they are."""
    return operand not in (BOOL, HALF) and own.is_float == operand.is_float


def _neutral(op: str, kind: Scalar) -> Const:
    if not kind.is_float:
        return Const(NEUTRAL[op])
    return Const(-0.0 if op == "+" else float(NEUTRAL[op]), kind)


def _as(own: Scalar, e: Expr, types: Types) -> Expr:
    """A value as the variable holds it."""
    return e if type_of(e, types) == own else Cast(own, e)


def _is_same(x: Var | Load, y: Var | Load) -> bool:
    if isinstance(x, Load) and isinstance(y, Load):
        return x.array == y.array and all(poly(a) == poly(b) for a, b in zip(x.index, y.index))
    return x == y


def _may_read(target: Var | Load, e: Expr) -> bool:
    """Whether an expression may read what a store sets."""
    if isinstance(target, Var):
        return target.name in names(e)
    same = (x for x in loads(e) if x.array == target.array)
    return any(not _is_apart(x, target) for x in same)


def _is_apart(x: Load, y: Load) -> bool:
    gaps = ((poly(a) - poly(b)).value for a, b in zip(x.index, y.index))
    return any(gap not in (None, 0) for gap in gaps)
