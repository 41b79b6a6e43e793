"""What holds for a file: loopxform.toml, compile_commands.json and the command line."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from conftest import Golden

import loopxform as lx
from loopxform.cli import main
from loopxform.cli.arguments import understood
from loopxform.settings import settings_for
from loopxform.settings.keys import KEYS, OVERRIDES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "configuration.md"
TEXT = "void f(int n, float a[n]) { for (int i = 0; i < n; i++) a[i] = VALUE; }\n"

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here" / "src" / "inner").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    for name in ("src/f.c", "src/g.c", "src/inner/h.c"):
        Path(name).write_text(TEXT)


def project(text: str, path: str = "loopxform.toml") -> None:
    Path(path).write_text(text)


def database(*entries: dict[str, object], folder: str = "build") -> None:
    Path(folder).mkdir(exist_ok=True)
    every = [{"directory": str(Path(folder).resolve()), **e} for e in entries]
    Path(folder, "compile_commands.json").write_text(json.dumps(every, indent=1))


def value(path: str, **options: object) -> str:
    """What VALUE is in a file, as it is read under its settings."""
    listing = lx.load(path, config=True, **options)["f"].listing  # type: ignore[arg-type]
    found = re.search(r"a\[i\] = (.*);", listing)
    assert found
    return found[1]


# ---------------------------------------------------------------- which file


def test_the_nearest_file_counts() -> None:
    project("define = ['VALUE=1']", "../pyproject.toml")
    project("[tool.loopxform]\ndefine = ['VALUE=2']\n", "../pyproject.toml")
    assert value("src/f.c") == "2"
    project("[project]\nname = 'loopxform'\n", "pyproject.toml")
    assert value("src/f.c") == "2"
    project("[tool.loopxform]\ndefine = ['VALUE=3']\n", "pyproject.toml")
    assert value("src/f.c") == "3"
    project("define = ['VALUE=4']")
    assert value("src/f.c") == "4"
    project("define = ['VALUE=5']", "src/inner/loopxform.toml")
    assert value("src/inner/h.c") == "5"
    assert value("src/f.c") == "4"
    project("define = ['VALUE=6']", "other.toml")
    assert settings_for("src/f.c", config="other.toml").flags.define == ("VALUE=6",)
    assert settings_for("src/f.c", isolated=True).project is None


def test_from_python_nothing_holds_unless_asked_for() -> None:
    project("define = ['VALUE=4']")
    assert lx.load("src/f.c").parsed.options.defines == ()
    assert value("src/f.c", define=["VALUE=7"]) == "7"
    assert lx.check("src/f.c", config="loopxform.toml").loops[0].parallel == "yes"
    (facts,) = lx.Report.of("src/f.c", config=True).files
    assert facts.functions
    project("no = TOML")
    with pytest.raises(lx.LoopxformError, match="'VALUE' is not declared"):
        lx.autotune("src/f.c", sizes={"n": 8})
    with pytest.raises(lx.ArgumentError, match="config must be True, False or the path of a file"):
        lx.load("src/f.c", config=3)  # type: ignore[arg-type]


def test_paths_are_relative_to_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    project("include = ['inc']\ncflags = ['-include', 'inc/two.h', '-Iinc/more']\noutput = 'out'")
    Path("inc/more").mkdir(parents=True)
    Path("inc/two.h").write_text("#define TWO 2\n")
    Path("inc/one.h").write_text("#define VALUE ONE + TWO\n")
    Path("inc/more/more.h").write_text("#define ONE 1\n")
    Path("src/f.c").write_text('#include "one.h"\n#include "more.h"\n' + TEXT)
    monkeypatch.chdir("src/inner")
    assert main(["tile", "../f.c", "-q"]) == 0
    assert "a[i] = 1 + 2" in Path("../../out/f.cl").read_text()


# ---------------------------------------------------------------- what outranks what

CASES: list[tuple[str, str, dict[str, object]]] = [
    ("tile", "", {"profile": "h100", "fp": "strict", "fp_contract": "off", "output": "out"}),
    ("tile", "-o x --fp fast", {"output": "x", "fp": "fast", "fp_contract": None}),
    ("tile", "--profile a100", {"profile": "a100", "target": "openmp"}),
    ("tile", "--target openmp", {"profile": None, "target": "openmp"}),
    ("tile", "--device 0", {"profile": None, "device": "0"}),
    ("offload", "--no-cache", {"profile": "h100", "output": "out", "time_limit": "7"}),
    ("offload", "", {"no_tuning": True, "memory_limit": "900.5"}),
    ("run", "--size n=3", {"profile": None, "fp": "strict", "no_tuning": True}),
    ("apply", "", {"fp": None, "output": None}),
    ("tile", "--no-config", {"profile": None, "fp": None, "output": ".", "no_tuning": False}),
]


@pytest.mark.parametrize(("command", "words", "expected"), CASES)
def test_options_of_the_command_line_outrank_the_project(
    command: str, words: str, expected: dict[str, object]
) -> None:
    project(
        'profile = "h100"\nfp = "strict"\nfp-contract = "off"\noutput = "out"\ntarget = "openmp"\n'
        "tuning = false\ntime-limit = 7\nmemory-limit = 900.5\ndefine = ['VALUE=1']\n"
    )
    args = understood(command, ["src/f.c", *words.split()])
    assert {name: getattr(args, name) for name in expected} == expected


def test_what_the_compiler_is_told_adds_up() -> None:
    """Folders of the command line are searched first, and its word about a macro counts."""
    database({"file": "../src/f.c", "arguments": ["cc", "-Ib", "-DA=1", "-DB=1", "-DC=1", "-O1"]})
    project(
        "include = ['p']\ndefine = ['B=2', 'C=2']\ncflags = ['-O2']\n"
        "[[overrides]]\nfiles = ['src/f.c']\ninclude = ['o']\nundefine = ['A']\n"
    )
    args = understood("tile", ["src/f.c", "-I", "c", "-D", "C=3"])
    assert args.include == ["c", "o", "p", "build/b"]
    assert (args.define, args.undefine) == (["B=2", "C=3"], ["A"])
    assert args.cflags == ["-O1", "-O2"]
    args = understood("tile", ["src/f.c", "--cflags", "-DC=4"])
    assert (args.define, args.cflags) == (["B=2", "C=4"], [])  # all that there are
    args = understood("tile", ["src/f.c", "-p", "build", "--cflags", "-DC=4"])
    assert args.define == ["B=2", "C=4"]
    assert "-O1" in args.cflags


def test_overrides_are_for_files() -> None:
    project(
        "define = ['VALUE=1']\nfp = 'fast'\n"
        "[[overrides]]\nfiles = ['src/*.c']\ndefine = ['VALUE=2']\n"
        "[[overrides]]\nfiles = ['g.c']\ndefine = ['VALUE=3']\nfp = 'strict'\n"
    )
    found = [value(p) for p in ("src/inner/h.c", "src/f.c", "src/g.c")]
    assert found == ["1", "2", "3"]
    assert understood("tile", ["src/f.c"]).fp == "fast"
    assert understood("tile", ["src/g.c"]).fp == "strict"


def test_files_that_are_left_out(capsys: Capture) -> None:
    project("define = ['VALUE=1']\nexclude = ['inner', 'src/g.c']")
    assert main(["check", "src", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == "src/f.c"
    assert main(["check", "src/g.c"]) == 0  # one that is named is judged
    assert main(["check", "src/inner", "."]) == 0  # so is a folder
    assert "2 files" in capsys.readouterr().out
    project("exclude = ['src/inner/*']")
    assert main(["check", "src/inner"]) == 2
    assert "no C file in the folder 'src/inner' but those that its" in capsys.readouterr().err


def test_several_files_have_each_their_own(capsys: Capture) -> None:
    project("define = ['VALUE=n']\n[[overrides]]\nfiles = ['g.c']\ndefine = ['VALUE=a[i - 1]']\n")
    printed = []
    for jobs in ("1", "2"):
        assert main(["check", "src", "-j", jobs]) == 0
        printed.append(capsys.readouterr().out)
    assert "3 loops: 2 yes, 1 no" in printed[0]
    assert printed[0] == printed[1]
    assert main(["report", "src", "-o", "pages/"]) == 0
    assert len(list(Path("pages").iterdir())) == 4


@pytest.mark.device
def test_a_run_reads_what_the_build_compiles(capsys: Capture) -> None:
    database({"file": "../src/f.c", "command": "cc -DVALUE=K*n -include k.h -iquote ../q -c f.c"})
    Path("build/k.h").write_text("#define K 3\n")
    assert main(["run", "src/f.c", "--size", "n=100"]) == 0
    assert "identical to your C's" in capsys.readouterr().out


def test_a_result_is_remembered_as_long_as_its_settings_are_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LOOPXFORM_CACHE", str(tmp_path / "cache"))
    command = ["tile", "src/f.c", "-q", "-o", "out", "-MD"]
    for text in ("define = ['VALUE=1']", "define = ['VALUE=2']"):
        project(text)
        for _ in range(2):
            assert main(command) == 0
            assert f"a[i] = {text[-3]};" in Path("out/f.cl").read_text()
    assert " loopxform.toml" in Path("out/f.d").read_text()
    project("define = ['VALUE=3']", "src/loopxform.toml")
    assert main(command) == 0
    assert "a[i] = 3;" in Path("out/f.cl").read_text()


# ---------------------------------------------------------------- what is wrong

WRONG = {
    "no-toml": "fp = \n",
    "unclosed": 'include = ["a",\n',
    "key": 'prfile = "h100"\n',
    "underscore": '[[overrides]]\nfiles = ["a"]\nfp_contract = "on"\n',
    "choice": '\n  fp = "fst"  # fast\n',
    "type": "include = 'inc'\ntuning = 'no'\n",
    "element": 'define = ["A=1",\n          "1B"]\n',
    "profile": 'profile = "h10"\n',
    "flag": 'cflags = ["-O2", "-imacros", "x.h"]\n',
    "overrides": "[overrides]\nfp = 'fast'\n",
    "no-files": "[[overrides]]\nfp = 'fast'\n",
    "whole": "[[overrides]]\nfiles = ['f.c']\nexclude = ['g.c']\n",
    "database": 'compile-commands = "bild"\n',
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_in_the_file(name: str, capsys: Capture, golden: Golden) -> None:
    project(WRONG[name])
    assert main(["tile", "src/f.c", "-q"]) == 2
    golden.check(capsys.readouterr().err)


def test_a_mistake_is_told_once(capsys: Capture) -> None:
    project("[tool.loopxform]\nfp = 3\n", "pyproject.toml")
    for command in ("check", "report"):
        assert main([command, "src"]) == 2
        assert capsys.readouterr().err.count("pyproject.toml:2:6: error: fp must be") == 1


def test_an_error_about_a_value_stands_where_it_is_said(capsys: Capture) -> None:
    project('define = ["VALUE=1"]\ntarget = "openmp"\n')
    assert main(["tile", "src/f.c", "-q", "--stages", "3"]) == 2
    assert "--stages" in capsys.readouterr().err
    project('output = "src/f.c"\ndefine = ["VALUE=1"]\n')
    assert main(["tile", "src/f.c", "-q"]) == 2
    assert capsys.readouterr().err.startswith("loopxform.toml:1:10: error: cannot write")


def test_files_that_are_not_there(capsys: Capture) -> None:
    for words, said in (
        ("--config gone.toml", "there is no file 'gone.toml' [LX243]"),
        ("--config src/f.c", "src/f.c:1:6: error: not TOML"),
        ("-p gone", "there is no file or folder 'gone' [LX245]"),
        ("-p src", "there is no compile_commands.json in 'src' [LX245]"),
        ("--config x --no-config", "--config and --no-config say the opposite"),
    ):
        assert main(["check", "src/f.c", *words.split()]) == 2
        assert said in capsys.readouterr().err


# ---------------------------------------------------------------- compile_commands.json

FORMS = {
    "arguments": {"arguments": ["cc", "-DVALUE=5", "-c", "../src/f.c"]},
    "command": {"command": "cc '-DVALUE=2 + 3' -o x.o -c ../src/f.c"},
    "spaces": {"command": 'cc -D VALUE="2 + 3" -U N -DTEXT=\\"x\\" ../src/f.c'},
    "ccache": {"command": "ccache /usr/bin/cc -DVALUE=5 ../src/f.c"},
    "env": {"command": "env CCACHE_DIR=x ccache cc -DVALUE=5 ../src/f.c"},
    "cmake": {
        "command": "cmake -E __run_co_compile --launcher=ccache --source=f.c -- cc -DVALUE=5 f.c"
    },
    "response": {"arguments": ["cc", "@rsp/a.rsp", "-c", "../src/f.c"]},
    "relative": {"directory": "../build", "command": "cc -include inc/v.h ../src/f.c"},
    "search": {"command": "cc -I inc -include v.h ../src/f.c"},
    "system": {"command": "cc -isystem inc -DVALUE=HERE -include v2.h ../src/f.c"},
    "passed over": {
        "command": "cc -Wall -MMD -MF -DVALUE=6 -Xclang -DVALUE=7 -Wp,-MD,x.d -DVALUE=5 -g f.c"
    },
    "colours": {"command": "cc -fcolor-diagnostics -fdiagnostics-color=always -DVALUE=5 f.c"},
    "last": {"command": "cc -DVALUE=6 -UVALUE -DVALUE=5 f.c"},
}


@pytest.mark.parametrize("name", FORMS)
def test_entries_in_all_forms(name: str) -> None:
    database({"file": "../src/f.c", **FORMS[name]})
    Path("build/rsp").mkdir()
    Path("build/rsp/a.rsp").write_text('-Wall\n"-DVALUE=2 + 3"\n@rsp/b.rsp')
    Path("build/rsp/b.rsp").write_text("-O2")
    Path("build/inc").mkdir()
    Path("build/inc/v.h").write_text("#define VALUE 5\n")
    Path("build/inc/v2.h").write_text("#define HERE 5\n")
    assert value("src/f.c") in ("5", "2 + 3")


def test_which_entry_counts(capsys: Capture) -> None:
    database(
        {"file": "../src/g.c", "command": "cc -DVALUE=1 -DSEEN g.c"},
        {"file": "../src/f.c", "command": "cc -DVALUE=2 f.c"},
        {"file": "../src/f.c", "command": "cc -DVALUE=3 f.c"},
        {"file": "loopxform/inner/h_opencl.c", "command": "cc -DVALUE=4 h_opencl.c"},
        {"file": "loopxform/other/h_opencl.c", "command": "cc -DVALUE=5 h_opencl.c"},
        {"file": "../src/inner/x.cpp", "command": "c++ -DVALUE=6 x.cpp"},
    )
    assert value("src/f.c") == "2"
    assert value("src/inner/h.c") == "4"  # of what was written for it
    for name in ("g.h", "inner/new.h", "inner/new.c"):
        Path("src", name).write_text(TEXT)
    assert value("src/g.h") == "1"
    assert value("src/inner/new.h") in "12"
    assert settings_for("src/inner/new.c").chosen is None
    project('compile-commands = "build"')
    with pytest.warns(
        UserWarning, match=r"inner/new.c has no entry in build/compile_commands.json"
    ):
        assert value("src/inner/new.c") == "1"
    Path("linked").symlink_to("src")
    assert value("linked/f.c") == "2"
    assert main(["config", "src/f.c"]) == 0
    assert "build/compile_commands.json:7:2 (named): the entry of src/f.c, the first of 2" in (
        capsys.readouterr().out
    )


def test_what_is_found_and_what_is_not_looked_for() -> None:
    database({"file": "../src/f.c", "command": "cc -DVALUE=1 f.c"})
    database({"file": "src/f.c", "command": "cc -DVALUE=2 f.c"}, folder=".")
    assert value("src/f.c") == "2"
    Path("compile_commands.json").unlink()
    assert value("src/f.c") == "1"
    database({"file": "../f.c", "command": "cc -DVALUE=3 f.c"}, folder="src/build")
    assert value("src/f.c") == "3"
    assert settings_for("src/f.c", compile_commands="none").database is None
    assert settings_for("src/f.c", isolated=True).database is None
    assert settings_for("src/f.c", compile_commands="build").flags.define == ("VALUE=1",)
    project("compile-commands = 'none'")
    assert settings_for("src/f.c").database is None


BROKEN = {
    "empty": "",
    "object": "{}",
    "comma": '[\n {"directory": ".", "file": "a.c", "command": "cc"}\n {}]',
    "cut": '[\n {"directory": ".", "file": "a.c", "comm',
    "no-file": '[{"directory": "."}]',
    "no-words": '[\n  {"directory": ".", "file": "src/f.c"}]',
    "quote": '[{"directory": ".", "file": "src/f.c", "command": "cc \'-DX"}]',
    "refused": '[{"directory": ".", "file": "src/f.c", "command": "cc -imacros x.h f.c"}]',
    "response": '[{"directory": ".", "file": "src/f.c", "command": "cc @gone f.c"}]',
    "macro": '[{"directory": ".", "file": "src/f.c", "command": "cc -D1X f.c"}]',
    "foreign": '[{"directory": ".", "file": "src/f.c", "command": "cc -m32 f.c"}]',
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_database_that_cannot_be_read(name: str, capsys: Capture, golden: Golden) -> None:
    Path("compile_commands.json").write_text(BROKEN[name])
    assert main(["check", "src/f.c"]) == 2
    golden.check(capsys.readouterr().err)
    assert main(["check", "src/f.c", "-p", "none", "-D", "VALUE=1"]) == 0


def test_a_database_without_c(capsys: Capture) -> None:
    database({"file": "../src/x.cpp", "command": "c++ x.cpp"})
    assert main(["check", "src/f.c", "-p", "build"]) == 2
    assert "'src/f.c' has no entry in build/compile_commands.json" in capsys.readouterr().err


def test_a_database_of_cmake_is_read_as_cc_reads_it() -> None:
    Path("src/v.h").write_text("#define VALUE (STEP + 1)\n")
    Path("CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(p C)\nadd_library(p STATIC src/f.c)\n"
        "target_include_directories(p SYSTEM PRIVATE src)\n"
        'target_compile_options(p PRIVATE -include v.h "SHELL:-D STEP=4" -fvisibility=hidden)\n'
    )
    configure = ["cmake", "-S", ".", "-B", "build", "-G", "Ninja"]
    configure += ["-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DCMAKE_C_COMPILER_LAUNCHER=env"]
    subprocess.run(configure, capture_output=True, check=True)
    (entry,) = json.loads(Path("build/compile_commands.json").read_text())
    command = re.sub(r" -o \S+ -c ", " -E -P ", entry["command"])
    seen = subprocess.run(command, shell=True, cwd=entry["directory"], capture_output=True)
    assert b"a[i] = (4 + 1);" in seen.stdout
    assert main(["tile", "src/f.c", "-q", "-o", "out"]) == 0
    assert "a[i] = 4 + 1;" in Path("out/f.cl").read_text()


def test_the_validator_reads_the_c_as_its_project_does(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its headers, macros and the files in front, from whatever folder."""
    database({"file": "../src/f.c", "command": "cc -iquote ../q -include ../src/k.h -O1 f.c"})
    project('include = ["inc"]\noutput = "out"\n')
    for name, text in (("q/q.h", "A + "), ("inc/i.h", "B"), ("src/k.h", "#define A 1\n")):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    text = TEXT.replace("VALUE", '\n#include "q.h"\n#include <i.h>\n')
    Path("src/f.c").write_text(text)
    assert main(["tile", "src/f.c", "-q", "-D", "B=2", "--validate"]) == 0
    assert main(["validate", "out/f.cl", "--from", "src/f.c", "-D", "B=2"]) == 0
    assert main(["validate", "out/f.cl", "--from", "src/f.c", "-D", "B=3"]) == 1
    assert main(["validate", "out/f.cl", "--from", "src/f.c", "-D", "B=2", "--no-config"]) == 2
    monkeypatch.chdir("src/inner")
    assert main(["validate", "../../out/f.cl", "--from", "../f.c", "-DB=2"]) == 0
    assert "proven: lx_f computes what ../f.c does" in capsys.readouterr().out


