"""The audit of OpenMP loops: what is proven, what is refuted, and by what it is cured."""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.analysis.openmp import Claim

Told = tuple[str, str, str | None]


def claims(c: str) -> tuple[Claim, ...]:
    """Those about loops."""
    return tuple(c for c in lx.loads(c)["f"].audit() if c.path)


def claim(body: str, params: str = "int n, double *restrict a, double *restrict b") -> Claim:
    """The only claim of `void f(params) { body }`."""
    (found,) = claims(f"void f({params}) {{\n{body}\n}}")
    return found


def findings(c: Claim) -> list[Told]:
    return [(f.code, f.variable, f.cure) for f in c.findings]


def doubts(c: Claim) -> list[str]:
    return [d.code for d in c.doubts]


LOOP = "for (int i = 0; i < n; i++)"

PROVEN = [
    f"#pragma omp parallel for\n{LOOP} a[i] = b[i];",
    f"#pragma omp parallel for schedule(static, 4) num_threads(8) if(n > 9)\n{LOOP} a[i] += b[i];",
    "int i, j;\n#pragma omp parallel for private(j)\n"
    "for (i = 0; i < n; i++) for (j = 0; j < n; j++) a[i] += b[j];",
    f"#pragma omp parallel for\n{LOOP} for (int j = 0; j < n; j++) a[i] += b[j];",
    f"double t;\n#pragma omp parallel for private(t)\n{LOOP} {{ t = b[i]; a[i] = t*t; }}",
    f"double t = 2;\n#pragma omp parallel for firstprivate(t)\n{LOOP} a[i] = t*b[i];",
    f"double t;\nif (n > 0) {{\n#pragma omp parallel for lastprivate(t)\n"
    f"{LOOP} {{ t = b[i]; a[i] = t; }}\na[0] = t; }}",
    f"double s = 0;\n#pragma omp parallel for reduction(+:s)\n{LOOP} s += a[i];\nb[0] = s;",
    f"double s = 0;\n#pragma omp parallel for reduction(-:s)\n{LOOP} s -= a[i];\nb[0] = s;",
    f"double s = 0;\n#pragma omp simd reduction(max:s)\n{LOOP} if (a[i] > s) s = a[i];\nb[0] = s;",
    f"int j = 0;\n#pragma omp parallel for linear(j)\n{LOOP} {{ a[j] = b[i]; j++; }}",
    f"int j = 0;\n#pragma omp simd linear(j:2)\n{LOOP} {{ a[j] = i; j += 2; a[j - 1] = 0; }}",
    "#pragma omp simd safelen(4)\nfor (int i = 4; i < n; i++) a[i] = a[i - 4];",
    f"double s = 0;\n#pragma omp parallel for\n{LOOP}\n{{\n#pragma omp atomic\ns += a[i];\n}}",
    f"double s = 0;\n#pragma omp parallel for\n{LOOP}\n{{\n#pragma omp critical\n"
    "{ s += a[i]; s -= b[i]; }\n}",
    f"double s = 0;\n#pragma omp parallel for ordered\n{LOOP}\n{{\n#pragma omp ordered\n"
    "{ s = 0.5*s + a[i]; b[i] = s; }\n}",
    f"#pragma omp parallel for num_threads(1)\n{LOOP} a[i] = a[0];",
    f"#pragma omp parallel for if(0)\n{LOOP} a[0] = i;",
    f"#pragma omp target teams distribute parallel for\n{LOOP} a[i] = b[i];",
    f"double t;\n#pragma omp parallel private(t)\n{{\n#pragma omp for\n"
    f"{LOOP} {{ t = b[i]; a[i] = t; }}\n}}",
    f"#pragma omp parallel\n{{ double t;\n#pragma omp for\n{LOOP} {{ t = b[i]; a[i] = t; }}\n}}",
]


@pytest.mark.parametrize("body", PROVEN)
def test_proven(body: str) -> None:
    found = claim(body)
    assert (found.findings, found.doubts) == ((), ())
    assert found.proven is True


