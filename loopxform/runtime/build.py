"""Kernel sources to programs, each built once in a process."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from loopxform.codegen.host.tensor_probe import tensor_probe
from loopxform.errors import DeviceError
from loopxform.floating_point import Division
from loopxform.ir.tensor_tiles import SUB_GROUP_EXTENSION, SUB_GROUP_SIZES, Instruction
from loopxform.ir.warp_groups import GroupInstruction, as_instructions
from loopxform.runtime.device import DeviceInfo, context, pyopencl

NV_VERBOSE = "-cl-nv-verbose"
ASYNCHRONOUS = "-DLX_ASYNC"
"""Kernels may start asynchronous copies (templates/kernels.cl.j2)."""

TENSOR = "-DLX_TENSOR"
"""Kernels may multiply tiles (templates/kernels.cl.j2)."""

SUB_GROUPS = "-DLX_SUB_GROUPS"
"""Sub-groups may, of so many work-items (templates/kernels.cl.j2)."""

WARP_GROUPS = "-DLX_WARP_GROUPS"
"""Warps may multiply together (templates/kernels.cl.j2)."""

AMPERE = 8
"""The compute capability from which NVIDIA's devices make them."""

ROUNDED = "-cl-fp32-correctly-rounded-divide-sqrt"
RELAXED = "-cl-unsafe-math-optimizations"


@dataclass(frozen=True, slots=True)
class Built:
    """A program on a device: the `pyopencl.Program`, its kernels' names, the compiler's log (on
    NVIDIA with `-cl-nv-verbose`: registers and spills)."""

    device: DeviceInfo
    program: Any = field(repr=False)
    kernels: tuple[str, ...]
    log: str


def options_for(
    device: DeviceInfo,
    *extra: str,
    division: Division = "rounded",
    tiles: tuple[Instruction, ...] = (),
    groups: tuple[GroupInstruction, ...] = (),
    verbose: bool = False,
) -> tuple[str, ...]:
    """The options every kernel is built with: correctly rounded division and square root where
    the device has them (C has them) unless `division` permits less, asynchronous copies
    where it makes them, products of `tiles`, and those of `groups` of warps, where the device
    computes those of the kernels as it should, `-cl-nv-verbose` on request where it is known."""
    out = [ROUNDED] if device.correctly_rounded and division == "rounded" else []
    if division == "relaxed":
        out.append(RELAXED)
    if copies_alone(device):
        out.append(ASYNCHRONOUS)
    of_warps = tuple(i for i in tiles if not i.tile.function)
    if of_warps and multiplies_tiles(device, of_warps):
        out.append(TENSOR)
    of_sub_groups = tuple(i for i in tiles if i.tile.function)
    if of_sub_groups and multiplies_in_sub_groups(device, of_sub_groups):
        out.append(f"{SUB_GROUPS}={smallest_sub_group(device)}")
    if groups and multiplies_in_groups(device, groups):
        out.append(WARP_GROUPS)
    if verbose and "cl_nv_compiler_options" in device.extensions:
        out.append(NV_VERBOSE)
    return (*out, *extra)


def copies_alone(device: DeviceInfo) -> bool:
    """Whether a device makes asynchronous copies."""
    return device.is_nvidia and _capability(device) >= AMPERE


@cache
def multiplies_tiles(device: DeviceInfo, products: tuple[Instruction, ...]) -> bool:
    """Whether a device multiplies tiles to the results that it should: it is asked to compute some
    in both ways."""
    return copies_alone(device) and _agrees(device, tensor_probe(products), "lx_tiles", 32)


@cache
def multiplies_in_sub_groups(device: DeviceInfo, products: tuple[Instruction, ...]) -> bool:
    """Whether sub-groups of a device multiply tiles to the results that they should."""
    size = smallest_sub_group(device)
    if not size:
        return False
    return _agrees(device, tensor_probe(products), "lx_sub_groups", 32, f"{SUB_GROUPS}={size}")


