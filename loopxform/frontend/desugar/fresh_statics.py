"""Static variables that every call sets before it reads them, as variables of the call.

    static int i; static double t;           int i; double t;
    for (i = 0; i < n; i++) {           ->   for (i = 0; i < n; i++) {
      t = a[i]; a[i] = t * t; }                t = a[i]; a[i] = t * t; }

What one call leaves in them no other one reads (programs that were Fortran declare all of their
variables so). Loops may run no time: nothing that they set counts behind them. Functions that may
call this one in turn leave anything behind. (Definite assignment: The Java Language Specification,
chapter 16.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.syntax.tree import below, every

Names = frozenset[str]

_NO_FLOW = (c_ast.Goto, c_ast.Label, c_ast.Switch, c_ast.Pragma)
_LEAVES = (c_ast.Return, c_ast.Break, c_ast.Continue)


def with_fresh_statics(node: c_ast.FuncDef, is_harmless: Callable[[str], bool]) -> None:
    """Takes `static` away from such variables of a function, in place; `is_harmless` knows the
    functions that certainly call no other ones of the program."""
    found = _candidates(node)
    if not found or any(isinstance(n, _NO_FLOW) for n in every(node.body)):
        return
    flow = _Flow(frozenset(found), is_harmless)
    flow.statement(node.body, frozenset())
    for name in found.keys() - flow.read:
        found[name].storage = [s for s in found[name].storage if s != "static"]


def _candidates(node: c_ast.FuncDef) -> dict[str, Any]:
    """Static numbers of a function, by names that it declares once."""
    declared = [n for n in every(node) if isinstance(n, c_ast.Decl) and n.name]
    count = Counter(d.name for d in declared)
    return {d.name: d for d in declared if count[d.name] == 1 and _is_static_number(d)}


def _is_static_number(d: c_ast.Decl) -> bool:
    inner = d.type.type if isinstance(d.type, c_ast.TypeDecl) else None
    plain = isinstance(inner, c_ast.IdentifierType) and not {"volatile", "const"} & {*d.quals}
    return "static" in d.storage and plain and "_Atomic" not in d.quals


class _Flow:
    """Which of some variables are read where they may not have been set in this call."""

    def __init__(self, every: Names, is_harmless: Callable[[str], bool]) -> None:
        self.every, self.is_harmless = every, is_harmless
        self.read = set[str]()

    def statement(self, s: c_ast.Node | None, done: Names) -> Names:
        """What is set for certain behind a statement in front of which `done` are; all where
        nothing comes behind it."""
        match s:
            case c_ast.Compound():
                for x in s.block_items or ():
                    done = self.statement(x, done)
                return done
            case c_ast.If():
                done = self.expression(s.cond, done)
                return self.statement(s.iftrue, done) & self.statement(s.iffalse, done)
            case c_ast.For() | c_ast.While():
                return self._loop(s, done)
            case c_ast.DoWhile():
                again = self._kept(s, done)
                behind = self.expression(s.cond, self.statement(s.stmt, again))
                early = any(isinstance(x, _LEAVES) for x in every(s.stmt))
                if early:
                    self.expression(s.cond, again)
                return self._kept(s, again if early else behind)
            case c_ast.Return():
                self.expression(s.expr, done)
                return self.every
            case c_ast.Break() | c_ast.Continue():
                return self.every
            case c_ast.DeclList():
                for d in s.decls:
                    done = self.statement(d, done)
                return done
            case c_ast.Decl():
                if "static" in s.storage:
                    return done
                return self.expression(s.init, self.expression(s.type, done))
            case _:
                return self.expression(s, done)

    def _loop(self, s: c_ast.For | c_ast.While, done: Names) -> Names:
        head = cast(Any, s)
        done = self.statement(getattr(s, "init", None), done)
        again = self.expression(head.cond, self._kept(s, done))
        inside = self.statement(head.stmt, again)
        skips = any(isinstance(x, c_ast.Continue) for x in every(head.stmt))
        self.expression(getattr(s, "next", None), again if skips else inside)
        return self._kept(s, again)

    def _kept(self, loop: c_ast.Node, done: Names) -> Names:
        """What is still known to be set in a later iteration."""
        return frozenset() if self._calls(loop) else done

    def expression(self, e: c_ast.Node | None, done: Names) -> Names:
        """The same of an expression; calls in it may come before all else."""
        if e is None:
            return done
        if self._calls(e):
            self._value(e, frozenset())
            return frozenset()
        return self._value(e, done)

    def _calls(self, node: c_ast.Node) -> bool:
        """Whether a function is called that may call others of the program."""
        calls = (x for x in every(node) if isinstance(x, c_ast.FuncCall))
        return not all(
            isinstance(x.name, c_ast.ID) and self.is_harmless(x.name.name) for x in calls
        )

    def _value(self, e: c_ast.Node, done: Names) -> Names:
        match e:
            case c_ast.ID(name=name):
                self.read |= {name} - done
                return done
            case c_ast.Assignment(op=op, lvalue=c_ast.ID(name=name), rvalue=value):
                done = self._value(value, done)
                return (done if op == "=" else self._value(e.lvalue, done)) | ({name} & self.every)
            case c_ast.UnaryOp(op="&"):
                self.read |= {x.name for x in every(e) if isinstance(x, c_ast.ID)}
                return done
            case c_ast.BinaryOp(op="&&" | "||", left=left, right=right):
                done = self._value(left, done)
                self._value(right, done)
                return done
            case c_ast.TernaryOp(cond=cond, iftrue=yes, iffalse=no):
                done = self._value(cond, done)
                return self._value(yes, done) & self._value(no, done)
            case c_ast.StructRef():
                return self._value(e.name, done)
            case _:
                for x in below(e):
                    done = self._value(x, done)
                return done
