"""A worker of `loopxform check -j N` that crashes or hangs, and `loopxform` with such workers.

python faulty_judge.py COMMAND ...          loopxform COMMAND ... with these
FAULTS={"src/a.c": "abort", ...}            what becomes of files: abort, exit, hang, unsent, or
                                            who asks is killed, the first time: kill
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from loopxform.cli import check_many, check_worker
from loopxform.cli.check_worker import Judging

FAULTS = json.loads(os.environ.get("FAULTS", "{}"))


class Faulty(Judging):
    def answer(self, job: Any, tell: Any) -> Any:
        fault = FAULTS.get(job["path"], "")
        if fault == "abort":
            os.abort()
        if fault == "exit":
            sys.exit(3)
        if fault == "hang":
            Path(f"{job['path']}.pid").write_text(str(os.getpid()))
            time.sleep(600)
        if fault == "kill" and not Path(f"{job['path']}.pid").exists():
            Path(f"{job['path']}.pid").write_text(str(os.getppid()))
            os.kill(os.getppid(), signal.SIGKILL)
        answer = super().answer(job, tell)
        return {**answer, "judged": None} if fault == "unsent" else answer


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"]:
        from loopxform.cli import main

        check_many.MODULE = "faulty_judge"
        sys.exit(main(sys.argv[1:]))
    check_worker.Judging = Faulty  # type: ignore[misc]
    sys.exit(check_worker.main(sys.argv[1:]))
