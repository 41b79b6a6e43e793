"""The OpenCL text of an expression computes what C computes, whatever the types."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from expressions import Generator

from loopxform.codegen.cexpr import Dialect, assign, converted, dialect_of, expr
from loopxform.codegen.opencl import halves, quotients
from loopxform.errors import EmitError
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Cast,
    Const,
    Decl,
    Function,
    Load,
    Param,
    Return,
    Select,
    Var,
)
from loopxform.ir.types import BOOL, DOUBLE, FLOAT, HALF, INT, LONG, ULLONG
from loopxform.runtime.launch import BufferParam, KernelParam, Launcher, ScalarParam
from loopxform.runtime.selection import choose
from loopxform.verify.interp import InterpError, Program

EXACT = (
    *("fabsf", "sqrt", "fmax", "fminf", "floor", "fma", "abs", "labs", "copysign", "fmodf", "logb"),
    *("isnan", "isinff", "isfinite", "isnormalf", "roundf", "rint", "remainder", "fdimf", "truncf"),
)
"""Functions OpenCL rounds correctly (the others may be off by some units)."""

OPENCL = Dialect("opencl", {"x": FLOAT, "d": DOUBLE, "i": INT, "l": LONG, "flag": BOOL})


@pytest.mark.device
@pytest.mark.parametrize("seed", range(4))
def test_random_statements_on_a_device(seed: int) -> None:
    """Expressions, and assignments (compound ones too) to a variable of every type."""
    generator = Generator(seed, small=True, calls=EXACT)
    here = choose()
    functions = [generator.function(n) for n in range(60)]
    programs = [Program(fn) for fn in functions]
    launcher = Launcher(here, _kernel(generator, functions), "every", _params(generator))
    compared = 0
    for _ in range(6):
        args = generator.arguments()
        values = []
        for program in programs:
            try:
                values.append(program.run(args))
            except InterpError:
                values.append(None)  # undefined: not evaluated on the device either
        defined = np.array([v is not None for v in values], np.uint8)
        out = np.zeros(len(values), np.uint64)
        launcher.launch([*(args[p.name] for p in generator.params), defined, out], [1], [1])
        for fn, value, bits in zip(functions, values, out):
            if value is None:
                continue
            assert fn.returns is not None
            kind = np.dtype(fn.returns.argument)
            got = np.frombuffer(bits.tobytes()[: kind.itemsize], kind)[0].item()
            compared += 1
            same = got == value or (got != got and value != value)
            assert same, (_text(fn), args, value, got)
    assert compared > 150


def _params(generator: Generator) -> list[KernelParam]:
    scalars: list[KernelParam] = [ScalarParam(p.name, p.type.argument) for p in generator.params]
    return [*scalars, BufferParam("ok", "uint8", written=False), BufferParam("out", "uint64")]


def _kernel(generator: Generator, functions: list[Function]) -> str:
    params = "".join(f"{p.type.cl} {p.name}, " for p in generator.params)
    lines = ["#pragma OPENCL FP_CONTRACT OFF", "enum { T = 16 };"]
    lines.append(f"__kernel void every({params}__global const uchar *ok, __global ulong *out) {{")
    for n, fn in enumerate(functions):
        assert fn.returns is not None
        target = f"*(__global {fn.returns.cl} *)(out + {n})"
        lines.append(f"  if (ok[{n}]) {{ {_text(fn, target)} }}")
    text = "\n".join([*lines, "}"]) + "\n"
    helpers = *halves.helpers(text), *quotients.helpers(text, approximate=False)
    return "\n".join([*helpers, text])


def _text(fn: Function, target: str = "return") -> str:
    d = dialect_of(fn, "opencl")
    out = []
    for s in fn.body:
        match s:
            case Decl(name, t):
                out.append(f"{t.cl} {name};")
            case Assign():
                out.append(f"{assign(s, d)};")
            case Return(value):
                assert value is not None
                assert fn.returns is not None
                out.append(f"{target} = {converted(value, fn.returns, d)};")
    return " ".join(out)


def test_functions_keep_their_c_type() -> None:
    assert expr(Call("sqrtf", (Var("x"),)), OPENCL) == "sqrt(x)"
    assert expr(Call("sqrt", (Var("x"),)), OPENCL) == "sqrt((double)x)"
    assert expr(Call("fabs", (Var("d"),)), OPENCL) == "fabs(d)"
    assert expr(Call("abs", (Var("i"),)), OPENCL) == "(int)abs(i)"
    assert expr(Call("erf", (Var("d"),)), OPENCL) == "erf(d)"
    with pytest.raises(EmitError, match="user_function"):
        expr(Call("user_function", (Var("x"),)), OPENCL)


def test_min_and_max_by_type() -> None:
    assert expr(Bin("min", Var("i"), Const(3)), OPENCL) == "min(i, 3)"
    assert expr(Bin("max", Var("i"), Var("l")), OPENCL) == "max((long)i, l)"
    assert expr(Bin("max", Var("x"), Const(0)), OPENCL) == "x > 0 ? x : 0"
    c = replace(OPENCL, language="c")
    assert expr(Bin("min", Var("i"), Const(3)), c) == "LX_MIN(i, 3)"


def test_bools_and_literals() -> None:
    assert expr(Cast(BOOL, Var("i")), OPENCL) == "(uchar)(i != 0)"
    assert assign(Assign(Var("flag"), Var("i"), "|"), OPENCL) == "flag = (flag | i) != 0"
    assert assign(Assign(Var("i"), Var("l"), "+"), OPENCL) == "i += l"
    assert expr(Const(7, ULLONG, "7ull"), OPENCL) == "7UL"
    assert expr(Const(7, ULLONG), OPENCL) == "7uL"
    assert expr(Const(0.5, FLOAT, "0.5f"), OPENCL) == "0.5f"
    assert expr(Cast(ULLONG, Var("i")), OPENCL) == "(ulong)i"


def test_halves_are_bits_in_memory_and_floats_elsewhere() -> None:
    types = {"a": HALF, "r": HALF, "x": FLOAT, "d": DOUBLE, "i": INT}
    d = Dialect("opencl", types, packed=frozenset("a"))
    a, r = Load("a", (Var("i"),)), Var("r")
    assert expr(Bin("*", a, r), d) == "float_of_half(a[i]) * r"
    assert assign(Assign(a, Load("a", (Const(0),))), d) == "a[i] = a[0]"
    assert assign(Assign(a, Select(Var("x"), a, Const(1))), d) == (
        "a[i] = half_of_float(x != 0 ? float_of_half(a[i]) : 1)"
    )
    assert assign(Assign(a, Select(Var("x"), a, r)), d) == (
        "a[i] = x != 0 ? a[i] : half_of_float(r)"
    )
    assert assign(Assign(a, Const(0.1, DOUBLE)), d) == "a[i] = 0x2e66"
    assert assign(Assign(a, Var("d"), "+"), d) == "a[i] = half_of_float_d(float_of_half(a[i]) + d)"
    assert assign(Assign(r, a), d) == "r = float_of_half(a[i])"
    assert assign(Assign(r, Var("i"), "*"), d) == "r = round_to_half(r*i)"
    assert assign(Assign(r, Const(1e6, FLOAT)), d) == "r = (1.0f / 0.0f)"
    assert assign(Assign(Var("x"), Cast(HALF, Var("d")), "-"), d) == "x -= round_to_half_d(d)"
    assert expr(Bin("/", Cast(HALF, Const(3)), Var("i")), d) == "3.0f / i"
    c = Dialect("c", types, packed=frozenset())
    assert assign(Assign(a, r, "+"), c) == "a[i] += r"
    assert expr(Const(0.5, HALF), c) == "(_Float16)0.5f"


def test_every_array_parameter_is_linear() -> None:
    n = Var("n")
    a = Param("A", FLOAT, (n, n), array=True)
    load = Load("A", (Var("n"), Bin("+", n, Const(1))))
    fn = Function("f", (Param("n", INT), a), (Return(load),), returns=FLOAT)
    assert expr(load, dialect_of(fn, "opencl")) == "A[(ptrdiff_t)n*n + (n + 1)]"
    assert expr(load, dialect_of(fn)) == "A[n][n + 1]"


def test_a_generator_may_store_an_array_its_own_way() -> None:
    class Padded(Dialect):
        def load(self, e: Load) -> str:
            if e.array != "A_loc":
                return super().load(e)
            return f"A_loc[{expr(e.index[1], self)} * 65 + {expr(e.index[0], self)}]"

    inner = Bin("*", Load("A_loc", (Var("i"), Const(2))), Load("B", (Var("i"),)))
    d = Padded("opencl", {"A_loc": FLOAT, "B": FLOAT, "i": INT})
    assert expr(inner, d) == "A_loc[2 * 65 + i] * B[i]"
    assert expr(inner, replace(d, offset="size_t")) == "A_loc[2 * 65 + i] * B[i]"
