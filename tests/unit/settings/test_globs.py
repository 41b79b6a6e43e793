"""Patterns of paths."""

from __future__ import annotations

import pytest

from loopxform.settings.globs import matching

CASES = [
    ("build", "build/x.c", True),
    ("build", "src/build/x.c", True),
    ("build", "src/rebuild/x.c", False),
    ("build/", "build/x.c", True),
    ("src/*.c", "src/a.c", True),
    ("src/*.c", "src/b/a.c", False),
    ("./src", "src/b/a.c", True),
    ("src/gen", "lib/src/gen/a.c", False),
    ("**/gen", "a/b/gen/x.c", True),
    ("src/**/t.c", "src/t.c", True),
    ("src/**/t.c", "src/a/b/t.c", True),
    ("*_test.c", "a/b_test.c", True),
    ("[!a]?.c", "bx.c", True),
    ("[!a]?.c", "ax.c", False),
    ("[ab].c", "b.c", True),
    ("a.c", "abc", False),
    ("a+(b).c", "a+(b).c", True),
]


@pytest.mark.parametrize(("pattern", "path", "expected"), CASES)
def test_matching(pattern: str, path: str, expected: bool) -> None:
    assert (matching([pattern], path) == pattern) is expected
