"""Consecutive statements of a function as a function of their own.

    double s = 0;                        void f_1(int n, double *x, double *s_out)
    for (i = 0; i < n; i++)      ->      { double s = *s_out; int i;
      s += x[i];                           for (i = 0; i < n; i++) s += x[i];
    return s;                              *s_out = s; }

Its parameters are the variables that the statements use and do not declare. Numbers are passed by
value, arrays and pointers as they are, structs by their address. A number that the statements set
and that is read afterwards comes back through a pointer; one that they always set before they read
it belongs to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar.callee import defines_type
from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.names.addresses import Addresses
from loopxform.frontend.names.liveness import Use, sequence
from loopxform.frontend.names.variables import Variables
from loopxform.frontend.pragmas.directives import pragma_text
from loopxform.frontend.syntax.tree import clone, every, replace_children
from loopxform.ir.functions import is_known
from loopxform.records import record

_JUMPS = c_ast.Return | c_ast.Goto | c_ast.Label | c_ast.Case | c_ast.Default


@record
class Outlined:
    """A definition, and the arguments in C that stand for its statements where they are."""

    node: c_ast.FuncDef
    arguments: tuple[str, ...]


def outlined(
    name: str,
    function: c_ast.FuncDef,
    region: Sequence[c_ast.Node],
    variables: Variables,
    globals: Mapping[str, c_ast.Node],
    *,
    strict: bool = True,
) -> Outlined:
    """`globals` are what the file declares; `strict`: types tell objects apart. Raises NotModelled
    where the statements cannot be taken out."""
    require_whole(region)
    differ = _differ if strict else _never
    addresses = Addresses(variables, function.body, globals, differ)
    return _Outlining(name, function, region, variables, globals, addresses).made()


def require_whole(region: Sequence[c_ast.Node]) -> None:
    """Raises NotModelled for statements that are left or entered in the middle, and for
    declarations that are more than variables."""
    for x in (x for n in region for x in every(n)):
        if isinstance(x, _JUMPS):
            help = "keep jumps out of the loops"
            raise NotModelled("LX011", "a jump, or a place to jump to", help, x)
        if isinstance(x, c_ast.Decl) and set(x.storage) & {"static", "extern"}:
            help = "declare it in front of the loops"
            raise NotModelled("LX015", f"'{x.name}' is not a plain local variable", help, x)
        if defines_type(x):
            raise NotModelled("LX015", "a type of the function", "declare it in the file", x)
    for n in region:
        if out := next(_leaving(n), None):
            raise NotModelled("LX011", "a jump out of the statements", "use an if", out)


def _leaving(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """The `break` and `continue` that leave a statement."""
    match node:
        case c_ast.Break() | c_ast.Continue():
            yield node
        case c_ast.For() | c_ast.While() | c_ast.DoWhile():
            return
        case c_ast.Switch():
            yield from (x for x in every(node) if isinstance(x, c_ast.Continue))
        case _:
            for child in cast(Any, node):
                yield from _leaving(child)


class _Outlining:
    def __init__(
        self,
        name: str,
        function: c_ast.FuncDef,
        region: Sequence[c_ast.Node],
        variables: Variables,
        globals: Mapping[str, c_ast.Node],
        addresses: Addresses,
    ) -> None:
        self.name, self.function, self.region = name, function, region
        self.variables, self.globals = variables, globals
        self.addresses = addresses
        self.inside = [x for n in region for x in every(n)]
        self.coord = region[0].coord
        self.taken = set(variables.names)
        self.numbers: list[c_ast.Decl] = []
        self.others: list[c_ast.Decl] = []
        self.before: list[c_ast.Node] = []
        self.after: list[c_ast.Node] = []
        self.arguments: dict[int, str] = {}
        self.structs: dict[int, str] = {}

    def made(self) -> Outlined:
        used = self.variables.used(self.region)
        self._require_known(used)
        for d in used:
            self._variable(d)
        self._sizes(used)
        body = self._node(c_ast.Compound, block_items=self._copies())
        body = self._node(c_ast.Compound, block_items=[*self.before, body, *self.after])
        params = [*self.numbers, *self.others]
        arguments = tuple(self.arguments[id(p)] for p in params)
        return Outlined(self._function(params, body), arguments)

    # ------------------------------------------------------------ variables

    def _require_known(self, used: Sequence[c_ast.Decl]) -> None:
        """The function stands outside of the one it is a part of."""
        for x in (*self.inside, *(x for d in used for x in every(d.type))):
            words = x.names if isinstance(x, c_ast.IdentifierType) else [getattr(x, "name", None)]
            for name in words:
                if isinstance(name, str) and name in self.variables.types_inside:
                    raise self._not(
                        f"'{name}' is declared in the function", "declare it in the file"
                    )

    def _variable(self, d: c_ast.Decl) -> None:
        if "volatile" in d.quals or "_Atomic" in d.quals:
            raise self._not(f"'{d.name}' is volatile", "use an ordinary variable")
        match self.variables.kind(d):
            case "number":
                self._number(d)
            case "struct":
                self._struct(d)
            case "function":
                raise self._not(f"'{d.name}' is a function", "declare it in the file")
            case "pointer" if self._sets(d) and self._live(d):
                help = f"set another variable in the place of {d.name}"
                raise self._not(f"the pointer '{d.name}' is set and used afterwards", help)
            case kind:
                if kind == "pointer" and self._is_reached(d, is_set=self._sets(d)):
                    raise self._not(f"the address of '{d.name}' is taken", "leave it alone")
                self._pass(self.others, self._param(d), d.name)

    def _number(self, d: c_ast.Decl) -> None:
        if self._is_constant(d):
            local = self._param(d)
            local.init = clone(cast(c_ast.Node, d.init))
            self.before.append(local)
            return
        use = sequence(self.region, lambda x: self._means(x, d))
        sets = self._sets(d)
        if self._is_reached(d, is_set=sets):
            help = f"copy {d.name} to another variable in front of the loops"
            raise self._not(f"'{d.name}' may be set through its address", help)
        if sets and self._live(d):
            if "register" in d.storage:
                raise self._not(f"'{d.name}' is a register variable", "drop 'register'")
            self._result(d, given=use is not Use.SET)
        elif use is Use.READ:
            self._pass(self.numbers, self._param(d), d.name)
        else:
            self.before.append(self._param(d))

    def _is_constant(self, d: c_ast.Decl) -> bool:
        """Whether a number has the value that it is declared with, a literal, all the time."""
        value = d.init.expr if isinstance(d.init, c_ast.UnaryOp) else d.init
        changes = self.variables.sets[id(d)] or self.variables.escaping[id(d)]
        return isinstance(value, c_ast.Constant) and value.type != "string" and not changes

    def _result(self, d: c_ast.Decl, *, given: bool) -> None:
        """A number that comes back through a pointer."""
        pointer = self._fresh(f"{d.name}_out")
        place = self._node(c_ast.UnaryOp, op="*", expr=self._id(pointer))
        local = self._param(d)
        local.init = place if given else None
        self.before.append(local)
        self.after.append(
            self._node(c_ast.Assignment, op="=", lvalue=clone(place), rvalue=self._id(d.name))
        )
        self._pass(self.others, self._address(d, pointer), f"&{d.name}")

    def _struct(self, d: c_ast.Decl) -> None:
        if self._is_reached(d, is_set=True):
            raise self._not(f"the address of '{d.name}' is taken", "copy what the loops need")
        pointer = self._fresh(f"{d.name}_at")
        self.structs[id(d)] = pointer
        self._pass(self.others, self._address(d, pointer), f"&{d.name}")

    def _address(self, d: c_ast.Decl, name: str) -> c_ast.Decl:
        out = self._param(d)
        _rename(out.type, name)
        out.name = name
        out.type = self._node(c_ast.PtrDecl, quals=[], type=out.type)
        return out

    def _pass(self, params: list[c_ast.Decl], param: c_ast.Decl, argument: str) -> None:
        params.append(param)
        self.arguments[id(param)] = argument

    def _param(self, d: c_ast.Decl) -> c_ast.Decl:
        out = cast(c_ast.Decl, clone(d))
        out.init, out.storage, out.funcspec, out.bitsize = None, [], [], None
        return out

    def _sizes(self, used: Sequence[c_ast.Decl]) -> None:
        """The variables in the sizes of arrays, which are what they were at the declarations."""
        known = {id(d): d for d in used}
        mentioned = [(d, x) for d in used for x in every(d.type) if isinstance(x, c_ast.ID)]
        for d, x in mentioned:
            size = self.variables.meant.get(id(x))
            if size is None and x.name in self.globals:
                help = "copy it to a variable of the function first"
                raise self._not(f"the size of '{d.name}' is a variable of the file", help)
            if size is not None and not self._is_kept(size, d):
                help = f"use another variable, and leave '{x.name}' alone"
                raise self._not(f"'{x.name}', in the size of '{d.name}', is modified", help)
            if size is not None:
                known[id(size)] = size
        order = self.variables.order
        for size in sorted(list(known.values())[len(used) :], key=lambda d: order[id(d)]):
            self._pass(self.numbers, self._param(size), size.name)

    def _is_kept(self, size: c_ast.Decl, array: c_ast.Decl) -> bool:
        v = self.variables
        at = v.order[id(array)]
        return not v.escaping[id(size)] and all(v.order[id(x)] < at for x in v.sets[id(size)])

    # ------------------------------------------------------------ questions

    def _means(self, x: c_ast.Node, d: c_ast.Decl) -> bool:
        return self.variables.meant.get(id(x)) is d

    def _sets(self, d: c_ast.Decl) -> bool:
        inside = set(map(id, self.inside))
        return any(id(x) in inside for x in self.variables.sets[id(d)])

    def _live(self, d: c_ast.Decl) -> bool:
        return self.variables.liveness.after(self.region, id(d))

    def _is_reached(self, d: c_ast.Decl, *, is_set: bool) -> bool:
        """Whether the statements may set a variable through a pointer to it, or read what they
        set."""
        if not self.variables.escaping[id(d)]:
            return False
        calls = any(isinstance(x, c_ast.FuncCall) and not _is_pure(x) for x in self.inside)
        return self.addresses.is_reached(d, self.inside, is_set=is_set, calls=calls)

    # ------------------------------------------------------------ nodes

    def _function(self, params: list[c_ast.Decl], body: c_ast.Node) -> c_ast.FuncDef:
        void = self._node(c_ast.IdentifierType, names=["void"])
        returned = self._node(c_ast.TypeDecl, declname=self.name, quals=[], align=None, type=void)
        given = self._node(c_ast.ParamList, params=params) if params else self._nothing()
        t = self._node(c_ast.FuncDecl, args=given, type=returned)
        empty: dict[str, Any] = {n: [] for n in ("quals", "align", "storage", "funcspec")}
        decl = self._node(c_ast.Decl, name=self.name, type=t, init=None, bitsize=None, **empty)
        return cast(
            c_ast.FuncDef, self._node(c_ast.FuncDef, decl=decl, param_decls=None, body=body)
        )

    def _nothing(self) -> Any:
        void = self._node(c_ast.IdentifierType, names=["void"])
        t = self._node(c_ast.TypeDecl, declname=None, quals=[], align=None, type=void)
        only = self._node(c_ast.Typename, name=None, quals=[], align=None, type=t)
        return self._node(c_ast.ParamList, params=[only])

    def _copies(self) -> list[c_ast.Node]:
        return [self._copy(n) for n in self.region if not _marks_scop(n)]

    def _copy(self, node: c_ast.Node) -> c_ast.Node:
        """A copy, structs by their addresses."""
        through = {
            x: self.structs[id(d)] for x, d in self.variables.meant.items() if id(d) in self.structs
        }

        def change(x: c_ast.Node) -> c_ast.Node | None:
            return self._through(through[id(x)]) if id(x) in through else self._size(x)

        out = _copied(node, change)
        for x in every(out):
            if isinstance(x, c_ast.Compound):
                x.block_items = [s for s in x.block_items or () if not _marks_scop(s)]
        return out

    def _size(self, x: c_ast.Node) -> c_ast.Node | None:
        """What `sizeof` says of an array, which is passed as a pointer: `sizeof a[0]` is `m *
        sizeof(double)` for `double a[n][m]`."""
        if not (isinstance(x, c_ast.UnaryOp) and x.op == "sizeof"):
            return None
        place, depth = x.expr, 0
        while isinstance(place, c_ast.ArrayRef):
            place, depth = place.name, depth + 1
        d = self.variables.meant.get(id(place))
        if d is None or id(d) in self.variables.params:
            return None
        t, sizes = d.type, []
        while isinstance(t, c_ast.ArrayDecl):
            sizes.append(t.dim)
            t = t.type
        if len(sizes) < depth or None in sizes or not isinstance(t, c_ast.TypeDecl):
            return None
        size = cast(Any, clone(x))
        size.expr = self._node(c_ast.Typename, name=None, quals=[], align=None, type=clone(t))
        size.expr.type.declname = None
        for dim in sizes[depth:]:
            size = self._node(c_ast.BinaryOp, op="*", left=clone(dim), right=size)
        return cast(c_ast.Node, size)

    def _through(self, pointer: str) -> Any:
        return self._node(c_ast.UnaryOp, op="*", expr=self._id(pointer))

    def _id(self, name: str) -> Any:
        return self._node(c_ast.ID, name=name)

    def _node(self, kind: Callable[..., Any], **parts: Any) -> Any:
        return kind(**parts, coord=self.coord)

    def _fresh(self, name: str) -> str:
        while name in self.taken or name in self.globals:
            name += "_"
        self.taken.add(name)
        return name

    def _not(self, reason: str, help: str) -> NotModelled:
        return NotModelled("LX015", reason, help, self.region[0])


def _copied(node: c_ast.Node, change: Callable[[c_ast.Node], c_ast.Node | None]) -> c_ast.Node:
    """A copy in which some names are something else: `(*p).x` is written `p->x`."""
    pairs = dict(zip(map(id, every(out := clone(node))), every(node)))

    def renewed(x: c_ast.Node) -> c_ast.Node:
        if (other := change(pairs[id(x)])) is not None:
            return other
        replace_children(x, renewed)
        if isinstance(x, c_ast.StructRef) and x.type == "." and isinstance(x.name, c_ast.UnaryOp):
            x.name, x.type = x.name.expr, "->"
        return x

    return renewed(out)


def _marks_scop(node: c_ast.Node) -> bool:
    """What is taken out is looked at as a whole."""
    return isinstance(node, c_ast.Pragma) and pragma_text(node) in ("scop", "endscop")


def _rename(t: c_ast.Node, name: str) -> None:
    while not isinstance(t, c_ast.TypeDecl):
        t = cast(Any, t).type
    t.declname = name


def _never(_a: frozenset[str], _b: frozenset[str]) -> bool:
    return False


def _differ(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether objects of two types are never one (C11 6.5p7): a real and an integer, or two sorts
    of real."""
    real = {"float", "double", "_Float16"}
    return a != b and bool((a | b) & real) and a | b <= real | {"int", "long", "short", "_Bool"}


def _is_pure(call: c_ast.FuncCall) -> bool:
    return isinstance(call.name, c_ast.ID) and is_known(call.name.name)
