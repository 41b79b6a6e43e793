"""Source-to-source loop transformation: from C loop nests to proven, tiled OpenCL.

    import loopxform as lx
    mm = lx.load("mm.c")["mm"].tile(Ty=16, Tx=16, Tk=16, Ry=8, Rx=4).compile()
    mm(M, U, N, A, B, C)        # numpy arrays, or pyopencl arrays

The names below are loaded on first use, so that `import loopxform` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from loopxform.api import File, Routine, load, loads
    from loopxform.errors import LoopxformError
    from loopxform.tiled import TiledRoutine

HOMES = {
    "File": "api",
    "LoopxformError": "errors",
    "Routine": "api",
    "TiledRoutine": "tiled",
    "load": "api",
    "loads": "api",
}

__all__ = ["File", "LoopxformError", "Routine", "TiledRoutine", "__version__", "load", "loads"]


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module 'loopxform' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(f"loopxform.{HOMES[name]}"), name)