REFUTED: list[tuple[str, Told]] = [
    (f"#pragma omp parallel for\n{LOOP} a[i] = a[i + 1];", ("LX300", "a", None)),
    (f"#pragma omp parallel for\n{LOOP} a[0] = i;", ("LX300", "a", None)),
    (f"double t;\n#pragma omp parallel for\n{LOOP} {{ t = b[i]; a[i] = t; }}",
     ("LX300", "t", "private(t)")),
    (f"double t;\n#pragma omp parallel for\n{LOOP} {{ t = b[i]; a[i] = t; }}\na[0] = t;",
     ("LX300", "t", "lastprivate(t)")),
    (f"double s = 0;\n#pragma omp parallel for\n{LOOP} s += a[i];\nb[0] = s;",
     ("LX300", "s", "reduction(+:s)")),
    (f"#pragma omp parallel for\n{LOOP} b[0] += a[i];",
     ("LX300", "b", "#pragma omp atomic on the update")),
    (f"double s = 0;\n#pragma omp parallel for\n{LOOP} {{ a[i] = s; s = b[i]; }}",
     ("LX300", "s", None)),
    (f"int j = 0;\n#pragma omp parallel for\n{LOOP} {{ a[j] = b[i]; j++; }}",
     ("LX300", "j", "linear(j)")),
    (f"int j;\n#pragma omp parallel for\n{LOOP} for (j = 0; j < n; j++) a[i] += b[j];",
     ("LX301", "j", "private(j)")),
    (f"int j;\n#pragma omp parallel for\n{LOOP} for (j = 0; j < n; j++) a[i] += b[j];\na[j] = 0;",
     ("LX301", "j", "lastprivate(j)")),
    (f"double t = 1;\n#pragma omp parallel for private(t)\n{LOOP} a[i] = t;",
     ("LX302", "t", "firstprivate(t)")),
    (f"double t = 1;\n#pragma omp parallel for private(t)\n{LOOP} {{ a[i] = t; t = b[i]; }}",
     ("LX302", "t", None)),
    (f"double t;\n#pragma omp parallel for private(t)\n{LOOP} {{ t = b[i]; a[i] = t; }}\nb[0] = t;",
     ("LX303", "t", "lastprivate(t)")),
    ("int i;\n#pragma omp parallel for\nfor (i = 0; i < n; i++) a[i] = 1;\nb[0] = i;",
     ("LX303", "i", "lastprivate(i)")),
    (f"double t = 1;\n#pragma omp parallel for firstprivate(t)\n{LOOP} {{ a[i] = t; t = b[i]; }}",
     ("LX304", "t", None)),
    (f"double s = 1;\n#pragma omp parallel for reduction(+:s)\n{LOOP} s *= a[i];\nb[0] = s;",
     ("LX305", "s", "reduction(*:s)")),
    (f"double s = 1;\n#pragma omp parallel for reduction(+:s)\n{LOOP} {{ s += a[i]; b[i] = s; }}",
     ("LX306", "s", None)),
    (f"int j = 0;\n#pragma omp parallel for linear(j:2)\n{LOOP} {{ a[j] = b[i]; j += 3; }}",
     ("LX307", "j", "linear(j:3)")),
    (f"#pragma omp parallel for collapse(2)\n{LOOP} {{ b[i] = 0;\n"
     "for (int j = 0; j < n; j++) b[i] += a[j]; }", ("LX308", "", "no collapse")),
    (f"#pragma omp parallel for collapse(2)\n{LOOP} for (int j = 0; j < n; j++) b[i] += a[j];",
     ("LX300", "b", "#pragma omp atomic on the update")),
    ("#pragma omp simd safelen(5)\nfor (int i = 4; i < n; i++) a[i] = a[i - 4];",
     ("LX300", "a", "safelen(4)")),
    ("#pragma omp simd safelen(3)\nfor (int i = 4; i < n; i += 2) a[i] = a[i - 4];",
     ("LX300", "a", "safelen(2)")),
    ("#pragma omp parallel for simd safelen(4)\nfor (int i = 4; i < n; i++) a[i] = a[i - 4];",
     ("LX300", "a", None)),
    (f"double s = 0;\n#pragma omp parallel for\n{LOOP}\n{{\n#pragma omp critical(one)\ns += a[i];\n"
     "#pragma omp critical(two)\ns += b[i];\n}", ("LX300", "s", "reduction(+:s)")),
    (f"double s = 0;\n#pragma omp parallel for\n{LOOP}\n{{\n#pragma omp atomic\ns += a[i];\n"
     "b[i] = s; }", ("LX300", "s", None)),
    (f"double s = 0;\n#pragma omp parallel for\n{LOOP}\n{{\n#pragma omp ordered\n"
     "{ s = 0.5*s + a[i]; b[i] = s; }\n}", ("LX300", "s", None)),
    (f"double s = 0;\n#pragma omp target teams distribute parallel for\n{LOOP}\n{{\n"
     "#pragma omp critical\ns += a[i];\n}", ("LX300", "s", "reduction(+:s)")),
    (f"double t;\n#pragma omp parallel\n{{\n#pragma omp for\n{LOOP} {{ t = b[i]; a[i] = t; }}\n}}",
     ("LX300", "t", "private(t)")),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), REFUTED)
