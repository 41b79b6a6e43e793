"""TimeTile: the ways in which loops over time are written."""

from __future__ import annotations

import pytest
from conftest import Golden
from stencil_loops import FORMS, REFUSED

import loopxform as lx
from loopxform.errors import Obstacle
from loopxform.transforms import TimeTile


def obstacles(text: str) -> tuple[Obstacle, ...]:
    fn = lx.loads(text)["f"].function
    return TimeTile("t", ("2",), "8", ("24",)).check(fn)


@pytest.mark.parametrize("name", REFUSED)
def test_refusal(name: str, golden: Golden) -> None:
    (found,) = obstacles(REFUSED[name])
    golden.check(f"{REFUSED[name]}{found.message}\n")


@pytest.mark.parametrize("name", FORMS)
def test_legal(name: str) -> None:
    done = lx.loads(FORMS[name])["f"].offload(time_tile=(2, 8, 24))
    assert any("t" in p.loops and p.about for p in done.parts)
