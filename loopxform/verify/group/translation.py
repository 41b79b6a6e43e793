"""Kernels as Python: a generator for each work-item, which stops at barriers.

The text defines `k_NAME(item, <arguments>, <local arrays>)` for a kernel and `f_NAME(item,
<arguments>)` for another function; `lines` leads from its lines to those of the OpenCL C.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from loopxform.ir.types import Scalar
from loopxform.verify.group import builtins
from loopxform.verify.group.expressions import Expressions, integer
from loopxform.verify.group.function_writer import FunctionWriter
from loopxform.verify.group.memory import KERNELS, Private
from loopxform.verify.group.memory import Constant as ConstantMemory
from loopxform.verify.group.operands import converted
from loopxform.verify.group.scope import Constant, Meaning, Memory, Scope
from loopxform.verify.group.syntax import Field, ProgramText
from loopxform.verify.group.types import ArrayType, Member, StructType, named


class Translation:
    """The kernels of a program. Raises NotModelled."""

    def __init__(self, program: ProgramText) -> None:
        self.lines: list[int] = []
        self.text = ""
        structs: dict[str, StructType] = {}
        for name, fields in program.structs:
            structs[name] = _struct(fields)
        self.namespace: dict[str, Any] = dict(builtins.NAMES) | {"Private": Private}
        scope = Scope(dict(self._constants(program, structs)))
        writers: list[FunctionWriter] = []
        functions: dict[str, tuple[Scalar, tuple[Scalar, ...]]] = {}
        known = builtins.OF_REALS, builtins.MULTIPLIED, builtins.PASSED
        for f in program.functions:
            if any(pattern.fullmatch(f.name) for pattern in known):
                continue
            writer = FunctionWriter(structs, scope.inner(), f, functions)
            writers.append(writer)
            self.text += "\n".join(writer.lines) + "\n"
            self.lines += writer.origins
        exec(compile(self.text, KERNELS, "exec"), self.namespace)
        self.kernels = {w.f.name: w.code(self.namespace) for w in writers if w.f.is_kernel}

    def _constants(
        self, program: ProgramText, structs: dict[str, StructType]
    ) -> Iterator[tuple[str, Meaning]]:
        for d in program.constants:
            kind, python = named(d.type.name), f"c_{d.name}"
            writer = Expressions(structs, Scope())
            assert isinstance(kind, Scalar)
            parts = d.value if isinstance(d.value, tuple) else (d.value,)
            texts = [converted(writer.value(e), kind).text for e in parts if e is not None]
            values = [eval(text, self.namespace) for text in texts]
            if d.extents:
                extents = tuple(integer(e) for e in d.extents)
                self.namespace[python] = ConstantMemory(d.name, extents, values, kind.bytes)
                yield d.name, Memory(python, ArrayType(kind, extents), kind)
            else:
                self.namespace[python] = values[0]
                yield d.name, Constant(python, kind)


def _struct(fields: tuple[Field, ...]) -> StructType:
    members = []
    for f in fields:
        kind = _struct(f.type) if isinstance(f.type, tuple) else named(f.type.name)
        assert kind is not None
        extents = tuple(integer(e) for e in f.extents)
        members.append(Member(f.name, ArrayType(kind, extents) if extents else kind))
    return StructType(tuple(members))
