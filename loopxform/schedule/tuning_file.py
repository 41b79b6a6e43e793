"""`NAME.tuning`: tile sizes, options and thresholds that `loopxform tune` found, next to NAME.c.

    # loopxform 0.1.0, tuned for pthread-haswell (Portable Computing Language), 2026-11-25
    version=1
    device=pthread-haswell
    # mm, M=512, U=512, N=512: 4.101 ms, defaults 5.730 ms
    mm.text=6f1c...         the digest of the function's C
    mm.fp=contract          what was permitted of floating point
    mm.recipe=register
    mm.Ty=4
    mm.stages=2
    rows.threshold_text=05d1...     the same of what thresholds were found for
    rows.threshold_fp=reassociate
    rows.suff_outer_par_0=4096
    waves.time-tile=8x128x256       tiles of a function of several nests (`offload`)
    mm.host=1e6             calls of fewer operations are the host's (or never, always)

It is plain text, to be kept under version control and changed by hand. Its values decide how fast
kernels are, never what they compute: the steps are proven for them as for any others.
`NAME.DEVICE.tuning` is the same for one device, and comes first there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from math import inf

from loopxform.errors import UsageError
from loopxform.floating_point import LEVELS
from loopxform.nearest import did_you_mean
from loopxform.records import record
from loopxform.schedule.offload_options import OF_PROGRAMS, program_options
from loopxform.schedule.params import KINDS, NAMES, RECIPES, THRESHOLDS, Options, Recipe
from loopxform.schedule.requests import options_of
from loopxform.schedule.tiling_options import TAKEN, TUNED
from loopxform.source import Loc, Sources
from loopxform.written import LARGEST_SIZE, LARGEST_TILE

SUFFIX = ".tuning"
VERSION = "1"
"""Of what the lines mean."""

TEXT, LEVEL = "text", "fp"
OF_THRESHOLDS = {TEXT: "threshold_text", LEVEL: "threshold_fp"}
"""What thresholds were found for: not always what sizes were."""

_THRESHOLD = re.compile(rf"(?:{'|'.join(THRESHOLDS)})_\d{{1,4}}_*")


@record
class Lines:
    """What a file says of a function, and where."""

    path: str
    text: str
    function: str

    def bad(self, parameter: str, message: str, help: str) -> UsageError:
        """What is wrong about a parameter, at its line."""
        number = _line_of(self.text, f"{self.function}.{parameter}")
        return _bad(self.path, self.text, number, message, help)


@record
class Tuned:
    """What was found for a function: a recipe (None: nothing but thresholds was), sizes of its
    tiles and options as they are written in such files, with the digest of the text that they were
    found for and what was permitted of floating point; thresholds, with the same of theirs. What
    was `shipped` with loopxform was found for functions like it: where it does not fit, the
    defaults are used. `tiles` are those of a function of several nests, options of
    `offload_options.OF_PROGRAMS`. `lines` are those of the file that it is from."""

    recipe: Recipe | None
    sizes: Mapping[str, int]
    text: str = ""
    fp: str = "contract"
    options: Mapping[str, str] = field(default_factory=dict)
    shipped: bool = False
    thresholds: Mapping[str, int] = field(default_factory=dict)
    threshold_text: str = ""
    threshold_fp: str = "contract"
    tiles: Mapping[str, str] = field(default_factory=dict)
    lines: Lines | None = field(default=None, compare=False)

    @classmethod
    def of(
        cls,
        recipe: str,
        values: Mapping[str, int | str],
        text: str,
        fp: str,
        given: Mapping[str, str],
    ) -> Tuned:
        """Values of parameters by name, with the options that were `given`; `recipe` is none of
        RECIPES for a function of several nests."""
        texts = {n: v for n, v in values.items() if isinstance(v, str)}
        options = {n: v for n, v in texts.items() if n not in OF_PROGRAMS}
        return cls(
            next((r for r in RECIPES if r == recipe), None),
            {n: v for n, v in values.items() if isinstance(v, int)},
            text,
            fp,
            {**given, **options},
            tiles={n: v for n, v in texts.items() if n in OF_PROGRAMS},
        )

    @property
    def has_sizes(self) -> bool:
        """Whether anything but thresholds was found."""
        return self.recipe is not None or bool(self.tiles)

    @property
    def asked(self) -> Options:
        """The options and the thresholds. Raises UsageError."""
        options = options_of(self.options).over(program_options(self.tiles))
        return replace(options, threshold=tuple(self.thresholds.items()))


@record
class Tuning:
    """What a file says: of which device, and of each function by name; `hosts` are the operations
    below which calls are the host's (0: none, infinite: all)."""

    device: str = ""
    functions: Mapping[str, Tuned] = field(default_factory=dict)
    hosts: Mapping[str, float] = field(default_factory=dict)


