"""State that no argument names: errno, static, volatile, _Atomic and thread-local objects, the
floating-point environment. The offloaded program prints what the user's own prints."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from c_project import environment, require_opencl

import loopxform as lx
from loopxform import cli

SPARE = "static void spare(int n, int *k) { for (int i = 0; i < n; i++) k[i] = 3 * i; }\n"
"""A loop that no state has a part in: it runs on the device."""

MAIN = """#include <stdio.h>
int main(void)
{
  int k[50], n = 50;
  double a[50], b[50], sum = 0;
  for (int i = 0; i < n; i++)
    b[i] = i - 10.25;
  spare(n, k);
%s
  for (int i = 0; i < n; i++)
    sum += k[i] * a[i];
  printf("%%.17g\\n", sum);
  return 0;
}
"""
LOOP = "for (int i = 0; i < n; i++)"

STATES: dict[str, tuple[str, str]] = {
    "errno after a part of a function": (
        "#include <errno.h>\n#include <math.h>\n"
        "static int f(int n, double *a, const double *b) {\n"
        f"  errno = 0;\n  {LOOP} a[i] = b[i] < -10 ? 1 : sqrt(b[i] - 5);\n"
        f"  {LOOP} a[i] = i;\n  return errno; }}\n",
        "if (f(n, a, b)) sum = 1000;",
    ),
    "errno of a caller": (
        "#include <errno.h>\n#include <math.h>\n"
        f"static void f(int n, double *a, const double *b) {{ {LOOP} a[i] = log(b[i]); }}\n",
        f"errno = 0; f(n, a, b); {LOOP} a[i] = i; if (errno) sum = 1000;",
    ),
    "a static local": (
        "static void f(int n, double *a, const double *b) {\n"
        f"  static double s = 1; {LOOP} {{ a[i] = b[i] + s; }} s += 1; }}\n",
        "f(n, a, b); f(n, a, b);",
    ),
    "a static local in the loop": (
        "static void f(int n, double *a, const double *b) {\n"
        f"  {LOOP} {{ static double s = 1; a[i] = b[i] + s; s = a[i] / 2; }} }}\n",
        "f(n, a, b); f(n, a, b);",
    ),
    "volatile": (
        "volatile double v = 2;\nstatic void f(int n, double *a, const double *b) {\n"
        f"  {LOOP} {{ v = b[i]; a[i] = v; }} }}\n",
        "f(n, a, b); a[0] = v;",
    ),
    "_Atomic": (
        "_Atomic int v = 2;\nstatic void f(int n, double *a, const double *b) {\n"
        f"  {LOOP} {{ v += i; a[i] = b[i]; }} }}\n",
        "f(n, a, b); a[0] = v;",
    ),
    "_Thread_local": (
        "static _Thread_local double v = 2;\nstatic __thread double w[50];\n"
        f"static void f(int n, double *a, const double *b) {{ {LOOP} {{ w[i] = b[i] * v; }}\n"
        f"  {LOOP} a[i] = w[i]; }}\n",
        "v = 3; f(n, a, b);",
    ),
    "a rounding mode": (
        "#include <fenv.h>\nstatic void f(int n, double *a, const double *b) {\n"
        f"  {LOOP} a[i] = b[i] / 3; }}\n",
        "fesetround(FE_UPWARD); f(n, a, b); fesetround(FE_TONEAREST);",
    ),
    "exceptions": (
        "#include <fenv.h>\nstatic int f(int n, double *a, const double *b) {\n"
        f"  feclearexcept(FE_ALL_EXCEPT); {LOOP} a[i] = b[i] / 3;\n"
        "  return fetestexcept(FE_INEXACT); }\n",
        "if (f(n, a, b)) sum = 1000;",
    ),
    "FENV_ACCESS": (
        "#pragma STDC FENV_ACCESS ON\nint fesetround(int);\n"
        "static int (*const round_to)(int) = fesetround;\n"
        "static void f(int n, double *a, const double *b) {\n"
        f"  round_to(0x800); {LOOP} a[i] = b[i] / 3; round_to(0); }}\n",
        "f(n, a, b);",
    ),
}


def printed(tmp_path: Path, *files: str) -> subprocess.CompletedProcess[str]:
    words = ["cc", "-O1", "-frounding-math", "-ffp-contract=off", "-DCL_TARGET_OPENCL_VERSION=120"]
    built = [*words, *files, "-o", "app", "-lOpenCL", "-lm"]
    subprocess.run(built, check=True, cwd=tmp_path, capture_output=True)
    env = {**environment(), "LOOPXFORM_VERBOSE": "1"}
    return subprocess.run(
        "./app", cwd=tmp_path, capture_output=True, text=True, env=env, check=True
    )


@pytest.mark.parametrize("name", STATES)
def test_the_offloaded_program_prints_the_same(name: str, tmp_path: Path) -> None:
    require_opencl()
    text, call = STATES[name]
    (tmp_path / "user.c").write_text(f"{text}{SPARE}{MAIN % call}")
    lx.load(tmp_path / "user.c").offload(contract=False).write(tmp_path)
    assert "lx_try_spare" in (tmp_path / "user_opencl.c").read_text()
    expected = printed(tmp_path, "user.c").stdout
    assert float(expected)
    assert printed(tmp_path, "user_opencl.c").stdout == expected


def test_a_rounding_mode_that_another_file_sets(tmp_path: Path) -> None:
    """Only the run can tell: the loops run on the host."""
    require_opencl()
    f = f"void f(int n, double *a, const double *b) {{ {LOOP} a[i] = b[i] / 3; }}\n"
    call = "fesetround(FE_UPWARD); f(n, a, b); fesetround(FE_TONEAREST);"
    main = "#include <fenv.h>\nvoid f(int n, double *a, const double *b);\n" + SPARE
    (tmp_path / "f.c").write_text(f)
    (tmp_path / "main.c").write_text(main + MAIN % call)
    lx.load(tmp_path / "f.c").offload(contract=False).write(tmp_path)
    done = printed(tmp_path, "f_opencl.c", "main.c")
    assert done.stdout == printed(tmp_path, "f.c", "main.c").stdout
    assert "the host does not round to nearest" in done.stderr


@pytest.mark.parametrize("name", ["_Thread_local", "a rounding mode", "FENV_ACCESS"])
def test_check_does_not_know(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, call = STATES[name]
    (tmp_path / "user.c").write_text(f"{text}{SPARE}{MAIN % call}")
    cli.main(["check", str(tmp_path / "user.c"), "--function", "f"])
    said = capsys.readouterr().out
    assert "unknown" in said
    assert "is another in each thread" in said or "the floating-point environment" in said


@pytest.mark.parametrize(
    ("pragma", "known"),
    [
        ("STDC FENV_ACCESS OFF", True),
        ("STDC FENV_ACCESS ON", False),
        ("STDC FENV_ROUND FE_UPWARD", False),
        ("STDC FENV_ROUND FE_TONEAREST", True),
        ("clang fp rounding(upward)", False),
        ("clang fp contract(off) exceptions(strict)", False),
        ("clang fp rounding(tonearest) contract(off)", True),
        ("clang fp contract(off)", True),
        ("fenv_access (on)", False),
        ("float_control(except, on)", False),
        ("float_control(precise, on)", True),
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_pragmas_that_set_or_look_at_the_environment(
    pragma: str, known: bool, inside: bool
) -> None:
    line, loop = f"#pragma {pragma}\n", "for (int i = 0; i < n; i++) a[i] = b[i] / 3;"
    own = line if inside else ""
    text = f"void f(int n, double *restrict a, const double *restrict b) {{\n{own}{loop}\n}}\n"
    (verdict,) = lx.loads(text if inside else line + text)["f"].check()
    assert (verdict.parallel == "yes") == known
