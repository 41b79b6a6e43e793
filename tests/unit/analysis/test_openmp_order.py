"""Critical sections and atomics: no race, and the result of the loop in order only where the
updates commute."""

from __future__ import annotations

import time

import pytest

import loopxform as lx

LOOP = "for (int i = 0; i < n; i++)"

COMMUTE = [
    "#pragma omp atomic\ns += a[i];",
    "#pragma omp critical\n{ s -= a[i]; s += 3; }",
    "#pragma omp critical\nif (a[i] > s) s = a[i];",
    "if (a[i] > 3) {\n#pragma omp atomic write\ns = 1;\n}",
    "#pragma omp atomic\nb[a[i]] += 2;",
    "#pragma omp atomic\ns = a[i] ^ s;",
]

IN_ANY_ORDER = [
    # The last one wins, and updates may be lost between a read and a write.
    "#pragma omp atomic write\ns = a[i];",
    "int v;\n#pragma omp atomic read\nv = s;\n#pragma omp atomic write\ns = v + a[i];",
    "int v;\n#pragma omp critical\nv = s;\n#pragma omp critical\ns = v + a[i];",
    # Two operators, a condition on the value, a value that is seen.
    "#pragma omp atomic\ns += a[i];\n#pragma omp atomic\ns *= 2;",
    "#pragma omp critical\n{ s += a[i]; if (s > 9) s = 9; }",
    "#pragma omp critical\n{ b[i] = s; s += a[i]; }",
    "int v;\n#pragma omp atomic capture\n{ v = s; s += 1; }\nb[i] = v;",
    "#pragma omp critical\nif (a[i] > s) { s = a[i]; k = i; }",
    "#pragma omp critical\ns = 0.5 * i + s;",
]


@pytest.mark.parametrize("body", COMMUTE)
def test_what_commutes_is_proven(body: str) -> None:
    assert _claim(body) == (True, True, set())


@pytest.mark.parametrize("body", IN_ANY_ORDER)
def test_what_does_not_is_race_free(body: str) -> None:
    assert _claim(body) == (None, True, {"LX317"})


def test_atomics_of_the_object_and_no_other() -> None:
    assert _claim("#pragma omp atomic\ns += s;") == (False, False, {"LX300"})
    assert _claim("b[i] = s;\n#pragma omp atomic\ns += 1;") == (False, False, {"LX300"})
    compared = "#pragma omp atomic compare\nif (s < a[i]) { s = a[i]; }"
    assert _claim(compared) == (None, None, {"LX310", "LX314"})


def test_the_ordered_region_of_a_simd_loop() -> None:
    body = "#pragma omp ordered simd\n{ s = 2 * s + a[i]; b[i] = s; }"
    assert _claim(body, "simd") == (True, True, set())
    assert _claim(body.replace(" simd", ""), "parallel for") == (False, False, {"LX300"})


def test_one_ordered_region_in_each_iteration() -> None:
    nest = (
        "#pragma omp parallel for ordered CLAUSE\nfor (int i = 0; i < n; i++)\n"
        "for (int j = 0; j < n; j++) {\n#pragma omp ordered\na[j] = 2 * a[j] + i;\n}"
    )
    for clause, proven in (("collapse(2)", True), ("", None)):
        text = nest.replace("CLAUSE", clause)
        (c,) = lx.loads(f"void f(int n, int *a) {{\n{text}\n}}")["f"].audit()
        assert c.proven is proven


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("b[0] += b[i + 1];", (True, True, set())),
        ("b[i % 2] -= b[i + 2] * a[i];", (True, True, set())),
        ("b[0] += b[1];", (True, True, set())),
        ("b[0] += b[i];", (False, False, {"LX300"})),
        ("b[i] += b[n];\n#pragma omp atomic write\nb[n] = 3;", (False, False, {"LX300"})),
        ("b[0] += b[i + 1];\n#pragma omp atomic write\nb[0] = 3;", (None, True, {"LX317"})),
    ],
)
def test_other_elements_that_an_atomic_reads(
    body: str, answer: tuple[bool | None, bool | None, set[str]]
) -> None:
    text = f"#pragma omp parallel for\n{LOOP} {{\n#pragma omp atomic\n{body}\n}}"
    (c,) = lx.loads(f"void f(int n, int *restrict a, int *restrict b) {{\n{text}\n}}")["f"].audit()
    assert (c.proven, c.race_free, {x.code for x in (*c.findings, *c.doubts)}) == answer


