"""The process that judges files for `loopxform check -j N`: it reads jobs, a line of JSON each, and
answers.

    {"path": "src/mm.c"}
    {"status": "started", "about": {}}
    {"status": "ok", "judged": "...",       see `check_many.packed`; null where nothing can be sent
     "read": {"src/mm.c": "3f..."},         digests of what the files held that were read
     "absent": ["./math.h"]}                names that were looked for in vain
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass

from loopxform import trace
from loopxform.cache import digest
from loopxform.cli.arguments import understood
from loopxform.cli.check_many import packed
from loopxform.cli.judging import Judge
from loopxform.cli.serving import Message, Tell, serve
from loopxform.errors import InputError


@dataclass
class Judging:
    """Answers with what is true of files."""

    judge: Judge

    def answer(self, job: Message, tell: Tell) -> Message:
        tell({"status": "started", "about": {}})
        with warnings.catch_warnings(record=True) as warned, trace.recorded() as seen:
            warnings.simplefilter("always")
            try:
                judged = self.judge.file(job["path"])
            except MemoryError:
                help = "check it alone, or with a smaller --memory-limit"
                judged = InputError("there is not enough memory", code="LX054", help=help)
        read = {path: digest(data) for path, data in seen.read.items()}
        text = packed(judged, warned)
        return {"status": "ok", "judged": text, "read": read, "absent": sorted(seen.absent)}


def main(argv: list[str]) -> int:
    return serve(lambda: Judging(Judge(understood("check", argv))).answer)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
