"""A function of OpenCL C as a function of Python, statement by statement.

Where work-items meet (barriers, products of tiles) it yields: the number of the place, the fences,
the line in OpenCL C and the one in Python.
"""

from __future__ import annotations

import re
from typing import Any, assert_never

from loopxform.ir import warp_groups
from loopxform.ir.tensor_tiles import MATRIX_LOADS, OF_TEXT
from loopxform.ir.types import Scalar, common
from loopxform.ir.warp_groups import OF_GROUP_TEXT
from loopxform.verify.group.expressions import integer
from loopxform.verify.group.kernel_code import KernelCode, LocalArray
from loopxform.verify.group.operands import Operand, converted, number, settled
from loopxform.verify.group.scope import Memory, Scope, Variable
from loopxform.verify.group.syntax import (
    Assembly,
    Assignment,
    Binary,
    Block,
    Branch,
    Call,
    Declaration,
    Evaluation,
    Expression,
    FunctionText,
    Jump,
    Loop,
    Name,
    Statement,
    Unary,
)
from loopxform.verify.group.tile_product_writer import TileProductWriter
from loopxform.verify.group.trees import addressed, assigned, called, names
from loopxform.verify.group.types import ArrayType, StructType, Type, Vector, named, numbers

FENCES = {"CLK_LOCAL_MEM_FENCE": 1, "CLK_GLOBAL_MEM_FENCE": 2}
_COPY = re.compile(r"cp\.async\.c[ag]\.shared\.global \[%0\], \[%1\], (\d+);")
_WAIT = re.compile(r"cp\.async\.wait_group (\d+);")


