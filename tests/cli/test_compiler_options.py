"""The options of a C compiler: which are taken, which refused; and the rule for Make."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from loopxform import cli
from loopxform.cli import main

LOOP = "void f(int n, float a[n]) { for (int i = 0; i < n; i++) a[i] = VALUE; }\n"

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.c").write_text(LOOP)


@pytest.mark.parametrize(
    "flags",
    [
        "--cflags -DVALUE=3 -O2 -Wall -march=native -g",
        "--cflags -D VALUE=3 -DVALUE=4 -MF x.d -MD",
        "-DVALUE=3 --cflags -UVALUE -D VALUE=5",
        "--cflags -DVALUE=OTHER -DOTHER=6 -L DOTHER=7 -std=c99",
        "--cflags -fopenmp -DVALUE=_OPENMP",
    ],
)
def test_macros_are_those_of_the_compiler(flags: str) -> None:
    """VALUE is the same for cc and for the kernel."""
    Path("ask.c").write_text("VALUE\n")
    command = ["cc", "-E", "-P", "ask.c", *shlex.split(flags.replace("--cflags", ""))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert main(["offload", "f.c", "-q", "-o", "out", *shlex.split(flags)]) == 0
    assert f"= {done.stdout.strip()};" in Path("out/f.cl").read_text()


def test_folders_are_searched_in_the_order_of_the_compiler() -> None:
    Path("f.c").write_text('#include "value.h"\n' + LOOP)
    for n, folder in enumerate(("late", "system", "own", "also own")):
        Path(folder).mkdir()
        Path(folder, "value.h").write_text(f"#define VALUE {n}\n")
    flags = "-idirafter late -isystem system -Iown -I 'also own'"
    Path("ask.c").write_text('#include "value.h"\nVALUE\n')
    for gone in ("own", "also own", "system", None):
        command = ["cc", "-E", "-P", *shlex.split(flags), "ask.c"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert main(["offload", "f.c", "-q", "-o", "out", "--cflags", *shlex.split(flags)]) == 0
        assert f"= {done.stdout.strip()};" in Path("out/f.cl").read_text()
        if gone:
            Path(gone, "value.h").unlink()


def test_files_in_front_of_the_text_and_folders_for_quotes() -> None:
    """-include and -iquote: the kernel is made of what cc reads, and runs like it."""
    for n, folder in enumerate(("quoted", "own", "."), 1):
        Path(folder).mkdir(exist_ok=True)
        Path(folder, "value.h").write_text(f"#define VALUE ({n} + STEP)\n")
    Path("step.h").write_text("#pragma once\n\n\n\n\n\n\n\n#define STEP 4\ntypedef float real;\n")
    Path("src").mkdir()
    Path("src/g.c").write_text('#include "value.h"\n' + LOOP.replace("float", "real"))
    for flags in (
        "-iquote quoted -Iown -include step.h",
        "-Iown -include step.h",
        "-I. -include step.h",
    ):
        command = ["cc", "-E", "-P", "src/g.c", *flags.split()]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        value = re.search(r"a\[i\] = (.*);", done.stdout)
        assert value
        words = ["src/g.c", "-q", "-o", "out", "-MD", "--cflags", *flags.split()]
        assert main(["offload", *words]) == 0
        assert f"= {value[1].strip('()')};" in Path("out/g.cl").read_text()
        assert " step.h" in Path("out/g.d").read_text()
    assert main(["run", "src/g.c", "--size", "n=9", "--cflags", *flags.split()]) == 0


@pytest.mark.opencl_sdk
@pytest.mark.parametrize("command", ["offload", "tile"])
def test_another_file_in_front_is_noticed_by_the_build(command: str) -> None:
    """What -include defines decides the text like -D: the user's loops run where it is other."""
    guard = "#ifndef V_H\n#define V_H\n#include <math.h>\n#define USED(x) ((x) * SCALE)\n{}#endif\n"
    Path("v.h").write_text(guard.format("#define SCALE 3\n#define DOUBLED\n"))
    Path("w.h").write_text(guard.format("#define SCALE 4\n"))
    Path("g.c").write_text(
        "void g(int n, float a[n])\n{\n#ifdef DOUBLED\n#define TWO 2\n"
        "#else\n#define TWO 5\n#endif\n  for (int i = 0; i < n; i++) a[i] = USED(i) * TWO;\n}\n"
    )
    Path("main.c").write_text(
        "#include <stdio.h>\nvoid g(int n, float a[n]);\n"
        'int main(void) { float a[9]; g(9, a); printf("%g\\n", a[8]); return 0; }\n'
    )
    assert main([command, "g.c", "-q", "-o", "out", "--cflags", "-include", "v.h"]) == 0
    for header, printed in (("v.h", "48"), ("w.h", "160")):
        build = ["cc", "-include", header, "-c", "out/g_opencl.c", "-o", "g.o"]
        done = subprocess.run(build, capture_output=True, text=True, check=False)
        if command == "tile" and header == "w.h":  # it has no loops but those that were read
            assert "give loopxform the options of this build" in done.stderr
            continue
        assert done.returncode == 0, done.stderr
        link = ["cc", "main.c", "g.o", "-o", "app", "-lOpenCL", "-lm"]
        subprocess.run(link, check=True)
        env = {**os.environ, "LOOPXFORM_VERBOSE": "1", "LOOPXFORM_HOST": "never"}
        seen = subprocess.run(["./app"], env=env, capture_output=True, text=True, check=True)
        assert seen.stdout == f"{printed}\n"
        env["LOOPXFORM_DEVICE"] = "nowhere"
        seen = subprocess.run(["./app"], env=env, capture_output=True, text=True, check=True)
        launched = "no OpenCL device" in seen.stderr
        assert launched is (header == "v.h")


