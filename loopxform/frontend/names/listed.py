"""What the names in the list of an OpenMP clause stand for: the objects that are copied.

private(x)    x; of a struct each member that lies in it
private(p)    of a pointer the pointer alone: what it points to stays shared
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from pycparser import c_ast

from loopxform.frontend.names.members import is_pointer_member
from loopxform.frontend.names.symbols import Symbol, Table
from loopxform.frontend.pragmas import openmp
from loopxform.frontend.syntax.tree import every
from loopxform.ir.directives import Section
from loopxform.ir.nodes import Const, Expr, Var

Names = dict[str, Symbol]


def objects(
    names: Iterable[str], seen: Names, table: Table | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the loop tree for what is copied, and for what copied pointers point to."""
    found = [part for name in names for part in _parts(name, seen.get(name), table)]
    copied, behind = ([n for n, shared in found if shared is wanted] for wanted in (False, True))
    return tuple(copied), tuple(behind)


def _parts(name: str, s: Symbol | None, table: Table | None) -> Iterator[tuple[str, bool]]:
    """What a variable consists of, and whether it lies behind a pointer."""
    if s is None or not s.is_variable:
        yield name, False
        return
    yield s.ir, s.is_pointer
    for m in table.symbols if table else ():
        root, behind = _root(m)
        if m is not s and root is s:
            yield m.ir, behind


def _root(s: Symbol) -> tuple[Symbol, bool]:
    """The variable that a member is reached from, and whether a pointer leads there."""
    through = False
    while s.owner is not None:
        through = through or (s.member_type is not None and is_pointer_member(s.member_type))
        s = s.owner
    return s, through or s.is_pointer


def unset(names: Iterable[str], seen: Names, table: Table, node: c_ast.Node) -> tuple[str, ...]:
    """The pointers of a list that `node` uses, but never sets."""
    inside = list(every(node))
    used = {table.of(n) for n in inside if isinstance(n, c_ast.ID)}
    changed = {table.of(n) for n in _targets(inside)}
    found = (seen.get(name) for name in names)
    return tuple(s.ir for s in found if s and s.is_pointer and s in used and s not in changed)


def _targets(nodes: Iterable[c_ast.Node]) -> Iterator[c_ast.Node]:
    """What is assigned or stepped, or whose address is taken."""
    for n in nodes:
        if isinstance(n, c_ast.Assignment):
            yield n.lvalue
        elif isinstance(n, c_ast.UnaryOp) and n.op in ("++", "--", "p++", "p--", "&"):
            yield n.expr


def settings(node: c_ast.Node, table: Table) -> Iterator[tuple[c_ast.Node, Symbol]]:
    """The assignments to local pointers that `node` does not declare."""
    inside = list(every(node))
    declared = {table.of(n) for n in inside if isinstance(n, c_ast.Decl)}
    for n in inside:
        if isinstance(n, c_ast.Assignment) and isinstance(n.lvalue, c_ast.ID):
            s = table.of(n.lvalue)
            if s is not None and s.kind == "local" and s.is_pointer and s not in declared:
                yield n, s


def pointed(node: c_ast.Node, table: Table) -> frozenset[str]:
    """The objects that the pointers in `node` may point into as they were set outside of it."""
    nodes = list(every(node))
    inside = frozenset(map(id, nodes))
    found: set[Symbol] = set()
    waiting = [s for n in nodes if isinstance(n, c_ast.ID) and (s := table.of(n)) is not None]
    seen = set(waiting)
    while waiting:
        for s in led_to(waiting.pop(), table, inside):
            found.add(s)
            if s not in seen:
                seen.add(s)
                waiting.append(s)
    return frozenset(s.ir for s in found)


def led_to(pointer: Symbol, table: Table, inside: Set[int] = frozenset()) -> Iterator[Symbol]:
    """The arrays, structs and pointers in the values that a pointer is set to, but for those set
    in the nodes `inside`."""
    for setting in table.settings.get(pointer, ()):
        known = setting.value is not None and id(setting.value) not in inside
        nodes = list(every(setting.value)) if known else []
        found = (table.of(n) for n in nodes if isinstance(n, c_ast.ID | c_ast.StructRef))
        yield from (s for s in found if s and s.is_variable and not s.type.is_scalar)


def direct(node: c_ast.Node | None) -> list[c_ast.Node]:
    """The statements of a block, or of the body of a loop, that no pragma is about."""
    body = node.stmt if isinstance(node, c_ast.For) else node
    items = (body.block_items or []) if isinstance(body, c_ast.Compound) else [body]
    before = [None, *items]
    return [n for n, last in zip(items, before) if not isinstance(last, c_ast.Pragma)]


def sections(argument: str, seen: Names) -> tuple[Section, ...]:
    """The array sections in the argument of a clause: `+: h[0:n], s`."""
    head, mark, tail = argument.partition(":")
    items = openmp.split(tail if mark and "[" not in head else argument)
    return tuple(_section(item, seen) for item in items if "[" in item)


def _section(item: str, seen: Names) -> Section:
    name, _, rest = item.partition("[")
    symbol = seen.get(name.strip())
    parts = tuple(_range(part, seen) for part in rest.rstrip("] \t").split("["))
    return Section(symbol.ir if symbol else name.strip(), item, parts)


def _range(part: str, seen: Names) -> tuple[Expr | None, Expr | None]:
    bounds = openmp.split(part.strip().rstrip("]"), ":")
    low = _value(bounds[0], seen) if bounds[0] else Const(0)
    if len(bounds) == 1:
        return low, Const(1)
    return low, _value(bounds[1], seen)


def _value(text: str, seen: Names) -> Expr | None:
    """A number or a variable; None where it is anything else."""
    n = openmp.number(text)
    if n is not None:
        return Const(n)
    symbol = seen.get(text)
    if symbol is None or not symbol.is_variable:
        return symbol.value if symbol else None
    return Var(symbol.ir) if symbol.type.is_scalar else None