def test_refuted(body: str, expected: Told) -> None:
    found = claim(body)
    assert findings(found) == [expected]
    assert found.proven is False


OPEN = [
    (f"#pragma omp parallel for\n{LOOP} a[(int)b[i]] = i;", ["LX310"]),
    (f"#pragma omp parallel for\n{LOOP} {{ a[i] = 0; printf(\"x\"); }}", ["LX103"]),
    (f"double t = 0;\n#pragma omp parallel for private(t)\n"
     f"{LOOP} {{ if (b[i] > 0) t = b[i]; a[i] = t; }}",
     ["LX311"]),
    (f"double t = 0;\n#pragma omp parallel for private(t)\n"
     f"{LOOP} if (b[i] > 9) {{ t = b[i]; a[i] = t; }}\na[0] = t;", ["LX312"]),
    (f"double t = 0;\n#pragma omp parallel for lastprivate(t)\n{LOOP} if (i > 2*n) t += b[i];",
     ["LX311"]),
    (f"int s = 0;\n#pragma omp parallel for reduction(+:s)\n{LOOP} s += a[i];\na[0] = s;",
     ["LX311"]),
    (f"#pragma omp parallel for collapse(2)\n{LOOP} for (int j = 0; j < i; j++) a[i*n + j] = 0;",
     ["LX311"]),
    (f"#pragma omp parallel for allocate(b)\n{LOOP} a[i] = 0;", ["LX314"]),
    (f"#pragma omp parallel for\n{LOOP}\n{{\n#pragma omp task\na[i] = 0; }}", ["LX314"]),
    (f"#pragma omp single\n{{\n#pragma omp parallel for\n{LOOP} a[i] = 0; }}", ["LX314"]),
    ("#pragma omp simd safelen(3)\nfor (int i = 0; i < n; i++) a[2*i] = a[i];", ["LX310"]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), OPEN)
def test_not_proven(body: str, expected: list[str]) -> None:
    found = claim(body)
    assert (findings(found), doubts(found)) == ([], expected)
    assert found.proven is None


def test_a_subscript_outside_its_array_proves_nothing() -> None:
    found = claim(
        "#pragma omp parallel for\nfor (int i = 1; i < n; i++)\n"
        "for (int j = 0; j < n; j++) a[i][j] = a[i][j - 1];",
        "int n, double a[n][n]",
    )
    assert (findings(found), doubts(found)) == ([], ["LX315"])


def test_a_bound_that_may_exceed_the_array_is_the_users_promise() -> None:
    found = claim(
        "#pragma omp parallel for\nfor (int i = 0; i < m; i++) a[i] = 0;", "int n, int m, int a[n]"
    )
    assert found.proven is True


def test_a_claim_names_what_it_takes_for_granted() -> None:
    found = claim(f"#pragma omp parallel for\n{LOOP} a[i] = b[i];", "int n, double *a, double *b")
    assert (found.proven, found.assumes) == (True, ("a and b do not overlap",))


def test_arrays_are_not_taken_to_be_apart_where_pointers_are_changed() -> None:
    found = claim(
        f"for (int t = 0; t < 9; t++) {{\n#pragma omp parallel for\n{LOOP} a[i] = b[i + 1];\n"
        "double *k = a; a = b; b = k; }",
        "int n, double *a, double *b",
    )
    assert (found.proven, doubts(found)) == (None, ["LX310"])