def test_the_witness_is_what_no_atomic_protects() -> None:
    (c,) = lx.loads(
        f"void f(int n, int *restrict b) {{\n#pragma omp parallel for\n{LOOP} {{\n"
        "#pragma omp atomic\nb[0] += b[7];\n#pragma omp atomic\nb[7] += 2;\n} }"
    )["f"].audit()
    assert [f.message for f in c.findings] == [
        "race on 'b': line 7 writes it in one iteration, line 5 reads it in another"
    ]


@pytest.mark.parametrize(
    ("body", "free"),
    [
        ("#pragma omp critical\nb[0] += 1;\n#pragma omp critical\nb[0] += 1;", True),
        ("#pragma omp critical\n{ b[0] += 1; b[0] += 1; }\nb[i + 1] = 1;", True),
        ("#pragma omp critical\nb[0] += 1;\nb[0] += 1;", False),
        ("b[0] += 1;\n#pragma omp critical\nb[0] += 1;", False),
        ("#pragma omp critical(x)\nb[0] += 1;\n#pragma omp critical(y)\nb[0] += 1;", False),
        ("#pragma omp atomic\nb[0] += 1;\n#pragma omp atomic\nb[0] += 1;", True),
        ("#pragma omp atomic\nb[0] += 1;\nb[0] += 1;", False),
        ("#pragma omp critical\n{\n#pragma omp atomic\nb[0] += 1;\n}\nb[0] += 1;", False),
    ],
)
def test_statements_that_do_the_same_under_other_directives(body: str, free: bool) -> None:
    """What is said of one of several statements alike is not said of those that are protected
    otherwise."""
    assert _claim(body)[1] is free


def test_many_statements_in_a_loop_are_audited_in_a_second() -> None:
    body = "".join(f"k = b[i + {k}]; s += k * {k};\n" for k in range(150))
    began = time.process_time()
    assert _claim(body)[1] is False
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    ("body", "proven"),
    [
        ("a[i + 1] = 2 * i;\n#pragma omp ordered\na[i + 1] += a[i];", True),
        ("b[i] = a[i + 2];\n#pragma omp ordered\nb[i] += 1;\na[i] = i;", True),
        (
            "a[i] = i;\n#pragma omp ordered\n{ b[i] = i; b[i] += 1; }\nif (i) b[i] += a[i - 1];",
            True,
        ),
        # Behind its region, or before that of the later iteration, nothing waits.
        ("#pragma omp ordered\nb[i] = 1;\na[i + 1] = a[i];", False),
        ("b[i] = a[i];\n#pragma omp ordered\na[i + 1] = i;", False),
        # An iteration that does not come to its region holds up nobody.
        ("a[i + 1] = i;\nif (b[i]) {\n#pragma omp ordered\nb[i] = a[i];\n}", None),
    ],
)
def test_what_ordered_regions_keep_apart(body: str, proven: bool | None) -> None:
    text = f"#pragma omp parallel for ordered\n{LOOP} {{\n{body}\n}}"
    (c,) = lx.loads(f"void f(int n, int *restrict a, int *restrict b) {{\n{text}\n}}")["f"].audit()
    assert c.proven is proven


def _claim(body: str, words: str = "parallel for") -> tuple[bool | None, bool | None, set[str]]:
    """Whether it is proven, whether it is race-free, and the codes of what is said."""
    text = f"int s = 0, k = 0;\n#pragma omp {words}\n{LOOP} {{\n{body}\n}}\nb[0] = s + k;"
    (c,) = lx.loads(f"void f(int n, int *restrict a, int *restrict b) {{\n{text}\n}}")["f"].audit()
    return c.proven, c.race_free, {x.code for x in (*c.findings, *c.doubts)}
