"""Records are the dataclasses that they stand for."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any

import pytest

from loopxform.ir import copies
from loopxform.ir.nodes import Const, For, Var
from loopxform.records import record, slotted


def declared(decorator: Any) -> tuple[Any, ...]:
    """The same classes by either decorator."""

    @decorator
    class Empty:
        pass

    @decorator
    class Point:
        x: int
        y: float = 0.5
        tags: list[str] = field(default_factory=list)
        note: str = field(default="", compare=False)

    @decorator
    class Named(Point):
        name: str = "p"

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("x")

    @decorator
    class Shown:
        x: Any

        def __repr__(self) -> str:
            return "<shown>"

    return Empty, Point, Named, Shown


OURS, THEIRS = declared(record), declared(dataclass(frozen=True))


def samples(classes: tuple[Any, ...]) -> list[Any]:
    empty, point, named, shown = classes
    return [
        *(empty(), point(1), point(1, 2.0), point(1, note="n"), point(x=1, tags=["a"])),
        *(named(1), named(1, name="q"), named(2, 0.5), shown(1), shown((1,)), shown(float("nan"))),
    ]


def test_objects_are_equal_where_those_of_dataclasses_are() -> None:
    ours, theirs = samples(OURS), samples(THEIRS)
    for a, b in zip(ours, theirs):
        assert repr(a).rpartition(".")[2] == repr(b).rpartition(".")[2]
        assert [f.name for f in fields(a)] == [f.name for f in fields(b)]
        assert type(a).__match_args__ == type(b).__match_args__
        for c, d in zip(ours, theirs):
            assert (a == c) is (b == d)
    assert OURS[1](1) != THEIRS[1](1)


def test_hashes() -> None:
    shown = OURS[3]
    assert hash(shown(1)) == hash(THEIRS[3](1))
    assert {shown((1, "a")), shown((1, "a"))} == {shown((1, "a"))}
    with pytest.raises(TypeError, match="unhashable"):
        hash(OURS[1](1))


def test_they_do_not_change() -> None:
    p = OURS[1](1)
    with pytest.raises(FrozenInstanceError):
        p.x = 2
    with pytest.raises(FrozenInstanceError):
        del p.x
    q = replace(p, x=3)
    assert (q.x, q.y, q.tags is p.tags) == (3, 0.5, True)
    assert OURS[1](1).tags is not OURS[1](1).tags


def test_arguments() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        OURS[1]()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        OURS[2](1, z=1)
    with pytest.raises(ValueError, match="x"):
        OURS[2](-1)


def test_they_match() -> None:
    match OURS[1](7, 1.5):
        case object(x=7) as p:
            assert p.y == 1.5
    point = OURS[1]
    match point(7, 1.5):
        case point(x, y):
            assert (x, y) == (7, 1.5)


@slotted
class Ours:
    x: int
    note: str = field(default="", compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Theirs:
    x: int
    note: str = field(default="", compare=False, kw_only=True)


@pytest.mark.parametrize("kind", [Ours, Theirs])
def test_slots(kind: Any) -> None:
    one = kind(1, note="n")
    assert one == kind(1) != kind(2)
    assert hash(one) == hash(kind(1))
    assert repr(one) == f"{kind.__name__}(x=1, note='n')"
    assert not hasattr(one, "__dict__")
    assert kind.__match_args__ == ("x",)
    again = pickle.loads(pickle.dumps(one))
    assert (again, again.note) == (one, "n")
    with pytest.raises(FrozenInstanceError):
        one.x = 2
    with pytest.raises(TypeError):
        kind(1, "n")


def test_copies_of_nodes_are_those_of_dataclasses() -> None:
    loop = For("i", Const(0), Var("n"), Const(1), (), unroll=True)
    other = copies.replace(loop, var="j", body=(loop,))
    assert other == replace(loop, var="j", body=(loop,))
    assert other.origin is loop.origin
    assert loop.var == "i"
    with pytest.raises(AttributeError):
        copies.replace(loop, nothing=1)
