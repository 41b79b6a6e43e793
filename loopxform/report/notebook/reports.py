"""The report on files, as `loopxform report` writes it."""

from __future__ import annotations

from loopxform.api.report import Report
from loopxform.report.notebook.piece import piece


def html(x: Report) -> str:
    """Every file with all that is known of it, without the scripts of the page."""
    return piece("Report", "report.html.j2", files=x.files, profile=x.wanted.limits.name)
