"""Tests that ask a device or a simulator something are skipped where there is none, except in CI:
there the absence fails the test, so that nothing is hidden."""

from __future__ import annotations

import os
import shutil
from functools import cache

import pytest


@cache
def _missing(marker: str) -> str | None:
    """Why tests with this marker cannot run here, or None."""
    if marker == "oclgrind":
        return None if shutil.which("oclgrind") else "oclgrind is not installed"
    from loopxform.runtime.device import devices

    from loopxform.errors import DeviceError

    try:
        return None if devices() else "there is no OpenCL device"
    except DeviceError as e:
        return e.message


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in ("device", "oclgrind"):
        if item.get_closest_marker(marker) and (reason := _missing(marker)):
            if os.environ.get("CI"):
                pytest.fail(f"CI must run this test: {reason}")
            pytest.skip(reason)
