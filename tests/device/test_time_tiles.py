"""Stencils in time on a device: results as those of the C program, to the last bit, and no finding
in the simulator: no race, no access out of bounds, nothing read that was never set."""

from __future__ import annotations

from functools import cache

import pytest
from harness import assert_runs_agree, simulate_all

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.interp import Program

INNER = "for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)"
WHOLE = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
CUBE = (
    "for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++) for (int k = 0; k < 40; k++)"
)
TEXTS = {
    "two_arrays": f"""void f(int T, int n, int m, double A[n][m], double B[n][m]) {{
      for (int t = 0; t < T; t++) {{
        {INNER} B[i][j] = 0.25 * (A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j]);
        {INNER} A[i][j] = 0.5 * (B[i - 1][j - 1] + B[i + 1][j + 1]); }} }}""",
    "planes": f"""void f(int T, int n, int m, float A[3][n][m]) {{
      for (int t = 1; t <= T; t++) {INNER}
        A[(t + 1) % 3][i][j] = 0.5f * (A[t % 3][i][j - 1] - A[(t + 2) % 3][i + 1][j]); }}""",
    "fields": """void f(int T, int n, int m, double E[n][m], double F[n][m], double H[n][m]) {
      for (int t = 0; t < T; t++) {
        for (int j = 0; j < m; j++) F[0][j] = t;
        for (int i = 1; i < n; i++) for (int j = 0; j < m; j++)
          F[i][j] = F[i][j] - 0.5 * (H[i][j] - H[i - 1][j]);
        for (int i = 0; i < n; i++) for (int j = 1; j < m; j++)
          E[i][j] = E[i][j] - 0.5 * (H[i][j] - H[i][j - 1]);
        for (int i = 0; i < n - 1; i++) for (int j = 0; j < m - 1; j++)
          H[i][j] = H[i][j] - 0.7 * (E[i][j + 1] - E[i][j] + F[i + 1][j] - F[i][j]); } }""",
    "pointers": f"""void f(int T, int n, int m, float *a, float *b) {{
      for (int t = 0; t < T; t++) {{
        {INNER} b[i * m + j] = a[i * m + j - 1] + a[(i + 1) * m + j];
        {INNER} a[i * m + j] = b[i * m + j]; }} }}""",
    "edges": f"""void f(int T, int n, int m, float A[n][m], float B[n][m]) {{
      for (int t = 0; t < T; t++) {{
        {WHOLE} {{
          float l = j > 0 ? A[i][j - 1] : 0.5f, u = i < n - 1 ? A[i + 1][j] : A[i][j];
          B[i][j] = 0.5f * (l + u); }}
        {WHOLE} A[i][j] = B[i][j]; }} }}""",
    "quotients": f"""void f(int T, int n, int m, int A[n][m], int B[n][m]) {{
      for (int t = 0; t < T; t++) {{
        {INNER} B[i][j] = A[i][j - 1] / ((A[i][j + 1] & 7) + 1) + A[i + 1][j];
        {INNER} A[i][j] = B[i][j] & 255; }} }}""",
    "borders": f"""void f(int T, int n, int m,
        float A[restrict n + 1][m + 1], float B[restrict n + 1][m + 1]) {{
      for (int t = 0; t < T; t++) {{
        {INNER} B[i][j] = 0.25f * (A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);
        B[n / 2][0] += t;
        for (int j = 1; j < m; j++) {{ B[0][j] = B[1][j]; B[n][j] = B[n - 1][j]; }}
        for (int i = 0; i <= n; i++) {{ B[i][0] = B[i][1]; B[i][m] = B[i][m - 1]; }}
        for (int i = 0; i <= n; i++) for (int j = 0; j <= m; j++) A[i][j] = B[i][j]; }} }}""",
    "line": """void f(int T, int n, int m, double A[n + m], double B[n + m]) {
      for (int t = 0; t < T; t++) {
        for (int i = 1; i < n + m - 1; i++) B[i] = 0.3 * (A[i - 1] + A[i] + A[i + 1]);
        B[0] = B[1] + t;
        for (int i = 0; i < n + m - 1; i++) A[i] = B[i]; } }""",
    "waves": """void f(int T, int n, int m, float *E, float *H, const float *c) {
      for (int t = 0; t < T; t++) {
        for (int i = 0; i < n + m - 1; i++) H[i] = H[i] + c[i] * (E[i + 1] - E[i]);
        for (int i = 1; i < n + m; i++) E[i] = E[i] + c[i] * (H[i] - H[i - 1]); } }""",
    "unsigned": """void f(unsigned T, unsigned n, unsigned long m, float A[2][n][m]) {
      for (unsigned t = 0; t < T; t++)
        for (unsigned i = 1; i + 1 < n; i++) for (unsigned long j = 1; j < m - 1; j++)
          A[(t + 1) % 2][i][j] = 0.5f * (A[t % 2][i - 1][j] + A[t % 2][i][j + 1]) + i; }""",
    "space": f"""void f(int T, int n, int m, double A[n][m][40], double B[n][m][40]) {{
      for (int t = 0; t < T; t++) {{
        {CUBE} B[i][j][k] = 0.5 * (A[i - 1][j][k] + A[i][j + 1][k]) + (k > 0 ? A[i][j][k - 1] : 0);
        {CUBE} A[i][j][k] = B[i][j][k]; }} }}""",
}
SHAPES = ((1, 1), (3, 5), (12, 9), (19, 41))
STEPS = (0, 3, 8, 9)


