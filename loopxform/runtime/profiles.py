"""The limits of a device that is there."""

from __future__ import annotations

from loopxform.runtime.build import copies_alone
from loopxform.runtime.device import DeviceInfo
from loopxform.targets.profile import PROFILES
from loopxform.targets.target import Limits


def limits_of(device: DeviceInfo) -> Limits:
    """The limits of a device that is there. OpenCL does not tell the number of registers: they
    come from the vendor's architecture."""
    platform = device.platform.lower()
    sizes = (*device.max_item_sizes, 1, 1, 1)[:3]
    if device.is_nvidia:
        like = PROFILES["h100"]
    elif "amd" in platform or "advanced micro" in platform:
        like = PROFILES["mi250"]
    elif "intel" in platform and device.type == "gpu":
        like = PROFILES["intel-xe"]
    else:
        like = PROFILES["pocl" if device.type == "cpu" else "generic"]
    measured = any(name in device.name for name in like.measured_on)
    return Limits(
        device.name,
        device.max_group_size,
        device.local_bytes,
        like.registers,
        device.warp if device.warp > 1 else like.warp,
        device.compute_units,
        (sizes[0], sizes[1], sizes[2]),
        at_once=like.at_once,
        narrow=like.narrow,
        stages=like.stages,
        preload=like.preload,
        serpentine=like.serpentine,
        pack=like.pack,
        asynchronous=like.asynchronous and copies_alone(device),
        arrange=like.arrange,
        turn=like.turn,
        rectangle=like.rectangle,
        tile_times=like.tile_times if measured else (),
    )
