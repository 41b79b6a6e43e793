"""`tune --dask ADDRESS`, with the workers of a scheduler on this machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import drawn_worker
import pytest
from dask_cluster import local_cluster
from distributed import Client
from tuning_folder import SCALE, enter

from loopxform.cli import dask_worker, device_worker, main, tune_dask
from loopxform.cli.device_worker import unpacked
from loopxform.cli.tune_subject import Place

Capture = pytest.CaptureFixture[str]
WORDS = [
    "tune",
    "f.c",
    "--device",
    "c",
    "--size",
    "n=8,m=16",
    "--repeat",
    "2",
    "--json",
    "all.json",
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with local_cluster() as found:
        yield found


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(tmp_path, monkeypatch, SCALE)
    monkeypatch.setattr(tune_dask, "MODULE", "drawn_worker")


@pytest.fixture
def address(cluster: str) -> str:
    """Whose workers keep what they measure in the same place as this process."""
    environment(cluster, PYTHONPATH=os.environ["PYTHONPATH"], FAULTS="{}", DRAWN="0")
    environment(cluster, LOOPXFORM_CACHE=os.environ["LOOPXFORM_CACHE"])
    return cluster


def environment(address: str, **values: str) -> None:
    """Sets variables of the workers, both of which are there."""
    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(2)
        client.run(os.environ.update, values)


def measured() -> list[dict[str, Any]]:
    """What was measured, without the race and the defaults."""
    return [r for r in json.loads(Path("all.json").read_text()) if not r["race"] and r["sizes"]]


def test_workers_share_the_measurements(address: str, capsys: Capture) -> None:
    """What they find is known here, and is told them again."""
    environment(address, LOOPXFORM_CACHE=str(Path("elsewhere").absolute()))
    words = [*WORDS, "--budget", "30", "--dask", address]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "  30 measured\n" in out
    assert "  naive, Ty=4, Tx=32\n" in out
    assert "scale.Tx=32" in Path("f.tuning").read_text()
    rows = json.loads(Path("all.json").read_text())
    assert sum(r["sizes"] is None and not r["race"] for r in rows) == 2  # on each of the two
    assert len({json.dumps(r["sizes"]) for r in measured()}) == len(measured()) == 30
    shutil.rmtree("elsewhere")
    assert main(words) == 0
    assert all(r.get("kept") for r in measured())
    kept = [json.loads(x) for x in Path("cache/tune/f.jsonl").read_text().splitlines()]
    assert sum(not r["race"] and r.get("sizes") is not None for r in kept) == 30


@pytest.mark.slow
def test_what_a_worker_was_measuring_that_dies_is_measured_elsewhere(
    address: str, capsys: Capture
) -> None:
    environment(address, FAULTS=json.dumps({"Ty=1,Tx=8": "kill"}))
    assert main([*WORDS, "--budget", "36", "--dask", address]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert Path("killed").exists()
    assert out.count("  without the worker at tcp://127.0.0.1:") == 1
    assert "Ty=4, Tx=32" in out
    assert {"Ty": 1, "Tx": 8} in [r["sizes"] for r in measured()]


@pytest.mark.slow
def test_an_interrupt_keeps_the_best_so_far(address: str) -> None:
    environment(address, DRAWN="0.1")
    command = [sys.executable, drawn_worker.__file__, *WORDS, "--budget", "36", "--dask", address]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)
    memo, until = Path("cache/tune/f.jsonl"), time.monotonic() + 60
    while not memo.exists() or len(memo.read_text().splitlines()) < 14:
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "  interrupted: the best so far, without a race\n" in out
    assert "wrote f.tuning" in out
    with Client(address, set_as_default=False) as client:
        assert set(client.run(lambda: len(dask_worker._beside.workers)).values()) == {0}


def test_workers_that_differ_are_named(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    places = []

    def other(text: str) -> Place:
        place = unpacked(text)
        places.append(place)
        device = replace(place.device, name=f"GPU {len(places)}")
        return replace(place, device=device)

    with monkeypatch.context() as m:
        m.setattr(device_worker, "unpacked", other)
        assert main([*WORDS, "--dask", address]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    at = r"the worker at tcp://127.0.0.1:\d+"
    assert re.search(rf"error: {at} has GPU 2 .*, and that at tcp:\S+ has GPU 1 ", err)
    assert "times of different devices are not compared" in err
    with monkeypatch.context() as m:
        m.setattr(tune_dask, "digest_of", lambda _: "0")
        assert main([*WORDS, "--dask", address]) == 2
    err = capsys.readouterr().err
    assert len(re.findall(f"{at} sees another text of the function", err)) == 2
    assert not Path("f.tuning").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--shard", "1/2"], "--dask and --shard exclude each other"),
        (["-j", "2"], "--dask and --jobs exclude each other"),
        (["--shared", "d"], "--shared and --dask exclude each other"),
    ],
)
def test_options_that_say_who_measures(words: list[str], said: str, capsys: Capture) -> None:
    assert main([*WORDS, *words, "--dask", "tcp://127.0.0.1:1"]) == 2
    assert said in capsys.readouterr().err
    thresholds = [*WORDS[:-2], "--thresholds", "--dask", "tcp://127.0.0.1:1"]
    assert main(thresholds) == 2
    assert "--thresholds and --dask exclude each other" in capsys.readouterr().err
