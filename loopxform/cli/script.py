"""Scripts of steps: what `tile --json` saves and `apply --script` reads, every part with its
place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from loopxform.api.permitted import needed
from loopxform.errors import InputError, LimitError, UsageError
from loopxform.floating_point import CONTRACT, LEVELS, PERMITTED, FloatingPoint
from loopxform.records import record
from loopxform.schedule.constraints import Constraint, constraint
from loopxform.source import Loc, Sources
from loopxform.transforms import Derivation
from loopxform.written import LARGEST_TILE

FORMAT = (
    '{"tiles": {"Ty": 16}, "fp_contract": "on", "steps": [...]}, as `tile --json FILE` saves it'
)
KEYS = ("recipe", "device", "tiles", "constraints", "fp", "fp_contract", "fp_needed", "steps")

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[\[\]{},:]|[^\s\[\]{},:"]+')


def saved(derivation: Derivation, *, fp: FloatingPoint, fitted: FittedTo | None = None) -> str:
    """The text of a script: the steps with their parameters, and what these were `fitted` to;
    `fp_needed` is the lowest level under which the steps are legal."""
    steps = derivation.to_json()
    data = {} if fitted is None else fitted.to_json(steps["tiles"])
    data |= {"fp": fp.level, "fp_contract": "on" if fp.contract else "off"}
    data |= {"fp_needed": needed(derivation), **steps}
    return json.dumps(data, indent=2) + "\n"


@record
class FittedTo:
    """The recipe whose steps are saved, the device, and the constraints of the `sizes` in use."""

    recipe: str
    device: str
    sizes: Mapping[str, int]
    constraints: tuple[Constraint, ...]

    def to_json(self, named: Mapping[str, int]) -> dict[str, Any]:
        """The constraints in terms of the sizes that steps name."""
        rows = [_numbered(c, named, self.sizes).to_json() for c in self.constraints]
        limits = {"constraints": rows} if rows else {}
        return {"recipe": self.recipe, "device": self.device, **limits}


def _numbered(c: Constraint, sizes: Mapping[str, int], numbers: Mapping[str, int]) -> Constraint:
    """With numbers for sizes that the steps do not name."""

    def text(m: re.Match[str]) -> str:
        return m.group() if m.group() in sizes else str(numbers[m.group()])

    return replace(c, formula=re.sub(r"[A-Za-z_]\w*", text, c.formula))


@record
class Text:
    """A part of a text that a person wrote: one step, of an option or in a file."""

    file: str
    whole: str
    start: int
    end: int

    @property
    def part(self) -> str:
        return self.whole[self.start : self.end]

    def place(self, e: UsageError | InputError, words: list[str]) -> None:
        """Puts the error at the last of the words that its message quotes, else at the first."""
        quoted = [w for w in words if f"'{w}'" in e.message] or words[:1]
        word = quoted[-1] if quoted else ""
        found = list(re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", self.part)) if word else []
        e.width = len(word) if found else 1
        self.at(e, self.start + (found[-1].start() if found else 0))

    def at(self, e: UsageError | InputError, offset: int) -> None:
        """Puts the error at an offset of the whole text."""
        before = self.whole[:offset]
        column = offset - (before.rfind("\n") + 1) + 1
        e.loc = Loc(self.file, before.count("\n") + 1, column)
        e.sources = Sources()
        e.sources.add(self.file, self.whole)


@record
class Script:
    """Tile sizes, steps with their text, what is permitted of floating point and whether products
    may be fused with sums (None: not said), and what the sizes were fitted to."""

    tiles: dict[str, int] = field(default_factory=dict)
    steps: tuple[tuple[Any, Text], ...] = ()
    fp: FloatingPoint | None = None
    contract: bool | None = None
    fitted: FittedTo | None = None

    @property
    def permitted(self) -> FloatingPoint:
        """What it permits; where it does not say, contraction."""
        fp = self.fp or CONTRACT
        return fp if self.contract is None else fp.contracting(self.contract)

    @property
    def thresholds(self) -> dict[str, int]:
        """Those that guards of variants compare with, by name."""
        every = (_thresholds(data) for data, _ in self.steps)
        return {name: value for own in every for name, value in own.items()}

    def with_thresholds(self, values: Mapping[str, int]) -> Script:
        """With other values of thresholds."""
        return replace(
            self, steps=tuple((_changed(data, values), text) for data, text in self.steps)
        )

    def require(self, sizes: Mapping[str, int]) -> None:
        """Raises LimitError where the sizes need more than there is."""
        if self.fitted is None:
            return
        broken = [text for c in self.fitted.constraints if (text := c.broken(sizes))]
        if broken:
            at = " ".join(f"{n}={v}" for n, v in self.tiles.items())
            raise LimitError(
                f"the tile does not fit {self.fitted.device or 'the device'}",
                notes=broken,
                help=f"smaller sizes: the script has {at}",
                subject="--set" if sizes != self.tiles else "--script",
            )


def _thresholds(data: Any) -> dict[str, Any]:
    """Those of a step and of the steps in its variants, as they are written."""
    found: dict[str, Any] = {}
    for step in _inside(data):
        found |= _thresholds(step)
    own = data.get("thresholds") if isinstance(data, dict) else None
    return {**found, **own} if isinstance(own, dict) else found


def _changed(data: Any, values: Mapping[str, int]) -> Any:
    """A step with other values of thresholds."""
    known = _thresholds(data)
    if not any(values.get(name, value) != value for name, value in known.items()):
        return data
    own = {n: values.get(n, value) for n, value in data.get("thresholds", {}).items()}
    rows = [
        {**row, "steps": [_changed(step, values) for step in row["steps"]]}
        for row in data["variants"]
    ]
    return {**data, "thresholds": own, "variants": rows}


def _inside(data: Any) -> Iterator[Any]:
    """The steps of the variants of a step."""
    rows = data.get("variants") if isinstance(data, dict) else None
    for row in rows if isinstance(rows, list) else ():
        steps = row.get("steps") if isinstance(row, dict) else None
        yield from steps if isinstance(steps, list) else ()


def read_script(path: str) -> Script:
    """Raises InputError with the place in the script."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as e:
        message = f"cannot read '{path}': {e.strerror or e}"
        raise InputError(message, code="LX056", help=FORMAT, subject="--script") from e
    except UnicodeDecodeError as e:
        message = f"'{path}' is not text in UTF-8"
        raise InputError(message, code="LX056", help=FORMAT, subject="--script") from e
    whole = Text(path, text, 0, len(text))
    try:
        data = json.loads(text)
    except json.JSONDecodeError as e:
        raise _bad(whole, f"not JSON: {e.msg[:1].lower()}{e.msg[1:]}", e.pos) from e
    except RecursionError as e:
        raise _bad(whole, "nested too deeply", 0) from e
    except ValueError as e:  # a number of thousands of digits
        raise _bad(whole, f"not JSON: {e}", 0) from e
    if not isinstance(data, dict) or not isinstance(data.get("steps"), list):
        raise _bad(whole, "the script has no list of steps", 0)
    places = dict(_members(text))
    for key in data:
        if key not in KEYS:
            raise _bad(whole, f"a script has no {key!r}", places[key])
    tiles, contract = data.get("tiles", {}), data.get("fp_contract")
    if not isinstance(tiles, dict) or not all(is_size(n, v) for n, v in tiles.items()):
        raise _bad(whole, f"not tile sizes: {tiles!r}", places["tiles"])
    level = data.get("fp", "contract")
    if level not in LEVELS:
        raise _bad(whole, f'"fp" is one of {", ".join(LEVELS)}', places["fp"])
    if contract is not None and contract not in ("on", "off"):
        raise _bad(whole, '"fp_contract" is neither "on" nor "off"', places["fp_contract"])
    for key in ("recipe", "device"):
        if not isinstance(data.get(key, ""), str):
            raise _bad(whole, f"{key!r} is a name", places[key])
    constraints = _constraints(data.get("constraints", []), tiles, whole, places)
    spans = _elements(text, places["steps"])
    steps = tuple((s, Text(path, text, *span)) for s, span in zip(data["steps"], spans))
    fp = PERMITTED[level] if "fp" in data else None
    fused = None if contract is None else contract == "on"
    fitted = FittedTo(data.get("recipe", ""), data.get("device", ""), tiles, constraints)
    return Script(tiles, steps, fp, fused, fitted if fitted.recipe or constraints else None)


