"""`loopxform devices`: what kernels can run on and be fitted to."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from loopxform.errors import DeviceError
from loopxform.targets.profile import PROFILES

if TYPE_CHECKING:
    from loopxform.runtime.device import DeviceInfo


def main(args: argparse.Namespace) -> int:
    if not args.profiles:
        _list_devices()
    print("profiles (--profile NAME):")
    for limits in PROFILES.values():
        print(
            f"  {limits.name:<10} {limits.group_size} work-items a group, {limits.local_bytes} "
            f"bytes local, {limits.registers} registers"
        )
    return 0


def _list_devices() -> None:
    """Those of OpenCL, with why one cannot be used, then those of the C compiler. Raises
    DeviceError where there is neither."""
    from loopxform.runtime.device import C_NAMES, devices
    from loopxform.runtime.selection import choose

    try:
        found = devices()
    except DeviceError as e:
        found = ()
        print(f"no OpenCL device: {e.message}")
    for d in found:
        _show(d)
        _show_failure(d)
    try:
        compiled = [choose(name) for name in C_NAMES]
    except DeviceError as e:
        if not found:
            raise
        print(e.message)
    else:
        for d in compiled:
            _show(d)


def _show(d: DeviceInfo) -> None:
    print(f"{d.place:<7} {d}")
    print(
        f"        {d.type}, {d.compute_units} units, {d.max_group_size} work-items a group, "
        f"{d.local_bytes} bytes local, fp64 {'yes' if d.fp64 else 'no'}"
    )


def _show_failure(d: DeviceInfo) -> None:
    from loopxform.runtime.probe import failure

    error, _ = failure(d)
    if error is not None:
        for line in (f"not used: {error.message}", *error.notes[:4]):
            print(f"        {line}")
