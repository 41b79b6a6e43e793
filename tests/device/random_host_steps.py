"""Random loops of the host around small nests, with a fixed seed each.

Bounds are triangles, halves, single elements; scalars are set from data between nests, summed up in
one iteration and read in the next; updates are in place; loops count by two, from where a parameter
says, backwards, around others, and end where data say so.
"""

from __future__ import annotations

import random

HEAD = (
    "int n, int m, int p, double A[restrict n][m], double b[restrict n + 1], int c[restrict n + 1]"
)

NESTS = [
    "A[k][k] = sqrt(fabs(A[k][k])) + 1;",
    "for (int i = k + 1; i < n; i++) A[i][k] /= A[k][k] + 2;",
    "for (int j = k; j < n; j++) A[k][j] = A[k][j] * 0.5 + b[k];",
    "for (int j = 0; j <= k; j++) A[k][j] += s;",
    "for (int i = k + 1; i < n; i++) for (int j = k + 1; j <= i; j++) "
    "A[i][j] -= A[i][k] * A[j][k];",
    "for (int i = k + 1; i < n; i++) for (int j = k + 1; j < n; j++) A[i][j] -= A[i][k] * A[k][j];",
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) "
    "A[i][j] = A[i][j] < A[i][k] + A[k][j] ? A[i][j] : A[i][k] + A[k][j];",
    "for (int i = 0; i < k; i++) b[i] += A[i][k] * b[k];",
    "for (int i = k + 1; i < n; i++) b[i] -= A[i][k] * b[k];",
    "for (int i = 0; i < n; i++) b[i] = b[i] * 0.5 + A[k][i];",
    "for (int i = n - 1; i > k; i--) b[i] += 0.25 * s;",
    "for (int i = k; i < n; i += 2) b[i] += 1;",
    "for (int i = 0; i < n / 2; i++) b[i] += A[n - 1 - i][k];",
    "for (int i = 0; i < n; i++) c[i] = c[i] * 3 + k;",
    "b[k] /= A[k][k] + 3;",
    "s = s * 0.25 + A[k][k];",
    "b[k] += s;",
    "q = (q + c[k]) & 3;",
    "c[k] = q;",
    "for (int i = 0; i < q; i++) if (i < n) b[i] += 2;",
    "s = b[k] > 1 ? 1 : s * 0.5;",
    "if (s > 1) s = s * 0.5;",
    "{ double r = 0; for (int i = 0; i < n; i++) r += A[i][k]; s = s * 0.5 + r / (n + 1); }",
    "{ double r = 0; for (int i = 0; i < k; i++) r += A[k][i] * b[i]; b[k] = (b[k] - r) / 3; }",
    "for (int i = k + 1; i < n; i++) { double r = 0; for (int j = 0; j < k; j++) "
    "r += A[i][j] * A[k][j]; A[i][k] -= r; }",
    "for (int j = 1; j < n; j++) A[k][j] += A[k][j - 1] * 0.5;",
    "for (int i = 0; i < n; i++) { double w[2]; w[0] = b[i]; w[1] = s; b[i] = w[k & 1]; }",
    "if (b[k] > 40) break;",
    "if (k & 1) for (int i = 0; i < n; i++) b[i] += 1;",
]
"""What iterations hold. Sizes are n = m."""

LOOPS = [
    "for (int k = 0; k < n; k++)",
    "for (int k = 1; k < n - 1; k++)",
    "for (int k = p; k < n; k++)",
    "for (int k = 0; k < n; k += 2)",
    "for (int k = n - 1; k >= 0; k--)",
    "for (int t = 0; t < 2; t++) for (int k = 0; k < n; k++)",
    "for (int t = 0; t < p + 1; t++) for (int k = t; k < n; k++)",
]


def random_steps(seed: int) -> str:
    """The body of a function of `HEAD`."""
    rng = random.Random(seed)
    body = " ".join(rng.sample(NESTS, rng.randint(2, 6)))
    before, after = (rng.choice(["", "b[0] += 1;", "s = s + 1;"]) for _ in range(2))
    loop = rng.choice(LOOPS)
    if "break" in body and loop.count("for") > 1:
        loop = LOOPS[0]
    return f"double s = 1; int q = 1; {before} {loop} {{ {body} }} {after} b[n] += s + q;"
