"""A function mapped to kernels, however it came to be: the listing, the files, the callable."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopxform.analysis.key_checks import key_check
from loopxform.analysis.loose_accesses import loose_accesses
from loopxform.api.arguments import COMPILING, require
from loopxform.api.copied_arrays import checked_updates
from loopxform.api.source import SourceRoutine
from loopxform.codegen import emit
from loopxform.codegen.host import macro_checks
from loopxform.display import Shown
from loopxform.errors import ArgumentError, quoting
from loopxform.files import in_folder, write_all
from loopxform.floating_point import FloatingPoint
from loopxform.ir.nodes import Function
from loopxform.ir.printer import listing
from loopxform.prepare.while_loops import whole_loops
from loopxform.targets.target import Limits
from loopxform.transforms import Derivation
from loopxform.version import __version__

if TYPE_CHECKING:
    from loopxform.runtime.kernel import CompiledKernel


@dataclass(frozen=True)
class MappedRoutine(Shown, ABC):
    """A function and what it was mapped for; `fp` is what is permitted of floating point. Calls of
    fewer operations than `host` are the host's; None: host and device are compared. The `inspector`
    finds ends of arrays that only data tell."""

    routine: SourceRoutine
    limits: Limits
    fp: FloatingPoint
    host: float | None = field(default=None, kw_only=True)
    inspector: Function | None = field(default=None, kw_only=True, repr=False)

    @property
    @abstractmethod
    def derivation(self) -> Derivation:
        """The steps that led to the mapped program."""

    @property
    @abstractmethod
    def recipe(self) -> str:
        """What it was mapped by: a recipe of tiling, or `offload`."""

    @property
    @abstractmethod
    def sizes(self) -> dict[str, int]:
        """The tile sizes in use, by name, where there is one nest."""

    @property
    def listing(self) -> str:
        """The program after the last step."""
        return listing(self.derivation.function)

    @property
    def kernel(self) -> str:
        """The OpenCL C text of the kernels."""
        return self.opencl.files[f"{self.routine.file.stem}.cl"]

    @cached_property
    def opencl(self) -> emit.Emitted:
        """`NAME.cl`, `NAME_opencl.c` and `NAME_opencl.h`. Raises EmitError."""
        with quoting(self.routine.file.parsed.sources):
            return emit.opencl(
                self.derivation,
                fp=self.fp,
                host=self.host,
                functions=(r.name for r in self.routine.file.routines()),
                inspector=self.inspector,
                keys=checked_updates(self.derivation.start),
                copies=self.limits.copies,
                **self.provenance(),
            )

    def provenance(self) -> dict[str, str]:
        """What written files are called after, and what they say of where they come from."""
        file = self.routine.file
        macros = macro_checks.errors(self.routine.decisions, file.name)
        return {"stem": file.stem, "origin": file.name, "version": __version__, "asked": macros}

    def write(self, directory: str | PathLike[str] = ".") -> list[Path]:
        """Writes the OpenCL files, all or none. A file that was read is never overwritten.

        Args:
            directory: Where to; it is made where it is missing.

        Returns:
            The paths: NAME.cl, NAME_opencl.c and NAME_opencl.h.

        Raises:
            InputError: One of them cannot be written.
            EmitError: The program cannot be written as OpenCL.
        """
        outputs = in_folder(fspath(directory), self.opencl.files)
        return write_all(outputs, self.routine.file.parsed.dependencies)

    def compile(self, device: str | None = None, *, queue: Any = None) -> CompiledKernel:
        """The kernels as a callable with the arguments of the C function. Elements that are used as
        subscripts are looked at before each call.

        Args:
            device: As `loopxform devices` lists them; None: the first that builds kernels.
            queue: A `pyopencl.CommandQueue`: the kernels run there, which is what device arrays
                need.

        Returns:
            The callable.

        Raises:
            DeviceError: There is no such device, or the kernels do not fit it.
            ArgumentError: Both are given, or `queue` is none.
            EmitError: The program cannot be written as OpenCL.
        """
        from loopxform.runtime.device import is_queue
        from loopxform.runtime.kernel import CompiledKernel
        from loopxform.runtime.queues import queue_of, queue_on
        from loopxform.runtime.selection import choose
        from loopxform.verify.key_check import Keys

        if queue is not None and (device is not None or not is_queue(queue)):
            raise ArgumentError("compile takes a device, or a pyopencl.CommandQueue as queue")
        require(COMPILING, device=device)
        with quoting(self.routine.file.parsed.sources):
            plan = emit.kernel(self.derivation, fp=self.fp)
            own = queue_on(choose(device)) if queue is None else queue_of(queue)
            read = whole_loops(self.derivation.start)
            check = key_check(read, loose_accesses(read))
            keys = None if check is None else Keys(check, own)
            return CompiledKernel(plan, own.device, queue=own, keys=keys)
