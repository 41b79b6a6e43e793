"""Thresholds in the text of a tuning file: other lines stay as they are."""

from __future__ import annotations

from collections.abc import Sequence

from loopxform.schedule.tuning_file import THRESHOLD, Tuned


def with_thresholds(text: str, device: str, name: str, found: Tuned, about: Sequence[str]) -> str:
    """The text of a file (\"\": none) with the thresholds of the function `name` as `found`, below
    the comments `about` it; the first of these is of the file."""
    lines = text.splitlines() or [f"# {about[0]}", f"device={device}"]
    mark = f"# {name} thresholds, "
    lines = [x for x in lines if not x.startswith(mark) and not _is_threshold(x, name)]
    known = {x.partition("=")[0].strip() for x in lines}
    values = {f"{name}.text": found.text, f"{name}.fp": found.fp}
    lines += [f"{key}={value}" for key, value in values.items() if key not in known]
    lines += [f"{mark}{x}" for x in about[1:]]
    lines += [f"{name}.{key}={value}" for key, value in found.thresholds.items()]
    return "\n".join(lines) + "\n"


def _is_threshold(line: str, name: str) -> bool:
    function, _, parameter = line.partition("=")[0].strip().rpartition(".")
    return function == name and THRESHOLD.fullmatch(parameter) is not None
