"""The protocol of a step, which is plain data, and its line of text and of JSON.

`check` says why a step may not be applied (nothing: it may), `rewrite` relies on that, `reason`
says in a sentence why the result means the same. `Derivation.then` is the only caller that joins
them.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, asdict, fields
from typing import Any, ClassVar

from loopxform.errors import Obstacle, UsageError
from loopxform.ir.nodes import Function
from loopxform.nearest import did_you_mean


class Step(ABC):
    """One transformation with its parameters. Subclasses are frozen dataclasses whose fields are
    strings, integers or tuples of strings, so that a step is also a line of text and of JSON
    (`dispatch`, which holds other steps, is JSON only)."""

    verb: ClassVar[str]
    usage: ClassVar[str]
    former: ClassVar[tuple[str, ...]] = ()
    """What the verb was in earlier releases: still understood, with a warning."""
    merged: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """Verbs of earlier releases that are a case of this step now, with the fields that say so."""
    renamed: ClassVar[Mapping[str, str]] = {}
    """Fields by the names that they had in earlier releases."""
    flags: ClassVar[Mapping[str, str]] = {}
    """Words that may stand at the end in any order, with the fields that are set to them."""
    keeps_order: ClassVar[bool] = False
    """Whether statements run in the order they did, and touch what they did: then it makes no
    difference which arrays overlap."""

    restores: ClassVar[bool] = False
    """Whether it undoes what was done by hand: its result is how the loops are read."""

    def is_in_order(self) -> bool:
        """`keeps_order`, of a step that holds others theirs."""
        return self.keeps_order

    @abstractmethod
    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        """Every obstacle that can be seen; pure and total."""

    @abstractmethod
    def rewrite(self, fn: Function) -> Function:
        """The transformed function; may trust that `check` found nothing."""

    @abstractmethod
    def reason(self, fn: Function) -> str:
        """Why the step is legal on `fn` (asked before rewriting)."""

    @classmethod
    def of_values(cls, kinds: Mapping[str, type[Step]], values: Mapping[str, object]) -> Step:
        """The step with these parameters, as words or as JSON has them; `kinds` are all steps.
        Raises UsageError."""
        del kinds
        return _build(cls, values)

    def __str__(self) -> str:
        return " ".join([self.verb, *_words(self)])

    def to_json(self) -> dict[str, Any]:
        """`{"step": "stripmine", "loop": "i", "size": "Ty*Ry", "outer": "iii"}`."""
        plain = asdict(self)  # type: ignore[call-overload]  # every subclass is a dataclass
        listed = {k: list(v) if isinstance(v, tuple) else v for k, v in plain.items()}
        return {"step": self.verb, **listed}


def _words(step: Step) -> Iterator[str]:
    for f in fields(step):  # type: ignore[arg-type]  # every subclass is a dataclass
        value = getattr(step, f.name)
        if value in ("", ()) and f.default is not MISSING:
            continue
        yield ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def called(kinds: Mapping[str, type[Step]], verb: str) -> type[Step] | None:
    """The step of a verb. A verb of earlier releases is understood, with a FutureWarning."""
    if verb in kinds:
        return kinds[verb]
    kind = next((k for k in kinds.values() if verb in (*k.former, *k.merged)), None)
    if kind is not None:
        now = " ".join([kind.verb, *(f"... {w}" for w in kind.merged.get(verb, {}).values())])
        warnings.warn(f"the step '{verb}' is called '{now}' now", FutureWarning, stacklevel=2)
    return kind


GONE = {
    "few": "variants have other tile shapes now: loopxform explain dispatch",
    "version": "assume CONDITION relies on what the host asks, dispatch chooses: loopxform explain "
    "assume",
    "settle": "assume CONDITION relies on what the host asks: loopxform explain assume",
}
"""Steps of earlier releases that have no equal, with what to do in their place."""


def from_text(kinds: Mapping[str, type[Step]], text: str) -> Step:
    """Parses `stripmine i 64`. Raises UsageError with the usage of the verb."""
    words = text.split()
    kind = called(kinds, words[0]) if words else None
    if kind is None:
        name = words[0] if words else text
        if name in GONE:
            raise UsageError(f"there is no step '{name}' any more", code="LX020", help=GONE[name])
        close = did_you_mean(name, kinds)
        help = f"{close}loopxform explain lists the steps" if close else _every(kinds)
        raise UsageError(f"'{name}' is not a step", code="LX020", help=help)
    values = dict(kind.merged.get(words[0], {}))
    wanted = [f for f in fields(kind) if f.name not in values]  # type: ignore[arg-type]
    required = [f for f in wanted if f.default is MISSING]
    while len(words) - 1 > len(required) and words[-1] in kind.flags:
        word = words.pop()
        values[kind.flags[word]] = word
    if not len(required) <= len(words) - 1 <= len(wanted):
        raise UsageError(f"'{text}' has the wrong number of words", help=f"usage: {kind.usage}")
    return kind.of_values(kinds, {f.name: w for f, w in zip(wanted, words[1:])} | values)


def _every(kinds: Mapping[str, type[Step]]) -> str:
    return f"steps: {', '.join(sorted(kinds))}"


def from_json(kinds: Mapping[str, type[Step]], data: object) -> Step:
    """The step that `to_json` wrote. Raises UsageError on anything else."""
    kind = called(kinds, str(data.get("step"))) if isinstance(data, dict) else None
    if kind is None or not isinstance(data, dict):
        name = str(data.get("step")) if isinstance(data, dict) else ""
        if name in GONE:
            raise UsageError(f"there is no step '{name}' any more", code="LX020", help=GONE[name])
        help = f'"step" is one of {", ".join(sorted(kinds))}'
        raise UsageError(f"not a step: {data!r}", help=help)
    values: dict[str, object] = dict(kind.merged.get(data["step"], {}))
    for written, value in data.items():
        name = kind.renamed.get(written, written)
        if name == "step":
            continue
        if values.setdefault(name, value) != value or (name != written and name in data):
            text = f"{data['step']}: {name!r} has two values"
            raise UsageError(text, help=f"usage: {kind.usage}")
    extra = set(values) - {f.name for f in fields(kind)}  # type: ignore[arg-type]
    if extra:
        raise UsageError(
            f"{data['step']} has no parameter {sorted(extra)[0]!r}", help=f"usage: {kind.usage}"
        )
    return kind.of_values(kinds, values)


def _build(kind: type[Step], values: Mapping[str, object]) -> Step:
    made: dict[str, object] = {}
    for f in fields(kind):  # type: ignore[arg-type]  # every subclass is a dataclass
        if f.name not in values:
            if f.default is MISSING:
                raise UsageError(f"{kind.verb} needs {f.name!r}", help=f"usage: {kind.usage}")
            continue
        raw = values[f.name]
        if str(f.type).startswith("tuple"):
            parts = raw.split(",") if isinstance(raw, str) else raw
            if not isinstance(parts, list | tuple):
                raise UsageError(f"{kind.verb}: {f.name!r} is a list", help=f"usage: {kind.usage}")
            made[f.name] = tuple(_word(kind, f.name, p) for p in parts)
        else:
            made[f.name] = _word(kind, f.name, raw)
    return kind(**made)


def _word(kind: type[Step], name: str, raw: object) -> str:
    """A name or a number; nothing else stands for a parameter."""
    if isinstance(raw, str) or (isinstance(raw, int) and not isinstance(raw, bool)):
        return str(raw)
    raise UsageError(
        f"{kind.verb}: {name!r} cannot be {raw!r}", help=f"a name or a number; usage: {kind.usage}"
    )