def test_the_locals_of_a_function_called_from_a_region_belong_to_the_thread() -> None:
    found = claim(f"double t;\n#pragma omp for\n{LOOP} {{ t = b[i]; a[i] = t; }}")
    assert found.proven is True
    race = claim(f"double t;\n#pragma omp for simd\n{LOOP} {{ t = b[i]; a[i] = t; }}")
    assert findings(race) == [("LX300", "t", "private(t)")]


def test_a_value_passed_on_by_a_thread_depends_on_the_schedule() -> None:
    found = claim(f"double t = 0;\n#pragma omp for\n{LOOP} {{ a[i] = t; t = b[i]; }}")
    assert (findings(found), doubts(found)) == ([], ["LX311"])


def test_a_witness_gives_two_iterations_and_sizes() -> None:
    found = claim("#pragma omp parallel for\nfor (int i = 3; i < n; i++) a[i] = a[i - 3];")
    assert found.findings[0].witness == "i=3 and i=6 (n=7)"
    assert found.findings[0].loc is not None
    assert found.findings[0].loc.line == 3


def region(
    between: str, clause: str = "nowait", after: str = "#pragma omp single\nb[0] = a[7];"
) -> Claim:
    loop = f"#pragma omp for {clause}\n{LOOP} a[i] = i;"
    return claim(f"#pragma omp parallel\n{{\n{loop}\n{between}\n{after}\n}}")


def test_without_a_barrier_what_follows_races() -> None:
    found = region("")
    assert findings(found) == [("LX309", "a", "remove nowait")]
    assert found.findings[0].witness == "i=7 (n=8)"
    assert region("", clause="").proven is True
    assert region("#pragma omp barrier").proven is True
    assert region("", after="#pragma omp single\nb[0] = 1;").proven is True


def test_what_comes_before_the_loop_has_no_barrier_either() -> None:
    text = (
        "double s = 0;\n#pragma omp parallel\n{{\n#pragma omp {0}\ns = 0;\n{1}"
        "#pragma omp for reduction(+:s)\n{2} s += a[i];\n}}"
    )
    assert findings(claim(text.format("master", "", LOOP))) == [
        ("LX309", "s", "#pragma omp barrier between them")
    ]
    assert claim(text.format("master", "#pragma omp barrier\n", LOOP)).proven is True
    assert claim(text.format("single", "", LOOP)).proven is True


def test_another_loop_after_nowait_is_not_decided() -> None:
    c = (
        "void f(int n, double *restrict a, double *restrict b) {\n#pragma omp parallel\n{\n"
        f"#pragma omp for nowait\n{LOOP} a[i] = i;\n#pragma omp for\n{LOOP} b[i] = a[i];\n}}\n}}"
    )
    first, second = claims(c)
    assert (first.proven, doubts(first)) == (None, ["LX313"])
    assert (second.proven, doubts(second)) == (None, ["LX313"])
    first, second = claims(c.replace(" nowait", ""))
    assert (first.proven, second.proven) == (True, True)


def test_a_shared_counter_around_the_loop_is_seen() -> None:
    loop = f"for (t = 0; t < 9; t++) {{\n#pragma omp for\n{LOOP} a[i] = i + t;\n}}"
    shared = claim(f"int t;\n#pragma omp parallel\n{loop}")
    assert doubts(shared) == ["LX313"] * 2
    assert claim(f"int t;\n#pragma omp parallel private(t)\n{loop}").proven is True


def test_counters_of_inner_constructs() -> None:
    inner = "for (j = 0; j < n; j++) a[i*n + j] = 0;"
    outer = f"#pragma omp parallel for\n{LOOP}"
    c = f"void f(int n, double *a) {{ int j;\n{outer} {{\nPRAGMA{inner} }} }}"
    assert doubts(claims(c.replace("PRAGMA", "#pragma omp simd\n"))[0]) == ["LX310"]
    nested = claims(c.replace("PRAGMA", "#pragma omp parallel for\n"))
    assert [x.proven for x in nested] == [True, True]
    assert findings(claims(c.replace("PRAGMA", ""))[0]) == [("LX301", "j", "private(j)")]


