"""File names of any kind: what is written compiles, and includes the file that was written."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from loopxform.cli import main
from loopxform.codegen.render import comment

LOOP = "void f(int n, float a[n])\n{ for (int i = 0; i < n; i++) a[i] = 2 * a[i]; }\n"
NAMES = [
    "mat-mul.c",
    "1a.c",
    "my f.c",
    'a"b.c',
    "a\\b.c",
    "a\nb.c",
    "größe.c",
    "矩阵.c",
    "a'b.c",
    "a*b.c",
    "x??(.c",
    "-v.c",
    "a.b.c",
    "%s.c",
    "{{ h }}.c",
    ".c",
]
STRICT = ["-std=c99", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]


@pytest.mark.opencl_sdk
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("folder", [".", "a*/*b", 'q"\\??/\n'])
def test_the_files_of_any_name_compile(
    name: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(folder).mkdir(parents=True, exist_ok=True)
    source = f"{folder}/{name}"
    Path(source).write_text(LOOP)
    assert main(["tile", source, "-q", "-o", "out"]) == 0
    assert main(["tile", source, "-q", "-o", "out", "--target", "openmp"]) == 0
    written = sorted(Path("out").iterdir())
    assert [p.suffix for p in written] == [".cl", ".c", ".h", ".c"]
    for file in written:
        if file.suffix == ".c":
            subprocess.run(["cc", *STRICT, str(file)], check=True)


def test_a_name_that_is_not_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a\udcffb.c").write_text(LOOP)
    assert main(["tile", "a\udcffb.c", "-q", "-o", "out"]) == 0
    assert sorted(p.name for p in Path("out").iterdir())[0] == "a_b.cl"


def test_headers_of_two_functions_do_not_hide_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files whose names differ in punctuation or case only, or in their folder."""
    monkeypatch.chdir(tmp_path)
    for n, file in enumerate(("mat-mul.c", "mat_mul.c", "MAT_MUL.c")):
        Path(file).write_text(LOOP.replace("f(", f"f{n}("))
        assert main(["tile", file, "-q", "-o", f"out{n}"]) == 0
    includes = "".join(f'#include "{p}"\n' for p in sorted(Path().rglob("*.h")))
    calls = "".join(f"f{n}(1, a); " for n in range(3))
    Path("all.c").write_text(f"{includes}int main(void) {{ float a[1]; {calls}return 0; }}\n")
    subprocess.run(["cc", *STRICT, "-Wno-uninitialized", "all.c"], check=True)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("a$b.c", "out/a$$b.cl out/a$$b_opencl.c out/a$$b_opencl.h: a$$b.c\n"),
        ("a#%b.c", "out/a\\#\\%b.cl out/a\\#\\%b_opencl.c out/a\\#\\%b_opencl.h: a\\#\\%b.c\n"),
    ],
)
def test_rules_for_make(
    name: str, rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(LOOP)
    assert main(["tile", name, "-q", "-o", "out", "-MD"]) == 0
    (written,) = Path("out").glob("*.d")
    assert written.read_text() == rule


def test_a_rule_for_make_cannot_name_a_file_with_a_newline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a\nb.c").write_text(LOOP)
    assert main(["tile", "a\nb.c", "-q", "-o", "out", "-MD"]) == 2
    assert "a Makefile cannot name the file 'a\\nb.c' [LX055]" in capsys.readouterr().err
    assert not Path("out").exists()


@pytest.mark.parametrize("text", ["*/", "/*", "*/*", "a??/", "\\", "x\ny", "/", "*"])
def test_comments_hold_any_text(text: str, tmp_path: Path) -> None:
    file = tmp_path / "c.c"
    file.write_text(f"/* {comment(text)} */\n// {comment(text)}\nint x;\n")
    options = ["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-Wtrigraphs", "-fsyntax-only"]
    subprocess.run(["cc", *options, str(file)], check=True)


@pytest.mark.device
@pytest.mark.parametrize("name", NAMES)
def test_the_reference_of_any_name_compiles(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / 'q"').mkdir()
    monkeypatch.chdir(tmp_path / 'q"')
    Path("two.h").write_text("#define TWO 2\n")
    Path(name).write_text('#include "two.h"\n' + LOOP.replace("2", "TWO"))
    assert main(["run", f"./{name}", "--size", "n=9"]) == 0