@cache
def smallest_sub_group(device: DeviceInfo) -> int:
    """The fewest work-items in a sub-group of a device with Intel's extension for products of
    tiles, which are those of sub-groups that have it; 0 of others. pyopencl has no such query: a
    kernel that asks for other sizes than those of the device does not build."""
    if SUB_GROUP_EXTENSION not in device.extensions:
        return 0
    for size in SUB_GROUP_SIZES:
        source = f"__kernel __attribute__((intel_reqd_sub_group_size({size}))) void lx_size() {{}}"
        try:
            _compiled(device, source, (), context(device))
        except pyopencl().Error:
            continue
        return size
    return 0


@cache
def multiplies_in_groups(device: DeviceInfo, products: tuple[GroupInstruction, ...]) -> bool:
    """Whether warps of a device multiply together to the results that they should."""
    if not copies_alone(device):
        return False
    return _agrees(device, tensor_probe((), products), "lx_warps", 128, WARP_GROUPS)


def _agrees(device: DeviceInfo, source: str, name: str, items: int, *options: str) -> bool:
    """Whether a kernel that compares results, in groups of so many work-items, finds them right."""
    cl = pyopencl()
    wrong = np.ones(512, np.uint32)
    try:
        program = _compiled(device, source, options, context(device))
        with cl.CommandQueue(context(device), device.handle) as queue:
            counts = cl.Buffer(context(device), cl.mem_flags.WRITE_ONLY, wrong.nbytes)
            cl.Kernel(program, name)(queue, wrong.shape, (items,), counts)
            cl.enqueue_copy(queue, wrong, counts)
    except cl.Error:
        return False
    return not wrong.any()


def _capability(device: DeviceInfo) -> int:
    """That of a device of NVIDIA's; 0 where it does not say."""
    try:
        return int(device.handle.compute_capability_major_nv)
    except (AttributeError, pyopencl().Error):
        return 0


_cache: dict[tuple[Any, ...], Built] = {}


def build(
    device: DeviceInfo, source: str, options: tuple[str, ...] = (), *, ctx: Any = None
) -> Built:
    """Builds OpenCL C text for `device`, in its own context or in `ctx` (a `pyopencl.Context`).
    Raises DeviceError with the compiler's log."""
    cl = pyopencl()
    owner = ctx if ctx is not None else context(device)
    key = (owner, device.handle, source, options)
    if key in _cache:
        return _cache[key]
    try:
        program = _compiled(device, source, options, owner)
    except cl.Error as e:
        raise DeviceError(
            f"the kernel does not build on {device}", code="LX059", notes=_log_lines(str(e))
        ) from e
    log = program.get_build_info(device.handle, cl.program_build_info.LOG).strip()
    names = tuple(k.function_name for k in program.all_kernels())
    _cache[key] = Built(device, program, names, log)
    return _cache[key]


def _compiled(device: DeviceInfo, source: str, options: tuple[str, ...], owner: Any) -> Any:
    """The program in its context. Where warps multiply together, their instructions are what PTX
    has as comments; the plain ones where that cannot be. Raises pyopencl.Error."""
    cl = pyopencl()
    keep = {"cache_dir": False} if NV_VERBOSE in options else {}  # a cached binary has no log
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a log that is not empty: it is in Built.log
        program = cl.Program(owner, source).build(list(options), [device.handle], **keep)
        if WARP_GROUPS not in options:
            return program
        binaries = zip(program.devices, program.binaries)
        (ptx,) = (x for d, x in binaries if d == device.handle)
        text = as_instructions(ptx.decode("latin-1"))
        try:
            binary = [] if text is None else [text.encode("latin-1")]
            return cl.Program(owner, [device.handle], binary).build(list(options))
        except (cl.Error, ValueError):
            plain = tuple(o for o in options if o != WARP_GROUPS)
            return _compiled(device, source, plain, owner)


def _log_lines(message: str) -> list[str]:
    lines = [line.rstrip() for line in message.splitlines() if line.strip()]
    start = next((n for n, line in enumerate(lines) if "error" in line.lower()), 0)
    return lines[start : start + 20]
