"""Pointers that each iteration sets before it uses them belong to the iteration.

    char *p; for (y...) { p = rows[y]; ... }   ->   for (y...) { char *p@; p@ = rows[y]; ... }
    void f(char *p) { p = a + n; ... }         ->   void f(char *p) { char *p@ = a + n; ... }

What one iteration leaves in such a pointer no other reads, nor does anything behind the loop.
Likewise nobody reads a parameter that is set first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.jumps import LOOPS
from loopxform.frontend.desugar.names import Fresh, declared, exposed, governed, mentioned
from loopxform.frontend.names.liveness import Use
from loopxform.frontend.names.variables import Variables
from loopxform.frontend.syntax.tree import every, statements


def with_own_pointers(node: c_ast.FuncDef, fresh: Fresh) -> None:
    """Declares such pointers in the loops of `node`, in place: each in the outermost loop that it
    belongs to."""
    decls = [d for d in every(node.body) if isinstance(d, c_ast.Decl) and _is_local_pointer(d)]
    whole = list(every(node.body))
    if any(_is_openmp(n) or isinstance(n, c_ast.Goto | c_ast.Label) for n in whole):
        return
    _set_first(node, whole, fresh)
    if not decls or not any(isinstance(n, LOOPS) for n in whole):
        return
    variables, told = Variables(node, {}), governed(node.body)
    free = [d for d in decls if _is_by_name(d, variables) and d.name not in told]
    if not free:
        return
    count = Counter(map(id, whole))
    shared = {id(variables.meant[x]) for x, n in count.items() if n > 1 and x in variables.meant}
    done: set[tuple[int, int]] = set()
    for loop in _loops(node.body):
        inside = {id(x) for x in every(loop)}
        new = list[c_ast.Node]()
        for d in free:
            elsewhere = id(d) in inside or not any(id(x) in inside for x in variables.sets[id(d)])
            if elsewhere or id(d) in shared or (id(d), id(loop)) in done:
                continue
            if _belongs(loop, d, variables):
                new.append(_renamed(loop, d, variables, fresh))
                done |= {(id(d), id(x)) for x in every(loop) if isinstance(x, LOOPS)}
        if new:
            loop.stmt = build.block([*new, *statements(loop.stmt)], loop.stmt)


def _set_first(node: c_ast.FuncDef, whole: list[c_ast.Node], fresh: Fresh) -> None:
    """Declares variables for the parameters that a function sets before it reads them."""
    args = node.decl.type.args
    pointers = {
        p.name: p
        for p in (args.params if args is not None else ())
        if isinstance(p, c_ast.Decl) and isinstance(p.type, c_ast.PtrDecl)
        if not {"volatile", "_Atomic"} & {*p.type.quals}
    }
    items = node.body.block_items or []
    kept = pointers.keys() - exposed(node.body) - governed(node.body) - declared(node.body)
    for n, s in enumerate(items):
        match s:
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value):
                called = any(isinstance(x, c_ast.FuncCall) for x in every(value))
                if name in kept and name not in mentioned(value) and not called:
                    own = fresh.name(name)
                    t = build.pointer_to(pointers[name].type.type)
                    for x in whole:
                        if isinstance(x, c_ast.ID) and x.name == name:
                            x.name = own
                    items[n] = build.local(own, t, s, value)
        kept -= mentioned(s)
        if not kept:
            return


def _is_openmp(n: c_ast.Node) -> bool:
    """Whether it is a claim about what is shared between iterations, as the text has it."""
    return isinstance(n, c_ast.Pragma) and "omp" in str(n.string)


def _is_by_name(d: c_ast.Decl, variables: Variables) -> bool:
    return id(d) in variables.sets and id(d) not in variables.escaping


def _is_local_pointer(d: c_ast.Decl) -> bool:
    """Whether it declares an unqualified pointer that lives as long as the function."""
    return isinstance(d.type, c_ast.PtrDecl) and not d.type.quals and {*d.storage} <= {"register"}


def _loops(node: c_ast.Node) -> Iterator[c_ast.For | c_ast.While | c_ast.DoWhile]:
    """The loops of a function, the outer ones first."""
    return (n for n in every(node) if isinstance(n, c_ast.For | c_ast.While | c_ast.DoWhile))


def _belongs(
    loop: c_ast.For | c_ast.While | c_ast.DoWhile, d: c_ast.Decl, variables: Variables
) -> bool:
    """Whether each iteration sets a variable before it reads it, and nothing else reads it then."""

    def means(x: c_ast.Node) -> bool:
        return variables.meant.get(id(x)) is d

    parts = (getattr(loop, part, None) for part in ("init", "cond", "next"))
    if any(means(x) for part in parts if part is not None for x in every(part)):
        return False
    first = variables.liveness.first(statements(loop.stmt), id(d))
    return first is not Use.READ and not variables.live_after([loop], d)


def _renamed(
    loop: c_ast.For | c_ast.While | c_ast.DoWhile,
    d: c_ast.Decl,
    variables: Variables,
    fresh: Fresh,
) -> c_ast.Node:
    """Gives the variable another name in a loop, and the declaration of that."""
    name = fresh.name(d.name)
    made = build.local(name, d.type, d)
    for x in every(loop.stmt):
        if isinstance(x, c_ast.ID) and variables.meant.get(id(x)) is d:
            x.name = name
    return made
