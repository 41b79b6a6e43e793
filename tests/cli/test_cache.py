"""Results of commands that are kept: what was done before is done again without the work, and never
where anything differs that the result depends on."""

from __future__ import annotations

import io
import itertools
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from loopxform import cache
from loopxform.cli import dispatch, main, result_cache

ROOT = Path(__file__).parents[2]
KERNEL = '#include "value.h"\nvoid f(int n, float a[n]) { for (int i = 0; i < n; i++) a[i] = V; }\n'

Capture = pytest.CaptureFixture[str]
Runs = list[str]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPXFORM_CACHE", str(tmp_path / "cache"))
    work = tmp_path / "work"
    (work / "second").mkdir(parents=True)
    monkeypatch.chdir(work)
    Path("f.c").write_text(KERNEL)
    Path("second/value.h").write_text("#define V 1\n")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    """The commands whose work was done."""
    done = Runs()
    work: Callable[[str, list[str]], int] = dispatch._main

    def counted(name: str, args: list[str]) -> int:
        done.append(name)
        return work(name, args)

    monkeypatch.setattr(dispatch, "_main", counted)
    return done


RUN = "offload f.c -o out -MD -Ifirst -Isecond"


def entries() -> list[Path]:
    folder = Path(os.environ["LOOPXFORM_CACHE"], "results")
    return sorted(folder.iterdir()) if folder.is_dir() else []


def outputs() -> dict[str, str]:
    return {p.name: p.read_text() for p in Path("out").iterdir()}


# ---------------------------------------------------------------- hits


@pytest.mark.parametrize(
    "command", [RUN, f"{RUN} --report --show-steps", RUN.replace("offload", "tile")]
)
def test_what_was_done_is_done_again_without_the_work(
    command: str, runs: Runs, capsys: Capture
) -> None:
    assert main(command.split()) == 0
    first, printed = outputs(), capsys.readouterr()
    assert len(first) == 4
    assert len(runs) == 1
    shutil.rmtree("out")
    assert main(command.split()) == 0
    assert outputs() == first
    assert capsys.readouterr() == printed
    assert len(runs) == 1


def test_files_are_written_as_ever(runs: Runs) -> None:
    """With the mode of the user's mask and a new time; the entries are the user's alone."""
    old = os.umask(0o027)
    try:
        for _ in range(2):
            before = {p: p.stat().st_mtime_ns for p in Path().glob("out/*")}
            assert main(RUN.split()) == 0
            assert {stat.S_IMODE(p.stat().st_mode) for p in Path("out").iterdir()} == {0o640}
            assert all(p.stat().st_mtime_ns > t for p, t in before.items())
    finally:
        os.umask(old)
    assert len(runs) == 1
    assert {stat.S_IMODE(p.stat().st_mode) for p in entries()} == {0o600}
    assert stat.S_IMODE(entries()[0].parent.stat().st_mode) == 0o700


def test_what_is_as_it_was_before_is_found_again(runs: Runs) -> None:
    """Going back and forth between two states, as between branches."""
    for n, value in enumerate(["1", "2", "1", "2", "1"]):
        Path("second/value.h").write_text(f"#define V {value}\n")
        if n % 2:
            Path("first").mkdir(exist_ok=True)
            Path("first/value.h").write_text("#define V 7\n")
        else:
            shutil.rmtree("first", ignore_errors=True)
        assert main(RUN.split()) == 0
        assert f"a[i] = {7 if n % 2 else value};" in outputs()["f.cl"]
    assert len(runs) == 2


def test_a_result_does_not_overwrite_an_input(runs: Runs, capsys: Capture) -> None:
    assert main(RUN.split()) == 0
    Path("out/f.cl").unlink()
    Path("out/f.cl").symlink_to(Path("f.c").resolve())
    assert main(RUN.split()) == 2
    assert "[LX055]" in capsys.readouterr().err
    assert Path("f.c").read_text() == KERNEL
    assert len(runs) == 1


# ---------------------------------------------------------------- what makes a result another


def other_text() -> None:
    Path("f.c").write_text(KERNEL.replace("= V", "= V + 1"))


