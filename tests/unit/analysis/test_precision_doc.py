"""The examples of docs/precision.md have the verdicts that it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import loopxform as lx
from loopxform.api.verdicts import verdicts

PAGE = Path(__file__).parents[3] / "docs" / "precision.md"
EXAMPLES = re.findall(r"```c\n(.*?)```", PAGE.read_text(), re.S)


@pytest.mark.parametrize("text", EXAMPLES, ids=lambda t: re.search(r"\w+(?=\()", t).group())  # type: ignore[union-attr]
def test_verdicts(text: str) -> None:
    said = {
        n: found.group(1)
        for n, line in enumerate(text.splitlines(), 1)
        if (found := re.search(r"// (\w+)$", line))
    }
    file = lx.loads(text)
    found = {v.line: v.parallel for routine in file.routines() for v in verdicts(routine)}
    assert found == said
