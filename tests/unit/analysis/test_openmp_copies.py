"""What clauses copy: a pointer without what it points to, a struct with all of its members."""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.analysis.openmp import Claim

HEAD = """struct part { int x; double t[4]; double *far; };
double *mine, *ours;
#pragma omp threadprivate(mine)
"""
LOOP = "for (int i = 0; i < n; i++)"


def claims(body: str, params: str) -> tuple[Claim, ...]:
    return lx.loads(f"{HEAD}void f(int n, {params}) {{\n{body}\n}}")["f"].audit()


def answer(c: Claim) -> tuple[bool | None, list[str]]:
    return c.proven, [x.code for x in (*c.findings, *c.doubts)]


ANSWERS = [
    # What a copied pointer points to is shared.
    ("int *restrict q, int *restrict a", "firstprivate(q)", "{ *q = 2 * i; a[i] = *q; }", "LX300"),
    ("int q[9], int *restrict a", "firstprivate(q)", "{ q[1] = 2 * i; a[i] = q[1]; }", "LX300"),
    ("int (*q)[9], int *restrict a", "firstprivate(q)", "{ q[1][2] = i; a[i] = q[1][2]; }",
     "LX300"),
    ("struct part *q, int *restrict a", "firstprivate(q)", "{ q->x = i; a[i] = q->x; }", "LX300"),
    ("struct part q, int *restrict a", "firstprivate(q)", "{ q.far[0] = i; a[i] = q.far[0]; }",
     "LX300"),
    ("int *restrict a", "firstprivate(ours)", "{ ours[0] = i; a[i] = ours[0]; }", "LX300"),
    ("int *restrict q", "firstprivate(q)", "q[i] = i;", ""),
    # A private pointer points nowhere until it is set.
    ("int *restrict q", "private(q)", "q[i] = i;", "LX302"),
    ("int q[9]", "private(q)", "q[i] = i;", "LX302"),
    ("int *restrict q", "firstprivate(q) lastprivate(q)", "q[i] = i;", ""),
    # A struct is copied with everything in it.
    ("struct part q, int *restrict a", "firstprivate(q)", "{ q.x += i; q.x = i; a[i] = q.x; }",
     "LX304"),
    ("struct part q, int *restrict a", "firstprivate(q)", "{ q.x = i; a[i] = q.x; }", ""),
    ("struct part q, double *restrict a", "private(q)", "{ q.t[1] = i; a[i] = q.t[1]; }", ""),
    ("struct part q, double *restrict a", "private(q)", "a[i] = q.x;", "LX302"),
    # The section of an array is copied, and nothing else of it.
    ("int *restrict h", "reduction(+:h[0:8])", "h[i % 8] += i;", ""),
    ("int *restrict h", "reduction(+:h[:n])", "h[i] += 1;", ""),
    ("int *restrict h", "reduction(+:h[0:4])", "h[i % 8] += i;", "LX311"),
    ("int *restrict h", "reduction(+:h[1:n])", "h[i] += 1;", "LX311"),
    # Each thread may have set its own pointer to other memory.
    ("double *restrict a", "", "mine[i] = a[i];", "LX311"),
]  # fmt: skip


@pytest.mark.parametrize(("params", "clause", "body", "code"), ANSWERS)
def test_what_is_copied(params: str, clause: str, body: str, code: str) -> None:
    (c,) = claims(f"#pragma omp parallel for {clause}\n{LOOP} {body}", params)
    doubtful = code == "LX311"
    assert answer(c) == ((None if doubtful else not code), [code] if code else [])


def test_a_copy_in_an_inner_or_an_outer_construct() -> None:
    body = f"#pragma omp parallel firstprivate(q)\n{{\n#pragma omp for\n{LOOP} q[0] = i;\n}}"
    assert [answer(c) for c in claims(body, "int *q")] == [(False, ["LX300"])]
    body = (
        f"#pragma omp parallel for\n{LOOP} {{\n#pragma omp parallel for firstprivate(q)\n"
        "for (int j = 0; j < n; j++) q[j] = i; }"
    )
    assert [answer(c) for c in claims(body, "int *q")] == [(False, ["LX300"]), (True, [])]


def test_the_cure_of_a_member_is_its_struct() -> None:
    (c,) = claims(
        f"struct part s;\n#pragma omp parallel for\n{LOOP} {{ s.x = i; a[i] = s.x; }}",
        "int *restrict a",
    )
    assert [f.cure for f in c.findings] == ["firstprivate(s)"]


POINTER = "double *p;\n#pragma omp parallel{}\n{{ {}\n#pragma omp for{}\n{} {{ {} *p = i; }} }}"


@pytest.mark.parametrize(
    ("region", "first", "clause", "body", "expected"),
    [
        ("", "", "", "p = a + i;", (False, ["LX300"])),
        ("", "", " private(p)", "p = a + i;", (True, [])),
        (" private(p)", "", "", "p = a + i;", (True, [])),
        ("", "double *p;", "", "p = a + i;", (True, [])),
        ("", "", "", "double *p; p = a + i;", (True, [])),
        ("", "p = a;", "", "if (i == 3)", (None, ["LX313"])),
        (" private(p)", "p = a;", "", "if (i == 3)", (True, [])),
        (" private(p)", "\n#pragma omp single\np = a;", "", "if (i == 3)", (None, ["LX311"])),
    ],
)
def test_a_pointer_that_is_another_name_for_an_array(
    region: str, first: str, clause: str, body: str, expected: tuple[bool | None, list[str]]
) -> None:
    found = claims(POINTER.format(region, first, clause, LOOP, body), "double *a")
    (c,) = (c for c in found if c.path)
    assert answer(c) == expected
    assert [f.cure for f in c.findings] == ["private(p)"] * len(c.findings)


