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

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping

from pycparser import c_ast

from loopxform.frontend.names.called_effects import CalledEffects
from loopxform.frontend.names.iterated import place
from loopxform.frontend.names.loop_data import LoopData, LoopNode, is_math, is_memory, parts
from loopxform.frontend.names.loop_sites import Site, stated
from loopxform.frontend.names.reached import Reach
from loopxform.frontend.names.restored import may_be_restored
from loopxform.frontend.names.variables import Variables, changed
from loopxform.frontend.syntax.tree import below, every
from loopxform.ir.functions import is_known
from loopxform.records import record

_SUMS = frozenset(["+", "-", "*", "&", "|", "^"])


@record
class Obstacle:
    """What keeps the iterations in order, and where it is; `{line}` in the message is that line."""

    message: str
    node: c_ast.Node
    induction: bool = False


def sequential(
    loops: Iterable[LoopNode],
    function: c_ast.FuncDef,
    variables: Variables,
    called: CalledEffects,
) -> Iterator[tuple[str, Obstacle]]:
    """The places of those loops of a function whose iterations are in order, each with the reason.
    `called` says what calls do besides giving a value."""
    labels = {n.name: n for n in every(function.body) if isinstance(n, c_ast.Label)}
    reach = Reach(function, variables)
    for loop in loops:
        obstacle = _Loop(loop, variables, labels, called).obstacle()
        if obstacle is not None and reach.has_two(loop):
            yield place(loop), obstacle


