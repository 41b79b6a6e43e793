"""Whole functions: what becomes of every part, what is refused, and that nothing changes."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import CORPUS, arguments, assert_same_meaning, start
from numpy import array_equal

from loopxform.api.reading import loads
from loopxform.codegen import emit
from loopxform.errors import LoopxformError
from loopxform.offload.program import Offloaded, offload
from loopxform.schedule.params import Options
from loopxform.verify.interp import Program

PROGRAMS = sorted(p.stem for p in (CORPUS / "programs").glob("*.c"))


def program(name: str) -> str:
    return (CORPUS / "programs" / f"{name}.c").read_text()


def offloaded(text: str) -> Offloaded:
    return offload(start(text)[0].start, {})


def kinds(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(p.kind, p.loops) for p in offloaded(text).parts]


SLOW = {"attention_heads"}
"""Programs of many elements, also of few iterations."""


@pytest.mark.parametrize(
    "name", [pytest.param(p, marks=[pytest.mark.slow] * (p in SLOW)) for p in PROGRAMS]
)
def test_the_program_means_the_same(name: str) -> None:
    done = offloaded(program(name))
    assert_same_meaning(done.derivation.start, done.function, (1, 3, 6))


WHOLE = """\
void f(int n, int m, float x, float a[restrict n][m], float b[restrict m], int c[restrict n])
{{
  float s = 1;
  {}
}}
"""

INTEGERS = WHOLE.replace("float s = 1", "int s = 1").replace("float", "int")
GROUPS = ("kernel", "reduce")
REDUCED: dict[str, tuple[str, list[tuple[str, ...]]]] = {
    "a-sum": ("for (int i = 0; i < n; i++) s += c[i]; c[0] = s;", [GROUPS, GROUPS]),
    "of-known-length": ("for (int i = 0; i < 900; i++) s |= c[i % 2]; c[0] = s;", [GROUPS]),
    "of-a-few": ("for (int i = 0; i < 5; i++) s |= c[i % 2]; c[0] = s;", [("one work-item",)]),
    "of-a-matrix": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) if (a[i][j] > 3) s += a[i][j]; "
        "c[0] = s;",
        [GROUPS, GROUPS],
    ),
    "of-the-columns-of-a-matrix": (
        "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) s += a[j][i]; c[0] = s;",
        [("kernel", "naive"), GROUPS, GROUPS],
    ),
    "one-after-the-other": (
        "for (int i = 0; i < 99; i++) s += c[i % 2]; int p = 1; "
        "for (int j = 0; j < 99; j++) p *= c[j % 2] + s; c[0] = p;",
        [GROUPS, GROUPS],
    ),
    "beside-a-recurrence": (
        "for (int i = 0; i < 99; i++) s += c[i % 2]; "
        "for (int j = 1; j < m; j++) b[j] = b[j - 1] * b[j - 1] + s;",
        [GROUPS, ("one work-item",)],
    ),
    "with-a-scalar-from-outside": (
        "int d; for (int i = 0; i < n; i++) { d = c[i] - x; s += d * d; } c[0] = s;",
        [GROUPS, GROUPS],
    ),
    "in-a-loop-that-bounds-it": (
        "for (int t = 0; t < n; t++) { s = 0; for (int i = 0; i < t; i++) s += c[i] * t; "
        "for (int j = 0; j < m; j++) b[j] = b[j] * 2 + s; }",
        [
            ("one work-item",),
            ("host",),
            GROUPS,
            GROUPS,
            ("kernel", "naive"),
        ],
    ),
    "few-results": (
        "for (int i = 0; i < 2; i++) { int t = 0; for (int j = 0; j < m; j++) t += a[i][j]; "
        "c[i] = t; }",
        [GROUPS],
    ),
    "to-an-element": (
        "for (int i = 0; i < n; i++) b[0] += c[i];",
        [GROUPS, GROUPS],
    ),
    "of-elements": ("for (int i = 0; i < m; i++) c[i % 2] += 1;", [("kernel", "naive")]),
    "products-of-elements": (
        "for (int i = 0; i < m; i++) c[i % 2] *= 3;",
        [("kernel", "naive")],
    ),
}


def recipes(done: Offloaded) -> list[tuple[str, ...]]:
    return [(p.kind, p.tiled.recipe) if p.tiled else (p.kind,) for p in done.parts]


@pytest.mark.parametrize("case", REDUCED)
def test_what_reductions_become(case: str) -> None:
    assert recipes(offloaded(INTEGERS.format(REDUCED[case][0]))) == REDUCED[case][1]


def test_real_numbers_are_reduced_in_another_order_only_where_that_is_allowed() -> None:
    text = WHOLE.format("for (int i = 0; i < m; i++) s += b[i]; b[0] = s;")
    fn = start(text)[0].start
    (plain,) = offload(fn, {}).parts
    assert plain.kind == "one work-item"
    assert "(allow it: --fp reassociate)" in plain.why
    assert recipes(offload(fn, {}, options=Options(reassociate=True))) == [GROUPS, GROUPS]


CASES: dict[str, tuple[str, list[tuple[str, tuple[str, ...]]]]] = {
    "interchanged": (
        "for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) a[i][j] += a[i - 1][j];",
        [("one work-item", ()), ("kernel", ("j",))],
    ),
    "distributed": (
        "for (int i = 1; i < n; i++) { a[i][0] = c[i]; b[0] += b[1] * i; }",
        [("kernel", ("i",)), ("one work-item", ()), ("one work-item", ("i_2",))],
    ),
    "a-condition-of-the-host": (
        "if (n > 3) for (int j = 0; j < m; j++) b[j] = x; "
        "for (int j = 0; j < m; j++) b[j] += a[0][j];",
        [("one work-item", ()), ("kernel", ("j",)), ("kernel", ("j_2",))],
    ),
    "a-condition-on-data": (
        "if (b[0] > 3) for (int j = 0; j < m; j++) b[j] = x; "
        "for (int j = 0; j < m; j++) b[j] += a[0][j];",
        [("one work-item", ()), ("kernel", ("j",)), ("kernel", ("j_2",))],
    ),
    "a-condition-on-a-scalar-of-the-device": (
        "s = b[0] * 2; if (s > 3) { b[1] = s; for (int j = 0; j < m; j++) a[0][j] = b[j] + x; } "
        "else for (int j = 0; j < m; j++) a[1][j] = s; b[0] = s;",
        [("one work-item", ()), ("kernel", ("j",)), ("kernel", ("j_2",)), ("one work-item", ())],
    ),
    "an-else-branch-of-the-host": (
        "if (n > 3) for (int j = 0; j < m; j++) b[j] = x; else { b[0] = x * 2; "
        "for (int j = 1; j < m; j++) b[j] += a[0][j]; b[0] += b[1]; } b[0] += 1;",
        [
            ("kernel", ("j",)),
            ("one work-item", ()),
            ("kernel", ("j_2",)),
            ("one work-item", ()),
            ("one work-item", ()),
            ("one work-item", ()),
        ],
    ),
    "else-if-in-a-loop-of-the-host": (
        "for (int t = 0; t < n; t++) { int h = t / 2; if (h * 2 == t) { s = b[0]; "
        "for (int j = 0; j < m; j++) b[j] += s * t; } else if (h > 1) { "
        "for (int j = 0; j < m; j++) { b[j] *= a[t][j]; c[t] += 1; } } else { c[0] -= 1; "
        "for (int j = 1; j < m; j++) b[j] = b[j] - b[0]; } }",
        [
            ("one work-item", ()),
            ("host", ("t",)),
            ("one work-item", ()),
            ("kernel", ("j",)),
            ("kernel", ("j_2_2_o",)),
            ("kernel", ("j_2",)),
            ("kernel", ("j_2_2_o_c",)),
            ("one work-item", ()),
            ("kernel", ("j_3",)),
        ],
    ),
    "loops-of-the-host-in-each-other": (
        "for (int k = 1; k < n; k++) { for (int i = k; i < n; i++) { "
        "for (int j = 0; j < m; j++) b[j] = b[j] * 2 + a[i][j] * s; s = b[i % m]; } s += k; }",
        [
            ("kernel", ("k",)),
            ("one work-item", ()),
            ("host", ("k",)),
            ("host", ("i",)),
            ("kernel", ("j",)),
            ("one work-item", ()),
            ("one work-item", ()),
        ],
    ),
    "a-flag-that-depends-on-data": (
        "int found = 0; for (int i = 0; i < n; i++) if (c[i] > 3 + found) found = 1; "
        "if (found) for (int j = 0; j < m; j++) b[j] = 0; for (int j = 0; j < m; j++) b[j] += 1;",
        [("one work-item", ("i",)), ("kernel", ("j",)), ("kernel", ("j_2",))],
    ),
    "bounds-that-are-data": (
        "for (int i = 0; i < c[0] % 2; i++) b[i] = x; for (int j = 0; j < m; j++) b[j] += 1;",
        [("one work-item", ()), ("one work-item", ("i",)), ("kernel", ("j",))],
    ),
    "a-loop-of-the-host-with-bounds-that-are-data": (
        "for (int k = 0; k < c[0] % 3; k++) for (int l = 1; l < n; l++) { s = b[l % m]; "
        "for (int j = 0; j < m; j++) b[j] = b[j] * 2 + a[l][j] * s; }",
        [("one work-item", ("k",))],
    ),
    "a-nest-under-a-condition-on-data": (
        "for (int k = 0; k < n; k++) { if (c[k] > 1) for (int j = 0; j < m; j++) "
        "b[j] = b[j] * 2 + a[k][j]; s = b[0] + s; } a[0][0] = s;",
        [
            ("kernel", ("k",)),
            ("one work-item", ()),
            ("host", ("k",)),
            ("one work-item", ()),
            ("kernel", ("j",)),
            ("one work-item", ()),
            ("one work-item", ()),
        ],
    ),
    "nothing-parallel": (
        "for (int i = 1; i < n; i++) c[i] = c[i - 1] / 3 + c[i];",
        [("one work-item", ("i",))],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_the_parts_become(case: str) -> None:
    text, expected = CASES[case]
    assert kinds(WHOLE.format(text)) == expected


MEANING = {
    **{case: WHOLE.format(body) for case, (body, _) in CASES.items()},
    **{case: INTEGERS.format(body) for case, (body, _) in REDUCED.items()},
}


@pytest.mark.parametrize("case", MEANING)
def test_the_parts_mean_the_same(case: str) -> None:
    done = offloaded(MEANING[case])
    for size in (3, 4, 7):
        expected = arguments(done.derivation.start, size)
        Program(done.derivation.start).run(expected)
        for order in (None, 1, 2):
            found = arguments(done.derivation.start, size)
            Program(done.function).run(found, order_seed=order)
            for name, value in expected.items():
                assert array_equal(value, found[name], equal_nan=True), (name, size, order)


def test_loops_in_the_place_of_a_call_run_in_order() -> None:
    text = (
        "static void g(int m, float *r) { for (int j = 1; j < m; j++) r[j] += r[j - 1]; }\n"
        "void f(int n, int m, float a[restrict n][m]) "
        "{ for (int i = 0; i < n; i++) g(m, a[i]); }"
    )
    done = offload(loads(text)["f"].function, {})
    assert [(p.kind, p.loops) for p in done.parts] == [("kernel", ("i",))]


def test_parameters_that_are_set_and_counters_that_are_read_again() -> None:
    """The copy of a parameter that only the host sets is the host's."""
    text = (
        WHOLE.format(
            "int i; for (i = 1; i < n; i++) c[i] = m; for (i = 0; i < m - 1; i++) b[i] += x; "
            "x = b[0] + i; m = m / 2; for (int j = 0; j < m; j++) b[j] *= x;"
        )
        .replace("float b[restrict m]", "float b[restrict 40]")
        .replace("[m]", "[40]")
    )
    done = offloaded(text)
    assert [(p.kind, p.loops) for p in done.parts if p.loops] == [
        ("kernel", (name,)) for name in ("i_3", "i_2", "j")
    ]
    plan = emit.kernel(done.derivation)
    assert {b.param.name for b in plan.temporaries} == {"x_2"}


