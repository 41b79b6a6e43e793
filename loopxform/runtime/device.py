"""Devices: what there is, what it can do, and which one is meant.

Those of OpenCL, and the CPU by way of the C compiler (`runtime.c`), which is taken where OpenCL has
no device that builds kernels. pyopencl is imported inside functions: asking about a profile, or
emitting code, needs no OpenCL.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from threading import Lock
from typing import Any

from loopxform.errors import DeviceError

ENVIRONMENT = "LOOPXFORM_DEVICE"
INSTALL = 'pip install "pyopencl[pocl]" brings one for the CPU; with gcc or clang none is needed'
C_PLATFORM = "kernels as C"
C_NAMES = ("c", "c+asan", "c+tsan")


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """One device. Sizes are in bytes; `index` counts the OpenCL devices of all platforms, `place`
    is `PLATFORM:DEVICE`, or a name of C_NAMES. `vector_widths` are the preferred ones by type
    (`float`: 4); `ieee_floats` says that floats have subnormals and infinities, and round to
    nearest, `correctly_rounded` that quotients and square roots do too; `warp` is how many
    work-items run in lockstep (1 where unknown). `handle` is the
    `pyopencl.Device`, or the `runtime.c.program.Mode`."""

    index: int
    place: str
    platform: str
    name: str
    type: str
    compute_units: int
    max_group_size: int
    max_item_sizes: tuple[int, ...]
    local_bytes: int
    global_bytes: int
    max_alloc: int
    vector_widths: dict[str, int] = field(hash=False)
    fp64: bool
    fp16: bool
    ieee_floats: bool
    correctly_rounded: bool
    warp: int
    extensions: frozenset[str]
    opencl_version: str
    driver_version: str
    handle: Any = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.name} ({self.platform})"

    @property
    def is_c(self) -> bool:
        """Whether kernels are compiled by the C compiler."""
        return self.platform == C_PLATFORM

    @property
    def is_nvidia(self) -> bool:
        return "NVIDIA" in self.platform


def pyopencl() -> Any:
    """The pyopencl module. Raises DeviceError where it is not installed."""
    try:
        import pyopencl as cl
    except ImportError as e:
        raise DeviceError(f"pyopencl cannot be imported: {e}", help=INSTALL) from e
    return cl


@cache
def devices() -> tuple[DeviceInfo, ...]:
    """Every device of every platform, in the order OpenCL lists them. Raises DeviceError where
    there is no pyopencl, no platform or no device."""
    cl = pyopencl()
    try:
        platforms = cl.get_platforms()
    except cl.Error as e:
        raise DeviceError("there is no OpenCL platform", notes=[str(e)], help=INSTALL) from e
    found: list[DeviceInfo] = []
    for p, platform in enumerate(platforms):
        try:
            members = platform.get_devices()
        except cl.Error:  # a platform without devices answers with an error
            continue
        for d, device in enumerate(members):
            found.append(describe(device, len(found), f"{p}:{d}"))
    if not found:
        raise DeviceError("no OpenCL platform has a device", help=INSTALL)
    return tuple(found)


def context(device: DeviceInfo) -> Any:
    """The `pyopencl.Context` of a device, one for the process, whichever thread asks first. Raises
    DeviceError."""
    with _opening:
        return _context(device)


_opening = Lock()


@cache
def _context(device: DeviceInfo) -> Any:
    cl = pyopencl()
    try:
        return cl.Context([device.handle])
    except cl.Error as e:
        raise DeviceError(f"{device} cannot be opened: {e}") from e


def profiled_queue(device: DeviceInfo) -> Any:
    """A `pyopencl.CommandQueue` of its own whose events tell times. Raises DeviceError."""
    cl = pyopencl()
    profiling = cl.command_queue_properties.PROFILING_ENABLE
    return cl.CommandQueue(context(device), device.handle, properties=profiling)


def place_on_bus(device: DeviceInfo) -> str | None:
    """Where an NVIDIA GPU is on the PCI bus, `0000:18:00.0`; None for other devices."""
    if "cl_nv_device_attribute_query" not in device.extensions:
        return None
    bus, slot = device.handle.pci_bus_id_nv, device.handle.pci_slot_id_nv
    domain = getattr(device.handle, "pci_domain_id_nv", 0)
    return f"{domain:04x}:{bus:02x}:{slot >> 3:02x}.{slot & 7:x}"


def is_queue(value: object) -> bool:
    """Whether it is a `pyopencl.CommandQueue`."""
    return isinstance(value, pyopencl().CommandQueue)


def describe(device: Any, index: int = 0, place: str = "0:0") -> DeviceInfo:
    """The facts about a `pyopencl.Device`."""
    cl = pyopencl()
    extensions = frozenset(device.extensions.split())
    kinds = cl.device_fp_config
    ieee = kinds.DENORM | kinds.INF_NAN | kinds.ROUND_TO_NEAREST
    widths = ("char", "short", "int", "long", "float", "double")
    return DeviceInfo(
        index=index,
        place=place,
        platform=device.platform.name.strip(),
        name=device.name.strip(),
        type=_type(cl, device.type),
        compute_units=device.max_compute_units,
        max_group_size=device.max_work_group_size,
        max_item_sizes=tuple(device.max_work_item_sizes),
        local_bytes=device.local_mem_size,
        global_bytes=device.global_mem_size,
        max_alloc=device.max_mem_alloc_size,
        vector_widths={w: getattr(device, f"preferred_vector_width_{w}") for w in widths},
        fp64="cl_khr_fp64" in extensions,
        fp16="cl_khr_fp16" in extensions,
        ieee_floats=device.single_fp_config & ieee == ieee,
        correctly_rounded=bool(device.single_fp_config & kinds.CORRECTLY_ROUNDED_DIVIDE_SQRT),
        warp=_warp(cl, device, extensions),
        extensions=extensions,
        opencl_version=device.version.strip(),
        driver_version=device.driver_version.strip(),
        handle=device,
    )


def _type(cl: Any, bits: int) -> str:
    kinds = cl.device_type
    named = [("gpu", kinds.GPU), ("cpu", kinds.CPU), ("accelerator", kinds.ACCELERATOR)]
    return next((name for name, bit in named if bits & bit), "custom")


def _warp(cl: Any, device: Any, extensions: frozenset[str]) -> int:
    """WarpTile that run in lockstep, by the vendor's own query."""
    if "cl_nv_device_attribute_query" in extensions:
        return int(device.get_info(cl.device_info.WARP_SIZE_NV))
    if "cl_amd_device_attribute_query" in extensions:
        return int(device.get_info(cl.device_info.WAVEFRONT_WIDTH_AMD))
    return 1