class FunctionWriter(TileProductWriter):
    """A function; its signature joins `functions`, those that stand before it."""

    def __init__(
        self,
        structs: dict[str, StructType],
        scope: Scope,
        f: FunctionText,
        functions: dict[str, tuple[Scalar, tuple[Scalar, ...]]],
    ) -> None:
        super().__init__(structs, scope)
        self.f = f
        self.sub_group = f.sub_group
        self.functions = functions
        self.lines: list[str] = []
        self.origins: list[int] = []
        self.depth = 1
        self.count = 0
        self.meets = False
        self.locals: list[LocalArray] = []
        self.local_names: list[str] = []
        self.addressed = addressed(f.body)
        self.steps: list[tuple[Statement, ...]] = []
        self.line = f.line
        returns = named(f.returns.name)
        self.returns = returns if isinstance(returns, Scalar) else None
        self._parameters = [(p.name, self._type(p.type.name)) for p in f.parameters]
        given = [self._parameter(n) for n in range(len(f.parameters))]
        self.block(f.body)
        if not self.lines:
            self.emit("pass")
        prefix = "k" if f.is_kernel else "f"
        head = ", ".join(["item", *given, *self.local_names])
        self.lines.insert(0, f"def {prefix}_{f.name}({head}):")
        self.origins.insert(0, f.line)
        if self.returns is not None:
            types = tuple(t for _, t in self._parameters if isinstance(t, Scalar))
            functions[f.name] = self.returns, types

    def _parameter(self, n: int) -> str:
        p, (name, kind) = self.f.parameters[n], self._parameters[n]
        python = f"p_{name}"
        if p.type.pointers:
            cell = next(t for _, t in numbers(kind))
            self.scope.names[name] = Memory(python, kind, cell, pointer=True)
        elif name in self.addressed:
            self._register(name, kind, (), python)
            return python
        elif isinstance(kind, Scalar):
            self.scope.names[name] = Variable(python, kind)
        return python

    def code(self, namespace: dict[str, Any]) -> KernelCode:
        pointers = {p.name: p for p in self.f.parameters if p.type.pointers}
        return KernelCode(
            self.f.name,
            namespace[f"k_{self.f.name}"],
            tuple(self._parameters),
            frozenset(pointers),
            frozenset(n for n, p in pointers.items() if p.type.const),
            tuple(self.locals),
            self.meets,
        )

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)
        self.origins.append(self.line)

    def fresh(self, name: str) -> str:
        self.count += 1
        return f"v{self.count}_{name}"

    def meet(self) -> None:
        """Where work-items wait for each other, without a fence."""
        self.count, self.meets = self.count + 1, True
        self.emit(f"yield {self.count}, 0, {self.line}, {len(self.lines) + 2}")

    # ------------------------------------------------------------ statements

    def block(self, block: Block) -> None:
        outer, self.scope = self.scope, self.scope.inner()
        for s in block.statements:
            self.statement(s)
        self.scope = outer

    def body(self, block: Block, after: tuple[Statement, ...] = ()) -> None:
        """What stands one level further in."""
        self.depth += 1
        start = len(self.lines)
        self.block(block)
        for s in after:
            self.statement(s)
        if len(self.lines) == start:
            self.emit("pass")
        self.depth -= 1

    def statement(self, s: Statement) -> None:
        self.line = s.line
        match s:
            case Declaration():
                self._declaration(s)
            case Assignment():
                self._assignment(s)
            case Evaluation(_, value):
                self._evaluation(value)
            case Branch(_, test, then, orelse):
                self.emit(f"if {self.test(test)}:")
                self.body(then)
                if orelse.statements:
                    self.emit("else:")
                    self.body(orelse)
            case Loop():
                self._loop(s)
            case Block():
                self.block(s)
            case Jump():
                self._jump(s)
            case Assembly():
                self._assembly(s)
            case _:
                assert_never(s)

    def _declaration(self, s: Declaration) -> None:
        kind = named(s.type.name)
        if not isinstance(kind, Scalar | Vector) or s.type.pointers:
            raise self.error(f"a variable of type {s.type.name}")
        extents = tuple(integer(e) for e in s.extents)
        if s.type.space == "local":
            python = self.fresh(s.name)
            size = _product(extents) * len(list(numbers(kind)))
            of = kind.of if isinstance(kind, Vector) else kind
            self.locals.append(LocalArray(s.name, extents, size, of.bytes))
            self.local_names.append(python)
            self.scope.names[s.name] = Memory(python, ArrayType(kind, extents), of)
            return
        if extents or s.name in self.addressed:
            self._register(s.name, kind, extents)
            if isinstance(s.value, tuple):
                self._initialised(s.name, s.value)
            elif s.value is not None:
                self._assignment(Assignment(s.line, "", Name(s.name), s.value))
            return
        assert not isinstance(s.value, tuple)
        value = Operand(f"Unset({s.name!r})", kind)
        if s.value is not None:
            value = converted(self.settled(s.value), kind)
        python = self.fresh(s.name)
        self.emit(f"{python} = {value.text}")
        self.scope.names[s.name] = Variable(python, kind)

    def _initialised(self, name: str, values: tuple[Expression, ...]) -> None:
        """What follows the last initial value is 0."""
        at = self.location(Name(name))
        assert isinstance(at.type, ArrayType)
        assert isinstance(at.cell, Scalar)
        texts = [converted(self.settled(e), at.cell).text for e in values]
        texts += ["0.0" if at.cell.is_float else "0"] * (_product(at.type.extents) - len(texts))
        for n, text in enumerate(texts):
            self.emit(f"{at.array}.store({n}, {text})")

    def _register(
        self, name: str, kind: Type, extents: tuple[int, ...], given: str | None = None
    ) -> None:
        """Memory of a work-item, nothing in it set, or the one number that is `given`."""
        python = self.fresh(name)
        assert isinstance(kind, Scalar | Vector)
        data = f"[{given}] * {_product(extents)}"
        self.emit(f"{python} = Private({name!r}, {extents}, {data}, {kind.bytes})")
        whole = ArrayType(kind, extents) if extents else kind
        self.scope.names[name] = Memory(python, whole, kind)

    def _assignment(self, s: Assignment) -> None:
        target = self.scope.names.get(s.target.name) if isinstance(s.target, Name) else None
        if isinstance(target, Variable):
            value = self._assigned(s, Operand(target.python, target.type))
            value = converted(value, target.type)
            self.emit(f"{target.python} = {value.text}")
            return
        at = self.location(s.target)
        if s.op:
            cell = self.fresh("at")
            self.emit(f"{cell} = {at.at}")
            at = type(at)(at.array, cell, at.type, at.cell)
        assert isinstance(at.type, Scalar | Vector)
        value = converted(self._assigned(s, self.loaded(at) if s.op else None), at.type)
        if isinstance(at.type, Vector) and not isinstance(at.cell, Vector):
            self.emit(f"{at.array}.store_vector({at.at}, {value.text}, aligned=True)")
        else:
            self.emit(f"{at.array}.store({at.at}, {value.text})")

    def _assigned(self, s: Assignment, old: Operand | None) -> Operand:
        if not s.op:
            return self.settled(s.value)
        assert old is not None
        return settled(self.combined(s.op, old, self.value(s.value)))

    def _evaluation(self, value: Expression) -> None:
        match value:
            case Call("barrier", (flags,)):
                if not self.f.is_kernel:
                    raise self.error("a barrier outside of a kernel")
                self.count, self.meets = self.count + 1, True
                fences, here = self._fences(flags), len(self.lines) + 2
                self.emit(f"yield {self.count}, {fences}, {self.line}, {here}")
            case Call("mem_fence", _):
                pass
            case _:
                self.emit(self.value(value).text)

    def _fences(self, flags: Expression) -> int:
        match flags:
            case Name(name) if name in FENCES:
                return FENCES[name]
            case Binary("|", left, right):
                return self._fences(left) | self._fences(right)
            case _:
                raise self.error("the argument of barrier")

    def _jump(self, s: Jump) -> None:
        if s.word == "continue":
            for step in self.steps[-1]:
                self.statement(step)
        text = s.word
        if s.value is not None and self.returns is not None:
            text = f"return {converted(self.settled(s.value), self.returns).text}"
        self.emit(text)

    # ------------------------------------------------------------ loops

    def _loop(self, s: Loop) -> None:
        outer, self.scope = self.scope, self.scope.inner()
        counted = self._counted(s)
        if counted is None:
            self._uncounted(s)
        else:
            self.emit(counted)
            self.steps.append(())
            self.body(s.body)
            self.steps.pop()
        self.scope = outer

    def _uncounted(self, s: Loop) -> None:
        if s.first is not None:
            self.statement(s.first)
        self.steps.append(s.after)
        self.emit("while True:")
        self.depth += 1
        if s.test is not None and not s.at_end:
            self.emit(f"if not {self.test(s.test)}: break")
        self.depth -= 1
        if s.at_end and s.test is not None:
            if "continue" in called(s.body):
                raise self.error("continue in a loop with its test at the end")
            leave = Branch(s.line, Unary("!", s.test), Block(s.line, (Jump(s.line, "break"),)), _NO)
            self.body(s.body, (leave,))
        else:
            self.body(s.body, s.after)
        self.steps.pop()

    def _counted(self, s: Loop) -> str | None:
        """`for ... in range(...)` of a loop whose counter and end nothing in it changes."""
        match s.first, s.test, s.after:
            case (
                Declaration(_, kind, name, (), low),
                Binary("<" | "<=" as op, Name(left), high),
                (Assignment(_, "+", Name(stepped), step),),
            ) if name == left == stepped and low is not None and not isinstance(low, tuple):
                pass
            case _:
                return None
        own, changed = named(kind.name), assigned(s.body)
        fixed = names(high) | names(step)
        if name in changed or fixed & (changed | {name, "*"}):
            return None
        end, by = self.value(high), self.value(step)
        if not isinstance(own, Scalar) or not by.text.isdigit() or int(by.text) == 0:
            return None
        if common(own, number(end)) != own:
            return None
        first = converted(self.settled(low), own).text
        last = converted(end, own).text + (" + 1" if op == "<=" else "")
        python = self.fresh(name)
        self.scope.names[name] = Variable(python, own)
        return f"for {python} in range({first}, {last}, {by.text}):"

    # ------------------------------------------------------------ asynchronous copies

    def _assembly(self, s: Assembly) -> None:
        """The words of PTX that kernels of ours have; an empty one only hides a number."""
        if m := _COPY.fullmatch(s.text):
            to, source = (self.address(e) for e in s.operands)
            self.emit(f"item.start({to.array}, {to.at}, {source.array}, {source.at}, {m[1]})")
        elif m := _WAIT.fullmatch(s.text):
            self.emit(f"item.wait({m[1]})")
        elif s.text == "cp.async.commit_group;":
            self.emit("item.commit()")
        elif s.text in _BETWEEN:
            pass  # what a work-item reads itself is there behind a barrier
        elif s.text in OF_GROUP_TEXT:
            self.product_of_warps(s, OF_GROUP_TEXT[s.text])
        elif s.text in OF_TEXT:
            self.tile_product(s, OF_TEXT[s.text])
        elif s.text in MATRIX_LOADS.values():
            self.matrices(s)
        elif s.text:
            raise self.error(f'asm("{s.text}")')


_NO = Block(0, ())

_BETWEEN = {
    warp_groups.SEEN,
    *(warp_groups.MARK + x for x in (warp_groups.START, warp_groups.COMMIT, warp_groups.WAIT)),
}
"""What stands around products of warps."""


def _product(extents: tuple[int, ...]) -> int:
    size = 1
    for n in extents:
        size *= n
    return size
