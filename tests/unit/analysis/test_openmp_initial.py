"""What the variables of threads are worth when a loop begins."""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.analysis.openmp import Claim

LOOP = "for (int i = 0; i < n; i++) a[i] = t * b[i];"
REGION = f"double t = 3;\n#pragma omp parallel CLAUSE\n{{\nBEFORE\n#pragma omp for\n{LOOP}\n}}"


def claim(body: str, more: str = "") -> Claim:
    text = f"{more}\nvoid f(int n, double *restrict a, double *restrict b) {{\n{body}\n}}"
    (found,) = (c for c in lx.loads(text)["f"].audit() if c.path)
    return found


@pytest.mark.parametrize(
    ("clause", "before", "proven"),
    [
        ("private(t)", "", False),
        ("firstprivate(t)", "", True),
        ("", "", True),
        ("private(t)", "t = 2;", True),
        ("private(t)", "t += 2;", False),
        ("private(t)", "if (n > 9) t = 2;", False),
        ("private(t)", "#pragma omp single\nt = 2;", False),
    ],
)
def test_private_to_the_threads_of_a_region(clause: str, before: str, proven: bool) -> None:
    found = claim(REGION.replace("CLAUSE", clause).replace("BEFORE", before))
    assert found.proven is (True if proven else None)
    assert [d.code for d in found.doubts] == ([] if proven else ["LX311"])


def test_threadprivate_variables_are_copied_in_or_not_known() -> None:
    own = "double t;\n#pragma omp threadprivate(t)"
    assert claim(f"t = 3;\n#pragma omp parallel for\n{LOOP}", own).proven is None
    assert claim(f"t = 3;\n#pragma omp parallel for\n{LOOP}", "double t;").proven is True


def test_a_bound_that_is_private() -> None:
    loop = "for (int i = 0; i < m; i++) a[i] = b[i];"
    assert claim(f"int m = n;\n#pragma omp parallel for private(m)\n{loop}").proven is None
    assert claim(f"int m = n;\n#pragma omp parallel for firstprivate(m)\n{loop}").proven is True


def test_a_linear_pointer_that_stands_still() -> None:
    found = claim("#pragma omp simd linear(b)\nfor (int i = 0; i < n; i++) a[i] = b[0];")
    assert [d.code for d in found.doubts] == ["LX311"]


def test_an_if_of_the_target_alone_leaves_the_loop_parallel() -> None:
    text = "#pragma omp target parallel for if(WORD 0)\nfor (int i = 1; i < n; i++) a[i] = a[i-1];"
    proven = [claim(text.replace("WORD", word)).proven for word in ("target:", "parallel:", "")]
    assert proven == [False, True, True]


def test_a_simd_loop_that_is_none() -> None:
    text = "#pragma omp simd if(0)\nfor (int i = 1; i < n; i++) a[i] = a[i - 1];"
    assert claim(text).proven is True


def test_a_default_that_is_private() -> None:
    loop = "for (int i = 0; i < n; i++) { t = b[i]; a[i] = t; }"
    text = f"double t;\n#pragma omp parallel for default(WHAT)\n{loop}"
    answers = [claim(text.replace("WHAT", what)).proven for what in ("private", "shared")]
    assert answers == [None, False]


def test_a_function_that_a_region_calls_takes_it_for_granted_that_threads_agree() -> None:
    found = claim("#pragma omp for\nfor (int i = 0; i < n; i++) a[i] = b[i];")
    assert found.assumes == ("all threads call f with the same arguments",)
