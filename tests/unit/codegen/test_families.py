"""Kernels that differ in numbers or in a few lines: one text, from which macros give each of them
back."""

from __future__ import annotations

import random
import re

import pytest

import loopxform as lx
from loopxform.codegen.opencl.families import MOST_MACROS, families, named
from loopxform.codegen.opencl.forms import without_choices

KERNEL = """__kernel __attribute__((reqd_work_group_size(Tx, {a}, 1)))
void k(const int M, __global float *restrict C)
{{
  float acc[{b}][{c}];
  #pragma unroll {d}
  for (int i = 0; i < {b}; ++i)
    acc[i][{a}] = 0.5f * {b}.0f + C[i * {c} + 4] + LX_VECTOR(float4, 4, &C[{c}]);
  LX_ARRIVED({e});
}}
"""


def text(a: int, b: int, c: int, d: int = 4, e: int = 0) -> str:
    return KERNEL.format(a=a, b=b, c=c, d=d, e=e)


def expanded(text: str, macros: tuple[tuple[str, int], ...]) -> str:
    """What the preprocessor makes of it; `#pragma` is left as it is."""
    values, lines, taken = dict(macros), list[str](), [True]
    for line in text.split("\n"):
        if line.startswith("#if "):
            test = re.sub(r"LX_FORM", str(values["LX_FORM"]), line[4:])
            taken.append(bool(eval(test.replace("&&", "and").replace("||", "or"))))
        elif line == "#else":
            taken[-1] = not taken[-1]
        elif line == "#endif":
            taken.pop()
        elif all(taken):
            lines.append(line)
    text = "\n".join(lines)
    for name, value in macros:
        text = re.sub(rf"\b{name}\b", str(value), text)
    return text


def test_numbers_that_differ_alike_are_one_macro() -> None:
    texts = [text(8, 4, 6), text(16, 4, 12)]
    (family,) = families(texts, [(), ()])
    assert [dict(macros) for _, macros in family.members] == [
        {"LX_1": 8, "LX_2": 6},
        {"LX_1": 16, "LX_2": 12},
    ]
    assert [expanded(family.text, macros) for _, macros in family.members] == texts


def test_a_tile_size_has_its_name() -> None:
    texts = [text(8, 4, 6), text(16, 4, 6)]
    (family,) = families(texts, [(("Ty", 8),), (("Ty", 16),)])
    assert [macros for _, macros in family.members] == [(("Ty", 8),), (("Ty", 16),)]
    assert "reqd_work_group_size(Tx, Ty, 1)" in family.text


@pytest.mark.parametrize("other", [{"d": 8}, {"e": 1}, {"b": 5}])
def test_what_no_macro_can_stand_for_is_another_form(other: dict[str, int]) -> None:
    """Directives, what macros paste or make strings of, parts of other tokens."""
    sizes = {"a": 8, "b": 4, "c": 6}
    texts = [text(**sizes), text(**(sizes | other))]
    (family,) = families(texts, [(), ()])
    assert [dict(macros)["LX_FORM"] for _, macros in family.members] == [0, 1]
    assert [expanded(family.text, macros) for _, macros in family.members] == texts


def test_texts_with_little_in_common_stay_apart() -> None:
    body = "".join(f"  C[{n}] = %s;\n" for n in range(9))
    texts = [text(8, 4, 6) + body % ((value,) * 9) for value in ("M", "2 * M")]
    assert [f.text for f in families(texts, [(), ()])] == texts


def test_other_parameters_keep_texts_apart() -> None:
    texts = [text(8, 4, 6), text(8, 4, 6).replace("const int M", "const int N")]
    assert [f.text for f in families(texts, [(), ()])] == texts


def test_three_forms() -> None:
    rest = "".join(f"  C[{n}] = M;\n" for n in range(20))
    texts = [text(8, 4, 6) + x + rest for x in ("  a;\n", "  b;\n", "  c;\n")]
    (family,) = families(texts, [(), (), ()])
    assert [expanded(family.text, macros) for _, macros in family.members] == texts


