"""The devices that the C compiler makes of the CPU: `c`, and two that a sanitizer watches."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from loopxform import compiler
from loopxform.errors import DeviceError, InputError
from loopxform.runtime.c.program import MODES, Mode
from loopxform.runtime.device import C_PLATFORM, DeviceInfo

GROUP, LOCAL = 1024, 256 * 1024
"""Work-items of a group, and bytes of local memory, at most (groups.c has room for 1 MiB)."""

TYPES = ("char", "short", "int", "long", "float", "double")


@cache
def c_device(name: str = "c") -> DeviceInfo:
    """The device of this name. Raises DeviceError where there is no C compiler."""
    if os.name != "posix":
        raise DeviceError("kernels run as C on POSIX systems only", help=HELP)
    try:
        command = compiler.command()
    except InputError as e:
        raise DeviceError(f"kernels cannot run as C: {e.message}", help=HELP) from e
    mode, threads = MODES[name], _processors()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return DeviceInfo(
        index=-1,
        place=name,
        platform=C_PLATFORM,
        name=_name(mode, Path(command[0]).name),
        type="cpu",
        compute_units=1 if mode.sanitizer else threads,
        max_group_size=GROUP,
        max_item_sizes=(GROUP, GROUP, GROUP),
        local_bytes=LOCAL,
        global_bytes=memory,
        max_alloc=memory,
        vector_widths=dict.fromkeys(TYPES, 1),
        fp64=True,
        fp16=False,
        ieee_floats=True,
        correctly_rounded=True,
        warp=1,
        extensions=frozenset(),
        opencl_version="",
        driver_version="",
        handle=mode,
    )


def _processors() -> int:
    """Those that this process may use, where the system tells."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _name(mode: Mode, command: str) -> str:
    return f"the CPU, by {command}" + (f", watched for {mode.finds}" if mode.sanitizer else "")


HELP = "install gcc or clang, or set CC; or install an OpenCL device"
