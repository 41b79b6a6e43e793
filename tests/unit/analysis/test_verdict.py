"""Verdicts on loops, the contract of `check --format json`, and the printed matrix."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace

from nests import decl, fn, integer, loop, mm, mm_c89, opaque, s, skew, when

from loopxform.analysis.matrix import matrix, matrix_text
from loopxform.analysis.verdict import judge
from loopxform.frontend import parse_file
from loopxform.ir.nodes import Function


def answers(f: Function) -> list[tuple[str, str]]:
    return [(v.var, v.parallel) for v in judge(f)]


def test_matrix_product() -> None:
    i, j, k = judge(mm())
    assert (i.parallel, j.parallel, k.parallel) == ("yes", "yes", "reduction")
    assert (i.depth, j.depth, k.depth) == (0, 1, 2)
    assert [(r.var, r.op) for r in k.reductions] == [("acc", "+")]
    assert i.assumes == ("A and C do not overlap", "B and C do not overlap")
    assert k.assumes == ()


def test_matrix_product_of_1989() -> None:
    i, j, k = judge(mm_c89())
    assert (i.parallel, i.private, i.copies) == ("privatizable", ("acc",), ())
    assert (j.parallel, j.private) == ("privatizable", ("acc",))
    assert k.parallel == "reduction"


def test_gemm_accumulating_in_memory() -> None:
    f = fn(
        "n, A[n][n], B[n][n], C[n][n]",
        loop(
            "i", 0, "n", loop("j", 0, "n", loop("k", 0, "n", s("C[i, j] += A[i, k]*B[k, j]", "S0")))
        ),
    )
    assert answers(f) == [("i", "yes"), ("j", "yes"), ("k", "reduction")]


def test_json_has_the_keys_of_the_contract() -> None:
    found = judge(skew())[0].json()
    assert list(found) == [
        "file", "line", "column", "var", "depth", "parallel", "private", "lastprivate",
        "conditional_lastprivate", "reductions", "assumes", "reasons",
    ]  # fmt: skip
    assert found["parallel"] == "no"
    (reason,) = found["reasons"]  # type: ignore[misc]
    assert reason["code"] == "LX101"
    assert reason["message"].endswith("writes it at i=0, j=1 and reads it at i=1, j=0 (M=3, N=3)")
    assert answers(skew()) == [("i", "no"), ("j", "yes")]


def test_opaque_statements_hide_only_the_loops_around_them() -> None:
    f = fn(
        "n, a[]",
        loop("i", 0, "n", loop("j", 0, "n", s("a[j] = 1")), opaque()),
        opaque(loop("k", 0, "n", s("a[k] = 2"), loop("l", 0, "n", s("a[l] = 3"))), loop=True),
    )
    found = judge(f)
    assert [(v.parallel, v.depth) for v in found] == [
        ("unknown", 0), ("yes", 1), ("unknown", 0), ("unknown", 1), ("yes", 2),
    ]  # fmt: skip
    assert found[0].reasons[0].code == "LX014"


def test_one_iteration_depends_on_no_other() -> None:
    f = fn(
        "n, a[]",
        loop("i", 0, 1, opaque()),
        loop("j", 3, 1, opaque(), step=-2),
        loop("k", 0, 1, opaque(), live_out=True),
        loop("l", 0, 2, opaque()),
        loop("m", "n", "n + 1", opaque()),
        loop("o", 0, 1, replace(opaque(), code="LX016")),  # asm, which may set the counter
    )
    verdicts = [(v.parallel, v.copies) for v in judge(f)]
    assert verdicts == [
        ("yes", ()), ("yes", ()), ("privatizable", ("k",)), ("unknown", ()), ("unknown", ()),
        ("unknown", ()),
    ]  # fmt: skip


def test_unknown_is_not_no() -> None:
    f = fn("n, a[], p[]:int", loop("i", 0, "n", s("a[p[i]] = 1", "S0")))
    (v,) = judge(f)
    assert v.parallel == "unknown"
    assert v.reasons[0].code == "LX102"


def test_histogram() -> None:
    f = fn("n, a[], p[]:int", loop("i", 0, "n", s("a[p[i]] += 1")))
    (v,) = judge(f)
    assert v.parallel == "reduction"
    assert v.json()["reductions"] == [{"var": "a", "op": "+"}]
    assert {d.distance for m in matrix(f) for d in m.rows} == {(None,)}


def test_an_inner_region_may_know_more() -> None:
    f = fn(
        "n, a[], p[]:int",
        integer("m"),
        loop("i", 0, "n", s("m = p[i]"), loop("j", 0, "n", s("a[j + m] = 1"))),
    )
    assert answers(f) == [("i", "unknown"), ("j", "yes")]


def test_last_value() -> None:
    f = fn("n, a[], b[]", decl("t"), loop("i", 0, "n", s("t = a[i]"), s("b[i] = t")), s("b[0] = t"))
    (v,) = judge(f)
    assert (v.parallel, v.private, v.copies) == ("privatizable", ("t",), ("t",))
    g = fn("n, a[]", loop("i", 0, "n", s("a[i] = 1"), live_out=True))
    assert judge(g)[0].copies == ("i",)


def test_a_private_temporary_beside_a_reduction() -> None:
    f = fn(
        "n, a[], t:float",
        decl("v"),
        loop("i", 0, "n", s("v = a[i]"), s("t += v*v"), when("v > 0", s("a[i] = 0"))),
    )
    (v,) = judge(f)
    assert (v.parallel, v.private, [r.var for r in v.reductions]) == ("reduction", ("v",), ["t"])


def test_matrix_text() -> None:
    (m,) = matrix(skew())
    where = f"{m.rows[0].source} -> {m.rows[0].sink}"
    head = "statements".ljust(len(where))
    assert matrix_text(m) == f"kind  array  {head}  i    j\nflow  a      {where}  < 1  > -1\n"


def test_a_matrix_without_rows() -> None:
    (m,) = matrix(fn("n, a[]", loop("i", 0, "n", s("a[i] = 1"))))
    assert matrix_text(m) == "no dependences\n"


def test_what_is_not_proven_is_marked_and_explained() -> None:
    f = fn("n, a[], b[]:int", loop("i", 0, "n", s("a[b[i]] = 1")))
    (m,) = matrix(f)
    assert "output?" in matrix_text(m)
    assert matrix_text(m).endswith("?  not proven, but it could not be excluded\n")
    ((why,),) = [v.reasons for v in judge(f)]
    assert why.message.startswith(
        "output dependence of a, direction (<), could not be excluded: a subscript of a[b[i]] (line"
    )
    assert ") is not an affine function of the loop variables; all that it stores" in why.message
    g = fn("n, a[], b[]", loop("i", 1, "n", when("b[i] > 0", s("a[i] = a[i - 1]"))))
    ((why,),) = [v.reasons for v in judge(g)]
    assert why.message.endswith("runs depends on data, or on a condition that is not affine")


def test_one_matrix_per_nest() -> None:
    f = fn("n, a[]", loop("i", 0, "n", s("a[i] = a[i-1]")), loop("j", 0, "n", s("a[j] = a[j]")))
    assert [(m.loops, len(m.rows)) for m in matrix(f)] == [(("i",), 1), (("j",), 0)]


def test_judging_a_matrix_product_takes_milliseconds() -> None:
    judge(mm())
    seconds = []
    for _ in range(10):
        start = time.process_time()
        judge(mm())
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.005  # of the others, the collector of garbage may have some


def test_a_matrix_product_does_not_load_isl() -> None:
    code = (
        "import sys; from nests import mm; from loopxform.analysis.verdict import judge; "
        "judge(mm()); sys.exit('islpy' in sys.modules)"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONPATH": ":".join(sys.path)}
        ).returncode
        == 0
    )


def test_values_known_in_advance_are_named_with_their_remedy() -> None:
    packed = loop("i", 0, "n", s("a[j] = b[i]", "S0"), s("j += 2", "S1"))
    f = fn("n, a[], b[]", integer("j"), s("j = 0"), packed, loop("i", 0, "n", s("a[i] = 1")))
    message = judge(f)[0].reasons[0].message
    assert message.endswith(
        "; j is an induction variable, j + 2*q in iteration q from 0: "
        "'substitute j i#1' takes the dependence away"
    )
    around = loop("i", 0, "n", s("a[i] = b[i] + b[w]", "S0"), s("w = i", "S1"))
    (v,) = judge(fn("n, a[], b[]", integer("w"), s("w = n - 1"), around))
    assert v.parallel == "no"
    assert "w is a wrap-around variable, i of the iteration before" in v.reasons[0].message


def test_what_is_not_known_in_advance() -> None:
    counted = loop("i", 0, "n", when("a[i] > 0", s("a[j] = a[i]"), s("j += 1")))
    for body in (
        counted,
        loop("i", 0, "n", s("a[i] = j"), s("j += i")),
        loop("i", 0, "n", s("a[i] = j"), s("j += 1"), s("j += i")),
        loop("i", 0, "n", s("j = i - j"), s("a[i] = j")),
    ):
        (v,) = judge(fn("n, a[]", integer("j"), s("j = 0"), body))
        assert v.parallel in ("no", "unknown")
        assert not any("variable," in r.message for r in v.reasons)


def test_the_loops_at_one_place() -> None:
    text = """
    void f(int n, float *restrict a, float *restrict b) {
      for (int t = 0; t < n; t++) {
        for (int i = 0; i < n; i++) a[i] = b[i];
        for (int j = 1; j < n; j++) b[j] = b[j - 1] + a[j];
      }
      for (int k = 0; k < n; k++) a[k] = k;
    }
    """
    (f,) = parse_file("t.c", text=text).unit.functions
    every = judge(f)
    for v in every:
        at = judge(f, at=v.path)
        assert at == tuple(x for x in every if all(a == b for a, b in zip(x.path, v.path)))
    assert [v.var for v in judge(f, at=(0, 1))] == ["t", "j"]


def test_a_value_that_many_cases_choose_is_judged_in_seconds() -> None:
    """Each case excludes those before it (m != 0, m != 1, ...): the ways to split the numbers
    between them are as many as the cases, not two to their power."""
    value = "a[i]"
    for k in reversed(range(24)):
        value = f"(a[i] + {k} if m == {k} else {value})"
    f = fn("n, m, a[]", loop("i", 0, "n", s(f"a[i] = {value}")))
    began = time.process_time()
    assert answers(f) == [("i", "yes")]
    assert time.process_time() - began < 4
