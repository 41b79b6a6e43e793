"""What becomes of a pointer: whether all that gets it gives it back.

a[i], *a, a + i == p, !a, free(a)       nobody keeps it
memset(a, 0, n), f(a)                   nor here, where `f` of the file does nothing else with it
q = a, s->p = a, g(a)                   somebody may free, later, what it leads to
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar.names import declared
from loopxform.frontend.names.library import keeps_no_address
from loopxform.frontend.outline.regions import Definition
from loopxform.frontend.syntax.tree import below, every

_COPIES = ("memset", "memcpy", "memmove")
_FILLING = frozenset(["fgets", "gets", *_COPIES, *(f"__builtin_{name}" for name in _COPIES)])
"""They give their first argument back, and keep nothing."""

_MANAGING = frozenset(["realloc", "getline", "getdelim"])
"""They may free what they are given."""

_VALUES = ("==", "!=", "<", ">", "<=", ">=", "&&", "||")


class Lending:
    """Asks for uses of pointers; `functions` are those of the file."""

    def __init__(self, functions: Mapping[str, Definition]) -> None:
        self.functions = functions
        self.known: dict[tuple[str, int], bool] = {}

    def frees(
        self, function: c_ast.FuncDef, mentions: Iterable[c_ast.Node]
    ) -> list[c_ast.Node] | None:
        """The calls of `free` that get a pointer, of which these are all `mentions` in a function;
        None where it may be kept, or freed elsewhere."""
        uses = _Uses(self, function, may_return=True)
        return uses.frees if all(map(uses.is_lent, mentions)) else None

    def gives_back(self, name: str, n: int) -> bool:
        """Whether a function of the file neither keeps its `n`th argument nor frees it."""
        if (name, n) not in self.known:
            self.known[name, n] = False  # of one that calls itself
            self.known[name, n] = self._gives_back(self.functions[name].node, n)
        return self.known[name, n]

    def _gives_back(self, function: c_ast.FuncDef, n: int) -> bool:
        args = function.decl.type.args
        params = args.params if args is not None and not function.param_decls else []
        if n >= len(params) or not isinstance(params[n], c_ast.Decl):
            return False
        name, inside = params[n].name, list(every(function.body))
        if any(isinstance(x, c_ast.Decl) and x.name == name for x in inside):
            return False
        mentions = [x for x in inside if isinstance(x, c_ast.ID) and x.name == name]
        uses = _Uses(self, function, may_return=False)
        return all(map(uses.is_lent, mentions)) and not uses.frees


class _Uses:
    """The uses of one pointer in a function."""

    def __init__(self, lending: Lending, function: c_ast.FuncDef, *, may_return: bool) -> None:
        self.lending, self.may_return = lending, may_return
        self.parents = {id(x): n for n in every(function.body) for x in below(n)}
        self.declared = declared(function)
        self.frees: list[c_ast.Node] = []

    def is_lent(self, x: c_ast.Node) -> bool:
        """Whether nobody keeps the value of an expression that leads into the memory."""
        up = self.parents.get(id(x))
        match up:
            case c_ast.Cast():
                return self.is_lent(up)
            case c_ast.UnaryOp(op="*"):
                return self._is_element(up)
            case c_ast.ArrayRef() if up.name is x:
                return self._is_element(up)
            case c_ast.UnaryOp(op="!" | "sizeof") | c_ast.Compound():
                return True
            case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--"):
                return self.is_lent(up)
            case c_ast.Return():
                return self.may_return
            case c_ast.BinaryOp(op=op):
                return op in _VALUES or (op in ("+", "-") and self.is_lent(up))
            case c_ast.If() | c_ast.While() | c_ast.DoWhile() | c_ast.For() | c_ast.TernaryOp():
                return up.cond is x
            case c_ast.Assignment(op="="):
                return up.lvalue is x and isinstance(self.parents.get(id(up)), c_ast.Compound)
            case c_ast.ExprList():
                call = self.parents.get(id(up))
                return isinstance(call, c_ast.FuncCall) and self._is_given(call, x)
            case _:
                return False

    def _is_element(self, place: c_ast.Node) -> bool:
        """Whether nobody keeps the address of an element."""
        up = self.parents.get(id(place))
        return not (isinstance(up, c_ast.UnaryOp) and up.op == "&") or self.is_lent(up)

    def _is_given(self, call: c_ast.FuncCall, x: c_ast.Node) -> bool:
        """Whether a call that gets the value as an argument gives it back, or frees it."""
        name = call.name.name if isinstance(call.name, c_ast.ID) else ""
        if name in self.declared:
            return False  # a pointer to a function
        if name in self.lending.functions:
            n = next(n for n, a in enumerate(cast(Any, call.args).exprs) if a is x)
            return self.lending.gives_back(name, n)
        if name == "free":
            self.frees.append(call)
            return True
        if name in _FILLING:
            return isinstance(self.parents.get(id(call)), c_ast.Compound)
        return keeps_no_address(name) and name not in _MANAGING
