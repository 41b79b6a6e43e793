"""Processes that work for another one of ours: they read jobs, a line of JSON each, and answer in
such lines (`tune/workers.py` is who asks)."""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from threading import Thread
from typing import Any, TypeAlias

from loopxform.cli import ALLOCATIONS
from loopxform.errors import LoopxformError

Message: TypeAlias = Mapping[str, Any]
Tell: TypeAlias = Callable[[Message], None]
Answering: TypeAlias = Callable[[Message, Tell], Message]
"""The answer to a job; messages before it are told."""


def serve(prepared: Callable[[], Answering]) -> int:
    """Prepares for work, then answers the jobs of standard input until it ends."""
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
