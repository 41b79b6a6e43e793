"""What may vary in a function of several nests: the tiles of its pipelines and of its loops over
time, each an option of `offload`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from loopxform.schedule.offload_options import TileChoice
from loopxform.tune.space import Point, Space, Value

NEVER = "0"
"""Without such tiles."""


def program_space(choices: Iterable[TileChoice]) -> Space:
    """All tiles of each option, the best by the model first, as far as one nest or loop of the
    function may have them."""
    tiles: dict[str, list[str]] = {}
    for choice in choices:
        tiles.setdefault(choice.option, []).extend(choice.tiles)
    ranked = {name: _ranked(texts) for name, texts in tiles.items()}
    places: dict[str, Mapping[Value, int]] = {
        name: {text: n for n, text in enumerate(texts)} for name, texts in ranked.items()
    }

    def predicted(point: Point) -> float:
        return float(sum(places[name][value] for name, value in zip(ranked, point)))

    return Space(tuple(ranked), tuple(map(tuple, ranked.values())), _nothing, predicted)


def _ranked(texts: Sequence[str]) -> list[str]:
    """Each once, and none as the second: whether tiles pay at all is worth knowing early."""
    best, *others = dict.fromkeys(texts)
    return [best, NEVER, *others]


def _nothing(_: Point) -> Sequence[str]:
    """No limit is exceeded: tiles that do not fit are no choice."""
    return ()
