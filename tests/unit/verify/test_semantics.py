"""Random typed expressions: the interpreter, the C text and the C compiler agree to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from expressions import Generator

from loopxform.codegen import cexpr
from loopxform.codegen.c.program import function_text
from loopxform.ir.nodes import (
    Bin,
    Const,
    Expr,
    Function,
    Load,
    Param,
    Return,
)
from loopxform.ir.types import DOUBLE, FLOAT, HALF, INT
from loopxform.ir.typing import is_half, symbols, type_of
from loopxform.verify.cref import CSource, Library
from loopxform.verify.interp import InterpError, Program

FLAGS = ("-fwrapv",)  # the interpreter wraps signed sums; plain C leaves them undefined


def unit(functions: list[Function]) -> str:
    text = "#include <math.h>\n#include <stdlib.h>\n" + "\n".join(cexpr.HELPERS) + "\n"
    return text + "\n".join(function_text(f) for f in functions)


def same(a: Any, b: Any) -> bool:
    """Equal, NaN to NaN. The signs of zeros are left out: C leaves that of fmax(0.0, -0.0) open,
    and gcc turns an integer 0 minus a float into a negation."""
    return bool(a == b) or bool(a != a and b != b)


@pytest.mark.parametrize("seed", range(4))
def test_random_expressions(seed: int) -> None:
    generator = Generator(seed)
    functions = [generator.function(n) for n in range(150)]
    library = Library(CSource(text=unit(functions), flags=FLAGS), functions)
    defined = 0
    for fn in functions:
        program = Program(fn)
        for _ in range(8):
            args = generator.arguments()
            try:
                value = program.run(args)
            except InterpError:
                continue  # undefined in C: nothing to compare
            defined += 1
            expected = library.run(fn.name, args)
            assert same(value, expected), (function_text(fn), args, value, expected)
    assert defined > 500


def test_the_text_keeps_the_type_of_an_expression() -> None:
    """`sizeof` and a signedness probe, as C sees the text."""
    generator = Generator(99)
    functions = []
    for n in range(200):
        e = generator.expression(3)
        fn = Function(f"f{n}", generator.params, (Return(e),), returns=INT)
        types = symbols(fn)
        functions.append((fn, HALF if is_half(e, types) else type_of(e, types)))
    probes = []
    for fn, _ in functions:
        assert isinstance(fn.body[0], Return)
        assert fn.body[0].value is not None
        text = cexpr.expr(fn.body[0].value, cexpr.dialect_of(fn), cexpr.UNARY)
        head = function_text(fn).split("{")[0]
        enum = "enum { T = 16 };"
        kind = f"__builtin_types_compatible_p(__typeof__({text}), float) ? 2 : "
        kind += f"__builtin_types_compatible_p(__typeof__({text}), double) ? 3 : "
        kind += f"((__typeof__({text}))-1 < 0)"
        probes.append(f"{head}{{ {enum} return 10 * (int)sizeof({text}) + ({kind}); }}")
    text = "#include <math.h>\n#include <stdlib.h>\n" + "\n".join([*cexpr.HELPERS, *probes])
    only = [fn for fn, _ in functions]
    library = Library(CSource(text=text), only)
    zero = {p.name: 0 for p in generator.params}
    for fn, t in functions:
        code = {FLOAT: 2, DOUBLE: 3}.get(t, 0 if t.is_unsigned else 1)
        assert library.run(fn.name, zero) == 10 * t.bytes + code, function_text(fn)


def test_deep_sums_and_float_literals() -> None:
    """Unrolled code has long sums; a float literal is rounded once."""
    x = Param("x", FLOAT, (Const(4),), array=True)
    total: Expr = Const(0.0, FLOAT, "0.0f")
    for n in range(150):
        total = Bin("+", total, Bin("*", Load("x", (Const(n % 4),)), Const(float(n), FLOAT)))
    tie = "1.00000005960464477540"  # just above the middle of two floats
    near = Const(float(tie), FLOAT, tie + "f")
    functions = [
        Function("deep", (x,), (Return(total),), returns=FLOAT),
        Function("literal", (), (Return(near),), returns=FLOAT),
    ]
    library = Library(CSource(text=unit(functions)), functions)
    args = {"x": np.array([0.1, 0.7, 1.3, 2.9], np.float32)}
    for fn in functions:
        assert Program(fn).run(args) == library.run(fn.name, args)
