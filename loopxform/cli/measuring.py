"""What the processes have in common that measure for `loopxform tune`: they read jobs, a line of
JSON each, and answer in such lines; those on one machine take turns on a device."""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Thread
from typing import Any, TypeAlias

from loopxform.cache import store
from loopxform.cli import ALLOCATIONS
from loopxform.errors import LoopxformError
from loopxform.files import safe_name
from loopxform.runtime.device import DeviceInfo
from loopxform.tune.claims import HOST

Message: TypeAlias = Mapping[str, Any]
Tell: TypeAlias = Callable[[Message], None]
Answering: TypeAlias = Callable[[Message, Tell], Message]
"""The answer to a job; messages before it are told."""

WAITING: Message = {"status": "waiting"}
DERIVING: Message = {"status": "deriving"}


def serve(prepared: Callable[[], Answering]) -> int:
    """Prepares to measure, then answers the jobs of standard input until it ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what drivers print is no answer

    def tell(message: Message) -> None:
        print(json.dumps(message), file=answers, flush=True)

    Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    gc.set_threshold(ALLOCATIONS, 10, 10)
    answer = prepared()
    gc.freeze()
    for line in sys.stdin:
        try:
            tell(answer(json.loads(line), tell))
        except LoopxformError as e:
            tell({"status": "refused", "why": e.message})
    return 0


def _end_with(parent: int) -> None:
    """Ends this process soon after the one that it works for: a kernel may run for ever."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def turn_of(device: DeviceInfo) -> Path | None:
    """The lock that stands for a device of this machine, beside what is kept; None where nothing
    is."""
    folder = store("tune")
    if folder is None:
        return None
    folder.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"{HOST} {device.place} {device.name}"
    return folder.folder / f"{safe_name(name).replace(' ', '-')}.lock"