def test_no_clause_cures_a_race_through_another_name() -> None:
    text = f"double w[9], *q = w;\n#pragma omp parallel for\n{LOOP} {{ q[0] = i; a[i] = q[0]; }}"
    (c,) = claims(text, "double *restrict a")
    assert [(f.code, f.variable, f.cure) for f in c.findings] == [("LX300", "w", None)]
    (c,) = claims(text.replace(", *q = w", "").replace("q[0]", "w[0]"), "double *restrict a")
    assert [(f.code, f.variable, f.cure) for f in c.findings] == [("LX300", "w", "private(w)")]


def test_a_last_value_that_nothing_writes() -> None:
    text = f"double s = 5;\n#pragma omp parallel for CLAUSE\n{LOOP} a[i] = i;\na[0] = s;"
    (c,) = claims(text.replace("CLAUSE", "lastprivate(s)"), "double *a")
    assert answer(c) == (None, ["LX312"])
    (c,) = claims(text.replace("CLAUSE", "firstprivate(s) lastprivate(s)"), "double *a")
    assert answer(c) == (True, [])


def test_counters_have_last_values() -> None:
    text = (
        "int i, j;\n#pragma omp parallel for lastprivate(i, j)\n"
        "for (i = 0; i < n; i++) for (j = 0; j < 3; j++) a[4*i + j] = 1;\na[0] = i + j;"
    )
    (c,) = claims(text, "double *a")
    assert answer(c) == (True, [])


def test_a_sum_of_the_thread_is_lost_after_the_region() -> None:
    text = (
        "double s = 0;\n#pragma omp parallel CLAUSE\n{\n#pragma omp for\n"
        f"{LOOP} s += a[i];\n}}\na[0] = s;"
    )
    (c,) = claims(text.replace("CLAUSE", "firstprivate(s)"), "double *a")
    assert answer(c) == (None, ["LX311"])
    (c,) = claims(text.replace("CLAUSE", "reduction(+:s)"), "double *a")
    assert answer(c) == (True, [])


def test_the_counter_of_an_inner_loop_is_lost_after_the_region() -> None:
    text = (
        "int j = 2;\n#pragma omp parallel private(j)\n{\n#pragma omp for\n"
        f"{LOOP} for (j = 0; j < 3; j++) a[4*i + j] = 1;\n}}\n"
    )
    (c,) = claims(text + "a[0] = j;", "double *a")
    assert answer(c) == (None, ["LX311"])
    (c,) = claims(text, "double *a")
    assert answer(c) == (True, [])


def test_counters_of_ordered_loops_are_private() -> None:
    (c,) = claims(
        "int i, j;\n#pragma omp parallel for ordered(2)\nfor (i = 1; i < n; i++)\n"
        "for (j = 1; j < n; j++) {\n#pragma omp ordered depend(sink: i - 1, j)\n"
        "a[i][j] = a[i - 1][j] + 1;\n#pragma omp ordered depend(source)\n}",
        "double a[n][n]",
    )
    assert answer(c) == (None, ["LX310"])


@pytest.mark.parametrize(
    ("pointer", "clause"),
    [
        ("double *q = w;", "private(w)"),
        ("double *q = w + 2;", "firstprivate(w)"),
        ("double *q; q = &w[1];", "private(w)"),
        ("double *r = w, *q = r + 1;", "firstprivate(w)"),
        ("double *q = w; q[0] = 1; q = w + 3;", "private(w)"),
        ("double *q = w;", "reduction(+: w)"),
    ],
)
def test_a_pointer_to_the_original_of_a_copy(pointer: str, clause: str) -> None:
    body = "{ for (int j = 0; j < 9; j++) w[j] = i;\na[i] = q[1]; }"
    text = f"double w[9] = {{0}};\n{pointer}\n#pragma omp parallel for {clause}\n{LOOP} {body}"
    (c,) = claims(text, "double *restrict a")
    assert c.proven is None
    assert "LX310" in {d.code for d in c.doubts}
    region = text.replace(f"parallel for {clause}", f"parallel {clause}\n#pragma omp for")
    assert claims(region, "double *restrict a")[0].proven is None


def test_a_pointer_to_a_row_of_a_copy() -> None:
    text = f"double w[3][9], (*q)[9] = w;\n#pragma omp parallel for private(w)\n{LOOP} q[1][2] = i;"
    (c,) = claims(text, "double *a")
    assert answer(c) == (None, ["LX310"])


@pytest.mark.parametrize(
    ("before", "inside"), [("", "double *q = w;"), ("double *q = b; w[0] = 1;", "")]
)
def test_a_pointer_to_a_copy_or_to_another_array(before: str, inside: str) -> None:
    body = f"{{ {inside} for (int j = 0; j < 9; j++) w[j] = i;\na[i] = w[1] + q[2]; }}"
    text = f"double w[9];\n{before}\n#pragma omp parallel for private(w)\n{LOOP} {body}"
    (c,) = claims(text, "double *restrict a, double *restrict b")
    assert answer(c) == (True, [])


def test_a_value_that_is_lost_behind_a_pointer() -> None:
    text = (
        f"double w[2], *q = w;\n#pragma omp parallel for private(w)\n{LOOP} w[1] = i;\na[0] = q[1];"
    )
    (c,) = claims(text, "double *restrict a")
    assert answer(c) == (None, ["LX312"])