def test_threadprivate() -> None:
    c = (
        "double t;\n{}void f(int n, double *a) {{\n#pragma omp parallel for\n"
        + LOOP
        + "{{ t = i; a[i] = t; }} }}"
    )
    assert claims(c.format("#pragma omp threadprivate(t)\n"))[0].findings == ()
    assert findings(claims(c.format(""))[0]) == [("LX300", "t", "lastprivate(t)")]


def test_the_same_names_in_json() -> None:
    found = claim(f"double t;\n#pragma omp parallel for\n{LOOP} {{ t = b[i]; a[i] = t; }}").json()
    assert list(found) == [
        "claim", "file", "line", "proven", "race_free", "findings", "doubts", "assumes",
    ]  # fmt: skip
    assert (found["claim"], found["line"], found["proven"]) == ("parallel for", 3, False)
    (finding,) = found["findings"]  # type: ignore[misc]
    assert finding == {
        "code": "LX300",
        "message": "race on 't': line 4 writes it in one iteration and reads it in another",
        "file": "<text>",
        "line": 4,
        "column": finding["column"],
        "variable": "t",
        "witness": "i=0 and i=1 (n=2)",
        "cure": "private(t)",
    }


FLAGS = """void f(int n, double *a, volatile int *done) {
#pragma omp parallel for
for (int i = 1; i < n; i++) {
#ifdef _OPENMP
  while (!done[i - 1]) ;
#endif
  a[i] = a[i - 1];
}
}
void g(int n, double *a) {
#pragma omp parallel for
for (int i = 1; i < n; i++) a[i] = a[i - 1];
}
"""


def test_text_that_only_openmp_compilers_see() -> None:
    (c,) = lx.loads(FLAGS)["f"].audit()
    assert (c.proven, doubts(c)) == (None, ["LX316"])
    assert c.doubts[0].loc is not None
    assert c.doubts[0].loc.line == 4
    (seen,) = lx.loads(FLAGS, define=["_OPENMP=201511"])["f"].audit()
    assert doubts(seen) == ["LX103"]
    (unwanted,) = lx.loads(FLAGS, undefine=["_OPENMP"])["f"].audit()
    assert [f.code for f in unwanted.findings] == ["LX300"]
    (other,) = lx.loads(FLAGS)["g"].audit()
    assert [f.code for f in other.findings] == ["LX300"]


CALLED = """static void g(int n, double *a) {
#pragma omp parallel for
for (int i = 1; i < n; i++) a[i] = a[i - 1];
}
void f(int n, double *a) { g(n, a); g(n, a + n); }
"""


def test_a_claim_is_made_where_the_function_is_defined() -> None:
    file = lx.loads(CALLED)
    assert file["f"].audit() == ()
    assert [c.proven for c in file["g"].audit()] == [False]


def test_a_limit_of_time() -> None:
    text = "void f(int n, double *restrict a, double *restrict b) {\n#pragma omp parallel for\n"
    text += "for (int i = 0; i < n; i++) a[i] = b[i]; }"
    (now,) = lx.loads(text)["f"].audit(1e-9)
    assert now.proven is None
    (later,) = lx.loads(text)["f"].audit(60)
    assert later.proven


LOCKED = """void lock(void); int printf(const char *, ...);
void f(int n, double *a) {{ int j; double t = 0;
#pragma omp parallel for
for (int i = 0; i < n; i++) {{ {} t += a[i]; for (j = 0; j < 3; j++) ; {} }}
a[0] = t; }}"""


def test_what_may_be_a_lock_keeps_threads_apart() -> None:
    (c,) = lx.loads(LOCKED.format("lock();", "lock();"))["f"].audit()
    assert c.proven is None
    (c,) = lx.loads(LOCKED.format("while (a[0] > 1) ;", ""))["f"].audit()
    assert c.proven is None
    (c,) = lx.loads("#include <stdio.h>\n" + LOCKED.format('printf("%d", i);', ""))["f"].audit()
    assert {x.code for x in c.findings} == {"LX300", "LX301"}
