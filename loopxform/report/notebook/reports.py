"""The report on files, as `loopxform report` writes it."""

from __future__ import annotations

import re

from loopxform.api.report import PREFIX, Report
from loopxform.report.names import prefix
from loopxform.report.notebook.piece import piece


def html(x: Report) -> str:
    """Every file with all that is known of it, without the scripts of the page."""
    text = piece("Report", "report.html.j2", files=x.files, profile=x.wanted.limits.name)
    own = prefix()
    return _ANCHORS.sub(lambda m: m[0].replace(PREFIX, own), text)


_ANCHORS = re.compile(r'\b(?:id|href|aria-labelledby)="[^"]*"')
"""Names of the page, which those of other reports in the notebook must not be."""