def other_comment() -> None:
    """It moves lines, which kernels and reports name."""
    Path("f.c").write_text("/* one\n line more */\n" + KERNEL)


def other_header() -> None:
    Path("second/value.h").write_text("#define V 2\n")


def same_size_and_time() -> None:
    old = Path("second/value.h").stat()
    Path("second/value.h").write_text("#define V 3\n")
    os.utime("second/value.h", ns=(old.st_atime_ns, old.st_mtime_ns))


def header_found_earlier() -> None:
    Path("first").mkdir()
    Path("first/value.h").write_text("#define V 4\n")


def header_beside_the_file() -> None:
    Path("value.h").write_text("#define V 5\n")


def folder_becomes_a_link() -> None:
    Path("third").mkdir()
    Path("third/value.h").write_text("#define V 6\n")
    shutil.rmtree("second")
    Path("second").symlink_to("third")


def flags_in_a_file() -> None:
    Path("flags").write_text("-DV=8\n-DMORE\n")


def own_variable() -> None:
    os.environ["LOOPXFORM_ANYTHING"] = "1"


CHANGES = [
    other_text, other_comment, other_header, same_size_and_time, header_found_earlier,
    header_beside_the_file, folder_becomes_a_link, flags_in_a_file, own_variable,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda f: f.__name__)
