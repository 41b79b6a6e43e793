"""Consecutive statements of a function as a function of their own.

    double s = 0;                        void f_1(int n, double *x, double *s_out)
    for (i = 0; i < n; i++)      ->      { double s = *s_out; int i;
      s += x[i];                           for (i = 0; i < n; i++) s += x[i];
    return s;                              *s_out = s; }

Its parameters are the variables that the statements use and do not declare. Numbers are passed by
value, arrays and pointers as they are, structs by their address. A number that the statements set
and that is read afterwards comes back through a pointer; one that they always set before they read
it belongs to them. Elements that decide how often loops run are numbers too (`elements`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import Any, TypeGuard, cast

from pycparser import c_ast

from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.names.addresses import Addresses
from loopxform.frontend.names.expression_types import FileTypes
from loopxform.frontend.names.liveness import Liveness, Use, sequence
from loopxform.frontend.names.variables import Variables, changed
from loopxform.frontend.outline.elements import Element, FixedElements
from loopxform.frontend.outline.first_values import begins_with, is_literal
from loopxform.frontend.outline.new_nodes import NewNodes, copied, parameter, rename
from loopxform.frontend.outline.own_constants import own_constants, with_numbers
from loopxform.frontend.outline.removable import marks_scop, require_whole
from loopxform.frontend.outline.returning import Returning
from loopxform.frontend.outline.scratch_structs import is_scratch
from loopxform.frontend.outline.untouched import differ, is_pure, never
from loopxform.frontend.syntax.tree import clone, every
from loopxform.records import record


@record
class Outlined:
    """A definition, and the arguments in C that stand for its statements where they are; what the
    user has `called` a parameter whose argument says more. Whether
    something `is_apart` there that is not in the function: elements, or numbers of the file, as
    variables of its own; `of_file`: some of it holds for what the other functions of the file say.
    """

    node: c_ast.FuncDef
    arguments: tuple[str, ...]
    is_apart: bool = False
    of_file: bool = False
    called: dict[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> dict[str, str]:
        """What the user calls the parameters, where that is something else."""
        names = (p.name for p in self.node.decl.type.args.params)
        named = ((n, a.removeprefix("&")) for n, a in zip(names, self.arguments))
        return {**{name: text for name, text in named if name != text}, **self.called}


def outlined(
    name: str,
    function: c_ast.FuncDef,
    region: Sequence[c_ast.Node],
    variables: Variables,
    globals: Mapping[str, c_ast.Node],
    file: FileTypes,
    *,
    strict: bool = True,
    own: Mapping[str, bool] = MappingProxyType({}),
    returns: Returning | None = None,
    sizes: Sequence[str] = (),
) -> Outlined:
    """`globals` are what the `file` declares, `own` the numbers of it that no pointer leads to, and
    whether they are but scratch (`own_numbers`); `strict`: types tell objects apart. Of a loop that
    `returns` the function has the search alone; `sizes` are numbers that it gets besides. Raises
    NotModelled where the statements cannot be taken out."""
    taken = region if returns is None else (returns.search,)
    require_whole(taken, function.body)
    types_differ = differ if strict else never
    addresses = Addresses(variables, function.body, globals, types_differ)
    fixed = FixedElements(taken, variables, file, globals, types_differ)
    out = _Outlining(name, function, taken, variables, globals, addresses, fixed.at)
    out.whole, out.returns, out.asked = region, returns, sizes
    return out.made(own)


class _Outlining:
    def __init__(
        self,
        name: str,
        function: c_ast.FuncDef,
        region: Sequence[c_ast.Node],
        variables: Variables,
        globals: Mapping[str, c_ast.Node],
        addresses: Addresses,
        elements: Mapping[int, Element],
    ) -> None:
        self.name, self.function, self.region = name, function, region
        self.whole, self.returns = region, cast("Returning | None", None)
        self.asked: Sequence[str] = ()
        self.variables, self.globals = variables, globals
        self.addresses, self.elements = addresses, elements
        self.inside = [x for n in region for x in every(n)]
        self.new = NewNodes(region[0].coord)
        self.taken = set(variables.names)
        self.constants = own_constants(function, globals)
        self.numbers: list[c_ast.Decl] = []
        self.others: list[c_ast.Decl] = []
        self.before: list[c_ast.Node] = []
        self.after: list[c_ast.Node] = []
        self.arguments: dict[int, str] = {}
        self.structs: dict[int, str] = {}
        self.read: dict[str, str] = {}
        self.called: dict[str, str] = {}
        self.measured: dict[int, str] = {}

    def made(self, own: Mapping[str, bool]) -> Outlined:
        used = self._used()
        self._require_known(used)
        for e in self.elements.values():
            self._element(e)
        for d in used:
            self._variable(d)
        numbers = self._file_numbers(own)
        for d in numbers:
            self._file_number(d, is_scratch=own[d.name])
        self._sizes(used)
        body = self.new.node(c_ast.Compound, block_items=self._copies())
        body = self.new.node(c_ast.Compound, block_items=[*self.before, body, *self.after])
        params = [*self.numbers, *self.others]
        arguments = tuple(self.arguments[id(p)] for p in params)
        node = self.new.function(self.name, params, body)
        with_numbers(node, self.constants)
        called = self.called | {name: text for text, name in self.read.items()}
        return Outlined(node, arguments, bool(self.read or numbers), bool(numbers), called)

    # ------------------------------------------------------------ variables

    def _require_known(self, used: Sequence[c_ast.Decl]) -> None:
        """The function stands outside of the one it is a part of."""
        for x in (*self.inside, *(x for d in used for x in every(d.type))):
            words = x.names if isinstance(x, c_ast.IdentifierType) else [getattr(x, "name", None)]
            for name in () if isinstance(x, c_ast.ID) and x.name in self.constants else words:
                if isinstance(name, str) and name in self.variables.types_inside:
                    raise self._not(
                        f"'{name}' is declared in the function", "declare it in the file"
                    )

    def _used(self) -> list[c_ast.Decl]:
        """The variables of the function that the statements name, but in elements."""
        meant, within = self.variables.meant, self.elements
        hidden = {id(y) for x in self.inside if id(x) in within for y in every(x)}
        named = {id(meant[id(x)]) for x in self.inside if id(x) in meant and id(x) not in hidden}
        return [d for d in self.variables.used(self.region) if id(d) in named]

    def _file_number(self, d: c_ast.Decl, *, is_scratch: bool) -> None:
        def means(x: c_ast.Node) -> bool:
            return self._is_global(x) and x.name == d.name

        use = sequence(self.region, means)
        local = is_scratch and use is not Use.READ
        names = Liveness(self.function.body, lambda x: d.name if means(x) else None)
        if local and not names.after(self.whole, d.name):
            self.before.append(parameter(d))
        else:
            self._result(d, given=use is not Use.SET)

    def _file_numbers(self, own: Mapping[str, bool]) -> list[c_ast.Decl]:
        """Those of the file that the statements set, and nothing that they call may use."""
        if any(isinstance(x, c_ast.FuncCall) and not is_pure(x) for x in self.inside):
            return []
        places = [x for x in map(changed, self.inside) if x is not None and self._is_global(x)]
        names = dict.fromkeys(x.name for x in places if x.name in own)
        return [cast(c_ast.Decl, self.globals[name]) for name in names]

    def _is_global(self, x: c_ast.Node) -> TypeGuard[c_ast.ID]:
        return isinstance(x, c_ast.ID) and id(x) not in self.variables.meant

    def _element(self, e: Element) -> None:
        """An element that is read before the statements run."""
        if e.text in self.read:
            return
        name = self._fresh("_".join([e.array, *map(str, e.subscripts)]))
        self.read[e.text] = name
        param = parameter(e.declared)
        param.name, param.type = name, clone(e.type)
        rename(param.type, name)
        self._pass(self.numbers, param, e.argument)

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
                if kind == "pointer" and self._sets(d) and not self._reads_first(d):
                    self.before.append(parameter(d))
                    return
                self._pass(self.others, parameter(d), self._first(d))

    def _first(self, d: c_ast.Decl) -> str:
        """Where an array is passed from. One that is counted from 1 (`a -= 1 + a_dim1`) has its
        first column there, and the pointer is set back: rows of it hold what columns there are."""
        if not self._counts_from_one(d):
            return str(d.name)
        one = self.new.node(c_ast.Constant, type="int", value="1")
        back = self.new.node(c_ast.Assignment, op="-=", lvalue=self.new.name(d.name), rvalue=one)
        self.before.append(back)
        self.called[d.name] = d.name
        return f"&{d.name}[1]"

    def _counts_from_one(self, d: c_ast.Decl) -> bool:
        """Whether a pointer to numbers was set back in front of the statements."""
        sets = self.variables.sets[id(d)]
        back = any(isinstance(x, c_ast.Assignment) and x.op == "-=" for x in sets)
        is_flat = back and list(self.variables.levels(d)) == [True]
        return is_flat and bool(self.variables.words(d)) and not self._sets(d)

    def _number(self, d: c_ast.Decl) -> None:
        if self._is_constant(d):
            local = parameter(d)
            local.init = clone(cast(c_ast.Node, d.init))
            self.before.append(local)
            return
        use = sequence(self.region, lambda x: self._means(x, d))
        sets = self._sets(d)
        if self._is_reached(d, is_set=sets):
            help = f"copy {d.name} to another variable in front of the loops"
            raise self._not(f"'{d.name}' may be set through its address", help)
        counts = self.returns is not None and d is self.returns.counter
        if sets and (counts or self._live(d)):
            if "register" in d.storage:
                raise self._not(f"'{d.name}' is a register variable", "drop 'register'")
            self._result(d, given=use is not Use.SET)
        elif use is Use.READ:
            self._pass(self.numbers, parameter(d), d.name)
        else:
            self.before.append(parameter(d))

    def _is_constant(self, d: c_ast.Decl) -> bool:
        """Whether a number has the value that it is declared with, a literal, all the time."""
        changes = self.variables.sets[id(d)] or self.variables.escaping[id(d)]
        return is_literal(d.init) and not changes

    def _result(self, d: c_ast.Decl, *, given: bool) -> None:
        """A number that comes back through a pointer."""
        pointer = self._fresh(f"{d.name}_out")
        place = self.new.pointed(pointer)
        local = parameter(d)
        known = begins_with(d, self.whole, self.function, self.variables)
        local.init = (clone(known) if known else place) if given else None
        self.before.append(local)
        value = self.new.name(d.name)
        back = self.new.node(c_ast.Assignment, op="=", lvalue=clone(place), rvalue=value)
        self.after.append(back)
        counts = self.returns is not None and d is self.returns.counter
        argument = self.returns.argument if self.returns and counts else f"&{d.name}"
        alone = self.globals.get(d.name) is not d and not self.variables.escaping[id(d)]
        self._pass(self.others, self.new.pointer(d, pointer, alone=alone), argument)

    def _struct(self, d: c_ast.Decl) -> None:
        """A struct is the same object there, whoever else has its address; one that is set before
        it is read, and not read afterwards, belongs to the statements."""
        if not self._live(d) and is_scratch(d, self.region, self.variables):
            self.before.append(parameter(d))
            return
        pointer = self._fresh(f"{d.name}_at")
        self.structs[id(d)] = pointer
        self._pass(self.others, self.new.pointer(d, pointer), f"&{d.name}")

    def _pass(self, params: list[c_ast.Decl], param: c_ast.Decl, argument: str) -> None:
        params.append(param)
        self.arguments[id(param)] = argument

    def _sizes(self, used: Sequence[c_ast.Decl]) -> None:
        """The variables in the sizes of arrays, which are what they were at the declarations; the
        sizes themselves where others may have changed these."""
        known = {id(d): d for d in used}
        known |= {id(d): d for d in self.variables.meant.values() if d.name in self.asked}
        for d in used:
            for level, dim in enumerate(self._dims(d)):
                named = [x for x in every(dim) if isinstance(x, c_ast.ID)] if dim else []
                sizes = [self.variables.meant.get(id(x)) for x in named]
                if all(self._is_kept(x, size, d) for x, size in zip(named, sizes)):
                    known |= {id(size): size for size in sizes if size is not None}
                else:
                    self._measure(d, level, cast(c_ast.Node, dim))
        order = self.variables.order
        for size in sorted(list(known.values())[len(used) :], key=lambda d: order[id(d)]):
            self._pass(self.numbers, parameter(size), size.name)

    def _dims(self, d: c_ast.Decl) -> Iterator[c_ast.Node | None]:
        t = d.type
        while isinstance(t, c_ast.PtrDecl | c_ast.ArrayDecl):
            yield t.dim if isinstance(t, c_ast.ArrayDecl) else None
            t = t.type

    def _measure(self, d: c_ast.Decl, level: int, dim: c_ast.Node) -> None:
        """Passes how many elements one dimension of an array has."""
        t = next(p for p in self.others if p.name == d.name).type
        for _ in range(level):
            t = t.type
        if level == 0 and id(d) in self.variables.params:
            t.dim = None  # a pointer, whatever it says
            return
        name = self._fresh(f"{d.name}_size")
        self.measured[id(dim)] = name
        t.dim = self.new.name(name)
        param = self.new.declaration(name, self.new.plain("long", name))
        place = d.name + "[0]" * level
        self._pass(self.numbers, param, f"sizeof {place} / sizeof {place}[0]")

    def _is_kept(self, x: c_ast.ID, size: c_ast.Decl | None, array: c_ast.Decl) -> bool:
        """Whether a name in the size of an array is what it was where that was declared."""
        if size is None:
            return x.name not in self.globals
        v = self.variables
        at = v.order[id(array)]
        return not v.escaping[id(size)] and all(v.order[id(x)] < at for x in v.sets[id(size)])

    # ------------------------------------------------------------ questions

    def _means(self, x: c_ast.Node, d: c_ast.Decl) -> bool:
        return self.variables.meant.get(id(x)) is d

    def _reads_first(self, d: c_ast.Decl) -> bool:
        return sequence(self.region, lambda x: self._means(x, d)) is Use.READ

    def _sets(self, d: c_ast.Decl) -> bool:
        inside = set(map(id, self.inside))
        return any(id(x) in inside for x in self.variables.sets[id(d)])

    def _live(self, d: c_ast.Decl) -> bool:
        return self.variables.live_after(self.whole, d)

    def _is_reached(self, d: c_ast.Decl, *, is_set: bool) -> bool:
        """Whether the statements may set a variable through a pointer to it, or read what they
        set."""
        if not self.variables.escaping[id(d)]:
            return False
        calls = any(isinstance(x, c_ast.FuncCall) and not is_pure(x) for x in self.inside)
        return self.addresses.is_reached(d, self.inside, is_set=is_set, calls=calls)

    # ------------------------------------------------------------ nodes

    def _copies(self) -> list[c_ast.Node]:
        return [self._copy(n) for n in self.region if not marks_scop(n)]

    def _copy(self, node: c_ast.Node) -> c_ast.Node:
        """A copy, structs by their addresses."""
        through = {
            x: self.structs[id(d)] for x, d in self.variables.meant.items() if id(d) in self.structs
        }

        def change(x: c_ast.Node) -> c_ast.Node | None:
            if id(x) in self.elements:
                return cast(c_ast.Node, self.new.name(self.read[self.elements[id(x)].text]))
            return self.new.pointed(through[id(x)]) if id(x) in through else self._size(x)

        out = copied(node, change)
        for x in every(out):
            if isinstance(x, c_ast.Compound):
                x.block_items = [s for s in x.block_items or () if not marks_scop(s)]
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
        dims = sizes[depth:]
        if dims and (None in dims or not isinstance(t, c_ast.TypeDecl)):
            raise self._not(f"sizeof '{d.name}' is not known here", "write the number")
        if len(sizes) < depth or not isinstance(t, c_ast.TypeDecl):
            return None
        size = cast(Any, clone(x))
        size.expr = self.new.node(c_ast.Typename, name=None, quals=[], align=None, type=clone(t))
        size.expr.type.declname = None
        for dim in dims:
            known = self.measured.get(id(dim))
            left = clone(dim) if known is None else self.new.name(known)
            size = self.new.node(c_ast.BinaryOp, op="*", left=left, right=size)
        return cast(c_ast.Node, size)

    def _fresh(self, name: str) -> str:
        while name in self.taken or name in self.globals:
            name += "_"
        self.taken.add(name)
        return name

    def _not(self, reason: str, help: str) -> NotModelled:
        return NotModelled("LX015", reason, help, self.region[0])