def suffix_for(device: str) -> str:
    """That of the file for a device alone: `.NVIDIA-H100-PCIe.tuning`."""
    name = re.sub(r"[\W_]+", "-", device, flags=re.ASCII).strip("-")[:LONGEST]
    return f".{name or 'device'}{SUFFIX}"


LONGEST = 100
"""Letters of a device in the name of a file."""


def with_tuned(text: str, device: str, name: str, tuned: Tuned, about: Iterable[str]) -> str:
    """The text of a file with what was found for a function in place of what it said of it before;
    all other lines stay as they are: of a function that has sizes and thresholds, those of which
    `tuned` has none, too. `about` are comments: the first is of the file, the others are of the
    function (`comment_of`)."""
    first, *others = (f"# {line}" for line in about)
    mark = "\ufeff" * text.startswith("\ufeff")
    lines = text.removeprefix(mark).splitlines(keepends=True)
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += end
    if not any(_key(line) == "device" for line in lines):
        lines[:0] = [f"device={device}{end}"]
    if not any(_key(line) == "version" for line in lines):
        lines[:0] = [f"version={VERSION}{end}"]
    lines = [line for line in lines if not _HEAD.match(line)]
    values = _values(tuned)
    own = [n for n, line in enumerate(lines) if _kind(name, line) in values]
    last = (n for n in reversed(range(len(lines))) if _kind(name, lines[n]))
    at = own[0] if own else next(last, len(lines) - 1) + 1
    new = [f"{name}.{key}={value}" for kind in values.values() for key, value in kind.items()]
    before = [first + end, *lines[:at]]
    after = [line for n, line in enumerate(lines) if n >= at and n not in own]
    return "".join([mark, *before, *(line + end for line in (*others, *new)), *after])


SIZES, VERSIONS, HOST = "sizes", "thresholds", "host"
"""Kinds of lines about a function: `tune` replaces the first two, each as a whole."""


def _values(tuned: Tuned) -> dict[str, dict[str, object]]:
    """What is written, by kind."""
    found: dict[str, dict[str, object]] = {}
    if tuned.has_sizes:
        recipe = {} if tuned.recipe is None else {"recipe": tuned.recipe}
        about = {TEXT: tuned.text, LEVEL: tuned.fp, **recipe}
        found[SIZES] = {**about, **tuned.sizes, **tuned.options, **tuned.tiles}
    if tuned.thresholds:
        texts = {TEXT: tuned.threshold_text, LEVEL: tuned.threshold_fp}
        found[VERSIONS] = {OF_THRESHOLDS[n]: x for n, x in texts.items()} | {**tuned.thresholds}
    return found


def device_of(text: str) -> str:
    """The device that a file is for."""
    lines = (x for x in text.splitlines() if _key(x) == "device")
    return next(lines, "").partition("=")[2].strip()


def comment_of(name: str, sizes: str, best: float, default: float, thresholds: bool = False) -> str:
    """The comment about a function, or about its thresholds, for a set of sizes, with the
    milliseconds for it."""
    subject = f"{name} {VERSIONS}" if thresholds else name
    return f"{subject}, {sizes}: {best:.4g} ms, defaults {default:.4g} ms"


_HEAD = re.compile(r"# loopxform \S+, tuned for ")


def _key(line: str) -> str:
    return "" if line.startswith("#") else line.partition("=")[0].strip()


def _kind(name: str, line: str) -> str | None:
    """What a line that `tune` wrote about a function, and may replace, speaks of."""
    comment = rf"# {re.escape(name)}( {VERSIONS})?, .*: \S+ ms, defaults \S+ ms\s*"
    if m := re.fullmatch(comment, line):
        return VERSIONS if m[1] else SIZES
    function, _, parameter = _key(line).rpartition(".")
    if function != name:
        return None
    if parameter == HOST:
        return HOST
    of_thresholds = parameter in OF_THRESHOLDS.values() or _THRESHOLD.fullmatch(parameter)
    return VERSIONS if of_thresholds else SIZES


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
        if name == "version" and value != VERSION:
            message = f"this is version '{value}' of tuning files, and version {VERSION} is read"
            help = "tune again, or use the loopxform that wrote it"
            raise _bad(path, text, number, message, help)
        if name in ("device", "version"):
            device = value if name == "device" else device
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
    hosts = {name: _operations(v.pop(HOST)) for name, v in values.items() if HOST in v}
    functions = {name: _tuned(path, text, name, v) for name, v in values.items() if v}
    return Tuning(device, functions, hosts)


