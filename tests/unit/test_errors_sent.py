"""Errors are the same in another process."""

from __future__ import annotations

import pickle

import pytest

from loopxform.budget import Exhausted
from loopxform.errors import InputError, InternalError, LoopxformError, Obstacle, TransformError
from loopxform.source import Loc, Sources


def quoted() -> InputError:
    error = InputError("no", loc=Loc("f.c", 1, 5), notes=["a"], help="do", width=3, subject="-I")
    error.sources = Sources()
    error.sources.add("f.c", "int xyz;\n")
    return error


@pytest.mark.parametrize(
    "error",
    [
        quoted(),
        Exhausted("memory"),
        InternalError("oops", loc=Loc("f.c", 2, 1)),
        TransformError(
            "unroll i", (Obstacle("LX021", "no", witness="i=0"), Obstacle("LX100", "x"))
        ),
    ],
    ids=lambda e: type(e).__name__,
)
def test_a_copy_says_the_same(error: LoopxformError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert copy.render() == error.render()
    assert str(copy) == str(error)
    assert copy.args == error.args
    assert {**vars(copy), "sources": None} == {**vars(error), "sources": None}
    assert copy.status == error.status
