"""What inner constructs give back at their end is written to the variable of the outer loop."""

from __future__ import annotations

import pytest

import loopxform as lx

INNER = "for (int j = 0; j < 8; j++)"

GIVEN_BACK = [
    f"#pragma omp simd reduction(+:t)\n{INNER} t += a[8*i + j];",
    f"#pragma omp simd lastprivate(t)\n{INNER} t = a[8*i + j];",
    f"#pragma omp simd linear(t)\n{INNER} t += 1;",
    f"#pragma omp parallel for reduction(+:t)\n{INNER} t += a[8*i + j];",
    "#pragma omp simd lastprivate(k)\nfor (k = 0; k < 8; k++) b[8*i + k] = 1;",
]

OWN = [
    f"#pragma omp simd private(t)\n{INNER} {{ t = a[8*i + j]; b[8*i + j] = t; }}",
    f"#pragma omp simd private(t)\n{INNER} {{ t = a[8*i + j]; b[8*i + j] = t; }}\n"
    f"#pragma omp simd private(t)\n{INNER} {{ t = a[8*i + j]; c[8*i + j] = t; }}",
    f"float t = 0;\n#pragma omp simd reduction(+:t)\n{INNER} t += a[8*i + j];\nb[i] = t;",
]


def claim(body: str) -> bool | None:
    """Whether the outer loop is proven; False where it is wrong."""
    text = f"""void f(int n, const float *restrict a, float *restrict b, float *restrict c) {{
  float t = 0; int k;
  #pragma omp parallel for
  for (int i = 0; i < n; i++) {{
{body}
  }}
}}"""
    return lx.loads(text)["f"].audit()[0].proven


@pytest.mark.parametrize("body", GIVEN_BACK)
def test_it_is_not_proven(body: str) -> None:
    assert claim(body) is not True


@pytest.mark.parametrize("body", OWN)
def test_variables_of_its_own_are_none(body: str) -> None:
    assert claim(body) is True
