"""Functions of the C library that leave something behind: pure, unless somebody looks at it."""

from __future__ import annotations

from pathlib import Path

import pytest

import loopxform as lx
from loopxform.cli import main

HEAD = "#include <math.h>\n#include <errno.h>\nextern int signgam;\n"
LOOP = "for (int i = 0; i < n; i++)"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (f"{LOOP} a[i] = log(b[i]);", "yes"),
        (f"{LOOP} a[i] = log(b[i]); return errno;", "unknown"),
        (f"errno = 0; {LOOP} a[i] = powf(b[i], 2); if (errno == ERANGE) a[0] = 0;", "unknown"),
        (f"{LOOP} a[i] = fabs(b[i]); return errno;", "yes"),
        (f"{LOOP} a[i] = lgamma(b[i]);", "yes"),
        (f"{LOOP} {{ a[i] = lgamma(b[i]); b[i] = signgam; }}", "unknown"),
        (f"{LOOP} {{ a[i] = lgammaf(b[i]); }} return signgam;", "unknown"),
        (f"{LOOP} a[i] = log(b[i]); return signgam;", "yes"),
        (f"{LOOP} a[i] = log(b[i]); return look();", "unknown"),
    ],
)
def test_who_looks(text: str, verdict: str) -> None:
    body = f"{text if 'return' in text else text + ' return 0;'}"
    file = lx.loads(
        f"{HEAD}static int look(void) {{ return errno; }}\n"
        f"int f(int n, double *restrict a, double *restrict b) {{ {body} }}\n"
    )
    assert [v.parallel for v in file["f"].check()] == [verdict]


def test_a_caller_looks_where_the_file_clears_errno() -> None:
    c = (
        f"{HEAD}static void f(int n, double *a) {{ {LOOP} a[i] = sqrt(a[i]); }}\n"
        "int g(int n, double *a) { CLEAR f(n, a); return errno; }\n"
    )
    verdicts = [
        lx.loads(c.replace("CLEAR", clear))["f"].check()[0].parallel for clear in ("", "errno = 0;")
    ]
    assert verdicts == ["yes", "unknown"]


def test_a_function_of_numbers_leaves_it_too() -> None:
    file = lx.loads(
        f"{HEAD}static double y(double x) {{ for (int k = 0; k < 3; k++) x = exp(x); return x; }}\n"
        f"int f(int n, double *a) {{ errno = 0; {LOOP} a[i] = y(a[i]); return errno; }}\n"
    )
    assert [v.parallel for v in file["f"].check()] == ["unknown"]


def test_a_loop_that_is_taken_out_of_its_function(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        f"{HEAD}int f(int n, double *a) {{ errno = 0; {LOOP} a[i] = log(a[i]); return errno; }}\n"
        f"void g(int n, double *a) {{ {LOOP} a[i] = log(a[i]); }}\n"
    )
    (tmp_path / "f.c").write_text(text)
    assert main(["offload", str(tmp_path / "f.c"), "-o", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "left on the host, in 'f': 'log' may set 'errno', which is looked at" in out
    assert "g: 1 kernel" in out
