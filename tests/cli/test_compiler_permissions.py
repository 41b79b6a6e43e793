"""Options of compilers: as documented, as loopxform takes them, and as gcc and clang do."""

from __future__ import annotations

import platform
import re
import subprocess
from functools import cache
from pathlib import Path
from shutil import which

import pytest

from loopxform.cli import main
from loopxform.floating_point import CONTRACT, FloatingPoint, of_flags

PAGE = Path(__file__).parents[2] / "docs" / "precision.md"
PROBE = """
float within(float a, float b, float c) { return a * b + c; }
float across(float a, float b, float c) { float t = a * b; return t + c; }
float sum(int n, const float *a)
{
  float t = 0;
  int i;
  for (i = 0; i < n; i++)
    t += a[i];
  return t;
}
float third(float a) { return a / 3.0f; }
"""
COMPILERS = ("gcc", "clang")
MACHINE = ("-O3", "-march=haswell")


def rows() -> dict[str, tuple[str, str, str]]:
    """The cells of the table, by options."""
    out = {}
    for line in PAGE.read_text().splitlines():
        cells = [c.strip() for c in line.strip("|").split(" | ")]
        if len(cells) == 4 and all(c.startswith(("yes", "no")) for c in cells[1:]):
            named = re.findall(r"`([^`]*)`", cells[0])
            for options in ("", *named) if cells[0].startswith("none") else named:
                out[options] = (cells[1], cells[2], cells[3])
    return out


def documented(options: str, compiler: str) -> tuple[bool, bool, bool]:
    cells = (c.partition("; clang: ") for c in rows()[options])
    a, b, c = ((x[2] if compiler == "clang" and x[2] else x[0]) == "yes" for x in cells)
    return a, b, c


def permitted(options: str, compiler: str) -> FloatingPoint:
    return of_flags(options.split(), CONTRACT, clang=compiler == "clang")


def test_the_table_has_rows() -> None:
    assert len(rows()) > 30


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("options", rows())
def test_what_is_permitted_is_documented(options: str, compiler: str) -> None:
    fp = permitted(options, compiler)
    assert (fp.contract, fp.reassociate, fp.approximate) == documented(options, compiler)
    assert fp.exact == ("-frounding-math" in options)


@cache
def compiled(compiler: str, options: tuple[str, ...]) -> dict[str, str]:
    """The assembly of each function of the probe."""
    if which(compiler) is None:
        pytest.fail(f"{compiler} is needed for this test")
    own = [w for w in options if w != "-march=native"]
    done = subprocess.run(
        [compiler, *MACHINE, *own, "-w", "-S", "-x", "c", "-o", "-", "-"],
        input=PROBE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    bodies = re.findall(r"^(\w+):(.*?)^\s*\.size\s+\1", done.stdout, re.MULTILINE | re.DOTALL)
    return dict(bodies)


X86 = platform.machine() == "x86_64"


@pytest.mark.skipif(not X86, reason="the probes read the assembly of x86-64")
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("options", rows())
def test_compilers_do_what_is_permitted(options: str, compiler: str) -> None:
    """No more is permitted than the compiler does; across statements, clang has to be asked."""
    text = compiled(compiler, tuple(options.split()))
    fp = permitted(options, compiler)
    assert "vfm" in text["within"] or not fp.contract
    if compiler == "gcc" or "=fast" in options or "-ffast-math" in options.split():
        undone = "-fno-fast-math" in options or "-fno-unsafe-math" in options
        assert "vfm" in text["across"] or not fp.contract or (compiler == "clang" and undone)
    assert "vaddps" in text["sum"] or not fp.reassociate
    assert "vdivss" not in text["third"] or not fp.approximate


@pytest.mark.skipif(not X86, reason="the probes read the assembly of x86-64")
@pytest.mark.parametrize("options", [r for r in rows() if "rounding" not in r])
def test_what_gcc_does_is_permitted(options: str) -> None:
    """But for what clang, or a later gcc, understands more narrowly."""
    text = compiled("gcc", tuple(options.split()))
    fp = permitted(options, "gcc")
    narrower = "-ftrapping-math" in options or "-fno-unsafe-math" in options
    assert fp.contract == ("vfm" in text["across"]) or narrower
    assert fp.reassociate == ("vaddps" in text["sum"])


@pytest.mark.parametrize(("compiler", "contract"), [("gcc", "OFF"), ("clang", "ON")])
def test_the_standard_is_read_as_the_compiler_reads_it(
    compiler: str, contract: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CC", compiler)
    text = (
        "void f(int n, float a[n], float b[n]) { for (int i = 0; i < n; i++) a[i] += b[i]*b[i]; }"
    )
    Path("f.c").write_text(text)
    Path("flags").write_text("-std=c11\n")
    for options in (["--cflags", "-std=c11"], ["--cflags-file", "flags"]):
        assert main(["tile", "f.c", "-q", *options]) == 0
        assert f"FP_CONTRACT {contract}" in Path("f.cl").read_text()
    assert main(["tile", "f.c", "-q", "--fp", "contract", "--cflags", "-std=c11"]) == 0
    assert "FP_CONTRACT ON" in Path("f.cl").read_text()