def _operations(value: str) -> float:
    return _EACH[value] if value in _EACH else float(value)


_EACH = {"never": 0.0, "always": inf}
_AMOUNT = re.compile(r"\d{1,18}(\.\d{1,18})?([eE]\+?\d{1,2})?", re.ASCII)


def _require_value(path: str, text: str, number: int, parameter: str, value: str) -> None:
    """Raises UsageError."""
    if parameter in (TEXT, OF_THRESHOLDS[TEXT]):
        return
    if parameter == HOST:
        if value not in _EACH and not _AMOUNT.fullmatch(value):
            message = f"'{value}' is not a number of operations from 0 on"
            raise _bad(path, text, number, message, f"{HOST}=1e6, never or always")
        return
    if parameter in (LEVEL, OF_THRESHOLDS[LEVEL]):
        if value not in LEVELS:
            help = f"{did_you_mean(value, LEVELS)}the levels are: {', '.join(LEVELS)}"
            raise _bad(path, text, number, f"there is no level '{value}'", help)
        return
    if parameter == "recipe":
        if value not in RECIPES:
            help = f"{did_you_mean(value, RECIPES)}the recipes are: {', '.join(RECIPES)}"
            raise _bad(path, text, number, f"there is no recipe '{value}'", help)
        return
    if parameter in TUNED or parameter in OF_PROGRAMS:
        try:
            (options_of if parameter in TUNED else program_options)({parameter: value})
        except UsageError as e:
            raise _bad(path, text, number, e.message, e.help or f"{parameter}=...") from e
        return
    is_threshold = _THRESHOLD.fullmatch(parameter) is not None
    if parameter not in NAMES and not is_threshold:
        known = ("recipe", HOST, *NAMES, *TUNED, *OF_PROGRAMS)
        near = did_you_mean(parameter, (*known, *(f"{kind}_0" for kind in THRESHOLDS)))
        help = f"{near}the parameters are: {', '.join(known)}"
        raise _bad(path, text, number, f"there is no parameter '{parameter}'", help)
    least, most, example = (0, LARGEST_SIZE, 4096) if is_threshold else (1, LARGEST_TILE, 16)
    short = value.isascii() and value.isdecimal() and len(value) <= len(str(most))
    if not (short and least <= int(value) <= most):
        message = f"'{value}' is not a number from {least} to {most}"
        raise _bad(path, text, number, message, f"{parameter}={example}")


def _tuned(path: str, text: str, name: str, values: Mapping[str, str]) -> Tuned:
    """Raises UsageError."""
    recipe = next((r for r in RECIPES if r == values.get("recipe")), None)
    sizes = {n: int(values[n]) for n in NAMES if n in values}
    options = {n: values[n] for n in TUNED if n in values}
    thresholds = {n: int(v) for n, v in values.items() if _THRESHOLD.fullmatch(n)}
    tiles = {n: values[n] for n in OF_PROGRAMS if n in values}
    if recipe is None and (sizes or options or not (thresholds or tiles)):
        message = f"'{name}' has sizes and no recipe"
        raise _bad(path, text, 1, message, f"{name}.recipe=register")
    for own in (*sizes, *options):
        if recipe is not None and own not in TAKEN[recipe]:
            message = f"the recipe {recipe} has no use for {own}"
            number = _line_of(text, f"{name}.{own}")
            taken = (*KINDS[recipe].sizes, *(n for n in TUNED if n in TAKEN[recipe]))
            raise _bad(path, text, number, message, f"it has {', '.join(taken)}")
    return Tuned(
        recipe,
        sizes,
        values.get(TEXT, ""),
        values.get(LEVEL, "contract"),
        options,
        thresholds=thresholds,
        threshold_text=values.get(OF_THRESHOLDS[TEXT], ""),
        threshold_fp=values.get(OF_THRESHOLDS[LEVEL], "contract"),
        tiles=tiles,
        lines=Lines(path, text, name),
    )


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
