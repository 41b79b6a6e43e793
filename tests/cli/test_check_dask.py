"""`check --dask ADDRESS`, with the workers of a scheduler on this machine."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dask_cluster import local_cluster
from distributed import Client

from loopxform import compiler
from loopxform.cli import check_many, cluster, main
from loopxform.cli.arguments import understood
from loopxform.cli.judging import Judge
from loopxform.errors import InternalError, LoopxformError
from loopxform.tune.workers import Gone, Worker

CORPUS = Path(__file__).parents[2] / "corpus"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with local_cluster() as found:
        yield found


def checked(words: list[str], capsys: Capture) -> tuple[int, str, str]:
    status = main(["check", *words])
    return status, *capsys.readouterr()


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    Path("inner").mkdir()
    Path("n.h").write_text("#define N 4\n")
    texts = {
        "a.c": '#include "n.h"\nvoid f(void) { for (int i = 0; i < N; i++) ; }\n',
        "b.c": "void f(int n) { int x = ; }\n",
        "c.c": "void c(int n, float *a) { for (int i = 1; i < n; i++) a[i] = a[i - 1]; }\n",
    }
    for name, text in texts.items():
        Path(name).write_text(text)
    return list(texts)


@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_all_is_as_here(form: str, address: str, files: list[str], capsys: Capture) -> None:
    words = [*files, "--format", form]
    alone = checked(words, capsys)
    assert alone[0] == 2
    assert checked([*words, "--dask", address], capsys) == alone


def test_a_worker_that_dies_loses_no_file(
    address: str, files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    alone = checked(files, capsys)
    monkeypatch.setattr(check_many, "MODULE", "faulty_judge")
    faults = {"FAULTS": json.dumps({"a.c": "kill"}), "PYTHONPATH": os.pathsep.join(sys.path)}
    with Client(address, set_as_default=False) as client:
        client.run(os.environ.update, faults)
        before = set(client.scheduler_info()["workers"])
        assert checked([*files, "--dask", address], capsys) == alone
        assert Path("a.c.pid").exists()
        client.wait_for_workers(2)
        assert set(client.scheduler_info()["workers"]) != before
        client.run(os.environ.update, {"FAULTS": "{}"})


def test_workers_that_read_something_else(
    address: str, files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """As they do without a shared folder: here it is this process that sees other files."""
    Path("d.c").write_text('#include "late.h"\n')
    read_bytes = Path.read_bytes
    for name, held, said in (
        ("a.c", b"int x;", r"sees another text of 'a\.c'"),
        ("n.h", b"#define N 5\n", r"sees another text of '\S*n\.h'"),
        ("late.h", b"#define N 6\n", r"does not see '\S*late\.h'"),
    ):
        own = {name: held}
        monkeypatch.setattr(Path, "read_bytes", lambda p, own=own: own.get(p.name) or read_bytes(p))
        status, out, err = checked([*files, "d.c", "--dask", address], capsys)
        assert (status, out) == (2, "")
        assert re.search(rf"error: the worker at tcp://127\.0\.0\.1:\d+ {said}", err)
        assert "in a folder that is shared" in err


def test_workers_that_are_not_like_this_process(
    address: str, files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    for patched, value, said in (
        ("__version__", "0.0.0", r"has loopxform \S+, and this is 0.0.0"),
        ("getcwd", lambda: "/not/there", "does not see the folder /not/there"),
        ("macros", lambda _: {"__GNUC__": "99"}, r"another C compiler: it defines \w+ in another"),
    ):
        with monkeypatch.context() as m:
            home = {"__version__": cluster, "getcwd": os, "macros": compiler}[patched]
            m.setattr(home, patched, value)
            status, out, err = checked([*files, "--dask", address], capsys)
        assert (status, out) == (2, "")
        assert len(re.findall(rf"the worker at tcp://127.0.0.1:\d+ .*{said}", err)) == 2
        assert f"loopxform check {' '.join(files)} --dask" in err


def test_a_cluster_that_is_not_there(
    files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(cluster, "TIMEOUT", 1.0)
    for address in ("tcp://127.0.0.1:1", "nonsense://x"):
        status, out, err = checked([*files, "--dask", address], capsys)
        assert (status, out) == (2, "")
        assert f"there is no Dask scheduler at '{address}'" in err
        assert err.count("error:") == 1
    status, _, err = checked([*files, "--dask", address, "-j", "2"], capsys)
    assert status == 2
    assert "--dask and --jobs exclude each other" in err
    monkeypatch.setitem(sys.modules, "distributed", None)
    status, out, err = checked([*files, "--dask", address], capsys)
    assert (status, out) == (2, "")
    assert "pip install 'loopxform[cluster]'" in err


class Lost(Worker):
    """A worker that goes as soon as it is asked."""

    def ask(self, _: object) -> dict[str, Any]:
        raise Gone


@pytest.mark.slow
def test_where_no_worker_is_left_this_process_judges(files: list[str]) -> None:
    judge = Judge(understood("check", files))
    reports = list(check_many.side_by_side(judge, files, [Lost((), None)]))
    assert [isinstance(r, LoopxformError) for r in reports] == [False, True, False]


def test_a_file_that_ends_workers_is_told() -> None:
    judge = Judge(understood("check", ["a.c"]))
    (error,) = check_many.side_by_side(judge, ["a.c"], [Lost((), None) for _ in range(3)])
    assert isinstance(error, InternalError)
    assert "in 'a.c': workers end while they judge it" in error.message
