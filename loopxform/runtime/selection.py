"""Which device runs kernels: the one that is named, else the first that builds them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import TypeAlias

from loopxform.errors import DeviceError
from loopxform.runtime.c.device import c_device
from loopxform.runtime.device import C_NAMES, ENVIRONMENT, INSTALL, DeviceInfo, devices
from loopxform.runtime.probe import failure


def choose(spec: str | None = None, skipped: Skipped | None = None) -> DeviceInfo:
    """The device `spec` means: an index (`1`), `PLATFORM:DEVICE` (`0:0`), part of the name of a
    device or platform, or a name of C_NAMES, whatever the case. None stands for the environment
    variable LOOPXFORM_DEVICE, else the first GPU, else the first device that builds kernels, else
    `c`; `skipped` is told the others, with the compiler's words, the first time that they are
    tried. Raises DeviceError."""
    spec = (spec if spec is not None else os.environ.get(ENVIRONMENT, "")).strip()
    if not spec:
        return _first_usable(skipped or _warn)
    if spec.lower() in C_NAMES:
        return _c_device(spec.lower())
    every = devices()
    if spec.isdigit():
        chosen = [d for d in every if d.index == int(spec)]
    elif spec.replace(":", "", 1).isdigit():
        chosen = [d for d in every if d.place == spec]
    else:
        chosen = [d for d in every if spec.lower() in f"{d.name}\n{d.platform}".lower()]
    if not chosen:
        raise DeviceError(
            f"no device matches '{spec}'",
            notes=[f"{d.index}  {d.place}  {d}" for d in every],
            help="give an index, PLATFORM:DEVICE, part of a name, or one of "
            f"{', '.join(C_NAMES)} (or set {ENVIRONMENT})",
        )
    return chosen[0]


Skipped: TypeAlias = Callable[[DeviceInfo, DeviceError], None]
"""Told of a device that does not build kernels, and why."""


def _warn(device: DeviceInfo, error: DeviceError) -> None:
    text = "; ".join([f"{device} is not used: {error.message}", *error.notes[:1]])
    warnings.warn(text, RuntimeWarning, stacklevel=4)


def _first_usable(skipped: Skipped) -> DeviceInfo:
    try:
        every = devices()
    except DeviceError as e:
        return _c_device("c", without=e)
    for device in sorted(every, key=lambda d: d.type != "gpu"):
        error, is_new = failure(device)
        if error is None:
            return device
        if is_new:
            skipped(device, error)
    return _c_device("c")


def _c_device(name: str, without: DeviceError | None = None) -> DeviceInfo:
    """Raises DeviceError where there is no C compiler: that there is no OpenCL, too."""
    try:
        return c_device(name)
    except DeviceError as e:
        if without is None:
            raise
        help = f"install gcc or clang, and kernels run as C; {INSTALL}"
        raise DeviceError(without.message, notes=[*without.notes, e.message], help=help) from e
