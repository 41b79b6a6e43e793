"""The user's C as the reference: whatever its prototype, globals and surroundings are."""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np
import pytest
from programs import mm, mm_args

from loopxform import loads
from loopxform.errors import InputError
from loopxform.frontend import parse_file
from loopxform.ir.nodes import Const, Function, Param, Var
from loopxform.ir.types import BOOL, DOUBLE, FLOAT, INT, ULONG
from loopxform.verify.cref import CSource, Library, run_reference

N = Var("n")
MM = str(Path(__file__).parents[3] / "corpus" / "mm.c")


def test_the_corpus_file() -> None:
    args = mm_args(5, 6, 7)
    run_reference(CSource(MM), mm(), args)
    assert np.allclose(args["C"], args["A"] @ args["B"], rtol=1e-5)


def test_halves_are_computed_with_in_float_whatever_the_compiler_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last word on a command line counts."""
    cc, said = tmp_path / "cc", tmp_path / "said"
    cc.write_text(f'#!/bin/sh\necho "$@" >> {said}\nexec cc "$@"\n')
    cc.chmod(0o755)
    monkeypatch.setenv("CC", f"{cc} -fexcess-precision=fast")
    text = "void f(int n, T *a) { for (int i = 0; i < n; i++) a[i] = a[i] * a[i] + a[i]; }"
    wide = np.arange(1, 2, 2**-10, np.float32)
    for c_type, numpy_type in (("_Float16", np.float16), ("float", np.float32)):
        mine, a = text.replace("T", c_type), wide.astype(numpy_type)
        run_reference(CSource(text=mine), loads(mine)["f"].function, {"n": a.size, "a": a})
        assert (a == (wide * wide + wide).astype(numpy_type)).all()
    halves, floats = (x for x in said.read_text().splitlines() if " -o " in x)
    assert halves.rfind("-fexcess-precision=standard") > halves.rfind("-fexcess-precision=fast")
    assert ("-mno-avx512fp16" in halves) == (platform.machine() == "x86_64")
    assert "-mno-avx512fp16" not in floats


def test_static_functions_and_globals_are_within_reach(tmp_path: Path) -> None:
    source = tmp_path / "f.c"
    (tmp_path / "size.h").write_text("#define EXTRA 1\n")
    source.write_text(
        '#include "size.h"\n'
        "static const double weights[2] = {3, 4};\n"
        "static int calls;\n"
        "double table[2][2];\n"
        "extern void elsewhere(void);\n"
        "void other(void) { elsewhere(); }\n"
        "static double f(const double *restrict x, _Bool up, size_t n) {\n"
        "  calls += EXTRA + SCALE;\n"
        "  for (size_t i = 0; i < n; i++) table[i][1] = x[i] * weights[i] + up;\n"
        "  return table[n - 1][1];\n"
        "}\n"
        "int main(void) { return 1; }\n"
    )
    params = (
        Param("x", DOUBLE, (None,), const=True, restrict=True, flat=True, array=True),
        Param("up", BOOL),
        Param("n", ULONG),
    )
    two = Const(2)
    globals_ = (
        Param("weights", DOUBLE, (two,), const=True, static=True, is_global=True, array=True),
        Param("calls", INT, static=True, is_global=True),
        Param("table", DOUBLE, (two, two), is_global=True, array=True),
    )
    fn = Function("f", params, (), globals_, DOUBLE)
    source_with = CSource(
        str(source), define=("SCALE=41", "GONE"), undefine=("GONE",), flags=("-include", "stddef.h")
    )
    library = Library(source_with, [fn])
    args = {
        "x": np.array([1.0, 2.0]),
        "up": True,
        "n": 2,
        "weights": np.zeros(2),
        "calls": np.array(100, np.int32),
        "table": np.zeros((2, 2)),
    }
    library.read_constants("f", args)
    assert args["weights"].tolist() == [3, 4]
    assert library.run("f", args) == 9
    assert args["calls"] == 142
    assert args["table"].tolist() == [[0, 4], [0, 9]]


def test_pointers_to_variable_length_rows() -> None:
    text = "void f(int n, float a[n][n], const float (*b)[n], float *c) { *c = a[1][0] + b[0][1]; }"
    arrays = tuple(Param(x, FLOAT, (N, N), array=True) for x in "ab")
    c = Param("c", FLOAT, (None,), flat=True, array=True)
    fn = Function("f", (Param("n", INT), *arrays, c), ())
    a = np.arange(4, dtype=np.float32).reshape(2, 2)
    out = np.zeros(1, np.float32)
    run_reference(CSource(text=text), fn, {"n": 2, "a": a, "b": a, "c": out})
    assert out[0] == 3


def test_arithmetic_is_not_contracted() -> None:
    text = "float f(float a, float b, float c) { return a * b + c; }"
    fn = Function("f", tuple(Param(x, FLOAT) for x in "abc"), (), returns=FLOAT)
    a = np.float32(1 + 2**-12)
    args = {"a": a, "b": a, "c": -np.float32(1 + 2**-11)}
    assert run_reference(CSource(text=text, flags=("-march=native",)), fn, args) == 0


def test_a_missing_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler -m64")
    with pytest.raises(InputError, match="no-such-compiler not found") as e:
        run_reference(CSource(MM), mm(), mm_args(1, 1, 1))
    assert "install gcc" in (e.value.help or "")


def test_a_source_that_does_not_compile() -> None:
    with pytest.raises(InputError, match=r"mm\.h does not compile") as e:
        run_reference(CSource("mm.h", text="int f( {"), mm(), mm_args(1, 1, 1))
    assert any("error" in note for note in e.value.notes)


def test_arguments_must_fit() -> None:
    library = Library(CSource(MM), [mm()])
    args = mm_args(2, 2, 2)
    for bad, message in [
        (args["A"].astype(np.float64), "float32"),
        (np.zeros((2, 4), np.float32)[:, ::2], "contiguous"),
    ]:
        with pytest.raises(InputError, match=message):
            library.run("mm", {**args, "A": bad})
    with pytest.raises(InputError, match="no argument is given for M"):
        library.run("mm", {"A": args["A"]})


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run_reference(CSource(MM), mm(), mm_args(1, 1, 1))
    assert list(tmp_path.iterdir()) == []


def test_pointers_of_the_file_point_to_their_argument() -> None:
    text = "float (*rows)[2]; void f(int n) { for (int i = 0; i < n; i++) rows[i][1] = i; }"
    (fn,) = parse_file("f.c", text=text).unit.functions
    rows = np.zeros((3, 2), np.float32)
    run_reference(CSource(text=text), fn, {"n": 3, "rows": rows})
    assert rows.tolist() == [[0, 0], [0, 1], [0, 2]]


def test_a_relative_path_and_a_main(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.c").write_text(Path(MM).read_text() + "int main(void) { return 0; }\n")
    run_reference(CSource("m.c"), mm(), mm_args(1, 1, 1))


def test_globals_are_not_hidden_by_names_of_the_wrapper() -> None:
    text = "int n = 3, args = 4, k; void f(int *a) { for (int i = 0; i < 2; i++) a[i] = n + args; }"
    fn = loads(text)["f"].function
    given = {"a": np.zeros(2, np.int32), "n": np.array(5, np.int32), "args": np.array(6, np.int32)}
    run_reference(CSource(text=text), fn, given)
    assert given["a"].tolist() == [11, 11]
