"""Adds man pages and the completion of shells to a wheel, as it is built (a hook of hatchling)."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPLETIONS = {
    "bash": "share/bash-completion/completions/loopxform",
    "zsh": "share/zsh/site-functions/_loopxform",
    "fish": "share/fish/vendor_completions.d/loopxform.fish",
}
"""Where shells look on their own, below the folder of an environment or of the system."""


class WheelFiles(BuildHookInterface):  # type: ignore[type-arg]
    """Writes them into a temporary folder, from which hatchling packs them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        sys.path.insert(0, self.root)
        from loopxform.cli import completion, man_pages

        texts = {f"share/man/man1/{name}": text for name, text in man_pages.pages().items()}
        texts |= {where: completion.text(shell) for shell, where in COMPLETIONS.items()}
        self.folder = tempfile.TemporaryDirectory()
        for where, text in texts.items():
            path = Path(self.folder.name, where)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            build_data["shared_data"][str(path)] = where

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        self.folder.cleanup()
