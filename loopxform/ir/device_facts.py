"""What only the device that runs a program tells: numbers that stand in conditions of the host."""

from __future__ import annotations

from loopxform.ir.nodes import Tile

WARP = Tile("lx_device_warp", 32, is_threshold=True)
"""Work-items that run in lockstep: 1 on a CPU, whatever else elsewhere."""
