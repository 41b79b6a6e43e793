"""Loops that leave their function by `return`, as searches that the host goes on with.

    for (int i = 0; i < n; i++)          the device:  for (i = 0; i < n; i++)
      if (a[i] == x) {                                  if (a[i] == x) break;
        *count = i;                      the host:    for (int i = at; i < n; i++)
        return &a[i];                                   if (a[i] == x) { *count = i; return &a[i]; }
      }

The device says in which iteration the loop does anything at all; the host begins its own loop
there. So a result is what the user's expression says, behind the user's own statements. Nothing but
the counter may pass from one iteration to the next before: what iterations set must be theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, cast

from pycparser import c_ast
from pycparser.c_generator import CGenerator

from loopxform.frontend.desugar import build
from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.names.liveness import Use, sequence
from loopxform.frontend.names.variables import Variables, changed
from loopxform.frontend.outline.first_values import is_literal
from loopxform.frontend.syntax.tree import every, shallow, statements
from loopxform.records import record

_make = cast(Any, c_ast)
AT = "lx_at"
"""Where the host goes on, in a variable of its own where the header declares the counter."""
HIT = "lx_hit"
"""Whether a loop inside has come to a return."""

Loop: TypeAlias = c_ast.For | c_ast.While


@record
class Returning:
    """A `loop` that returns: what the device does instead (`search`), the `counter` that says where
    the host goes on, and whether the header declares that (`is_own`)."""

    loop: Loop
    search: c_ast.Node
    counter: c_ast.Decl
    is_own: bool

    @property
    def argument(self) -> str:
        """What the counter is set in."""
        return f"&{AT if self.is_own else self.counter.name}"

    @property
    def declared(self) -> c_ast.Node | None:
        """The declaration of the host's own variable."""
        if not self.is_own:
            return None
        declaration = cast(Any, _renamed(self.counter))
        declaration.init = build.number(0, self.loop)
        return cast(c_ast.Node, declaration)

    @property
    def may_write(self) -> bool:
        """Whether the host may write memory where it goes on."""
        places = map(changed, every(self.loop))
        stores = any(x is not None and not isinstance(x, c_ast.ID) for x in places)
        return stores or any(isinstance(x, c_ast.FuncCall) for x in every(self.loop))

    @property
    def resumed(self) -> c_ast.Node:
        """The loop of the host, from there on."""
        rest = cast(Any, shallow(self.loop))
        if self.is_own:
            first = cast(Any, shallow(self.counter))
            first.init = build.name(AT, self.loop)
            rest.init = shallow(cast(c_ast.For, self.loop).init)
            rest.init.decls = [first]
        elif isinstance(self.loop, c_ast.For):
            rest.init = None
        return cast(c_ast.Node, rest)

    def text(self, own: str) -> tuple[str, ...] | None:
        """The lines of the resumed loop; `own` is the user's text of the loop, a character for each
        byte, without comments. None where macros hide the header, directives stand in it, or bytes
        that are no UTF-8."""
        try:
            own = own.strip().encode("latin-1").decode()
        except UnicodeDecodeError:
            return None
        head = re.match(r"for\s*\(" if isinstance(self.loop, c_ast.For) else r"while\b", own)
        if head is None or "#" in own or "\\\n" in own:
            return None
        if isinstance(self.loop, c_ast.For):
            end = _end_of_start(own, head.end())
            first = own[head.end() : end].partition("=")[0] if self.is_own else ""
            own = f"for ({first}{f'= {AT}' if self.is_own else ''}{own[end:]}"
        return tuple(f"{line.rstrip()} " for line in own.splitlines() if line.strip())

    @property
    def declaration(self) -> str:
        """`int lx_at = 0; `"""
        node = self.declared
        return "" if node is None else f"{CGenerator().visit(node)}; "


def returning(region: Sequence[c_ast.Node], variables: Variables) -> Returning | None:
    """The loop that a region is, where it returns; None for any other region. Raises NotModelled
    where the host could not go on in the middle of the loop."""
    if len(region) != 1 or not isinstance(region[0], Loop):
        return None
    loop = region[0]
    if not any(isinstance(x, c_ast.Return) for x in every(loop)) or {AT, HIT} & variables.names:
        return None
    body = _Exits(loop).body()
    if body is None:
        return None
    counter = _counter(loop, body, variables)
    if counter is None:
        raise _counted(loop)
    own = _Own(loop, body, counter, variables)
    own.require()
    return Returning(loop, own.search(), counter, own.is_own)


