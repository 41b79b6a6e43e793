"""C text of whole functions: it compiles without a warning and computes what the tree means."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from programs import ONE, ZERO, Tiled, b, copied, forall, loop, mm, mm_args

from loopxform.codegen.c.declarations import declaration, prototype
from loopxform.codegen.c.program import file_text, function_text
from loopxform.errors import EmitError
from loopxform.frontend import parse_file
from loopxform.ir import wellformed
from loopxform.ir.nodes import (
    Assign,
    Const,
    Copy,
    Decl,
    For,
    Function,
    If,
    Load,
    Opaque,
    Param,
    Return,
    Slice,
    Var,
)
from loopxform.ir.types import DOUBLE, FLOAT, INT, UINT, ULONG
from loopxform.verify import interp
from loopxform.verify.cref import CSource, run_reference

WARNINGS = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-c", "-o", "/dev/null"]
VI, VJ, VK = Var("i"), Var("j"), Var("k")


def compiles(text: str, tmp_path: Path) -> None:
    source = tmp_path / "f.c"
    source.write_text(text)
    for flags in (["-fopenmp"], ["-Wno-unknown-pragmas"]):
        done = subprocess.run(
            [*WARNINGS, *flags, str(source)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr + text


STEPS = {
    "listing2": mm(),
    "listing7": Tiled().listing7(),
    "listing10": Tiled().listing10(),
    "listing10-clamped": Tiled().listing10(clamp=True),
    "one-tile": Tiled(16, 16, 1, 1, 16).listing10(),
}


@pytest.mark.parametrize("step", STEPS)
def test_every_step_compiles_and_computes_the_same(step: str, tmp_path: Path) -> None:
    fn = STEPS[step]
    wellformed.check(fn)
    text = file_text(fn, name="mm_step")
    compiles(text, tmp_path)
    assert text.count("#pragma omp parallel for") == 1
    for sizes in [(1, 1, 1), (8, 5, 9), (17, 11, 13), (16, 15, 18)]:
        args = mm_args(*sizes)
        expected = copied(args)
        interp.run(mm(), expected)
        by_interp, by_c = copied(args), copied(args)
        interp.run(fn, by_interp, order_seed=sum(sizes))
        source = CSource(text=text, flags=("-fopenmp",))
        run_reference(source, replace(fn, name="mm_step"), by_c)
        assert np.array_equal(by_interp["C"], expected["C"])
        assert np.array_equal(by_c["C"], expected["C"])
        assert np.allclose(expected["C"], args["A"] @ args["B"], rtol=1e-5)


def test_listing10_reads_well() -> None:
    text = function_text(Tiled().listing10())
    assert "enum { Ty = 4, Ry = 2, Tx = 3, Rx = 3, Tk = 5 };" in text
    assert "float acc[Ty*Ry][Tx*Rx][Ry][Rx];" in text
    assert "for (int iii = 0; iii < M; iii += Ty*Ry) {" in text
    assert "if (iii + c0 < M && kk + c1 < U)" in text
    assert "A_loc[c0][c1] = A[iii + c0][kk + c1];" in text


def test_the_prototype_is_the_users() -> None:
    fn = replace(mm(), signature="void mm(int M, int U, int N, const float A[M][U])")
    assert prototype(fn, "mm_2") == "void mm_2(int M, int U, int N, const float A[M][U])"
    made = "void mm(int M, int U, int N, const float A[M][U], const float B[U][N], float C[M][N])"
    assert prototype(mm()) == made


def test_declarations_of_parameters() -> None:
    flat = Param("A", FLOAT, (None, Var("n")), const=True, restrict=True, flat=True, array=True)
    assert declaration(flat) == "const float *restrict A"
    open_ended = Param("A", FLOAT, (None, Var("n")), restrict=True, array=True)
    assert declaration(open_ended) == "float A[restrict][n]"
    assert declaration(Param("n", UINT)) == "unsigned int n"


def test_flat_arrays_are_addressed_in_full_width(tmp_path: Path) -> None:
    n, m = Var("n"), Var("m")
    a = Param("A", DOUBLE, (None, n, m), flat=True, array=True)
    params = (*(Param(x, INT) for x in "nm"), a, Param("x", DOUBLE, (n,), flat=True, array=True))
    body = forall(
        "i",
        ZERO,
        n,
        Assign(Load("A", (VI, b(n, "-", ONE), b(VI, "-", ZERO))), Load("x", (VI,)), "+"),
    )
    fn = Function("f", params, (body,))
    text = file_text(fn)
    compiles(text, tmp_path)
    assert "A[((ptrdiff_t)i*n + (n - 1))*m + (i - 0)] += x[i];" in text
    args = {"n": 3, "m": 4, "A": np.zeros(36), "x": np.arange(1.0, 4.0)}
    by_c = copied(args)
    interp.run(fn, args)
    run_reference(CSource(text=text), fn, by_c)
    assert np.array_equal(args["A"], by_c["A"])
    assert args["A"].reshape(3, 3, 4)[2, 2, 2] == 3


def test_a_variable_read_after_its_loop_is_declared_where_it_is_visible(tmp_path: Path) -> None:
    n, s = Var("n"), Var("s")
    search = loop("k", ZERO, n, Assign(s, VK, "+"), live_out=True, step=Const(3))
    outer = loop("i", ZERO, n, search, Assign(s, VK, "+"))
    last = loop("j", ZERO, n, Assign(s, ONE, "+"), live_out=True)
    body = (Decl("s", INT), Assign(s, ZERO), outer, last, Return(b(s, "+", VJ)))
    fn = Function("f", (Param("n", INT),), body, returns=INT)
    text = file_text(fn)
    compiles(text, tmp_path)
    assert interp.run(fn, {"n": 7}) == run_reference(CSource(text=text), fn, {"n": 7})


def test_a_loop_that_assigns_an_outer_scalar_is_not_an_openmp_loop(tmp_path: Path) -> None:
    t = Var("t")
    write = Assign(Load("A", (VI,)), t)
    inside = forall("i", ZERO, Var("n"), Decl("t", INT), Assign(t, VI), write)
    outside = forall("i", ZERO, Var("n"), Assign(t, VI), write)
    params = (Param("n", INT), Param("A", INT, (Var("n"),), array=True))
    private = function_text(Function("f", params, (inside,)))
    shared = function_text(Function("f", params, (Decl("t", INT), outside)))
    assert "#pragma" in private
    assert "#pragma" not in shared
    assert "#pragma" not in function_text(Function("f", params, (inside,)), openmp=False)
    compiles(private, tmp_path)
    compiles(shared, tmp_path)


def test_bounds_of_another_signedness(tmp_path: Path) -> None:
    """`i < n` with an unsigned n converts i: no OpenMP form. A size_t i converts the bound."""
    params = (Param("n", UINT), Param("m", INT), Param("A", INT, (Const(10),), array=True))
    write = Assign(Load("A", (VI,)), ONE)
    signed = forall("i", ZERO, Var("n"), write)
    unsigned = forall("i", ZERO, Var("m"), write, type=ULONG)
    text = function_text(Function("f", params, (signed, unsigned)))
    compiles(text, tmp_path)
    assert "for (int i = 0; (unsigned int)i < n; i++)" in text
    assert "for (unsigned long i = 0; i < (unsigned long)m; i++)" in text
    assert text.count("#pragma") == 1


def test_nothing_unused_is_left_to_warn_about(tmp_path: Path) -> None:
    params = (Param("n", INT), Param("unused", INT), Param("A", INT, (Var("n"),), array=True))
    dead = (Decl("i", INT), Decl("never", INT), Decl("written", INT), Assign(Var("written"), ONE))
    body = (*dead, forall("i", ZERO, Var("n"), Assign(Load("A", (VI,)), VI)))
    compiles(file_text(Function("f", params, body)), tmp_path)


def test_arrays_of_unknown_size_live_on_the_heap(tmp_path: Path) -> None:
    n = Var("n")
    fill = loop("i", ZERO, n, Assign(Load("t", (VI, ZERO)), VI), Assign(Load("t", (VI, ONE)), VI))
    total = loop("i", ZERO, n, Assign(Var("s"), Load("t", (VI, ONE)), "+"))
    body = (
        Decl("t", FLOAT, (n, Const(2))),
        Decl("s", FLOAT),
        Assign(Var("s"), ZERO),
        fill,
        total,
        Return(b(Var("s"), "+", Load("t", (ONE, ONE)))),
    )
    fn = Function("f", (Param("n", INT),), body, returns=FLOAT)
    text = file_text(fn)
    compiles(text, tmp_path)
    assert "malloc" in text
    assert text.index("free(t)") < text.index("return result")
    assert interp.run(fn, {"n": 9}) == run_reference(CSource(text=text), fn, {"n": 9}) == 37


def test_copies_skip_and_clamp(tmp_path: Path) -> None:
    n = Var("n")
    a = Param("A", INT, (n, n), array=True)
    out = Param("B", INT, (Const(3), Const(4)), array=True)
    slices = (Slice(ONE, Const(3), n, True), Slice(ONE, Const(4), n, True))
    move = Copy("t", "A", slices, True)
    store = loop(
        "i",
        ZERO,
        Const(3),
        loop("j", ZERO, Const(4), Assign(Load("B", (VI, VJ)), Load("t", (VI, VJ)))),
    )
    fn = Function(
        "f", (Param("n", INT), a, out), (Decl("t", INT, (Const(3), Const(4))), move, store)
    )
    text = file_text(fn)
    compiles(text, tmp_path)
    args = {"n": 3, "A": np.arange(9, dtype=np.int32).reshape(3, 3), "B": np.zeros((3, 4), "i4")}
    by_c = copied(args)
    interp.run(fn, args)
    run_reference(CSource(text=text), fn, by_c)
    assert np.array_equal(args["B"], by_c["B"])
    assert args["B"].tolist() == [[4, 5, 5, 5], [7, 8, 8, 8], [7, 8, 8, 8]]


def test_branches_and_globals(tmp_path: Path) -> None:
    g = Param("g", INT, is_global=True)
    t = Param("T", INT, (Const(4),), is_global=True, array=True)
    test = If(b(Var("g"), ">", ZERO), (Assign(Var("g"), ONE, "-"),), (Assign(Var("g"), Const(5)),))
    fn = Function("f", (), (test, Assign(Load("T", (ONE,)), Var("g"))), globals=(g, t))
    text = file_text(fn, define_globals=True)
    compiles(text, tmp_path)
    compiles(file_text(fn), tmp_path)
    for start in (0, 3):
        args = {"g": np.array(start, "i4"), "T": np.zeros(4, "i4")}
        by_c = copied(args)
        interp.run(fn, args)
        run_reference(CSource(text=text), fn, by_c)
        assert args["g"] == by_c["g"] == (5 if start == 0 else 2)
        assert np.array_equal(args["T"], by_c["T"])


def test_globals_of_one_dimension_stay_so(tmp_path: Path) -> None:
    text = """int a[60], b[61]; static const int w[6] = {1, 2, 3, 4, 5, 6};
      void f(int n) { for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++)
        for (int k = 0; k < 2; k++) a[6*i + 2*j + k] = b[6*i + 2*j + k] + w[2*j + k]; }"""
    (fn,) = parse_file("t.c", text=text).unit.functions
    written = file_text(fn)
    assert [p.flat for p in fn.globals] == [True] * 3
    compiles(written, tmp_path)
    assert "extern int a[60];" in written
    assert "extern int b[];" in written


def test_statements_that_are_not_modelled_are_refused() -> None:
    fn = Function("f", (), (Opaque("LX010", "goto"),))
    with pytest.raises(EmitError, match="goto"):
        function_text(fn)


def test_a_downward_loop(tmp_path: Path) -> None:
    down = For("i", b(Var("n"), "-", ONE), Const(-1), Const(-2), (Assign(Load("A", (VI,)), VI),))
    fn = Function("f", (Param("n", INT), Param("A", INT, (Var("n"),), array=True)), (down,))
    text = file_text(fn)
    compiles(text, tmp_path)
    assert "for (int i = n - 1; i > -1; i -= 2) {" in text
    args = {"n": 6, "A": np.zeros(6, "i4")}
    by_c = copied(args)
    interp.run(fn, args)
    run_reference(CSource(text=text), fn, by_c)
    assert args["A"].tolist() == by_c["A"].tolist() == [0, 1, 0, 3, 0, 5]


def test_declarations_are_joined_with_the_first_value_and_dropped_where_unused() -> None:
    s, n = Var("s"), Var("n")
    total = loop("i", ZERO, n, Assign(s, VI, "+"))
    body = (Decl("i", INT), Decl("s", INT), Assign(s, ZERO), total, Return(s))
    text = function_text(Function("f", (Param("n", INT),), body, returns=INT))
    assert text == (
        "int f(int n)\n"
        "{\n"
        "  int s = 0;\n"
        "  for (int i = 0; i < n; i++) {\n"
        "    s += i;\n"
        "  }\n"
        "  return s;\n"
        "}\n"
    )


def test_constant_bounds_are_not_converted() -> None:
    """Constants that are not negative need no conversion to an unsigned type."""
    edge = b(Const(12), "-", ONE)
    fill = loop("i", ONE, edge, Assign(Load("A", (VI,)), ONE), type=ULONG)
    fn = Function("f", (Param("A", INT, (Const(12),), array=True),), (fill,))
    assert "for (unsigned long i = 1; i < 12 - 1; i++) {" in function_text(fn)
