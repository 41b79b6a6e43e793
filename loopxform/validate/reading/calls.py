"""Calls of the library's functions, and of functions of numbers, which are read in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import islpy as isl
from pycparser import c_ast

from loopxform.validate import expressions as ex
from loopxform.validate.ctypes import FLOAT, HALF, INT, CType, common
from loopxform.validate.model import Expr
from loopxform.validate.polynomials import Polynomial
from loopxform.validate.reading.conditions import chosen
from loopxform.validate.reading.desugar import block
from loopxform.validate.reading.places import Places
from loopxform.validate.reading.syntax import called_name, line_of, sole
from loopxform.validate.reading.values import Binding, Content, Value
from loopxform.validate.text import written
from loopxform.validate.unmodelled import Unmodelled

WorkItem = Callable[[str, list[c_ast.Node], c_ast.Node], Value | None]
"""What a function of groups and items returns, by name and arguments; None for other functions."""
DEEPEST = 20
"""Of calls in functions that are called."""


CONVERSIONS = {
    "float_of_half": (HALF, FLOAT, "{returnvload_half(0,(consthalf*)(&h));}"),
    "half_of_float": (FLOAT, HALF, "{ushorth;vstore_half_rte(x,0,(half*)(&h));returnh;}"),
}


@dataclass
class Calls(Places):
    work_item: WorkItem | None = None
    """Of a kernel."""
    depth: int = 0
    local_types: dict[str, CType] = field(default_factory=dict)
    """Of the variables of the function that is read where it is called."""

    def function(self, e: c_ast.FuncCall) -> Value:
        name = called_name(e)
        arguments: list[c_ast.Node] = list(e.args.exprs) if e.args is not None else []
        if self.work_item is not None:
            number = self.work_item(name, arguments, e)
            if number is not None:
                return number
        if name in ex.INFINITE:
            return ex.infinity(name)
        if name in CONVERSIONS and self.in_kernel and len(arguments) == 1:
            return self._converted(name, arguments[0], e)
        if name in self.functions:
            return self._inlined(self.functions[name], arguments, e)
        values = [self.expr(a) for a in arguments]
        return self._extremum(name, values) or self._library(name, values, e)

    def _converted(self, name: str, argument: c_ast.Node, e: c_ast.FuncCall) -> Value:
        """Between halves, which kernels hold in 16 bits, and floats; by functions that do that."""
        of, to, body = CONVERSIONS[name]
        value = self.expr(argument)
        f = self.functions.get(name)
        if f is None or "".join(written(f.body).split()) != body or value[1] != of:
            raise Unmodelled(f"a call of {name}", line_of(e))
        return self.cast(value, to, e)

    def _library(self, name: str, values: Sequence[Value], e: c_ast.FuncCall) -> Value:
        signature = ex.library(name, [t for _, t in values], self.in_kernel)
        if signature is None:
            raise Unmodelled(f"a call of {name}", line_of(e))
        plain_name, type, takes = signature
        operands = [self.expression(self.cast(v, takes, e), e) for v in values]
        return ex.operation(plain_name, operands, type), type

    def _extremum(self, name: str, values: Sequence[Value]) -> Value | None:
        """`min`, `max` and `abs` of numbers that iterations and parameters decide; else None."""
        whole = [a for v, _ in values if (a := affine(v)) is not None]
        if name not in ("min", "max", "abs") or not len(whole) == len(values) > 0:
            return None
        a = whole[0]
        if name == "abs":
            return Polynomial.of(a.max(a.neg())), INT
        b, type = whole[1], common(values[0][1], values[1][1])
        if self.domain.is_subset(a.ge_set(b)):
            return values[0 if name == "max" else 1][0], type
        if self.domain.is_subset(a.le_set(b)):
            return values[1 if name == "max" else 0][0], type
        return Polynomial.of(a.min(b) if name == "min" else a.max(b)), type

    # ------------------------------------------------------------ functions of numbers

    def _inlined(self, f: c_ast.FuncDef, arguments: list[c_ast.Node], e: c_ast.FuncCall) -> Value:
        """A function of numbers: declarations, then what it returns."""
        params = f.decl.type.args.params if f.decl.type.args is not None else []
        if len(params) != len(arguments) or self.depth > DEEPEST:
            raise Unmodelled(f"a call of {f.decl.name}", line_of(e))
        scope: dict[str, Binding] = {}
        for p, a in zip(params, arguments):
            if not isinstance(p.type, c_ast.PtrDecl | c_ast.ArrayDecl):
                type, _ = self.declared(p.type)
                scope[p.name] = self.expression(self.cast(self.expr(a), type, e), e)
            elif isinstance(a, c_ast.ID):
                scope[p.name] = self.find(a.name, a)
            else:
                raise Unmodelled(f"a call of {f.decl.name}", line_of(e))
        returns, _ = self.declared(f.decl.type.type)
        self.depth += 1
        before, self.scopes = self.scopes, [self.scopes[0], scope]
        types, self.local_types = self.local_types, {}
        try:
            value = self._returned(list(f.body.block_items or ()), f)
        finally:
            self.scopes, self.local_types = before, types
            self.depth -= 1
        return self.cast(value, returns, e)

    def _returned(self, items: list[c_ast.Node], f: c_ast.FuncDef) -> Value:
        """What a body returns; variables are followed."""
        for at, s in enumerate(items):
            match s:
                case c_ast.Return() if s.expr is not None:
                    return self.expr(s.expr)
                case c_ast.If() if isinstance(sole(s.iftrue), c_ast.Return):
                    rest = [s.iffalse] if s.iffalse is not None else items[at + 1 :]
                    return self._either(s.cond, s.iftrue, block(rest), f)
                case c_ast.Compound():
                    return self._returned([*(s.block_items or ()), *items[at + 1 :]], f)
                case _ if not self._followed(s):
                    break
        raise Unmodelled(f"a call of {f.decl.name}", line_of(f))

    def _followed(self, s: c_ast.Node) -> bool:
        """Whether it gives a variable its value, which is bound to the name."""
        match s:
            case c_ast.Decl() if s.init is not None:
                type, dims = self.declared(s.type)
                if dims:
                    return False
                self.bind(s.name, self.expression(self.cast(self.expr(s.init), type, s), s))
                self.local_types[s.name] = type
                return True
            case c_ast.Assignment() if isinstance(s.lvalue, c_ast.ID):
                stored = self.local_types.get(s.lvalue.name)
                if stored is None:
                    return False
                value = self.expr(s.rvalue)
                if s.op != "=":
                    value = self.binary(s.op[:-1], self.expr(s.lvalue), value, s)
                self.bind(s.lvalue.name, self.expression(self.cast(value, stored, s), s))
                return True
        return False

    def _either(self, cond: c_ast.Node, a: c_ast.Node, b: c_ast.Node, f: c_ast.FuncDef) -> Value:
        """What is returned by one of two statements."""
        cases: list[tuple[isl.Set, Expr]] = []
        types: list[CType] = []
        for where, holds in self.condition(cond):
            with self.within(domain=where):
                taken = [x for x, never in ((a, False), (b, True)) if holds is not never]
                values = [self._returned([x], f) for x in taken]
            types += [t for _, t in values]
            branches = [self.expression(v, cond) for v in values]
            if not isinstance(holds, bool):
                branches = [ex.operation("?:", (holds, *branches), types[-1])]
            cases.append((where, branches[0]))
        return chosen(cases, types[0]), types[0]


def affine(v: Content) -> isl.PwAff | None:
    """As one affine number, where iterations and parameters decide it."""
    return v.affine if isinstance(v, Polynomial) else None
