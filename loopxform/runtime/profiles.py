"""The limits of a device that is there."""

from __future__ import annotations

import re
from dataclasses import replace

from loopxform.runtime.build import copies_alone, smallest_sub_group
from loopxform.runtime.device import DeviceInfo
from loopxform.targets.database import Family
from loopxform.targets.profile import PROFILES
from loopxform.targets.target import Limits, unmeasured

WIDE_ATOMICS = "cl_khr_int64_base_atomics"
"""What groups tell each other by: words of 64 bits that are exchanged in one piece."""

INTEL = {8: "intel-xe-hpg", 16: "intel-xe2"}
"""By the work-items of a sub-group that multiplies tiles."""


def limits_of(device: DeviceInfo) -> Limits:
    """The limits of a device that is there. OpenCL does not tell the number of registers: they
    come from the vendor's architecture, as does what is done at once. What was measured on a device
    is for that one alone, and so are its rates: those of others are unknown."""
    platform = device.platform.lower()
    sizes = (*device.max_item_sizes, 1, 1, 1)[:3]
    if device.is_nvidia:
        like = PROFILES["h100"]
    elif "amd" in platform or "advanced micro" in platform:
        like = PROFILES["mi250"]
    elif "intel" in platform and device.type == "gpu":
        like = PROFILES[INTEL.get(smallest_sub_group(device), "intel-xe")]
    else:
        like = PROFILES["pocl" if device.type == "cpu" else "generic"]
    if not any(name in device.name for name in like.measured_on):
        like = replace(unmeasured(like), bandwidth=0, peak=0)
    return replace(
        like,
        name=device.name,
        group_size=device.max_group_size,
        local_bytes=device.local_bytes,
        warp=device.warp if device.warp > 1 else like.warp,
        compute_units=device.compute_units,
        item_sizes=(sizes[0], sizes[1], sizes[2]),
        async_copies=like.async_copies and copies_alone(device),
        forward_progress=like.forward_progress and WIDE_ATOMICS in device.extensions,
        vector=0,
        measured_on=(),
        architecture=family_of(device).architecture,
    )


def family_of(device: DeviceInfo) -> Family:
    """The architecture and the vendor of a device, as its platform tells them."""
    if device.is_nvidia:
        handle = device.handle
        major = getattr(handle, "compute_capability_major_nv", "")
        minor = getattr(handle, "compute_capability_minor_nv", "")
        return Family(device.name, f"sm_{major}{minor}", "NVIDIA")
    cpu = re.match(r"(?:pthread|basic|cpu\w*)-([\w-]+?)(?:-(?:Intel|AMD|ARM)|$)", device.name)
    if "portable computing" in device.platform.lower() and cpu:
        return Family(device.name, cpu[1], device.platform)
    return Family(device.name, device.name.split(":")[0], device.platform)
