"""OpenCL C as a tree, as much of it as kernels of ours have."""

from __future__ import annotations

from typing import TypeAlias

from loopxform.records import record


@record
class TypeName:
    """`__local const float4 *`: the name of the type, pointed to so many times."""

    name: str
    pointers: int = 0
    space: str = ""
    const: bool = False


# ---------------------------------------------------------------- expressions


@record
class Number:
    text: str


@record
class Name:
    name: str


@record
class Unary:
    op: str
    operand: Expression


@record
class Binary:
    op: str
    left: Expression
    right: Expression


@record
class Conditional:
    test: Expression
    then: Expression
    orelse: Expression


@record
class Call:
    name: str
    arguments: tuple[Expression, ...]


@record
class Subscript:
    base: Expression
    index: Expression


@record
class MemberOf:
    base: Expression
    name: str
    arrow: bool


@record
class Conversion:
    """`(type)operand`; of a vector `(float4)(a, b, c, d)`, whose parts are the operands."""

    type: TypeName
    operands: tuple[Expression, ...]


Expression: TypeAlias = (
    Number | Name | Unary | Binary | Conditional | Call | Subscript | MemberOf | Conversion
)

# ---------------------------------------------------------------- statements


@record
class Declaration:
    line: int
    type: TypeName
    name: str
    extents: tuple[Expression, ...]
    value: Expression | tuple[Expression, ...] | None


@record
class Assignment:
    """`target op= value`; `++target` is `target += 1`."""

    line: int
    op: str
    target: Expression
    value: Expression


@record
class Evaluation:
    line: int
    value: Expression


@record
class Branch:
    line: int
    test: Expression
    then: Block
    orelse: Block


@record
class Loop:
    """`first; while (test) { body; after; }`, or with the test behind the body."""

    line: int
    first: Statement | None
    test: Expression | None
    after: tuple[Statement, ...]
    body: Block
    at_end: bool = False


@record
class Block:
    line: int
    statements: tuple[Statement, ...]


@record
class Jump:
    """`break`, `continue` or `return value`."""

    line: int
    word: str
    value: Expression | None = None


@record
class Assembly:
    """`asm volatile("text" : outputs : inputs : clobbers)`."""

    line: int
    text: str
    operands: tuple[Expression, ...]


Statement: TypeAlias = (
    Declaration | Assignment | Evaluation | Branch | Loop | Block | Jump | Assembly
)

# ---------------------------------------------------------------- files


@record
class Parameter:
    type: TypeName
    name: str


@record
class FunctionText:
    """A function; a kernel may ask for so many work-items in a `sub_group`."""

    line: int
    name: str
    returns: TypeName
    parameters: tuple[Parameter, ...]
    body: Block
    is_kernel: bool
    sub_group: int


@record
class Field:
    """A member: its type, or the members of a struct without a name."""

    type: TypeName | tuple[Field, ...]
    name: str
    extents: tuple[Expression, ...]


@record
class ProgramText:
    structs: tuple[tuple[str, tuple[Field, ...]], ...]
    constants: tuple[Declaration, ...]
    functions: tuple[FunctionText, ...]
