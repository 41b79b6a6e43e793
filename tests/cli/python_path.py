"""Modules of a test for the processes that it starts."""

from __future__ import annotations

import os
from pathlib import Path


def prepended(folder: Path) -> str:
    """PYTHONPATH with a folder in front of what is there."""
    return os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