class _Loop:
    def __init__(
        self,
        loop: LoopNode,
        variables: Variables,
        labels: Mapping[str, c_ast.Node],
        called: CalledEffects,
    ) -> None:
        self.loop = loop
        self.variables = variables
        self.labels = labels
        self.own, self.called = called.own, called
        self.data = LoopData(loop, variables, self.own)
        self.sites = self.data.sites
        self.inside = {id(s.node): s for s in self.sites}
        self.statements = {id(x) for n in (loop, *(s.node for s in self.sites)) for x in stated(n)}
        self.step = {id(x) for x in every(getattr(loop, "next", None))}

    def obstacle(self) -> Obstacle | None:
        """The first that there is, if the loop may have two iterations at all."""
        if self._runs_once():
            return None
        for search in (self._exit, self._condition, self._order, self._recurrence):
            found = search()
            if found is not None:
                return found
        return None

    # ------------------------------------------------------------ control

    def _runs_once(self) -> bool:
        """Whether nothing may be repeated: `do S while (0)`, a counter with one value, a body that
        leaves the loop, or does so where counters alone may say so."""
        cond = getattr(self.loop, "cond", None)
        if isinstance(cond, c_ast.Constant) and cond.value == "0":
            return True
        if counts_once(self.loop) or self._ends(self.loop.stmt):
            return True
        return any(self._leaves(s) and not self.data.may_not_hold(s.conditions) for s in self.sites)

    def _ends(self, node: c_ast.Node | None) -> bool:
        """Whether a statement leaves the loop whatever the data are."""
        match node:
            case c_ast.Compound():
                return any(map(self._ends, node.block_items or ()))
            case c_ast.If():
                return self._ends(node.iftrue) and self._ends(node.iffalse)
            case c_ast.Switch():
                return any(self._ends(n) for n in every(node) if isinstance(n, c_ast.Default))
            case c_ast.Case() | c_ast.Default():
                return any(map(self._ends, node.stmts or ()))
            case c_ast.Label():
                return self._ends(node.stmt)
            case None:
                return False
            case _:
                site = self.inside.get(id(node))
                return site is not None and bool(self._leaves(site))

    def _exit(self) -> Obstacle | None:
        """A statement that ends the loop where data say so."""
        for s in self.sites:
            word = self._leaves(s)
            if word and s.conditions and self.data.is_open(s.conditions):
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
            case c_ast.FuncCall() if (name := self._function(s.node)) in self.called.ends:
                return name
            case _:
                return ""

    def _function(self, call: c_ast.FuncCall) -> str:
        """The name of the function that is called, where it is called by its name."""
        variable = id(call.name) in self.variables.meant
        return str(call.name.name) if isinstance(call.name, c_ast.ID) and not variable else ""

    def _condition(self) -> Obstacle | None:
        """A condition of the loop that data decide, differently from iteration to iteration."""
        for part in parts(getattr(self.loop, "cond", None)):
            for x in every(part):
                if self._decides(x):
                    text = (
                        "control dependence, direction (<): the condition of the loop asks data "
                        "that iterations read or set"
                    )
                    return Obstacle(text, x)
        return None

    def _decides(self, x: c_ast.Node) -> bool:
        """Whether a part of the condition reads what iterations give, or differs for each."""
        match x:
            case c_ast.ID():
                d = self.variables.meant.get(id(x))
                sites = self.data.sets.get(id(d), []) if d is not None else []
                own = [s for s in sites if id(s.node) not in self.step]
                return any(map(self.data.sets_varying, own))
            case c_ast.FuncCall():
                return not is_math(x) and (self._is_stateful(x) or self.data.moves(x.args))
            case _:
                return is_memory(x) and self.data.moves(x)

    def _is_stateful(self, call: c_ast.FuncCall) -> bool:
        return self.called.in_order(self._function(call)) is not None

    # ------------------------------------------------------------ state

    def _order(self) -> Obstacle | None:
        """A call that must happen in the order of the iterations."""
        for s in self.sites:
            if not isinstance(s.node, c_ast.FuncCall):
                continue
            name = self._function(s.node)
            effect = self.called.in_order(name)
            if effect and self._is_reached(s) and self._goes_on(s):
                return Obstacle(f"the iterations call '{name}' in turn: {effect}", s.node)
        return None

    def _is_reached(self, s: Site) -> bool:
        """Whether data may bring several iterations to a place: also past the jumps before it."""
        before = itertools.takewhile(lambda x: x is not s, self.sites)
        jumps = (x for x in before if isinstance(x.node, c_ast.Continue | c_ast.Goto))
        passed = all(self.data.may_not_hold(x.conditions) for x in jumps)
        return passed and self.data.is_open(s.conditions)

    def _goes_on(self, s: Site) -> bool:
        """Whether the loop certainly goes on after a call that data allow: what else it calls
        could end the program."""
        if not s.conditions:
            return True
        calls = (x.node for x in self.sites if isinstance(x.node, c_ast.FuncCall))
        names = map(self._function, calls)
        known = all(n not in self.own and (is_known(n) or self.called.in_order(n)) for n in names)
        return known and not self._is_last(s.branch)

    def _is_last(self, branch: c_ast.Node | None) -> bool:
        """Whether a branch leaves the loop, so that no two iterations come there."""
        inside = {id(x) for x in every(branch)}
        return any(self._leaves(s) for s in self.sites if id(s.node) in inside)

    def _recurrence(self) -> Obstacle | None:
        """A variable whose value each iteration computes from the one before."""
        for d, sites in self.data.sets.items():
            decl = self._variable(d)
            if decl is None or not self._is_carried(decl, sites):
                continue
            for s in sites:
                if self._is_reached(s) and not (s.conditions and self._is_last(s.branch)):
                    text = (
                        f"flow dependence of {decl.name}, direction (<): line {{line}} computes it "
                        "from its value before"
                    )
                    if not self._is_induction(decl, sites):
                        return Obstacle(text, s.node)
                    remedy = "is an induction variable: compute it from the loop variable"
                    return Obstacle(f"{text}; {decl.name} {remedy}", s.node, True)
        return None

    def _is_induction(self, decl: c_ast.Decl, sites: list[Site]) -> bool:
        """Whether every iteration adds the same to a variable."""
        return all(not s.conditions and self._grows(s.node, decl, self._is_same) for s in sites)

    def _variable(self, d: int) -> c_ast.Decl | None:
        """A number or a pointer from outside of the loop that only assignments by name change."""
        decl = self.variables.meant.get(id(changed(self.data.sets[d][0].node)))
        if decl is None or id(decl) in self.inside or self.variables.escaping.get(id(decl)):
            return None
        kept = not {"static", "extern"} & set(decl.storage or ())
        return decl if kept and self.variables.kind(decl) in ("number", "pointer") else None

    def _is_carried(self, decl: c_ast.Decl, sites: list[Site]) -> bool:
        """Whether every assignment reads the variable, so that none ends the chain, and the loop
        neither counts with it nor only sums it up."""
        if not all(self._reads_itself(s.node, decl) for s in sites) or self._counts(decl, sites):
            return False
        if may_be_restored(sites, lambda x: self.variables.meant.get(id(x)) is decl):
            return False
        if any(self._is_no_sum(s.node, decl) for s in sites):
            return True
        updates = [s.node for s in sites]
        idle = {id(x) for n in updates if id(n) in self.statements for x in every(n)}
        uses = (s for s in self.sites if self.variables.meant.get(id(s.node)) is decl)
        return any(id(s.node) not in idle and self._is_reached(s) for s in uses)

    def _counts(self, decl: c_ast.Decl, sites: list[Site]) -> bool:
        """Whether the loop may count with the variable: it grows by what need not change, and
        the condition asks for no other that the loop sets."""
        cond, step = getattr(self.loop, "cond", None), getattr(self.loop, "next", None)
        named = self._names(cond, decl) or (self._names(step, decl) and not self._is_counted(cond))
        return named and all(
            not s.conditions and not s.nested and self._grows(s.node, decl, self._may_be_same)
            for s in sites
        )

    def _is_counted(self, cond: c_ast.Node | None) -> bool:
        """Whether a condition asks for a variable that the loop sets."""
        named = (self.variables.meant.get(id(x)) for x in every(cond))
        return any(id(d) in self.data.sets for d in named if d is not None)

    def _grows(
        self, node: c_ast.Node, decl: c_ast.Decl, amount: Callable[[c_ast.Node], bool]
    ) -> bool:
        """Whether an assignment adds such an amount to the variable."""
        match node:
            case c_ast.UnaryOp():
                return True
            case c_ast.Assignment(op="+=" | "-=", rvalue=e):
                return amount(e)
            case c_ast.Assignment(op="=", rvalue=c_ast.BinaryOp(op="+" | "-" as op) as e):
                sides = [(e.left, e.right), (e.right, e.left)] if op == "+" else [(e.left, e.right)]
                return any(
                    isinstance(x, c_ast.ID) and self._names(x, decl) and amount(other)
                    for x, other in sides
                )
            case _:
                return False

    def _is_same(self, e: c_ast.Node) -> bool:
        """Whether an expression has one value in all iterations."""
        calls = (x for x in every(e) if isinstance(x, c_ast.FuncCall))
        data = self.data.varies(e) or any(map(is_memory, every(e))) or not all(map(is_math, calls))
        return not data and not self.data.moves(e)

    def _may_be_same(self, e: c_ast.Node) -> bool:
        """Whether it may have one: of memory, or computed by functions of the file."""
        calls = [x for x in every(e) if isinstance(x, c_ast.FuncCall)]
        names = (x.name.name if isinstance(x.name, c_ast.ID) else "" for x in calls)
        known = all(is_math(x) or name in self.own for x, name in zip(calls, names))
        return known and not self.data.moves(e)

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


def counts_once(loop: c_ast.Node) -> bool:
    """Whether the numbers in a header leave one value to its counter."""
    match loop:
        case c_ast.For(
            init=c_ast.Assignment(op="=", rvalue=c_ast.Constant(value=first))
            | c_ast.DeclList(decls=[c_ast.Decl(init=c_ast.Constant(value=first))]),
            cond=c_ast.BinaryOp(op="<" | "<=" as op, right=c_ast.Constant(value=last)),
        ) if first.isdigit() and last.isdigit():
            return int(last) - int(first) < (2 if op == "<" else 1)
        case _:
            return False


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