@cache
def plan(name: str, *, small: bool = False) -> Plan:
    steps = 3 if name == "planes" else 2
    rows, width = (2, 16) if small else (8, 32)
    items = (8, 16) if name == "space" else (width,)
    done = lx.loads(TEXTS[name])["f"].offload(time_tile=(steps, rows, *items), fp="strict")
    assert any("steps of time a pass" in p.about for p in done.parts), [p.why for p in done.parts]
    return emit.kernel(done.derivation, fp=SEPARATE)


LARGE = ("two_arrays", "edges", "line", "space")
"""Those that run in large tiles, too, which PoCL compiles for seconds."""


@pytest.mark.device
@pytest.mark.parametrize(
    ("name", "small"), [*((name, True) for name in TEXTS), *((name, False) for name in LARGE)]
)
def test_as_the_users_c(name: str, small: bool) -> None:
    sizes = [{"T": t, "n": n, "m": m} for t in STEPS for n, m in SHAPES]
    assert_runs_agree(plan(name, small=small), CSource(text=TEXTS[name]), sizes, 5)


@pytest.mark.device
def test_every_number_of_steps() -> None:
    """Passes of 8 steps, of 2, and steps of their own."""
    text = f"""void f(int T, int n, int m, float A[2][n][m]) {{
      for (int t = 0; t < T; t++) {INNER}
        A[(t + 1) % 2][i][j] = 0.5f * (A[t % 2][i][j - 1] - A[t % 2][i + 1][j]); }}"""
    done = lx.loads(text)["f"].offload(time_tile=(8, 4, 32), fp="strict")
    assert [p.about for p in done.parts if "a row at a time" in p.about]
    p = emit.kernel(done.derivation, fp=SEPARATE)
    sizes = [{"T": t, "n": 11, "m": 45} for t in range(27)]
    assert_runs_agree(p, CSource(text=text), sizes, 5)


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", TEXTS)
def test_no_finding_in_the_simulator(name: str) -> None:
    p = plan(name, small=True)
    every = [arguments(p.start, {"T": t, "n": 6, "m": m}, 5) for t, m in ((12, 5), (13, 11))]
    report, after = simulate_all(p, every)
    assert report.clean, report.findings
    assert any(after)
    for args, found in zip(every, after, strict=True):
        Program(p.start).run(args)
        assert not compare({k: args[k] for k in found}, found)


def test_what_data_bound_is_left_as_it_is() -> None:
    """The host cannot ask whether passes may stand for the loop."""
    text = f"""void f(int T, int n, const int k[1], double A[n][n], double B[n][n]) {{
      int m = k[0];
      for (int t = 0; t < T; t++) {{
        {INNER} B[i][j] = A[i][j - 1];
        {INNER} A[i][j] = B[i][j]; }} }}"""
    done = lx.loads(text)["f"].offload(time_tile=(2, 4, 16), fp="strict")
    assert not any(p.about for p in done.parts)
    assert emit.kernel(done.derivation, fp=SEPARATE).kernels