class _Exits:
    """The body of a loop with a `break` in the place of what it does where it is left."""

    def __init__(self, loop: Loop) -> None:
        self.loop, self.has_nested = loop, False

    def body(self) -> c_ast.Node | None:
        """None where jumps leave the loop in other ways."""
        jumps = c_ast.Goto | c_ast.Label
        if any(isinstance(x, jumps) for x in every(self.loop)):
            return None
        try:
            items = self._items(statements(self.loop.stmt), inside=False)
        except _Stuck:
            return None
        if self.has_nested:
            items = [_flag(self.loop), *items]
        return cast(c_ast.Node, _make.Compound(items, coord=self.loop.stmt.coord))

    def _items(self, items: Sequence[c_ast.Node], *, inside: bool) -> list[c_ast.Node]:
        """Statements up to the first that always leaves; those in front of it that only run then
        are the host's as well."""
        last = next((n for n, s in enumerate(items) if _leaves(s, inside=inside)), None)
        if last is None:
            return [x for s in items for x in self._stmt(s, inside=inside)]
        first = max((n + 1 for n, s in enumerate(items[:last]) if _goes_on(s)), default=0)
        kept = [x for s in items[:first] for x in self._stmt(s, inside=inside)]
        return [*kept, self._hit(items[last], inside=inside)]

    def _stmt(self, s: c_ast.Node, *, inside: bool) -> Iterator[c_ast.Node]:
        if not any(isinstance(x, c_ast.Return | c_ast.Break) for x in every(s)):
            yield s
            return
        match s:
            case c_ast.Compound() | c_ast.If():
                yield self._branch(s, inside=inside)
            case c_ast.For() if any(isinstance(x, c_ast.Return) for x in every(s)):
                self.has_nested = True
                inner = cast(Any, shallow(s))
                inner.stmt = _block(self._items(statements(s.stmt), inside=True), s.stmt)
                yield inner
                if not inside:
                    left = _make.Break(coord=s.coord)
                    yield _make.If(build.name(HIT, s), left, None, coord=s.coord)
            case c_ast.Break():
                yield s
            case _ if any(isinstance(x, c_ast.Return) for x in every(s)):
                raise _Stuck
            case _:
                yield s

    def _branch(self, s: c_ast.Node, *, inside: bool) -> c_ast.Node:
        if isinstance(s, c_ast.Compound):
            return _block(self._items(statements(s), inside=inside), s)
        branches = cast(Any, shallow(s))
        for slot in ("iftrue", "iffalse"):
            body = getattr(s, slot)
            if body is not None:
                items = self._items(statements(body), inside=inside)
                setattr(branches, slot, items[0] if len(items) == 1 else _block(items, body))
        return cast(c_ast.Node, branches)

    def _hit(self, s: c_ast.Node, *, inside: bool) -> c_ast.Node:
        if not inside:
            return cast(c_ast.Node, _make.Break(coord=s.coord))
        one = build.number(1, s)
        return cast(c_ast.Node, _make.Assignment("=", build.name(HIT, s), one, coord=s.coord))


class _Stuck(Exception):
    """A return inside of what no search may hold."""


def _leaves(s: c_ast.Node, *, inside: bool) -> bool:
    """Whether a statement always leaves the function, or the loop where that is not `inside` of
    another one."""
    match s:
        case c_ast.Return():
            return True
        case c_ast.Break():
            return not inside
        case c_ast.Compound():
            return not _goes_on(s) and any(_leaves(x, inside=inside) for x in statements(s))
        case c_ast.If(iftrue=then, iffalse=orelse) if orelse is not None:
            return all(_leaves(x, inside=inside) for x in (then, orelse))
        case _:
            return False


def _goes_on(s: c_ast.Node) -> bool:
    """Whether a statement may begin the next iteration, or leave an inner loop."""
    return any(isinstance(x, c_ast.Continue | c_ast.Break) for x in every(s))


def _block(items: list[c_ast.Node], at: c_ast.Node) -> c_ast.Node:
    return cast(c_ast.Node, _make.Compound(items, coord=at.coord))


def _flag(loop: Loop) -> c_ast.Node:
    kind = _make.IdentifierType(["int"], coord=loop.coord)
    type = _make.TypeDecl(HIT, [], None, kind, coord=loop.coord)
    empty: dict[str, Any] = {n: [] for n in ("quals", "align", "storage", "funcspec")}
    flag = _make.Decl(
        HIT, type=type, init=build.number(0, loop), bitsize=None, coord=loop.coord, **empty
    )
    return cast(c_ast.Node, flag)