def test_a_loop_may_count_with_a_scalar_that_is_read_before_it() -> None:
    text = WHOLE.format(
        "int i = 2; for (int j = 0; j < m; j++) { b[j] += i; b[0] -= j; } "
        "c[0] += i; for (i = 1; i < n; i++) c[i] = c[i - 1] / 2;"
    )
    done = offloaded(text)
    assert_same_meaning(done.derivation.start, done.function, (1, 3, 6))
    assert [p.loops for p in done.parts if p.kind == "one work-item"] == [(), ("j_2", "i_2")]


def test_scalars_of_the_host_stay_there() -> None:
    """What only the host sets is an argument; what a work-item computes is in memory."""
    text = WHOLE.format(
        "int w = m; for (int t = 0; t < n; t++) { w = w / 2; s = b[0]; "
        "for (int j = 0; j < w; j++) b[j] += s * t; }"
    )
    plan = emit.kernel(offloaded(text).derivation)
    assert [b.param.name for b in plan.temporaries] == ["s"]
    assert sorted({p.name for k in plan.kernels for p in k.changing}) == ["t", "w"]


REFUSED = {
    "not-modelled": "for (int i = 0; i < n; i++) b[0] = 1; unknown(b);",
    "no-loop": "a[0][0] = 1;",
    "a-global-that-kernels-set": "g = b[0]; for (int j = 0; j < m; j++) b[j] = g;",
    "counters-that-are-read-afterwards": "int i; for (i = 0; i < n; i += 2) c[i] = 1; c[0] = i; "
    "for (i = 0; i < n; i += 3) if (c[i] > 2) c[i] = 2; c[1] = i;",
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusal(case: str, golden: Golden) -> None:
    before, sources = start("float g;\n" + WHOLE.format(REFUSED[case]))
    with pytest.raises(LoopxformError) as e:
        emit.kernel(offload(before.start, {}).derivation)
    golden.check(e.value.render(sources) + "\n")


def test_two_extrema_that_one_condition_parts_have_a_remedy() -> None:
    """Which is one: the loop is a reduction then."""
    text = """void f(int n, const float a[restrict n], float out[restrict 2])
    { float max = 0, min = 1; for (int i = 1; i < n; i++) {
        if (a[i] > max) max = a[i]; else if (a[i] < min) min = a[i]; }
      out[0] = max; out[1] = min; }"""
    (part,) = loads(text)["f"].offload().parts
    assert "test for max and min apart (if in place of else if): they are extrema" in part.why
    parts = loads(text.replace("else if", "if"))["f"].offload().parts
    assert any("reduction of max (max), min (min)" in p.why for p in parts)
