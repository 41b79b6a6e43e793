"""Scalarisation: for j: { C[i, j] = 0; for k: C[i, j] += e; } -> for j: { c = 0; for k: c += e;
C[i, j] = c; }.

An array element that a loop body uses throughout is kept in a scalar, so that it can be expanded
into registers. Legal where every access to the array in the body is to that one element, which
belongs to the array in every iteration, and no parallel loop then carries a dependence; it is
loaded first unless the body begins by writing it, and stored last. Where the body uses other
elements too, this holds of a part of it that lies between them and has a loop: C[j, i] = C[i, j]
after the loop reads what is stored before; or the others are never that element, as C[2*i + 1] is
never C[2*i]. (The reverse of Cholewa-Madsen and Holst, step 3a; C programs often accumulate in the
array.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.analysis.extent import extent
from loopxform.analysis.legality import opaque_obstacles, parallel_obstacles
from loopxform.errors import Obstacle
from loopxform.ir.affine import poly
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    Load,
    Select,
    Stmt,
    Var,
)
from loopxform.ir.printer import expr_text
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    LoopSite,
    Path,
    at,
    children,
    declared,
    loads,
    loops_around,
    map_exprs,
    names,
    reads,
    replace_at,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import new_name, one_loop, trusted


@record
class Scalarise(Step):
    """Keeps the one element of `array` that the body of `loop` uses in a scalar named `scalar`
    (default: C_acc); of several that are never the same the first that a loop in it writes."""

    array: str
    loop: str
    scalar: str = ""

    verb: ClassVar[str] = "scalarise"
    usage: ClassVar[str] = "scalarise ARRAY LOOP [NAME]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        taken = new_name(fn, self.scalar, site)
        if taken:
            return taken
        found = _accesses(site.loop.body, self.array)
        where = site.loop.origin.loc
        if not found or self.array not in writes(site.loop.body):
            text = f"'{self.array}' is not written in the loop over '{site.loop.var}'"
            return (Obstacle("LX180", text, where, remedy="name an array that the body writes"),)
        element = _element(site.loop.body, self.array)
        if element is None:
            return (self._several(site, found),)
        return opaque_obstacles(fn, site.path) or self._every_iteration(fn, site, element[1])

    def _several(self, site: LoopSite, found: list[Load]) -> Obstacle:
        """Why there is no such element."""
        first, where = found[0], site.loop.origin.loc
        varies = names(Load("", first.index)) & _moving(site.loop.body)
        if varies:
            text = f"the element of '{self.array}' changes with '{min(varies)}' in the body"
            return Obstacle("LX181", text, first.origin.loc or where, remedy="name an inner loop")
        text = f"the body uses more than one element of '{self.array}'"
        other = [x for x in found if _place(x) != _place(first)]
        place = other[0].origin.loc or where
        return Obstacle("LX181", text, place, remedy="distribute the loop, or keep the array")

    def _every_iteration(self, fn: Function, site: LoopSite, element: Load) -> tuple[Obstacle, ...]:
        """The load and the store are unconditional: the element must exist, and be an iteration's
        own in parallel loops, even where the body did not come to use it."""
        where = element.origin.loc or site.loop.origin.loc
        if _staged(site.loop.body, self.array):
            text = f"'{self.array}' is declared or copied in the body"
            return (Obstacle("LX182", text, where, remedy="scalarise before staging"),)
        part, _ = _known_element(site.loop.body, self.array)
        if not (_is_used(fn, site, part, element) or _inside(fn, site, element)):
            text = f"'{expr_text(element)}' is used under a condition and may not exist otherwise"
            return (Obstacle("LX182", text, where, remedy="use the element in every iteration"),)
        after = self.rewrite(fn)
        outer = [p for p in (site.path[: n + 1] for n in range(len(site.path))) if _forall(fn, p)]
        races = [o for p in outer for o in parallel_obstacles(_sequential(after, p), p)]
        text = f"'{expr_text(element)}' would be loaded and stored by iterations that do not use it"
        remedy = "scalarise before parallelising, or use the element in every iteration"
        return tuple(Obstacle("LX182", text, where, o.witness, remedy) for o in races)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        part, element = _known_element(site.loop.body, self.array)
        name = self.scalar or fresh(fn, f"{self.array}_acc")
        origin = site.loop.origin.then(str(self))

        def to_scalar(e: Expr) -> Expr:
            is_it = isinstance(e, Load) and _is_same(e, element)
            return Var(name, origin=e.origin) if is_it else e

        body = map_exprs(site.loop.body[part], to_scalar)
        decl = Decl(name, symbols(fn)[self.array], origin=element.origin.then(str(self)))
        load: tuple[Stmt, ...] = ()
        if not _begins_with_write(body, name):
            load = (Assign(Var(name), element, label=f"load_{name}", origin=origin),)
        store = Assign(element, Var(name), label=f"store_{name}", origin=element.origin)
        before, after = site.loop.body[: part.start], site.loop.body[part.stop :]
        loop = replace(site.loop, body=(*before, decl, *load, *body, store, *after))
        return replace_at(fn, site.path, (loop,))

    def reason(self, fn: Function) -> str:
        loop = trusted(one_loop(fn, self.loop)).loop
        one = f"an iteration of {loop.var} uses one element of {self.array}"
        part, element = _known_element(loop.body, self.array)
        if part != slice(0, len(loop.body)):
            return f"{one} in this part of it and no other"
        alone = all(_is_same(x, element) for x in _accesses(loop.body, self.array))
        return f"{one} and no other" if alone else f"{one} that no other subscript means"


def _accesses(body: tuple[Stmt, ...], array: str) -> list[Load]:
    return [x for _, s in walk(body) for e in stmt_exprs(s) for x in loads(e) if x.array == array]


def _place(x: Load) -> tuple[object, ...]:
    return tuple(poly(i) for i in x.index)


def _is_same(x: Load, element: Load) -> bool:
    return x.array == element.array and _place(x) == _place(element)


def _is_other(x: Load, element: Load) -> bool:
    """Whether an access is never to an element: a subscript differs by a number."""
    gaps = (poly(i) - poly(j) for i, j in zip(x.index, element.index))
    return any(gap.constant not in (None, 0) for gap in gaps)


def _element(body: tuple[Stmt, ...], array: str) -> tuple[slice, Load] | None:
    """The element to keep, and the statements in which it is kept."""
    part = _part(body, array)
    if part is not None:
        return part, _accesses(body[part], array)[0]
    moving, found = _moving(body), _accesses(body, array)
    inner = [s for loop in body if isinstance(loop, For) for _, s in walk(loop.body)]
    for target in (s.target for s in inner if isinstance(s, Assign)):
        fixed = isinstance(target, Load) and not names(Load("", target.index)) & moving
        if not (isinstance(target, Load) and target.array == array and fixed):
            continue
        if all(_is_same(x, target) or _is_other(x, target) for x in found):
            return slice(0, len(body)), target
    return None


def _known_element(body: tuple[Stmt, ...], array: str) -> tuple[slice, Load]:
    """The same, after a check."""
    found = _element(body, array)
    assert found is not None
    return found


def _part(body: tuple[Stmt, ...], array: str) -> slice | None:
    """The statements that use one element of the array, which the body does not change: all of
    them, else the first of the longest parts that do and have a loop that writes the array."""
    moving = _moving(body)
    parts: list[tuple[int, set[tuple[object, ...]]]] = []
    for n, s in enumerate(body):
        used = {_place(x) for x in _accesses((s,), array)}
        if parts and len(parts[-1][1] | used) <= 1:
            parts[-1][1].update(used)
        else:
            parts.append((n, used))
    ends = [*(n for n, _ in parts[1:]), len(body)]
    for (start, used), end in zip(parts, ends):
        part = body[start:end]
        looped = any(array in writes(s.body) for s in part if isinstance(s, For))
        fixed = not any(names(Load("", x.index)) & moving for x in _accesses(part, array))
        if len(used) == 1 and fixed and (looped or end - start == len(body)):
            return slice(start, end)
    return None


def _staged(body: tuple[Stmt, ...], array: str) -> bool:
    for _, s in walk(body):
        if isinstance(s, Decl) and s.name == array:
            return True
        if isinstance(s, Copy) and array in (s.target, s.source):
            return True
    return False


def _is_used(fn: Function, site: LoopSite, part: slice, element: Load) -> bool:
    """Each iteration uses the element: not only under a condition. (A loop that may run no
    iteration is taken for one that runs: its bound says how much of the array there is, as far as
    all iterations around it have the same one. Else the element must lie in what is touched.)"""
    body = site.loop.body[part]
    varying = {x.var for x in (*loops_around(fn, site.path), site.loop)} | writes(fn.body)
    if _used(body, element, frozenset(varying)):
        return True
    return _used(body, element, frozenset()) and _touched(fn, site, element)


def _used(body: tuple[Stmt, ...], element: Load, varying: frozenset[str]) -> bool:
    """The same, of a body, where the bounds of loops are none of the `varying` names."""
    for s in body:
        if any(_is_same(x, element) and _certain(e, x) for e in stmt_exprs(s) for x in loads(e)):
            return True
        alike = isinstance(s, For) and not (names(s.lo) | names(s.hi)) & varying
        if isinstance(s, For) and alike and _used(s.body, element, varying):
            return True
    return False


def _touched(fn: Function, site: LoopSite, element: Load) -> bool:
    """The subscripts are proven to lie in what the program touches, as far as that is known."""
    found = extent(fn, element.array) if any(p.name == element.array for p in fn.objects) else None
    ends = found.upper if found is not None else (None,) * len(element.index)
    inside = (*site.path, 0)
    return all(
        always(fn, inside, Bin(">=", i, Const(0)))
        and (end is None or always(fn, inside, Bin("<", i, end)))
        for i, end in zip(element.index, ends)
    )


def _certain(e: Expr, x: Load) -> bool:
    """Evaluating `e` evaluates `x`: it does not stand behind && || or ?:."""
    if e is x:
        return True
    match e:
        case Select(cond):
            return _certain(cond, x)
        case Bin("&&" | "||", left):
            return _certain(left, x)
        case _:
            return any(_certain(c, x) for c in children(e))


def _inside(fn: Function, site: LoopSite, element: Load) -> bool:
    """The subscripts are proven to lie within the declared extents, and in what is touched: no more
    is passed to kernels."""
    shape = next((p.shape for p in fn.objects if p.name == element.array), ())
    shape = shape or declared(fn.body)[element.array].shape
    inside = (*site.path, 0)
    return all(
        size is not None
        and always(fn, inside, Bin("&&", Bin(">=", i, Const(0)), Bin("<", i, size)))
        for i, size in zip(element.index, shape)
    ) and _touched(fn, site, element)


def _forall(fn: Function, path: Path) -> bool:
    loop = at(fn, path)
    return isinstance(loop, For) and loop.parallel


def _sequential(fn: Function, path: Path) -> Function:
    loop = at(fn, path)
    assert isinstance(loop, For)
    return replace_at(fn, path, (replace(loop, parallel=False),))


def _moving(body: tuple[Stmt, ...]) -> frozenset[str]:
    """What changes while the body runs."""
    return frozenset(s.var for _, s in walk(body) if isinstance(s, For)) | writes(body)


def _begins_with_write(body: tuple[Stmt, ...], name: str) -> bool:
    """The first statement that uses `name` sets it without reading it."""
    for s in body:
        if name not in reads((s,)) | writes((s,)):
            continue
        return (
            isinstance(s, Assign)
            and s.target == Var(name)
            and not s.op
            and name not in names(s.value)
        )
    return False
