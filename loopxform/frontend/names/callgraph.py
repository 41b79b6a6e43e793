"""Which functions of a file call which, through others too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from operator import or_


class CallGraph:
    """The functions of a file, and what each of them calls. Sets of functions are bit masks: a file
    of thousands of functions asks for each of them what it may reach."""

    def __init__(self, calls: Mapping[str, frozenset[str]]) -> None:
        """`calls` gives for each function the names that it mentions; those that are no functions
        of the file count for nothing."""
        self._names = tuple(calls)
        bits = {name: 1 << n for n, name in enumerate(self._names)}
        called = {name: [c for c in names if c in bits] for name, names in calls.items()}
        self._reached = {name: reduce(or_, (bits[c] for c in called[name]), 0) for name in calls}
        self._bits = bits
        changing = True
        while changing:  # a file defines most functions before their calls: few rounds
            changing = False
            for name, names in called.items():
                mask = reduce(or_, (self._reached[c] for c in names), self._reached[name])
                changing |= mask != self._reached[name]
                self._reached[name] = mask

    def calls_itself(self, name: str) -> bool:
        """Whether a function may call itself, through others too."""
        return bool(self._reached[name] & self._bits[name])

    def inside(self, name: str) -> frozenset[str]:
        """A function of the file and those that it calls; none where the file has none so named."""
        mask = self._reached.get(name, 0) | self._bits.get(name, 0)
        return frozenset(self._of(mask))

    def around(self, name: str) -> frozenset[str]:
        """A function of the file and those that it is called by."""
        bit = self._bits.get(name, 0)
        callers = (f for f, mask in self._reached.items() if mask & bit)
        return frozenset([*([name] if bit else []), *callers])

    def _of(self, mask: int) -> Iterator[str]:
        while mask:
            lowest = mask & -mask
            yield self._names[lowest.bit_length() - 1]
            mask ^= lowest