def _constraints(
    rows: object, tiles: Mapping[str, int], whole: Text, places: Mapping[str, int]
) -> tuple[Constraint, ...]:
    """Those of a script, in terms of its tile sizes. Raises InputError."""
    try:
        found = tuple(map(constraint, rows if isinstance(rows, list) else [rows]))
    except ValueError as e:
        raise _bad(whole, str(e), places["constraints"]) from e
    unknown = sorted({name for c in found for name in c.names} - tiles.keys())
    if unknown:
        message = f"a constraint names '{unknown[0]}', which is no tile size of the script"
        raise _bad(whole, message, places["constraints"])
    return found


def is_size(name: object, value: object) -> bool:
    """Whether a tile size has a name and a value that it can have."""
    named = isinstance(name, str) and name.isidentifier() and name.isascii()
    return named and type(value) is int and 0 < value <= LARGEST_TILE


def _bad(text: Text, message: str, offset: int) -> InputError:
    error = InputError(message, code="LX056", help=FORMAT)
    text.at(error, offset)
    return error


def _members(text: str) -> Iterator[tuple[str, int]]:
    """The keys of an object and where their values start."""
    depth, key, named = 0, "", False
    for m in _TOKEN.finditer(text):
        token = m.group()
        if named:
            yield key, m.start()
            named = False
        if depth == 1 and token == ":":
            named = True
        elif depth == 1 and token[0] == '"':
            key = json.loads(token)
        depth += (token in "[{") - (token in "]}")


def _elements(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Where the elements of the array at `start` begin and end."""
    depth, begin, end = 0, None, start
    for m in _TOKEN.finditer(text, start):
        token = m.group()
        if depth == 1 and token in ",]":
            if begin is not None:
                yield begin, end
            begin = None
        elif depth == 1 and begin is None:
            begin = m.start()
        depth += (token in "[{") - (token in "]}")
        end = m.end()
        if depth == 0:
            return
