"""Sizes by name, as options give them: `M=513,U=N=129`."""

from __future__ import annotations

import pytest

from loopxform.cli.options import numbers
from loopxform.errors import UsageError
from loopxform.schedule.option_values import fixed_sizes

GIVEN = {
    "M=5": {"M": 5},
    "M=5, U=6": {"M": 5, "U": 6},
    "M=U=N=7": {"M": 7, "U": 7, "N": 7},
    "M=2,U=N=3,M=4": {"M": 4, "U": 3, "N": 3},
}
WRONG = ("M", "5", "=5", "M==5", "M=U=", "M=5=U", "M=U", "2=5", "M=5,,U=6")


@pytest.mark.parametrize("text", GIVEN)
def test_given(text: str) -> None:
    assert numbers("--size", [text]) == GIVEN[text] == dict(fixed_sizes("--specialise", text))


@pytest.mark.parametrize("text", WRONG)
def test_wrong(text: str) -> None:
    with pytest.raises(UsageError):
        numbers("--size", [text])
    with pytest.raises(UsageError):
        fixed_sizes("--specialise", text)