def _counter(loop: Loop, body: c_ast.Node, variables: Variables) -> c_ast.Decl | None:
    """The variable that counts the iterations: the one that the header steps, or the last statement
    of the body."""
    if isinstance(loop, c_ast.For) and loop.next is not None:
        step: c_ast.Node | None = loop.next
    else:
        step = next(reversed(statements(body)), None)
    target = None if step is None else changed(step)
    return None if target is None else variables.meant.get(id(target))


class _Own:
    """What iterations of a loop set, before it is left: the `counter`, and variables of theirs."""

    def __init__(
        self, loop: Loop, body: c_ast.Node, counter: c_ast.Decl, variables: Variables
    ) -> None:
        self.loop, self.body, self.counter, self.variables = loop, body, counter, variables
        self.inside = {id(x) for x in every(body)}
        self.private: list[c_ast.Decl] = []
        init = loop.init if isinstance(loop, c_ast.For) else None
        self.is_own = isinstance(init, c_ast.DeclList)

    def require(self) -> None:
        """Raises NotModelled where another iteration, or what follows the loop, may read it."""
        self._require_header()
        steps = 0
        head = (self.loop.cond, getattr(self.loop, "next", None))
        for x in (y for part in (self.body, *head) for y in every(part)):
            target = changed(x)
            if target is None:
                continue
            decl = self.variables.meant.get(id(target))
            if decl is self.counter:
                steps += 1
            elif not (target.__class__ is c_ast.ID and target.name == HIT):
                self._require_own(target, decl)
        if steps != 1:
            help = f"step '{self.counter.name}' once, at the end of each iteration"
            reason = f"a return leaves a loop that sets '{self.counter.name}' in several places"
            raise NotModelled("LX249", reason, help, self.loop)

    def _require_header(self) -> None:
        kind = self.variables.kind(self.counter)
        init = self.loop.init if isinstance(self.loop, c_ast.For) else None
        match init:
            case None:
                known = True
            case c_ast.DeclList(decls=[only]):
                known = only is self.counter and only.init is not None
            case c_ast.Assignment(op="=", lvalue=c_ast.ID() as target):
                known = self.variables.meant.get(id(target)) is self.counter
            case _:
                known = False
        if kind != "number" or not known:
            raise _counted(self.loop)

    def _require_own(self, target: c_ast.Node, decl: c_ast.Decl | None) -> None:
        if decl is None or not isinstance(target, c_ast.ID):
            raise self._set_before(target)
        if id(decl) in self.inside or any(decl is x for x in self.private):
            return
        if not self._is_private(decl):
            raise self._set_before(target)
        self.private.append(decl)

    def _is_private(self, d: c_ast.Decl) -> bool:
        """Whether each iteration sets a number before it reads it, and nothing behind the loop
        reads it."""

        def means(x: c_ast.Node) -> bool:
            return self.variables.meant.get(id(x)) is d

        v, head = self.variables, (self.loop.cond, getattr(self.loop, "next", None))
        plain = v.kind(d) == "number" and not d.storage and id(d) not in v.params
        plain = plain and not v.escaping[id(d)] and (d.init is None or is_literal(d.init))
        read = any(means(x) for part in head for x in every(part))
        first = sequence(statements(self.body), means)
        return plain and not read and first is Use.SET and not v.live_after([self.loop], d)

    def _set_before(self, target: c_ast.Node) -> NotModelled:
        text = CGenerator().visit(target)
        reason = f"a return leaves a loop whose iterations before set {text}"
        help = "look for the iteration in a loop that does nothing else, then do the rest up to it"
        return NotModelled("LX249", reason, help, target)

    def search(self) -> c_ast.Node:
        """The loop of the device, whose counter is declared in front of it."""
        search = cast(Any, shallow(self.loop))
        search.stmt = _block([*self.private, *statements(self.body)], self.loop.stmt)
        if self.is_own:
            at = build.name(self.counter.name, self.loop)
            self.variables.meant[id(at)] = self.counter
            search.init = _make.Assignment("=", at, self.counter.init, coord=self.loop.coord)
        return cast(c_ast.Node, search)


def _counted(loop: Loop) -> NotModelled:
    reason = "a return leaves a loop that does not count with one integer alone"
    return NotModelled("LX249", reason, "write it as for (i = 0; i < n; i++)", loop)


def _end_of_start(text: str, at: int) -> int:
    """Where the first part of the header of a `for` ends."""
    depth = 0
    for n in range(at, len(text)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[n], 0)
        if text[n] == ";" and not depth:
            return n
    return len(text)


def _renamed(d: c_ast.Decl) -> c_ast.Node:
    other = cast(Any, shallow(d))
    other.name, other.type = AT, shallow(d.type)
    other.type.declname = AT
    other.storage = []
    return cast(c_ast.Node, other)
