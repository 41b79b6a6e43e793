"""Shared libraries of others, found where the system's loader looks."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable, Sequence
from typing import Any

from loopxform.errors import DeviceError, InputError
from loopxform.verify.tolerance import Tolerance

LIBRARY = Tolerance((), contract=True, reordered=True)
"""What the sums of a library may differ by."""


def load(name: str, versions: Sequence[str], help: str) -> ctypes.CDLL:
    """The library NAME, in one of these versions where there is no other. Raises InputError with
    the remedy."""
    names = [f"lib{name}.so", *(f"lib{name}.so.{v}" for v in versions)]
    found = ctypes.util.find_library(name)
    for file in [*names, *([found] if found else [])]:
        try:
            return ctypes.CDLL(file)
        except OSError:
            continue
    message = f"the library lib{name} is not found"
    raise InputError(message, code="LX069", help=help, subject="--against")


def declared(library: ctypes.CDLL, name: str, *types: Any) -> Callable[..., None]:
    """A function of a C library that gives a status, 0 for success. The call raises DeviceError."""
    function = getattr(library, name)
    function.argtypes, function.restype = types, ctypes.c_int

    def call(*args: Any) -> None:
        if status := function(*args):
            raise DeviceError(f"{name} fails with status {status}")

    return call
