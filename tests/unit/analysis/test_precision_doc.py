"""The examples of docs/precision.md have the verdicts that it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from loopxform.analysis.verdict import judge
from loopxform.frontend import parse_file

PAGE = Path(__file__).parents[3] / "docs" / "precision.md"
EXAMPLES = re.findall(r"```c\n(.*?)```", PAGE.read_text(), re.S)


@pytest.mark.parametrize("text", EXAMPLES, ids=lambda t: re.search(r"\w+(?=\()", t).group())  # type: ignore[union-attr]
def test_verdicts(text: str) -> None:
    said = {
        n: found.group(1)
        for n, line in enumerate(text.splitlines(), 1)
        if (found := re.search(r"// (\w+)$", line))
    }
    functions = parse_file("page.c", text=text).unit.functions
    found = {v.loc.line: v.parallel for fn in functions for v in judge(fn) if v.loc}
    assert found == said
