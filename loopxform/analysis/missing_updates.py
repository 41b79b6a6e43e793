"""Updates that are missing between the host and the device, in a function with data directives.

It goes through the text in order, loops twice, and keeps in mind for each array that stays on the
device which side has written it since they were last the same. Elements are not told apart: an
update of some of an array counts for all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, assert_never

from loopxform.ir.data_flow import Branch, Directive, Flow, Loop, Pass, Use
from loopxform.records import record
from loopxform.source import Loc

Side: TypeAlias = Literal["host", "device", "free"]
CODE = "LX256"


@record
class Missing:
    """An update that is missing: of the host before it reads `array` at `loc`, of the device after
    the host writes it there; `other` is where the other side writes or uses it. Or the array ends
    there."""

    side: Side
    array: str
    loc: Loc | None
    other: Loc | None

    @property
    def message(self) -> str:
        name, line = self.array, self.other.line if self.other else 0
        match self.side:
            case "host":
                return f"the host reads '{name}', which line {line} may have written on the device"
            case "device":
                return f"the host writes '{name}', which line {line} may use on the device"
            case "free":
                return f"'{name}' is freed while it stays on the device"
            case _:
                assert_never(self.side)

    @property
    def help(self) -> str:
        name = self.array
        match self.side:
            case "host":
                return f"before that: #pragma loopxform update host({name}[first:count])"
            case "device":
                return f"after that: #pragma loopxform update device({name}[first:count])"
            case "free":
                return f"before that: #pragma loopxform exit data delete({name}[first:count])"
            case _:
                assert_never(self.side)

    def json(self) -> dict[str, object]:
        """As the contract of `check --format json` has it."""
        place = {"line": self.loc.line, "column": self.loc.column} if self.loc else {}
        return {**place, "array": self.array, "code": CODE, "message": self.message}


@dataclass(frozen=True)
class _State:
    """Arrays that stay, and where each side has written them last."""

    there: frozenset[str] = frozenset()
    by_device: dict[str, Loc | None] = field(default_factory=dict)
    by_host: dict[str, Loc | None] = field(default_factory=dict)

    def joined(self, other: _State) -> _State:
        return _State(
            self.there | other.there,
            {**self.by_device, **other.by_device},
            {**self.by_host, **other.by_host},
        )


def missing_updates(
    flow: Iterable[Flow], is_device: Callable[[Loc | None], bool]
) -> tuple[Missing, ...]:
    """Those of a function, in the order in which they are met; `is_device` says of a loop whether
    the device runs it. Functions that are given an array count as the device."""
    walk = _Walk(is_device)
    walk.through(tuple(flow), _State())
    return tuple(walk.found.values())


class _Walk:
    def __init__(self, is_device: Callable[[Loc | None], bool]) -> None:
        self.is_device = is_device
        self.found: dict[tuple[Side, str, Loc | None], Missing] = {}

    def through(self, flow: tuple[Flow, ...], state: _State, *, device: bool = False) -> _State:
        for x in flow:
            state = self._step(x, state, device=device)
        return state

    def _step(self, x: Flow, state: _State, *, device: bool) -> _State:
        match x:
            case Use():
                return self._used(x, state, device=device)
            case Pass():
                return self._used(Use(x.array, x.loc, True, x.writes), state, device=True)
            case Directive():
                return _said(x, state)
            case Loop():
                inside = device or self.is_device(x.loc)
                once = self.through(x.body, state, device=inside)
                return state.joined(self.through(x.body, once.joined(state), device=inside))
            case Branch():
                out = state
                for body in x.bodies:
                    out = out.joined(self.through(body, state, device=device))
                return out
            case _:
                assert_never(x)

    def _note(self, side: Side, array: str, loc: Loc | None, other: Loc | None) -> None:
        self.found.setdefault((side, array, loc), Missing(side, array, loc, other))

    def _used(self, x: Use, state: _State, *, device: bool) -> _State:
        if x.array not in state.there:
            return state
        if x.is_freed:
            self._note("free", x.array, x.loc, None)
        elif device and x.array in state.by_host:
            self._note("device", x.array, state.by_host[x.array], x.loc)
        elif not device and x.reads and x.array in state.by_device:
            self._note("host", x.array, x.loc, state.by_device[x.array])
        if not x.writes:
            return state
        if device:
            return replace(state, by_device={**state.by_device, x.array: x.loc})
        return replace(state, by_host={**state.by_host, x.array: x.loc})


def _said(x: Directive, state: _State) -> _State:
    by_device, by_host, there = dict(state.by_device), dict(state.by_host), state.there
    for name in x.arrays:
        if x.word != "device":
            by_device.pop(name, None)
        if x.word != "host":
            by_host.pop(name, None)
    there = there | set(x.arrays) if x.word == "begin" else there
    there = there - set(x.arrays) if x.word == "end" else there
    return _State(there, by_device, by_host)
