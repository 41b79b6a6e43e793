"""Directives that are no loop of a claim: each is named, none is passed over in silence."""

from __future__ import annotations

import json

import pytest

import loopxform as lx
from loopxform.cli import main

LOOP = "for (int i = 0; i < n; i++) a[i] = i;"
SHARED = f"#pragma omp for\n{LOOP}"

NAMED = [
    (f"#pragma omp taskloop\n{LOOP}", ["taskloop"]),
    (f"#pragma omp parallel\n#pragma omp single\n#pragma omp taskloop simd\n{LOOP}",
     ["parallel", "single", "taskloop simd"]),
    ("#pragma omp parallel sections\n{\n#pragma omp section\na[0] = 1;\n#pragma omp section\n"
     "a[1] = 1;\n}", ["parallel sections"]),
    ("#pragma omp task\na[0] = 1;\n#pragma omp taskwait", ["task"]),
    (f"#pragma omp loop\n{LOOP}", ["loop"]),
    (f"#pragma omp parallel\n{LOOP}", ["parallel"]),
    (f"#pragma omp parallel\n{{\n{SHARED}\na[0] = 2; }}", ["parallel"]),
    (f"#pragma omp parallel\n{{\n{SHARED}\n#pragma omp master\na[0] = 2;\n}}",
     ["parallel", "master"]),
    ("#pragma omp critical\na[0] = 1;\n#pragma omp flush", ["critical", "flush"]),
    (f"#pragma omp unroll\n{LOOP}", ["unroll"]),
    (f"int t = 3;\n#pragma omp parallel private(t)\n{{ t = 2 * n;\n{SHARED}\n}}\na[0] = t;",
     ["parallel private(t)"]),
    # Accounted for: loops, what is in them, and regions of nothing else.
    (f"#pragma omp parallel\n{{\n{SHARED}\n#pragma omp barrier\n{SHARED}\n}}", []),
    (f"#pragma omp parallel\n{{ int t;\nt = 2 * n;\n{SHARED}\n}}", []),
    (f"int t = 3;\n#pragma omp parallel private(t)\n{{ t = 2 * n;\n{SHARED}\n}}", []),
    (f"#pragma omp target data map(tofrom: a[0:n])\n{{\n#pragma omp target teams distribute "
     f"parallel for\n{LOOP}\n}}", []),
    ("#pragma omp parallel for\nfor (int i = 0; i < n; i++) {\n#pragma omp critical\na[0] += i;\n}",
     []),
]  # fmt: skip


@pytest.mark.parametrize(("body", "words"), NAMED)
def test_every_directive_is_accounted_for(body: str, words: list[str]) -> None:
    claims = lx.loads(f"void f(int n, double *a) {{\n{body}\n}}")["f"].audit()
    others = [c for c in claims if not c.path]
    assert [c.text for c in others] == words
    assert all((c.proven, c.race_free) == (None, None) for c in others)
    assert all([d.code for d in c.doubts] == ["LX314"] for c in others)


def test_directives_of_a_function_that_is_inlined_are_named_there() -> None:
    file = lx.loads(
        "static void g(double *a) {\n#pragma omp critical\na[0] = 1;\n}\n"
        "void f(int n, double *a) { g(a); for (int i = 0; i < n; i++) a[i] = 0; }"
    )
    assert [len(file[name].audit()) for name in "fg"] == [0, 1]


def test_they_are_shown(tmp_path: object, capsys: pytest.CaptureFixture[str]) -> None:
    path = f"{tmp_path}/s.c"
    with open(path, "w") as f:
        f.write(f"void f(int n, double *a) {{\n#pragma omp taskloop\n{LOOP}\n}}\n")
    assert main(["check", path]) == 0
    out = capsys.readouterr().out
    assert "    omp taskloop (line 2): not proven\n      'taskloop' is not modelled" in out
    assert main(["check", path, "--format", "json"]) == 0
    (function,) = json.loads(capsys.readouterr().out)["functions"]
    assert [(c["claim"], c["line"], c["proven"]) for c in function["openmp"]] == [
        ("taskloop", 2, None)
    ]


NOT_MODELLED = [
    # A reduction that the program declares, a scan, a scalar that a target construct copies.
    ("reduction(mine: s)", "s += a[i];", "LX314"),
    (
        "reduction(inscan, +: s)",
        "{ s += a[i];\n#pragma omp scan inclusive(s)\na[i] = s; }",
        "LX314",
    ),
    ("", "{\n#pragma omp atomic\ns += 1;\n}", "LX312"),
]


@pytest.mark.parametrize(("clause", "body", "code"), NOT_MODELLED)
def test_not_refuted_where_it_is_not_modelled(clause: str, body: str, code: str) -> None:
    words = "target teams distribute parallel for" if code == "LX312" else "parallel for"
    text = f"double s = 0;\n#pragma omp {words} {clause}\nfor (int i = 0; i < n; i++) {body}"
    (c,) = lx.loads(f"void f(int n, double *a) {{\n{text}\na[0] = s; }}")["f"].audit()
    assert (c.findings, code in [d.code for d in c.doubts]) == ((), True)
