"""What the processes have in common that measure for `loopxform tune`: those on one machine take
turns on a device."""

from __future__ import annotations

from pathlib import Path

from loopxform.cache import store
from loopxform.cli.serving import Message
from loopxform.files import safe_name
from loopxform.runtime.device import DeviceInfo
from loopxform.tune.claims import HOST

WAITING: Message = {"status": "waiting"}
DERIVING: Message = {"status": "deriving"}


def turn_of(device: DeviceInfo) -> Path | None:
    """The lock that stands for a device of this machine, beside what is kept; None where nothing
    is."""
    folder = store("tune")
    if folder is None:
        return None
    folder.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"{HOST} {device.place} {device.name}"
    return folder.folder / f"{safe_name(name).replace(' ', '-')}.lock"
