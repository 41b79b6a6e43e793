"""Why the iterations of a loop run one after the other, as the user's text has it, whatever its
statements do besides.

    for (i...) if (a[i] == x) break;          control: data decide whether there is a next iteration
    for (p = list; p; p = p->next) S          flow: p is computed from its value before
    for (i...) if (a[i]) { b[k] = i; k++; }   flow: so is k
    for (i...) printf("%d", a[i]);            order of output

Only what holds for some input is said: a condition that mentions data may hold for some and not for
other iterations; one of counters and constants may never hold, so nothing follows from it.
(Allen and Kennedy, "Optimizing Compilers for Modern Architectures", sections 2.2 and 7.2: a loop
carries a control dependence where a branch in it decides whether later iterations run.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import cast

from pycparser import c_ast

from loopxform.frontend.names.iterated import place
from loopxform.frontend.names.library import effect_on_order
from loopxform.frontend.names.loop_sites import Site, sites_of, stated
from loopxform.frontend.names.variables import Variables, changed
from loopxform.frontend.syntax.tree import below, every
from loopxform.ir.functions import is_known
from loopxform.records import record

_ENDS = frozenset(["abort", "exit", "_exit", "_Exit", "longjmp", "quick_exit"])
_SUMS = frozenset(["+", "-", "*", "&", "|", "^"])


@record
class Obstacle:
    """What keeps the iterations in order, and where it is; `{line}` in the message is that line."""

    message: str
    node: c_ast.Node


def sequential(
    loops: Iterable[c_ast.For | c_ast.While | c_ast.DoWhile],
    function: c_ast.FuncDef,
    variables: Variables,
    own: Iterable[str],
) -> Iterator[tuple[str, Obstacle]]:
    """The places of those loops of a function whose iterations are in order, each with the reason.
    `own` are the functions that the file defines."""
    labels = {n.name: n for n in every(function.body) if isinstance(n, c_ast.Label)}
    defined = frozenset(own)
    for loop in loops:
        obstacle = _Loop(loop, variables, labels, defined).obstacle()
        if obstacle is not None:
            yield place(loop), obstacle


class _Loop:
    def __init__(
        self,
        loop: c_ast.For | c_ast.While | c_ast.DoWhile,
        variables: Variables,
        labels: Mapping[str, c_ast.Node],
        own: frozenset[str],
    ) -> None:
        self.loop = loop
        self.variables = variables
        self.labels = labels
        self.own = own
        self.sites = [*sites_of(loop)]
        self.inside = {id(s.node) for s in self.sites}
        self.statements = {id(x) for n in (loop, *(s.node for s in self.sites)) for x in stated(n)}
        self.step = {id(x) for x in every(getattr(loop, "next", None))}
        self.sets = self._sets()
        self.changing = {d for d, _ in self._changes()}
        self.data = self._data()

    def obstacle(self) -> Obstacle | None:
        """The first that there is, if the loop may have two iterations at all."""
        if self._runs_once():
            return None
        for search in (self._exit, self._condition, self._order, self._recurrence):
            found = search()
            if found is not None:
                return found
        return None

    # ------------------------------------------------------------ what the loop changes

    def _changes(self) -> Iterator[tuple[int, Site]]:
        """What is assigned by name, by the identity of its declaration."""
        for s in self.sites:
            target = changed(s.node)
            d = self.variables.meant.get(id(target)) if isinstance(target, c_ast.ID) else None
            if d is not None:
                yield id(d), s
            if isinstance(s.node, c_ast.Decl) and s.node.init is not None:
                yield id(s.node), s

    def _sets(self) -> dict[int, list[Site]]:
        out: dict[int, list[Site]] = {}
        for d, s in self._changes():
            out.setdefault(d, []).append(s)
        return out

    def _data(self) -> frozenset[int]:
        """The variables that hold data in some iterations: what memory or calls gave."""
        found = set[int]()
        for s in self.sites:
            if isinstance(s.node, c_ast.UnaryOp) and s.node.op == "&":
                root = s.node.expr
                if isinstance(root, c_ast.ID) and id(root) in self.variables.meant:
                    found.add(id(self.variables.meant[id(root)]))
        while True:
            more = {
                d
                for d, sites in self.sets.items()
                if d not in found and any(self._sets_data(s, found) for s in sites)
            }
            if not more:
                return frozenset(found)
            found |= more

    def _sets_data(self, s: Site, data: set[int]) -> bool:
        values = [_value(s.node), *s.conditions]
        return any(self._mentions_data(v, data) for v in values)

    def _mentions_data(self, node: c_ast.Node | None, data: Iterable[int]) -> bool:
        """Whether a value depends on memory, a call, or variables that hold data."""
        return any(
            _is_memory(x)
            or (isinstance(x, c_ast.FuncCall) and not _is_math(x))
            or (
                isinstance(x, c_ast.ID)
                and id(self.variables.meant.get(id(x))) in data
                and id(x) in self.variables.meant
            )
            for x in every(node)
        )

    def _is_open(self, conditions: Iterable[c_ast.Node]) -> bool:
        """Whether all of the conditions may hold in one iteration and not in another: each asks
        data."""
        return all(self._mentions_data(c, self.data) for c in conditions)

    # ------------------------------------------------------------ control

    def _runs_once(self) -> bool:
        """Whether nothing is repeated: `do S while (0)`, or a body that always leaves the loop."""
        cond = getattr(self.loop, "cond", None)
        if isinstance(cond, c_ast.Constant) and cond.value == "0":
            return True
        return any(
            self._leaves(s) for s in self.sites if not (s.conditions or s.nested or s.breakable)
        )

    def _exit(self) -> Obstacle | None:
        """A statement that ends the loop where data say so."""
        for s in self.sites:
            word = self._leaves(s)
            if word and any(self._mentions_data(c, self.data) for c in s.conditions):
                text = (
                    "control dependence, direction (<): data decide whether line {line} ends the "
                    f"loop ({word})"
                )
                return Obstacle(text, s.node)
        return None

    def _leaves(self, s: Site) -> str:
        """The word for how a statement ends the loop; "" where it does not."""
        match s.node:
            case c_ast.Break() if not s.breakable:
                return "break"
            case c_ast.Return():
                return "return"
            case c_ast.Goto(name=name) if name in self.labels:
                return "" if id(self.labels[name]) in self.inside else "goto"
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if name in _ENDS - self.own:
                return str(name)
            case _:
                return ""

    def _condition(self) -> Obstacle | None:
        """A condition of the loop that data decide, differently from iteration to iteration."""
        cond = getattr(self.loop, "cond", None)
        for part in _parts(cond):
            for x in every(part):
                if self._varies(x):
                    text = (
                        "control dependence, direction (<): the condition of the loop asks data "
                        "that iterations read or set"
                    )
                    return Obstacle(text, x)
        return None

    def _varies(self, x: c_ast.Node) -> bool:
        match x:
            case c_ast.ID():
                d = self.variables.meant.get(id(x))
                sites = self.sets.get(id(d), []) if d is not None else []
                own = [s for s in sites if id(s.node) not in self.step]
                return any(self._sets_data(s, set(self.data)) for s in own)
            case c_ast.FuncCall():
                return not _is_math(x) and (self._is_stateful(x) or self._moves(x.args))
            case _ if _is_memory(x):
                return self._moves(x)
            case _:
                return False

    def _is_stateful(self, call: c_ast.FuncCall) -> bool:
        name = call.name.name if isinstance(call.name, c_ast.ID) else ""
        return name not in self.own and effect_on_order(name) is not None

    def _moves(self, place: c_ast.Node | None) -> bool:
        """Whether a place or the arguments of a call are other ones in other iterations."""
        named = (self.variables.meant.get(id(x)) for x in every(place) if isinstance(x, c_ast.ID))
        return any(d is not None and id(d) in self.changing for d in named)

    # ------------------------------------------------------------ state

    def _order(self) -> Obstacle | None:
        """A call of the library that must happen in the order of the iterations."""
        for s in self.sites:
            if not isinstance(s.node, c_ast.FuncCall) or not isinstance(s.node.name, c_ast.ID):
                continue
            name = s.node.name.name
            effect = None if name in self.own else effect_on_order(name)
            if effect and self._is_open(s.conditions) and self._goes_on(s):
                return Obstacle(f"the iterations call '{name}' in turn: {effect}", s.node)
        return None

    def _goes_on(self, s: Site) -> bool:
        """Whether the loop certainly goes on after a call that data allow: what else it calls
        could end the program."""
        if not s.conditions:
            return True
        calls = (x.node for x in self.sites if isinstance(x.node, c_ast.FuncCall))
        names = (n.name.name if isinstance(n.name, c_ast.ID) else "" for n in calls)
        known = all(is_known(n) or (n not in self.own and effect_on_order(n)) for n in names)
        return known and not self._is_last(s.branch)

    def _is_last(self, branch: c_ast.Node | None) -> bool:
        """Whether a branch leaves the loop, so that no two iterations come there."""
        inside = {id(x) for x in every(branch)}
        return any(self._leaves(s) for s in self.sites if id(s.node) in inside)

    def _recurrence(self) -> Obstacle | None:
        """A variable whose value each iteration computes from the one before."""
        for d, sites in self.sets.items():
            decl = self._variable(d)
            if decl is None or not self._is_carried(decl, sites):
                continue
            for s in sites:
                if self._is_open(s.conditions) and not (s.conditions and self._is_last(s.branch)):
                    text = (
                        f"flow dependence of {decl.name}, direction (<): line {{line}} computes it "
                        "from its value before"
                    )
                    return Obstacle(text + self._remedy(decl, sites), s.node)
        return None

    def _remedy(self, decl: c_ast.Decl, sites: list[Site]) -> str:
        """What to write where every iteration adds the same."""
        if any(s.conditions or not self._grows_alike(s.node, decl) for s in sites):
            return ""
        return f"; {decl.name} is an induction variable: compute it from the loop variable"

    def _variable(self, d: int) -> c_ast.Decl | None:
        """A number or a pointer from outside of the loop that only assignments by name change."""
        decl = self.variables.meant.get(id(changed(self.sets[d][0].node)))
        if decl is None or id(decl) in self.inside or self.variables.escaping.get(id(decl)):
            return None
        kept = not {"static", "extern"} & set(decl.storage or ())
        return decl if kept and self.variables.kind(decl) in ("number", "pointer") else None

    def _is_carried(self, decl: c_ast.Decl, sites: list[Site]) -> bool:
        """Whether every assignment reads the variable, so that none ends the chain, and the loop
        neither counts with it nor only sums it up."""
        if not all(self._reads_itself(s.node, decl) for s in sites) or self._counts(decl, sites):
            return False
        if any(self._is_no_sum(s.node, decl) for s in sites):
            return True
        updates = [s.node for s in sites]
        idle = {id(x) for n in updates if id(n) in self.statements for x in every(n)}
        uses = (s for s in self.sites if self.variables.meant.get(id(s.node)) is decl)
        return any(id(s.node) not in idle and self._is_open(s.conditions) for s in uses)

    def _counts(self, decl: c_ast.Decl, sites: list[Site]) -> bool:
        """Whether the loop may count with the variable: it grows by what does not change."""
        header = (getattr(self.loop, "cond", None), getattr(self.loop, "next", None))
        named = any(self._names(x, decl) for x in header)
        return named and all(
            self._grows_alike(s.node, decl) and not s.conditions and not s.nested for s in sites
        )

    def _grows_alike(self, node: c_ast.Node, decl: c_ast.Decl) -> bool:
        match node:
            case c_ast.UnaryOp():
                return True
            case c_ast.Assignment(op="+=" | "-=", rvalue=e):
                return not self._moves(e) and not self._mentions_data(e, self.data)
            case c_ast.Assignment(op="=", rvalue=c_ast.BinaryOp(op="+" | "-") as e):
                return self._adds(e, decl)
            case _:
                return False

    def _adds(self, e: c_ast.BinaryOp, decl: c_ast.Decl) -> bool:
        """Whether a sum is that of the variable and something that does not change."""
        sides = [(e.left, e.right), (e.right, e.left)] if e.op == "+" else [(e.left, e.right)]
        return any(
            isinstance(x, c_ast.ID)
            and self._names(x, decl)
            and not self._moves(other)
            and not self._mentions_data(other, self.data)
            for x, other in sides
        )

    def _names(self, node: c_ast.Node | None, decl: c_ast.Decl) -> bool:
        return any(self.variables.meant.get(id(x)) is decl for x in every(node))

    def _reads_itself(self, node: c_ast.Node, decl: c_ast.Decl) -> bool:
        match node:
            case c_ast.UnaryOp():
                return True
            case c_ast.Assignment(op="=", rvalue=e):
                return _always(e, lambda x: self.variables.meant.get(id(x)) is decl)
            case c_ast.Assignment():
                return True
            case _:
                return False

    def _is_no_sum(self, node: c_ast.Node, decl: c_ast.Decl) -> bool:
        """Whether an update is none that could be part of a reduction: `h = h*31 + c`, `p = p->q`,
        `n /= 2`."""
        match node:
            case c_ast.Assignment(op="=", rvalue=e):
                kinds = (c_ast.TernaryOp, c_ast.FuncCall)
                chosen = (x for x in every(e) if isinstance(x, kinds))
                if any(self._names(x, decl) for x in chosen):
                    return False
                chain = isinstance(e, c_ast.BinaryOp) and e.op in _SUMS
                return not chain or not any(
                    isinstance(x, c_ast.ID) and self._names(x, decl) for x in (e.left, e.right)
                )
            case c_ast.Assignment(op="/=" | "%=" | "<<=" | ">>="):
                return True
            case _:
                return False


def _parts(cond: c_ast.Node | None) -> Iterator[c_ast.Node]:
    """The conditions that one is made of by && and ||."""
    match cond:
        case None:
            return
        case c_ast.BinaryOp(op="&&" | "||"):
            yield from _parts(cond.left)
            yield from _parts(cond.right)
        case _:
            yield cond


def _value(node: c_ast.Node) -> c_ast.Node | None:
    match node:
        case c_ast.Assignment():
            return cast(c_ast.Node, node.rvalue)
        case c_ast.Decl():
            return cast("c_ast.Node | None", node.init)
        case _:
            return None


def _is_memory(x: c_ast.Node) -> bool:
    """Whether an expression reads an element, a member behind a pointer, or what one points to."""
    match x:
        case c_ast.ArrayRef() | c_ast.UnaryOp(op="*"):
            return True
        case c_ast.StructRef():
            return bool(x.type == "->")
        case _:
            return False


def _is_math(call: c_ast.FuncCall) -> bool:
    """Whether a call computes from numbers alone."""
    return isinstance(call.name, c_ast.ID) and is_known(call.name.name)


def _always(e: c_ast.Node, holds: Callable[[c_ast.Node], bool]) -> bool:
    """Whether an expression evaluates a node of which `holds` is true, whatever its conditions."""
    match e:
        case c_ast.TernaryOp():
            both = _always(e.iftrue, holds) and _always(e.iffalse, holds)
            return both or _always(e.cond, holds)
        case c_ast.BinaryOp(op="&&" | "||"):
            return _always(e.left, holds)
        case c_ast.UnaryOp(op="sizeof" | "_Alignof"):
            return False
        case _:
            return holds(e) or any(_always(x, holds) for x in below(e))