# ---------------------------------------------------------------- what is printed


def test_what_holds_and_where_it_is_said(capsys: Capture, golden: Golden) -> None:
    database({"file": "../src/f.c", "command": "cc -DVALUE=1 -std=c99 -include k.h f.c"})
    Path("build/k.h").touch()
    project(
        'profile = "h100"\nfp = "fast"\ninclude = ["src", "inc"]\n'
        '[[overrides]]\nfiles = ["src/f.c"]\nfp = "strict"\ninclude = ["own"]\n'
    )
    for words in ("src/f.c -D X=1", "src", "src/f.c --cflags -O2", "src/f.c --no-config -p none"):
        assert main(["config", *words.split()]) == 0
    golden.check(capsys.readouterr().out)
    assert main(["config", "src/f.c", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["values"]["fp"] == [
        {"value": "strict", "file": "loopxform.toml", "line": 6, "column": 6, "for": ["src/f.c"]}
    ]
    assert data["flags"][-4:] == ["VALUE=1", "-std=c99", "-include", "build/k.h"]
    project('profile = "h101"')
    assert main(["config"]) == 2
    assert main(["config", "gone.c"]) == 2


def test_the_page_has_every_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of docs/configuration.md is made of the rows in the code."""
    page = PAGE.read_text()
    rows = [
        f"| `{k.name}` | {k.about} | {k.kind.words.replace('|', ' ')} | `{k.example}` "
        f"| {f'`{k.option}`' if k.option else ''} | {', '.join(f'`{c}`' for c in k.commands)} |"
        for k in KEYS.values()
    ]
    assert "\n".join(rows) in page
    assert f"[[{OVERRIDES}]]" in page
    for block in re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        name = "pyproject.toml" if "[tool." in block else "loopxform.toml"
        Path("docs").mkdir(exist_ok=True)
        Path("docs/build").mkdir(exist_ok=True)
        database({"file": "../src/heat.c", "command": "cc heat.c"}, folder="docs/build")
        Path("docs", name).write_text(block)
        settings_for("docs", config=f"docs/{name}")
    Path("docs/src").mkdir()
    Path("docs/src/heat.c").write_text(TEXT.replace("VALUE", "N"))
    monkeypatch.chdir("docs")
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    exec(code, shown := dict[str, object]())
    assert str(shown["settings"].values["profile"].loc) == "loopxform.toml:1:11"  # type: ignore
    assert shown["settings"].flags.words[:4] == ("-I", "include", "-D", "NDEBUG")  # type: ignore
    whole = [k.name for k in KEYS.values() if not k.for_files]
    assert f"Not in overrides: {', '.join(f'`{n}`' for n in whole)}." in page