def test_the_place_of_a_mistake_behind_an_included_file(capsys: Capture) -> None:
    Path("x.h").write_text("\n\n\n\n\n\n\n\n\n\n#define A 1\nint x;\n")
    Path("g.c").write_text("int y;\nint z = ;\n")
    assert main(["check", "g.c", "--cflags", "-include", "x.h"]) == 2
    assert capsys.readouterr().err.startswith("g.c:2:")
    assert main(["check", "f.c", "--cflags", "-include", "gone.h"]) == 2
    assert "include file 'gone.h' not found [LX001]" in capsys.readouterr().err


@pytest.mark.parametrize(
    "option",
    ["-imacros value.h", "-Wp,-DVALUE=1", "@options", "-I-"],
)
def test_what_is_not_modelled_is_refused(option: str, capsys: Capture) -> None:
    assert main(["offload", "f.c", "-q", "--cflags", "-DVALUE=1", *option.split()]) == 2
    err = capsys.readouterr().err
    assert f"error: '{option.split()[0]}' is not modelled [LX020]" in err
    assert "^" in err
    assert not list(Path().glob("*.cl"))


def test_an_option_without_its_value(capsys: Capture) -> None:
    assert main(["offload", "f.c", "--cflags", "-D"]) == 2
    assert "'-D' needs a value" in capsys.readouterr().err


def test_options_in_a_file(capsys: Capture) -> None:
    """Each line is a word, blanks and quotes included; CMake's SHELL: holds several."""
    Path("flags").write_text('-Wall\n\n-DTEXT="a b"\nSHELL:-D VALUE=8 -g\n')
    assert main(["offload", "f.c", "-q", "-o", "out", "--cflags-file", "flags"]) == 0
    assert "= 8;" in Path("out/f.cl").read_text()
    assert main(["offload", "f.c", "-q", "--cflags-file", "nowhere"]) == 2
    assert "cannot read nowhere" in capsys.readouterr().err


def test_the_rule_as_the_compiler_writes_it() -> None:
    Path("value $1.h").write_text("#define VALUE 1\n")
    Path("f.c").write_text('#include "value $1.h"\n' + LOOP)
    rule = ["-MF", "deps/f.d", "-MT", "$(OUT)", "-MQ", "$(OUT)"]
    assert main(["offload", "f.c", "-q", "-o", "out", *rule]) == 0
    Path("deps/f.d").rename("ours.d")
    subprocess.run(["cc", "-E", "-MD", "-MP", *rule, "f.c", "-o", "ignored"], check=True)
    theirs = Path("deps/f.d").read_text().replace("\\\n ", "").splitlines()
    theirs = [re.sub(r" ?/usr/include/\S+", "", x) for x in theirs]
    assert Path("ours.d").read_text().split() == " ".join(x for x in theirs if x != ":").split()
    assert not list(Path("out").glob("*.d"))


def test_the_rule_without_phony_ones() -> None:
    Path("value.h").write_text("#define VALUE 1\n")
    Path("f.c").write_text('#include "value.h"\n' + LOOP)
    assert main(["offload", "f.c", "-q", "-o", "out", "-MF", "f.d", "-MT", "x", "--no-phony"]) == 0
    assert Path("f.d").read_text() == "x: f.c value.h\n"


def test_the_rule_does_not_overwrite_what_is_read(capsys: Capture) -> None:
    before = Path("f.c").read_text()
    assert main(["offload", "f.c", "-q", "-MF", "f.c", "-DVALUE=1"]) == 2
    assert "'f.c' would be overwritten" in capsys.readouterr().err
    assert Path("f.c").read_text() == before


def test_the_folder_of_the_cmake_package(capsys: Capture) -> None:
    assert main(["--cmakedir"]) == 0
    folder = Path(capsys.readouterr().out.strip())
    assert folder == Path(cli.__file__).parents[1] / "cmake"
    assert (folder / "LoopxformConfig.cmake").exists()


def test_a_compiler_that_fails_is_no_fault_of_the_sizes(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("CC", "/bin/false")
    assert main(["run", "f.c", "--size", "n=8", "-D", "VALUE=1", "--device", "c"]) == 2
    text, carets = capsys.readouterr().err.splitlines()[2:4]
    assert text[carets.index("^") :].startswith("run f.c")