def test_a_tile_size_and_a_number_are_one_macro() -> None:
    texts = [text(8, 4, 6).replace("+ 4]", f"+ {x}]") for x in ("Ty", "7")]
    (family,) = families(texts, [(("Ty", 16),), (("Ty", 16),)])
    assert [dict(macros)["LX_1"] for _, macros in family.members] == [16, 7]


def test_a_macro_that_chooses_stands_only_where_there_is_a_choice() -> None:
    test = "  LX_IF({}, n < {}) {{\n    C[LX_OFFSET({})n] = 0;\n  }}\n"
    texts = [
        text(8, 4, 6) + test.format(0, 1, 1) + test.format(x, y, x) for x, y in ((0, 1), (1, 2))
    ]
    (family,) = families(texts, [(), ()])
    assert (
        "  C[(ptrdiff_t)n] = 0;\n  LX_IF(LX_1, n < LX_2) {\n    C[LX_OFFSET(LX_1)n] = 0;\n  }\n"
        in (family.text)
    )


def test_a_brace_that_forms_share_stays() -> None:
    lines = ["#if LX_FORM == 0", "LX_IF(0, n < 1) {", "#else", "a {", "#endif", "  b;", "}"]
    assert without_choices(lines) == lines
    assert without_choices(["LX_IF(0, n < 1) {", "  b;", "#if x", "  c;", "#endif", "}"]) == [
        *("b;", "#if x", "c;", "#endif")
    ]


@pytest.mark.parametrize(
    ("one", "other"), [("010", "020"), ("1e+5", "1e+6"), ("'1'", "'2'"), ("1.0e-05", "1.0e-06")]
)
def test_parts_of_tokens_are_no_numbers(one: str, other: str) -> None:
    texts = [text(8, 4, 6).replace("+ 4]", f"+ {x}]") for x in (one, other)]
    (family,) = families(texts, [(), ()])
    assert [expanded(family.text, macros) for _, macros in family.members] == texts


def test_a_text_has_no_more_macros_than_it_may() -> None:
    head = text(8, 4, 6)
    many = "".join(f"  x[{n}] = %d;\n" for n in range(MOST_MACROS + 1))
    texts = [head + many % tuple(range(k, k + MOST_MACROS + 1)) for k in (1000, 5000)]
    assert len(families(texts, [(), ()])) == 2


@pytest.mark.parametrize("seed", range(20))
def test_every_member_is_given_back(seed: int) -> None:
    rng = random.Random(seed)
    texts = [text(*(rng.choice([2, 4, 8]) for _ in range(3)), rng.choice([1, 2])) for _ in range(9)]
    made = families(texts, [()] * len(texts))
    back = {n: expanded(f.text, macros) for f in made for n, macros in f.members}
    assert [back[n] for n in range(len(texts))] == texts, seed
    assert len(made) < len(texts)


def test_a_program_of_many_kernels_stays_short() -> None:
    """In lines of its OpenCL C, and in what its C has beyond that of a program of one kernel."""
    copy = "void f(int n, int *restrict b, int *a) { for (int i = 0; i < n; i++) b[i] = a[i]; }"
    one = lx.loads(copy)["f"].tile(limits="h100").opencl
    many = lx.load("corpus/mm.c")["mm"].tile(limits="h100").opencl
    lines = {kind: len(many.files[f"mm{kind}"].splitlines()) for kind in (".cl", "_opencl.c")}
    lines["runtime"] = max(len(text.splitlines()) for text in one.files.values())
    assert lines[".cl"] <= 1350, lines
    assert lines["_opencl.c"] <= lines["runtime"] + 350, lines


def test_a_kernel_with_another_name() -> None:
    head = named(text(8, 4, 6), "lx_other").splitlines()
    assert head[1] == "void lx_other(const int M, __global float *restrict C)"
    long = "lx_" + "o" * 60
    rows = [f"void {long}(const int M,", f"{' ' * 69}__global float *restrict C)"]
    assert named(text(8, 4, 6), long).splitlines()[1:3] == rows
    assert named(named(text(8, 4, 6), "lx_other"), "k") == text(8, 4, 6)
