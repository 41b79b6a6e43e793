"""Writes the man pages of the wheel into a folder: `man_pages.py DIR; man -l DIR/loopxform.1`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from loopxform.cli.man_pages import pages


def main(folder: str) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (Path(folder) / name).write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
