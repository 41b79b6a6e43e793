"""A refusal: what, where, why, and what to do."""

from __future__ import annotations

from loopxform.errors import LoopxformError
from loopxform.report.collect import refusal
from loopxform.report.names import Names, prefix
from loopxform.report.notebook.piece import piece


def html(e: LoopxformError) -> str:
    """The diagnostic that `render` gives as text."""
    name = e.loc.file if e.loc else ""
    found = refusal(e, Names(prefix(), name), e.sources, "refused")
    return piece(f"Refused: {e.message}", "refusal.html.j2", finding=found, name=name)
