"""What a process that measures does beside measuring."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tuning_folder import SCALE, enter

from loopxform.cli.tune_worker import bench

sys.path.append(str(Path(__file__).parents[2] / "scripts"))
import tune_overhead

JOB = {"dataset": 0, "runs": 2, "race": False}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(tmp_path, monkeypatch, SCALE)


def test_the_next_candidate_is_derived_while_a_kernel_is_built() -> None:
    own = bench(["f.c", "--device", "c", "--size", "n=8,m=16"])
    told: list[dict[str, Any]] = []

    def ask(**job: Any) -> dict[str, Any]:
        told.clear()
        return own.answer({**JOB, **job}, lambda message: told.append(dict(message)))

    first, second, bad = ({"Ty": 2, "Tx": x} for x in (8, 16, 1 << 20))
    answer = ask(sizes=first, next=second)
    assert [m["status"] for m in told] == ["started", "deriving", "started"]
    assert answer["status"] == "ok"
    assert set(answer["phases"]) == {"derive", "build", "verify", "run"}
    assert len(own.planned) == 2
    after = ask(sizes=second, next=bad)
    assert after["status"] == "ok"
    assert after["key"] != answer["key"]
    assert [m["status"] for m in told] == ["started", "deriving", "started"]
    assert ask(sizes=bad)["status"] == "refused"


def test_what_was_verified_is_not_verified_again_in_a_race() -> None:
    own = bench(["f.c", "--device", "c", "--size", "n=8,m=16"])
    phases = []
    for race in (False, True):
        job = {**JOB, "sizes": {"Ty": 2, "Tx": 8}, "race": race, "fresh": race}
        answer = own.answer(job, lambda _: None)
        assert len(answer["milliseconds"]) == 2
        phases.append(answer["phases"])
    assert phases[1]["verify"] < phases[0]["verify"] / 5
    assert own.answer({**JOB, "sizes": {"Ty": 4, "Tx": 8}, "derive": True}, lambda _: None) == {
        "status": "ok"
    }


@pytest.mark.slow
def test_the_overhead_is_what_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["f.c", "--device", "c", "--size", "n=8,m=16", "--repeat", "2"]
    assert tune_overhead.main(["--budget", "4", *words]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.startswith("4 candidates in ")
    names = ["start", "building", "verifying", "launches", "deriving", "overhead", "in all"]
    assert [line[:12].strip() for line in lines] == names
    cost = tune_overhead.cost(words, 2)
    assert cost.candidates == 2
    assert 0 < cost.rest < cost.wall
