"""What `run`, `bench` and `demo` share: sizes and inputs, the user's own C as the reference."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace

from loopxform.api.facade import File, Routine
from loopxform.cli.arguments.running import SEED
from loopxform.errors import UsageError, about
from loopxform.runtime.device import DeviceInfo
from loopxform.runtime.profiles import limits_of
from loopxform.targets.profile import profile
from loopxform.targets.target import Limits
from loopxform.verify.cref import CSource
from loopxform.verify.sizes import checked_sizes
from loopxform.verify.tolerance import Tolerance
from loopxform.verify.values import FORM, Wanted, chosen, wanted
from loopxform.written import whole

LARGEST_SEED = (1 << 64) - 1
MOST_LAUNCHES = 1_000_000


def seed(args: argparse.Namespace) -> int:
    """Raises UsageError."""
    return whole("--seed", args.seed, 0, LARGEST_SEED, str(SEED))


def launches(option: str, text: str, least: int) -> int:
    """A number of launches. Raises UsageError."""
    return whole(option, text, least, MOST_LAUNCHES, "10")


def inputs(args: argparse.Namespace) -> dict[str, Wanted]:
    """The values that arrays are to have. Raises UsageError."""
    with about("--input"):
        return dict(_input(text) for text in args.input)


def require_numbers(
    option: str,
    routine: Routine,
    given: Sequence[Mapping[str, int | float]],
    values: Mapping[str, Wanted],
) -> None:
    """Fails before anything is compiled. Raises UsageError."""
    for sizes in given:
        with about(option):
            checked = checked_sizes(routine.function, sizes)
        with about("--input"):
            chosen(routine.function, values, checked)


def limits_on(device: DeviceInfo, args: argparse.Namespace) -> Limits:
    """What kernels are fitted to: --profile, else the device they run on. Raises UsageError."""
    with about("--profile"):
        return profile(args.profile) if args.profile else limits_of(device)


def reference(file: File, args: argparse.Namespace) -> CSource:
    """The C that results are compared with."""
    text = file.parsed.sources.text(file.name) if args.file == "-" else None
    o = file.parsed.options
    own = replace(args.flags, include=(), system=(), after=(), define=(), undefine=(), flags=())
    return CSource(
        args.file, text, o.include_dirs, o.defines, o.undefines, own.rest, cflags=o.flags
    )


def verified(elements: int, arrays: Sequence[str], allowed: Tolerance, whose: str) -> str:
    """That so many elements are those of the C."""
    how = "identical to" if allowed.exact else f"equal, within the tolerance for {allowed.why}, to"
    return f"{elements} elements of {', '.join(arrays)} are {how} {whose}"


def _input(text: str) -> tuple[str, Wanted]:
    """`row=0:nnz:sorted`. Raises UsageError."""
    name, equals, values = text.partition("=")
    if name.isidentifier() and equals:
        return name, wanted(values)
    raise UsageError(f"'{text}' is not NAME=LOW:HIGH", code="LX023", help=FORM)
