"""Variables that functions declare `static`: they are variables of the file."""

from __future__ import annotations

import numpy as np
import pytest
from lowering import opaques, parsed

import loopxform as lx
from loopxform.analysis.verdict import judge
from loopxform.codegen import emit
from loopxform.errors import EmitError, InputError
from loopxform.ir.nodes import Function
from loopxform.ir.printer import listing
from loopxform.verify.cref import CSource, Library

HEAD = """
static int tab[2] = {7, 8};
static int counted(void) { static int c; c += 1; return c; }
static int other(void) { static int c = 5; return c; }
static int looked(int i) { static const int tab[] = {3, 1, 2, 0}; return tab[i & 3]; }
static float scaled(int i) { static const float by = 1.f / 3; return i * by; }
"""


def function(statements: str) -> Function:
    text = f"{HEAD} void f(int n, int *restrict a, const int *restrict b) {{ {statements} }}"
    return parsed(text).unit.functions[-1]


LOOP = "for (int i = 0; i < n; i++)"
VERDICTS = [
    (f"static const int t[2] = {{1, 2}}; {LOOP} a[i] = t[i & 1];", "yes"),
    (f"static int t[2] = {{1, 2}}; {LOOP} a[i] = t[i & 1];", "yes"),
    (f"static int t[2]; {LOOP} {{ a[i] = t[i & 1]; t[i & 1] = i; }}", "no"),
    (f"{LOOP} {{ static int last; a[i] = last; last = i; }}", "no"),
    (f"static int s; {LOOP} s += b[i];", "reduction"),
    (f"static int s; {LOOP} {{ s = b[i]; a[i] = s; }}", "privatizable"),
    (f"{LOOP} {{ static int s; {{ int s = i; a[i] = s; }} }}", "yes"),
    (f"{LOOP} a[i] = looked(i) + other();", "yes"),
    (f"{LOOP} a[i] = scaled(i);", "yes"),
    (f"{LOOP} a[i] = counted();", "no"),
    (f"{LOOP} a[i] = counted() + other();", "unknown"),
]


@pytest.mark.parametrize(("statements", "verdict"), VERDICTS)
def test_verdicts(statements: str, verdict: str) -> None:
    fn = function(statements)
    (found,) = judge(fn)
    assert found.parallel == verdict, opaques(fn)


def test_variables_of_one_name() -> None:
    fn = function(f"static int c; {LOOP} {{ a[i] = tab[0] + looked(i) + c; }} c += 1;")
    assert " ".join(listing(fn).split()) == (
        "for (i = 0; i < n; i++) a[i] = tab[0] + tab_2[i&3] + c; c += 1;"
    )
    assert {g.name: (g.kept, len(g.values)) for g in fn.globals} == {
        "tab": (False, 0),
        "tab_2": (True, 4),
        "c": (True, 0),
    }


KEPT = [
    "static int *p = 0; p[0] = 1;",
    "struct s { int x; }; static struct s p; a[0] = p.x;",
    "enum { K = 2 }; static int p[K]; a[0] = p[0];",
    "static volatile int p; a[0] = p;",
]


@pytest.mark.parametrize("statements", KEPT)
def test_others_stay_where_they_are(statements: str) -> None:
    assert opaques(function(statements))


@pytest.mark.parametrize("verb", ["tile", "offload"])
def test_what_is_written_cannot_reach_them(verb: str) -> None:
    text = f"void f(int n, int *a) {{ static int t[2]; {LOOP} a[i] = t[i & 1]; }}"
    with pytest.raises(EmitError, match="static"):
        emit.kernel(getattr(lx.loads(text)["f"], verb)().derivation)


def test_the_users_own_function_with_a_table() -> None:
    text = f"{HEAD} void f(int n, int *a) {{ {LOOP} a[i] = looked(i); }}"
    fn = parsed(text).unit.functions[-1]
    args = {"n": np.array(4, np.int32), "a": np.zeros(4, np.int32), "tab": np.zeros(4, np.int32)}
    library = Library(CSource(text=text), [fn])
    library.read_constants("f", args)
    assert args["tab"].tolist() == [3, 1, 2, 0]
    library.run("f", args)
    assert args["a"].tolist() == [3, 1, 2, 0]


def test_the_users_own_function_with_a_variable() -> None:
    text = f"void f(int n, int *a) {{ static int c; c++; {LOOP} a[i] = c; }}"
    fn = parsed(text).unit.functions[-1]
    args = {"n": np.array(4, np.int32), "a": np.zeros(4, np.int32), "c": np.array(0, np.int32)}
    with pytest.raises(InputError, match="'c' is static in it"):
        Library(CSource(text=text), [fn]).run("f", args)
