"""`NAME.tuning`: the recipe and the tile sizes that `loopxform tune` found, next to NAME.c.

    # loopxform 0.1.0, tuned for pthread-haswell (Portable Computing Language)
    # M=512, U=512, N=512: 4.101 ms, 5.730 ms with the defaults
    device=pthread-haswell
    mm.text=6f1c...         the digest of the function's C
    mm.fp=contract          what was permitted of floating point
    mm.recipe=register
    mm.Ty=4
    rows.suff_outer_par_0=4096      a threshold

It is plain text, to be kept under version control and changed by hand. Sizes decide how fast
kernels are, never what they compute: the steps are proven for them as for any others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field

from loopxform.errors import UsageError
from loopxform.floating_point import LEVELS
from loopxform.nearest import did_you_mean
from loopxform.records import record
from loopxform.schedule.params import KINDS, NAMES, RECIPES, THRESHOLDS, Recipe
from loopxform.source import Loc, Sources
from loopxform.written import LARGEST_SIZE, LARGEST_TILE

SUFFIX = ".tuning"
THRESHOLD = re.compile(rf"(?:{'|'.join(THRESHOLDS)})_\d{{1,4}}_*")


@record
class Tuned:
    """What was found for a function: a recipe (None: the one that is chosen anyway), sizes of its
    tiles, the digest of its text, what was permitted of floating point, and thresholds."""

    recipe: Recipe | None
    sizes: Mapping[str, int]
    text: str = ""
    fp: str = "contract"
    thresholds: Mapping[str, int] = field(default_factory=dict)


@record
class Tuning:
    """What a file says: of which device, and of each function by name."""

    device: str = ""
    functions: Mapping[str, Tuned] = field(default_factory=dict)


def written(tuning: Tuning, about: Iterable[str]) -> str:
    """The text of a file; the lines `about` it are comments on top."""
    lines = [f"# {line}" for line in about]
    lines.append(f"device={tuning.device}")
    for name, tuned in tuning.functions.items():
        lines += [f"{name}.text={tuned.text}", f"{name}.fp={tuned.fp}"]
        lines += [f"{name}.recipe={tuned.recipe}"] * (tuned.recipe is not None)
        own = {**tuned.sizes, **tuned.thresholds}
        lines += [f"{name}.{parameter}={value}" for parameter, value in own.items()]
    return "\n".join(lines) + "\n"


def parsed(path: str, text: str, functions: Iterable[str]) -> Tuning:
    """What a file says of these functions. Raises UsageError at the line that says nothing
    meaningful."""
    known, device = list(functions), ""
    values: dict[str, dict[str, str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, equals, value = (x.strip() for x in line.partition("="))
        if not equals:
            raise _bad(path, text, number, f"'{line}' is not NAME=VALUE", "mm.Ty=16")
        if name == "device":
            device = value
            continue
        function, _, parameter = name.rpartition(".")
        if function not in known:
            hint = did_you_mean(function, known)
            help = f"{hint}tune again, or remove its lines; the functions are: {', '.join(known)}"
            raise _bad(path, text, number, f"there is no function '{function}'", help)
        _require_value(path, text, number, parameter, value)
        own = values.setdefault(function, {})
        if parameter in own:
            raise _bad(path, text, number, f"'{name}' is given twice", "remove one of the lines")
        own[parameter] = value
    return Tuning(device, {name: _tuned(path, text, name, v) for name, v in values.items()})


def _require_value(path: str, text: str, number: int, parameter: str, value: str) -> None:
    """Raises UsageError."""
    if parameter == "text":
        return
    if parameter == "fp":
        if value not in LEVELS:
            help = f"{did_you_mean(value, LEVELS)}the levels are: {', '.join(LEVELS)}"
            raise _bad(path, text, number, f"there is no level '{value}'", help)
        return
    if parameter == "recipe":
        if value not in RECIPES:
            help = f"{did_you_mean(value, RECIPES)}the recipes are: {', '.join(RECIPES)}"
            raise _bad(path, text, number, f"there is no recipe '{value}'", help)
        return
    if THRESHOLD.fullmatch(parameter):
        short = value.isascii() and value.isdecimal() and len(value) < 11
        if not (short and int(value) <= LARGEST_SIZE):
            message = f"'{value}' is not a number from 0 to {LARGEST_SIZE}"
            raise _bad(path, text, number, message, f"{parameter}=4096")
        return
    if parameter not in NAMES:
        known = (*NAMES, *(f"{kind}_0" for kind in THRESHOLDS))
        help = f"{did_you_mean(parameter, known)}the parameters are: recipe, {', '.join(NAMES)}"
        raise _bad(path, text, number, f"there is no parameter '{parameter}'", help)
    short = value.isascii() and value.isdecimal() and len(value) < 9
    if not (short and 0 < int(value) <= LARGEST_TILE):
        message = f"'{value}' is not a number from 1 to {LARGEST_TILE}"
        raise _bad(path, text, number, message, f"{parameter}=16")


def _tuned(path: str, text: str, name: str, values: Mapping[str, str]) -> Tuned:
    """Raises UsageError."""
    recipe = next((r for r in RECIPES if r == values.get("recipe")), None)
    sizes = {n: int(values[n]) for n in NAMES if n in values}
    thresholds = {n: int(v) for n, v in values.items() if THRESHOLD.fullmatch(n)}
    if recipe is None and (sizes or not thresholds):
        message = f"'{name}' has sizes and no recipe"
        raise _bad(path, text, 1, message, f"{name}.recipe=register")
    for size in sizes:
        if recipe is not None and size not in KINDS[recipe].sizes:
            message = f"the recipe {recipe} has no use for {size}"
            number = _line_of(text, f"{name}.{size}")
            raise _bad(path, text, number, message, f"it has {', '.join(KINDS[recipe].sizes)}")
    fp = values.get("fp", "contract")
    return Tuned(recipe, sizes, values.get("text", ""), fp, thresholds)


def _line_of(text: str, name: str) -> int:
    lines = text.splitlines()
    return next((n for n, x in enumerate(lines, 1) if x.partition("=")[0].strip() == name), 1)


def _bad(path: str, text: str, number: int, message: str, help: str) -> UsageError:
    error = UsageError(message, code="LX072", help=help)
    error.loc = Loc(path, number, 1)
    error.width = len(text.splitlines()[number - 1])
    error.sources = Sources()
    error.sources.add(path, text)
    return error
