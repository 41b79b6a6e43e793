"""Which functions reach which, against a search from each of them."""

from __future__ import annotations

import random

import pytest

from loopxform.frontend.names.callgraph import CallGraph


def _reached(name: str, calls: dict[str, frozenset[str]]) -> set[str]:
    reached, waiting = set[str](), [name]
    while waiting:
        fresh = (calls[waiting.pop()] & calls.keys()) - reached
        reached |= fresh
        waiting += fresh
    return reached


@pytest.mark.parametrize("seed", range(20))
def test_as_a_search_has_it(seed: int) -> None:
    rng = random.Random(seed)
    names = [f"f{n}" for n in range(rng.randint(1, 12))]
    mentioned = [*names, "x", "errno"]
    calls = {f: frozenset(rng.choices(mentioned, k=rng.randint(0, 3))) for f in names}
    graph = CallGraph(calls)
    for f in names:
        assert graph.inside(f) == _reached(f, calls) | {f}, (seed, calls)
        assert graph.calls_itself(f) == (f in _reached(f, calls)), (seed, calls)
        assert graph.around(f) == {g for g in names if g == f or f in _reached(g, calls)}


def test_what_is_no_function_of_the_file() -> None:
    graph = CallGraph({"f": frozenset(["g"])})
    assert graph.inside("g") == graph.around("g") == frozenset()
