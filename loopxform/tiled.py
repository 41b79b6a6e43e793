"""A function tiled for OpenCL, as Python and the command line use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopxform import __version__
from loopxform.api import Routine
from loopxform.codegen import emit
from loopxform.errors import UsageError, quoting
from loopxform.files import in_folder, write_all
from loopxform.ir.printer import listing
from loopxform.recipes.limits import Limits, profile
from loopxform.recipes.one_nest import Tiled
from loopxform.recipes.sizes import NAMES, PLAIN, Options, Recipe
from loopxform.recipes.tile import tile
from loopxform.transforms import Derivation
from loopxform.transforms.base import LARGEST_TILE

if TYPE_CHECKING:
    from loopxform.runtime.kernel import CompiledKernel


def tile_routine(
    routine: Routine,
    sizes: Mapping[str, int],
    recipe: Recipe | None,
    limits: Limits | str,
    *,
    contract: bool,
    options: Options = PLAIN,
) -> TiledRoutine:
    """See `Routine.tile`."""
    for name, size in sizes.items():
        if name not in NAMES:
            raise TypeError(f"'{name}' is not a tile size: {', '.join(NAMES)}")
        if type(size) is not int or not 0 < size <= LARGEST_TILE:
            message = f"{name} must be a whole number from 1 to {LARGEST_TILE}, not {size!r}"
            raise UsageError(message, code="LX023")
    room = profile(limits) if isinstance(limits, str) else limits
    with quoting(routine.file.parsed.sources):
        strict = recipe is not None and recipe != "naive"
        tiled = tile(routine.function, sizes, recipe, room, strict=strict, options=options)
    return TiledRoutine(routine, tiled, room, contract)


@dataclass(frozen=True)
class TiledRoutine:
    """A function tiled for OpenCL: the derivation, the kernel, the files, the callable."""

    routine: Routine
    tiled: Tiled
    limits: Limits
    contract: bool = True

    @property
    def sizes(self) -> dict[str, int]:
        """The tile sizes in use, by name."""
        return self.tiled.sizes

    @property
    def derivation(self) -> Derivation:
        return self.tiled.derivation

    @property
    def listing(self) -> str:
        """The program after the last step."""
        return listing(self.tiled.function)

    @property
    def kernel(self) -> str:
        """The OpenCL C text of the kernel."""
        return self.opencl.files[f"{self.routine.file.stem}.cl"]

    @cached_property
    def opencl(self) -> emit.Emitted:
        """`NAME.cl`, `NAME_opencl.c` and `NAME_opencl.h`. Raises EmitError."""
        with quoting(self.routine.file.parsed.sources):
            return emit.opencl(self.derivation, contract=self.contract, **self._provenance())

    @cached_property
    def openmp(self) -> emit.Emitted:
        """`NAME_openmp.c`: the tiled program for the CPU. Raises EmitError."""
        with quoting(self.routine.file.parsed.sources):
            return emit.openmp(self.derivation, **self._provenance())

    def _provenance(self) -> dict[str, str]:
        file = self.routine.file
        return {"stem": file.stem, "origin": file.name, "version": __version__}

    def write(self, directory: str | PathLike[str] = ".") -> list[Path]:
        """Writes the OpenCL files, all or none, and returns their paths. A file that was read is
        never overwritten. Raises InputError."""
        outputs = in_folder(fspath(directory), self.opencl.files)
        return write_all(outputs, self.routine.file.parsed.dependencies)

    def compile(self, device: str | None = None, *, queue: Any = None) -> CompiledKernel:
        """The kernel as a callable with the arguments of the C function. `device` is as `loopxform
        devices` lists them; with a `pyopencl.CommandQueue` the kernel runs there, which is what
        device arrays need.

        Raises DeviceError where there is no such device or the kernel does not fit it, TypeError
        where both are given, or no queue.
        """
        from loopxform.runtime.device import choose, describe, is_queue
        from loopxform.runtime.kernel import CompiledKernel

        if queue is not None and (device is not None or not is_queue(queue)):
            raise TypeError("compile takes a device, or a pyopencl.CommandQueue as queue")
        with quoting(self.routine.file.parsed.sources):
            plan = emit.kernel(self.derivation, contract=self.contract)
            chosen = choose(device) if queue is None else describe(queue.device)
            return CompiledKernel(plan, chosen, queue=queue)