def test_a_change_is_seen(
    change: Callable[[], None], runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPXFORM_ANYTHING", "0")
    Path("flags").write_text("-DMORE\n")
    command = [*RUN.split(), "--cflags-file", "flags"]
    assert main(command) == 0
    assert main(command) == 0
    assert len(runs) == 1
    change()
    assert main(command) == 0
    assert len(runs) == 2
    kept = outputs()
    assert main([*command, "--no-cache"]) == 0
    assert outputs() == kept


@pytest.mark.parametrize(
    "other",
    [
        "offload f.c -o out -MD -Isecond -Ifirst",
        f"{RUN} -DMORE",
        f"{RUN} --Tx 8",
        f"{RUN} --fp-contract off",
        f"{RUN} --profile h100",
        f"{RUN} -q",
        f"{RUN} -MT other",
        RUN.replace("offload", "tile"),
        RUN.replace("out", "elsewhere"),
        RUN.replace("f.c", "./f.c"),
    ],
)
def test_other_options_are_another_command(other: str, runs: Runs) -> None:
    assert main(RUN.split()) == 0
    assert main(other.split()) == 0
    assert len(runs) == 2


def test_a_profile_is_read_again(runs: Runs) -> None:
    """A file that describes the device is among what the result depends on."""
    command = f"{RUN} --profile mine.toml".split()
    Path("mine.toml").write_text("registers = 128\n")
    for _ in range(2):
        assert main(command) == 0
    assert len(runs) == 1
    assert "mine.toml" in Path("out/f.d").read_text().partition("\n")[0]
    Path("mine.toml").write_text("registers = 64\n")
    assert main(command) == 0
    assert len(runs) == 2


def test_another_folder_is_another_command(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names on the command line mean other files there, and written text names files."""
    assert main(RUN.split()) == 0
    shutil.copytree(".", "../moved")
    monkeypatch.chdir("../moved")
    assert main(RUN.split()) == 0
    assert len(runs) == 2


def test_a_system_header_that_appears_in_a_folder(runs: Runs) -> None:
    """The folders are searched for <math.h> too, though the system's own is never read."""
    for text in ("", "#define MORE 1\n"):  # without the preprocessor, and with it
        Path("f.c").write_text("#include <math.h>\n" + text + KERNEL.partition("\n")[2])
        Path("f.c").write_text(Path("f.c").read_text().replace("= V", "= sqrtf(4)"))
        runs.clear()
        assert main(RUN.split()) == 0
        Path("first").mkdir()
        Path("first/math.h").write_text("#define sqrtf(x) 9\n")
        assert main(RUN.split()) == 0
        assert len(runs) == 2
        assert "a[i] = 9;" in outputs()["f.cl"]
        shutil.rmtree("first")


def test_another_tool_is_another_command(tmp_path: Path) -> None:
    """Its code, its templates, its libraries: what a newer installation writes anew."""
    tool = tmp_path / "tool"
    shutil.copytree(ROOT / "loopxform", tool / "loopxform")  # with what Python compiled
    shutil.copytree(ROOT / "templates", tool / "templates")
    probe = "from loopxform.cli import main, dispatch; import os, sys; work = dispatch._main; "
    probe += "dispatch._main = lambda *a: (os.write(1, b'work'), work(*a))[1]; main(sys.argv[1:])"
    env = {**os.environ, "PYTHONPATH": str(tool)}

    def worked() -> bool:
        command = [sys.executable, "-c", probe, *RUN.split(), "-q"]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        return done.stdout == "work"

    assert worked()
    assert not worked()
    for file in ("loopxform/targets/profiles/h100.toml", "templates/kernel.cl.j2"):
        os.utime(tool / file)
        assert worked()
        assert not worked()
    (tool / "loopxform" / "new.py").write_text("")
    assert worked()
    (tool / "islpy").mkdir()
    (tool / "islpy" / "__init__.py").write_text("")
    assert result_cache._LIBRARIES == ("pycparser", "pcpp", "islpy", "jinja2")
    command = [sys.executable, "-c", probe, *RUN.split(), "-q"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.stdout == "work"


def test_any_walk_through_changes_gives_what_is_right(runs: Runs, capsys: Capture) -> None:
    """Headers that come, go and change in three folders, options in any order: always what the
    work itself gives."""
    rng = random.Random(5)
    folders = ["first", "second", "."]
    hits = 0
    for _ in range(60):
        where = Path(rng.choice(folders))
        where.mkdir(exist_ok=True)
        for name in ("value.h", "more.h"):
            if rng.random() < 0.4:
                (where / name).unlink(missing_ok=True)
            elif rng.random() < 0.5:
                inner = '#include "more.h"\n' if name == "value.h" and rng.random() < 0.4 else ""
                text = f"#undef V\n#define V {rng.randrange(2)}\n"
                (where / name).write_text(inner + text)
        order = rng.choice(["-Ifirst -Isecond", "-Isecond -Ifirst"])
        command = f"offload f.c -o out -MD {order}".split()
        capsys.readouterr()
        before = len(runs)
        status = main(command)
        hits += len(runs) == before
        printed, found = capsys.readouterr(), outputs() if status == 0 else {}
        assert main([*command, "--no-cache"]) == status
        if status == 0:
            assert outputs() == found
            assert capsys.readouterr() == printed
    assert hits > 10


OUTSIDE = re.compile(
    r"\bopen\(|\bread_(?:text|bytes)\(|\bis_?file\(|\bexists\(|\blistdir\b|\bscandir\b|\bglob\("
    r"|\benviron\b|\bgetenv\b|\b(?:date)?time\.(?!h\b)\w+|\brandom\.|\bgetcwd\b|\bsubprocess\b"
)
KNOWN = {
    "cache.py": {"open(", "read_bytes(", "isfile(", "is_file(", "scandir", "environ"},
    "errors.py": {"environ"},  # how a mistake of ours is shown, which is not kept
    "api/splice.py": {"read_bytes("},  # that of rawtext
    "files.py": {"exists(", "is_file("},  # of what is written, which is asked again
    # told to the trace; the files of the package are part of the key
    "targets/profile.py": {"read_bytes(", "glob("},
    # what ships is part of the key; other files are those of tune, whose results are not kept
    "targets/database.py": {"read_text(", "glob("},
    "frontend/text/rawtext.py": {"open(", "read_bytes("},  # told to the trace
    "frontend/syntax/elsewhere.py": {"read_bytes("},  # that of rawtext
    "frontend/names/library.py": {"getenv"},  # the name of a function of C
    "compiler.py": {"environ", "isfile(", "subprocess"},  # its stamp is part of the key
    # told to the trace; what is like a file that is missing is asked for a message alone
    "frontend/text/preprocess.py": {"is_file(", "listdir"},
    "frontend/text/reader.py": {"isfile(", "is_file("},
    "frontend/text/outside.py": {"is_file("},  # that of reader
    "frontend/text/macros.py": {"getcwd", "is_file("},  # the folder is part of the key
    "budget.py": {"time.process_time", "time.perf_counter", "open("},  # an answer, or none
    "codegen/render.py": {"environ", "read_text("},  # compiled templates; style sheets
}


PURE = (
    *("api", "frontend", "ir", "analysis", "transforms", "targets", "schedule", "prepare"),
    *("model", "recipes", "offload", "codegen"),
)


@pytest.mark.parametrize(
    "files",
    ["*.py", *(f"{x}/**/*.py" for x in PURE)],
)
def test_nothing_else_is_asked_of_the_world(files: str) -> None:
    """What the result depends on besides the command line goes through the trace; whoever adds to
    this list tells the trace of it."""
    folder = ROOT / "loopxform"
    for file in sorted(folder.glob(files)):
        code = re.sub(r'"""(?:.|\n)*?"""|#.*', "", file.read_text())
        found = {m.group() for m in OUTSIDE.finditer(code)}
        name = str(file.relative_to(folder))
        assert found <= KNOWN.get(name, set()), name


# ---------------------------------------------------------------- what is never kept


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("sizeof __DATE__", ""),
        ("__TIME__[0]", ""),
        ("sizeof NOW", "-DNOW=__DATE__"),
        ("sizeof PASTE(__DA, TE__)", "-DPASTE(a,b)=a##b"),
        ("sizeof STRING(__TIME__)", "-DSTRING(a)=STRING2(a) -DSTRING2(a)=#a"),
    ],
)
def test_nothing_that_holds_the_time_is_kept(text: str, options: str, runs: Runs) -> None:
    more = f"int now(void) {{ return {text}; }}\n"
    Path("f.c").write_text(KERNEL + more)
    for _ in range(2):
        assert main([*RUN.split(), "--function", "f", *options.split()]) == 0
    assert len(runs) == 2
    assert not entries()


def test_the_clock_stands_still_while_a_file_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is preprocessed several times, which must be one text."""
    begin, hours = time.localtime(), itertools.count(1)
    monkeypatch.setattr(
        time, "localtime", lambda: time.struct_time((*begin[:3], next(hours) % 24, *begin[4:]))
    )
    Path("f.c").write_text(KERNEL + "int now(void) { return __TIME__[0]; }\n")
    assert main([*RUN.split(), "--function", "f"]) == 0


@pytest.mark.parametrize("text", ["#ifdef __TIME__\n#endif\n", "/* __DATE__ */\n"])
def test_a_name_is_not_the_time(text: str, runs: Runs) -> None:
    Path("f.c").write_text(KERNEL + text)
    for _ in range(2):
        assert main(RUN.split()) == 0
    assert len(runs) == 1


def test_errors_are_not_kept(runs: Runs, capsys: Capture) -> None:
    Path("f.c").write_text(KERNEL.replace("= V", "= W"))
    for _ in range(2):
        assert main(RUN.split()) == 2
        assert "W" in capsys.readouterr().err
    assert len(runs) == 2
    assert not entries()


def test_what_cannot_be_written_is_not_kept(runs: Runs, capsys: Capture) -> None:
    Path("out").write_text("a file")
    assert main(RUN.split()) == 2
    assert not entries()
    assert len(runs) == 1
    assert "cannot write" in capsys.readouterr().err


def test_no_cache(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        assert main([*RUN.split(), "--no-cache"]) == 0
    for nowhere in ("off", "0"):
        monkeypatch.setenv("LOOPXFORM_CACHE", nowhere)
        assert main(RUN.split()) == 0
        assert not Path(nowhere).exists()
    assert len(runs) == 4


def test_standard_input_is_not_kept(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        text = io.TextIOWrapper(io.BytesIO(KERNEL.encode()))
        monkeypatch.setattr(sys, "stdin", text)
        assert main(RUN.replace("f.c", "-").split()) == 0
    assert len(runs) == 2
    assert not entries()


def test_help_is_not_kept(capsys: Capture) -> None:
    assert main(["offload", "--help"]) == 0
    assert "--no-cache" in capsys.readouterr().out
    assert not entries()


# ---------------------------------------------------------------- the folder


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "other", "gone", "binary"])
def test_damage_is_not_there(damage: str, runs: Runs) -> None:
    assert main(RUN.split()) == 0
    first = outputs()
    for entry in entries():
        data = entry.read_bytes()
        match damage:
            case "empty":
                entry.write_bytes(b"")
            case "cut":
                entry.write_bytes(data[: len(data) // 2])
            case "flipped":
                entry.write_bytes(data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
            case "other":
                entry.write_bytes(entries()[0].read_bytes() if entry != entries()[0] else b"x\ny")
            case "gone":
                entry.unlink()
            case "binary":
                entry.write_bytes(bytes(range(256)) * 4)
    for _ in range(2):
        assert main(RUN.split()) == 0
        assert outputs() == first
    assert len(runs) == 2


def test_a_folder_that_is_none(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPXFORM_CACHE", os.path.abspath("f.c"))
    for _ in range(2):
        assert main(RUN.split()) == 0
    assert len(runs) == 2
    assert Path("f.c").read_text() == KERNEL


def test_the_usual_folder(runs: Runs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LOOPXFORM_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    for _ in range(2):
        assert main(RUN.split()) == 0
    assert len(runs) == 1
    assert len(list((tmp_path / "xdg" / "loopxform" / "results").iterdir())) == 2


def test_what_was_not_used_for_longest_goes(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The results of 0, 1 and 2; then 0 is used again, and there is room for three but not four."""
    commands = [[*RUN.split(), f"-DN{n}"] for n in range(4)]
    for n, command in enumerate(commands[:3]):
        assert main(command) == 0
        for entry in entries():
            if entry.stat().st_mtime > 10**9:
                os.utime(entry, (n + 1, n + 1))
    assert main(commands[0]) == 0
    assert len(runs) == 3
    room = sum(e.stat().st_size for e in entries()) + 100
    full = result_cache.Store(tmp_path / "cache" / "results", room)
    monkeypatch.setattr(result_cache, "_store", lambda _: full)
    assert main(commands[3]) == 0
    assert sum(e.stat().st_size for e in entries()) <= room
    for n, known in ((0, True), (3, True), (1, False)):
        runs.clear()
        assert main(commands[n]) == 0
        assert (not runs) == known, n


def test_the_limit_is_what_the_page_says() -> None:
    assert f"{cache.LIMIT // 2**20} MiB" in (ROOT / "docs" / "building.md").read_text()


def test_many_at_once() -> None:
    """Processes that keep and find the same results in one folder."""

    def run(n: int) -> str:
        command = f"offload f.c -o out{n} -q -Isecond -DN{n % 3}"
        subprocess.run([sys.executable, "-m", "loopxform", *command.split()], check=True)
        return Path(f"out{n}/f.cl").read_text()

    with ThreadPoolExecutor(4) as pool:
        texts = list(pool.map(run, [*range(4), *range(4)]))
    assert len(set(texts)) == 1
    assert not [e for e in entries() if e.suffix == ".tmp"]


@pytest.mark.parametrize("program", ["programs/c89_filter.c", "gemm.c"])
def test_the_same_input_gives_the_same_output(program: str) -> None:
    """Whatever the order of Python's sets: else a result of the cache would be one of several."""
    found = set[tuple[str, ...]]()
    for seed in ("1", "2"):
        file = str(ROOT / "corpus" / program)
        done = subprocess.run(
            [sys.executable, "-m", "loopxform", "offload", file, "-o", "out", "--report", "-MD"],
            env={**os.environ, "PYTHONHASHSEED": seed, "LOOPXFORM_CACHE": "off"},
            capture_output=True,
            text=True,
            check=True,
        )
        found.add((done.stdout, *(p.read_text() for p in sorted(Path("out").iterdir()))))
    assert len(found) == 1
