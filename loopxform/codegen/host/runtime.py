"""The OpenCL runtime of a written file: the C that every offloaded part calls, and what the files
of a program share at run time.

Each written file holds it, as weak definitions of which the linker keeps one. Files that different
versions wrote share nothing, so that each finds the objects laid out as it knows them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from loopxform.codegen import render
from loopxform.codegen.cexpr import HELPERS
from loopxform.codegen.host.embedded import rows
from loopxform.codegen.host.shares import WINDOWS
from loopxform.codegen.host.tensor_probe import tensor_probe
from loopxform.ir.device_facts import WARP
from loopxform.ir.tensor_tiles import SUB_GROUP_EXTENSION, Instruction
from loopxform.ir.warp_groups import MARK, TARGET, GroupInstruction
from loopxform.records import record
from loopxform.targets.copies import Copies
from loopxform.targets.target import GENERIC
from loopxform.transforms.latency.vectors import VECTOR_BYTES
from loopxform.written import LARGEST_SIZE

TEAM = 8
"""Devices that share launches."""

LAYOUT = 12
"""Of what is shared: another number where it changes between versions."""

KEY_LENGTH = 32
"""Characters that tell one program from others."""

OPTIONS_LENGTH = 4096
"""Characters that the options of a program have room in, those of the device among them."""

_STATUSES = """
DEVICE_NOT_FOUND DEVICE_NOT_AVAILABLE COMPILER_NOT_AVAILABLE MEM_OBJECT_ALLOCATION_FAILURE
OUT_OF_RESOURCES OUT_OF_HOST_MEMORY PROFILING_INFO_NOT_AVAILABLE MEM_COPY_OVERLAP
BUILD_PROGRAM_FAILURE MAP_FAILURE MISALIGNED_SUB_BUFFER_OFFSET
EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST COMPILE_PROGRAM_FAILURE LINKER_NOT_AVAILABLE
LINK_PROGRAM_FAILURE DEVICE_PARTITION_FAILED KERNEL_ARG_INFO_NOT_AVAILABLE INVALID_VALUE
INVALID_DEVICE_TYPE INVALID_PLATFORM INVALID_DEVICE INVALID_CONTEXT INVALID_QUEUE_PROPERTIES
INVALID_COMMAND_QUEUE INVALID_HOST_PTR INVALID_MEM_OBJECT INVALID_BINARY INVALID_BUILD_OPTIONS
INVALID_PROGRAM INVALID_PROGRAM_EXECUTABLE INVALID_KERNEL_NAME INVALID_KERNEL_DEFINITION
INVALID_KERNEL INVALID_ARG_INDEX INVALID_ARG_VALUE INVALID_ARG_SIZE INVALID_KERNEL_ARGS
INVALID_WORK_DIMENSION INVALID_WORK_GROUP_SIZE INVALID_WORK_ITEM_SIZE INVALID_GLOBAL_OFFSET
INVALID_EVENT_WAIT_LIST INVALID_EVENT INVALID_OPERATION INVALID_BUFFER_SIZE
INVALID_GLOBAL_WORK_SIZE INVALID_PROPERTY INVALID_COMPILER_OPTIONS INVALID_LINKER_OPTIONS
"""
"""What OpenCL 1.2 calls failures that calls of ours may meet, without `CL_`."""


START_OPERATIONS = 5e8
"""Operations of the host in less time than it takes to find a device: 8 ms where it does an
operation in 0.016 ns, where none was seen to start within 20 ms. Below that a call is not compared,
which takes a tenth of a millisecond the first time."""

LEAST_OPERATIONS = 3e4
"""Those in less time than it takes to launch a kernel: 1 us, where 2 are the least."""

PATIENCE = 10
"""How many times what it takes to find a device and to build kernels must have been gained by them,
had they been there before, until a call waits for that which does not gain as much alone. It is the
break-even rule of ski rental (Karlin et al., Competitive snoopy caching, 1988) with a factor: 1
makes no program take more than twice its best time, 10 none more than 1.1 times that of the user's
loops."""

DOUBT = 8
"""How many times longer kernels may take than the operations of the probe."""

FOREVER = 1e300
"""More operations than there are."""

MEASURING = 0.3
"""Seconds that a device is measured for, the build of the kernels for that included."""

PROBING = 0.06
"""Seconds after which no measurement begins: the last of them takes a few hundredths."""

ROWS = 20
"""Rows of a program that take as long to build as the kernels that measure a device."""

QUICK = (0.05, 0.02, 2e-6, 5e-6, 2e-11, 1e-10, 1e-14)
"""The rates of a device that was never seen, in the order of `struct lx_rates`: none is quicker."""


TUNING_VERSION = "1"
"""Of tuning files, as `schedule.tuning_file` writes them."""


@record
class Runtime:
    """What templates/runtime.c.j2 prints: `shared` is the name of what the files share, `helpers`
    are macros that the parts use; `tuned` says that a part has thresholds, which tuning files may
    change when the program runs, `asks_warp` that one asks how many work-items run in lockstep,
    `has_matrices` that one has matrices behind pointers to rows, `has_loops_in_order` that the host
    may run what one work-item would do, `tile_lines` is the test of products of tiles, where one
    has such, `sub_group_lines` of those of sub-groups, `group_lines` of those that warps compute
    together, which are a `mark` in PTX for a `target`, `shares` that devices may share a launch: a
    `team` of so many, with so many `windows` of arrays. `aligned` bytes are those of the vectors of
    kernels."""

    shared: str
    key_length: int
    options_length: int
    statuses: tuple[str, ...]
    helpers: tuple[str, ...]
    header: str
    tuned: bool
    asks_warp: bool
    has_matrices: bool
    has_loops_in_order: bool
    tile_lines: tuple[str, ...]
    sub_group_lines: tuple[str, ...]
    group_lines: tuple[str, ...]
    shares: bool
    copies: Copies
    team: int = TEAM
    windows: int = WINDOWS
    aligned: int = VECTOR_BYTES
    mark: str = MARK
    target: str = TARGET
    sub_group_extension: str = SUB_GROUP_EXTENSION
    layout: int = LAYOUT
    forever: float = FOREVER
    start_operations: float = START_OPERATIONS
    least_operations: float = LEAST_OPERATIONS
    tuning_version: str = TUNING_VERSION
    largest_threshold: int = LARGEST_SIZE
    patience: int = PATIENCE
    doubt: int = DOUBT
    measuring: float = MEASURING
    probing: float = PROBING
    rows: int = ROWS
    quick: tuple[float, ...] = QUICK
    warp: int = WARP.value


def text(
    version: str,
    *,
    header: str = "",
    tuned: bool = False,
    asks_warp: bool = False,
    has_matrices: bool = False,
    has_loops_in_order: bool = False,
    tile_products: Sequence[Instruction] = (),
    group_products: Sequence[GroupInstruction] = (),
    shares: bool = False,
    copies: Copies = GENERIC.copies,
) -> str:
    """The runtime in C, once for each file; `header` is the one that declares what it offers, where
    there is one that needs nothing else above it. `tuned` and the following: see `Runtime`."""
    shared = f"loopxform_shared_{re.sub(r'[^0-9a-zA-Z]', '_', version)}_{LAYOUT}"
    statuses = tuple(_STATUSES.split())
    of_warps = [i for i in tile_products if not i.tile.function]
    of_sub_groups = [i for i in tile_products if i.tile.function]
    tests = (
        rows(tensor_probe(of_warps)) if of_warps else (),
        rows(tensor_probe(of_sub_groups)) if of_sub_groups else (),
        rows(tensor_probe((), group_products)) if group_products else (),
    )
    asked = header, tuned, asks_warp, has_matrices, has_loops_in_order, *tests, shares
    about = Runtime(shared, KEY_LENGTH, OPTIONS_LENGTH, statuses, HELPERS, *asked, copies)
    return render.fill("runtime.c.j2", r=about)


def key(source: str) -> str:
    """What tells the program with this text from all others."""
    return hashlib.sha256(source.encode()).hexdigest()[:KEY_LENGTH]
