"""Source-to-source loop transformation: from C loop nests to proven, tiled OpenCL.

    import loopxform as lx
    mm = lx.load("mm.c")["mm"].tile(Ty=16, Tx=16, Tk=16, Ry=8, Rx=4).compile()
    mm(M, U, N, A, B, C)        # numpy arrays, or pyopencl arrays

check            a verdict for every loop of a C file: a CheckedFile
CheckedFile      its loops, its functions, what could not be read
CheckedFunction  its loops, dependence matrices and OpenMP claims
Report           Report.of("mm.c"): all that is known of a C file, as `loopxform report` shows it
autotune         the tile sizes that are quickest on a device: a TuningResult
tuned            what was measured before: TuningResults
TuningResult     the candidates with their times, the quickest first
load, loads      read a C file, or C text: a File
File             file["mm"] is one of its functions, a Routine
Routine          check, matrix, apply steps, tile, offload
TiledRoutine     what tile made: the kernel, write, compile
OffloadedRoutine what offload made: its parts, the kernels, write, compile
LoopxformError   every deliberate refusal; its render() quotes the C. Its kinds:
InputError       the C file cannot be used as it is
UnsupportedC     correct C that is not modelled
ArgumentError    an argument of a call that is not allowed, or does not fit the C prototype
UsageError       words that mean nothing: a step, a device
IgnoredOption    an option that would be without effect
UnknownThreshold a threshold that no guard compares with
TransformError   a step that would change what the program computes; its obstacles say why
AnnotationError  an annotation of the source that does not hold
LimitError       sizes that exceed a limit of the device
EmitError        a program that cannot be written for a target
DeviceError      no device, or a build or a launch that failed
Exhausted        limits of time or memory that were too small to read a file
MismatchError    results that differ from those of the C
InternalError    a mistake of ours

They are loaded on first use, so that `import loopxform` costs next to nothing.
"""

from __future__ import annotations

from loopxform.version import __version__

TYPE_CHECKING = False  # that of typing takes longer to load than all the rest here


if TYPE_CHECKING:
    from typing import Any

    from loopxform.api.check import CheckedFile, CheckedFunction, check
    from loopxform.api.facade import File, Routine
    from loopxform.api.offload import OffloadedRoutine
    from loopxform.api.reading import load, loads
    from loopxform.api.report import Report
    from loopxform.api.tile import TiledRoutine
    from loopxform.api.tuning import TuningResult, autotune, tuned
    from loopxform.budget import Exhausted
    from loopxform.errors import (
        AnnotationError,
        ArgumentError,
        DeviceError,
        EmitError,
        IgnoredOption,
        InputError,
        InternalError,
        LimitError,
        LoopxformError,
        MismatchError,
        TransformError,
        UnknownThreshold,
        UnsupportedC,
        UsageError,
    )

_HOMES = {
    "AnnotationError": "errors",
    "ArgumentError": "errors",
    "CheckedFile": "api.check",
    "CheckedFunction": "api.check",
    "DeviceError": "errors",
    "EmitError": "errors",
    "Exhausted": "budget",
    "File": "api.facade",
    "IgnoredOption": "errors",
    "UnknownThreshold": "errors",
    "InputError": "errors",
    "InternalError": "errors",
    "LimitError": "errors",
    "LoopxformError": "errors",
    "MismatchError": "errors",
    "OffloadedRoutine": "api.offload",
    "Report": "api.report",
    "Routine": "api.facade",
    "TiledRoutine": "api.tile",
    "TransformError": "errors",
    "TuningResult": "api.tuning",
    "UnsupportedC": "errors",
    "UsageError": "errors",
    "autotune": "api.tuning",
    "check": "api.check",
    "load": "api.reading",
    "loads": "api.reading",
    "tuned": "api.tuning",
}

__all__ = [
    "AnnotationError",
    "ArgumentError",
    "CheckedFile",
    "CheckedFunction",
    "DeviceError",
    "EmitError",
    "Exhausted",
    "File",
    "IgnoredOption",
    "InputError",
    "InternalError",
    "LimitError",
    "LoopxformError",
    "MismatchError",
    "OffloadedRoutine",
    "Report",
    "Routine",
    "TiledRoutine",
    "TransformError",
    "TuningResult",
    "UnknownThreshold",
    "UnsupportedC",
    "UsageError",
    "__version__",
    "autotune",
    "check",
    "load",
    "loads",
    "tuned",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"loopxform.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
