"""What `check` found out, as every format is given it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from loopxform.api.check import CheckedFile
from loopxform.cli.baseline import Compared
from loopxform.cli.questions import Answer
from loopxform.errors import LoopxformError
from loopxform.records import record


@record
class Outcome:
    """Of `many` files or of one: reports, answers to what was asked, why files could not be read,
    and which findings are new."""

    reports: Sequence[CheckedFile]
    answers: Sequence[Answer] = ()
    failed: Sequence[LoopxformError] = ()
    compared: Compared = field(default_factory=Compared)
    many: bool = field(default=False, kw_only=True)

    @property
    def unknown_errors(self) -> list[LoopxformError]:
        """What could not be read and is no finding: a file that is not there, a mistake of ours."""
        sources = {id(x.source) for x in (*self.compared.new, *self.compared.known)}
        every = (*self.failed, *(e for r in self.reports for e in r.problems))
        return [e for e in every if id(e) not in sources]
