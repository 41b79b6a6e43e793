"""loopxform from Python: read a C file, check it, transform it, write it, call it.

    import loopxform as lx
    mm = lx.load("mm.c")["mm"]
    print(mm.matrix())                                     # the dependence matrix
    tiled = mm.tile(Ty=16, Tx=16, Tk=16, Ry=8, Rx=4)       # each step proven legal
    tiled.write("build")                                   # mm.cl, mm_opencl.c, mm_opencl.h
    tiled.compile()(M, U, N, A, B, C)                      # numpy arrays, or pyopencl arrays

The command line is built on the same classes. Errors are `LoopxformError`s whose `render()` quotes
the user's file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from loopxform.api.arguments import APPLYING, FUNCTION, require
from loopxform.api.chosen import chosen, listed
from loopxform.api.judged import JudgedRoutine
from loopxform.api.source import SourceFile
from loopxform.display import Shown
from loopxform.errors import quoting

if TYPE_CHECKING:
    from loopxform.api.offload import OffloadedRoutine
    from loopxform.api.splice import OffloadedFile
    from loopxform.api.tile import TiledRoutine
    from loopxform.floating_point import Level
    from loopxform.schedule.params import Recipe
    from loopxform.targets.target import Limits
    from loopxform.transforms import Derivation, Step


@dataclass(frozen=True, repr=False)
class File(Shown, SourceFile):
    """A C file that was read: a collection of its functions, in text order.

    `file["mm"]` is one of them (InputError where there is none), `"mm" in file` says whether there
    is, `len(file)` counts them.

    Examples:
        >>> import loopxform as lx
        >>> file = lx.load("mm.c")
        >>> file["mm"], "nn" in file, len(file)
        (<Routine mm of mm.c>, False, 1)
    """

    def __getitem__(self, name: str) -> Routine:
        return self.routine(name)

    def __iter__(self) -> Iterator[Routine]:
        return (Routine(self, fn) for fn in self.parsed.unit.functions)

    def __len__(self) -> int:
        return len(self.parsed.unit.functions)

    def __bool__(self) -> bool:
        return True

    def __contains__(self, name: object) -> bool:
        """Whether the file has a function of that name."""
        return any(fn.name == name for fn in self.parsed.unit.functions)

    def __repr__(self) -> str:
        return f"<File {self.name}: {listed(fn.name for fn in self.parsed.unit.functions)}>"

    def offload(
        self,
        *functions: str,
        limits: Limits | str = "generic",
        fp: Level | None = None,
        contract: bool = True,
        pad: bool | None = None,
        separate_full_tiles: bool = False,
        reassociate: bool = False,
        threshold: Mapping[str, int] | None = None,
        time_tile: tuple[int, ...] | None = None,
        fuse_stages: tuple[int, ...] | None = None,
        tile_stages: tuple[int, ...] | None = None,
        scratch: Sequence[str] = (),
        **sizes: int,
    ) -> OffloadedFile:
        """The whole file with the loops of functions on the device: the user's text, with launches
        in front of the loops that they stand for.

        Args:
            *functions: Names of functions; none: all of the file.
            limits: As for `Routine.tile`, as are `fp`, `contract`, `pad`, `separate_full_tiles`,
                `reassociate`, `threshold` and `sizes`.
            time_tile: As for `Routine.offload`, as are `fuse_stages`, `tile_stages` and `scratch`.

        Returns:
            What became of each function: `regions` run on the device, `left` says why others do
                not, `write` writes the files.

        Raises:
            InputError: There is no such function.
            EmitError: A macro of the file stands in the way.
            LimitError: The device does not have what is asked for.
            ArgumentError: A value is not allowed.

        Examples:
            >>> import loopxform as lx
            >>> lx.load("mm.c").offload()
            <OffloadedFile mm.c: 1 parts on the device>
        """
        from loopxform.api.splice import offload_file  # loads what only this needs
        from loopxform.api.tile_arguments import OFFLOADING, as_arguments, asked

        allowed, options = asked(locals(), sizes, OFFLOADING)
        names = [self.routine(name).name for name in functions]
        with as_arguments():
            return offload_file(
                self, names, sizes, limits, fp=allowed, options=options, scratch=scratch
            )

    def routine(self, name: str | None = None) -> Routine:
        """One function.

        Args:
            name: Its name; None: the only one with a loop nest.

        Returns:
            The function.

        Raises:
            InputError: There is no such function, or `name` is None and several are meant.
            ArgumentError: `name` is no text.
        """
        require(FUNCTION, name=name)
        with quoting(self.parsed.sources):
            return Routine(self, chosen(self.parsed, name))


def _step(given: Step | str) -> Step:
    """Raises ArgumentError, UsageError."""
    from loopxform.transforms import Step, step  # loads every step

    if isinstance(given, Step):
        return given
    require(APPLYING, step=given)
    return step(given)


@dataclass(frozen=True, repr=False)
class Routine(Shown, JudgedRoutine):
    """A C function: what is asked of it, and what is made of it.

    `name` is its name, `file` the file that it stands in, `function` its loop tree.

    Examples:
        >>> import loopxform as lx
        >>> mm = lx.load("mm.c")["mm"]
        >>> [(loop.var, loop.parallel) for loop in mm.check()]
        [('i', 'yes'), ('j', 'yes'), ('k', 'reduction')]
    """

    file: File

    def __repr__(self) -> str:
        return f"<Routine {self.name} of {self.file.name}>"

    def apply(self, *steps: Step | str, tiles: Mapping[str, int] | None = None) -> Derivation:
        """Applies steps one after the other, each checked.

        Args:
            *steps: `Stripmine("i", "64")`, or `"stripmine i 64"` (docs/steps.md lists them).
            tiles: Sizes that steps may name, by name.

        Returns:
            The steps with their reasons, and the program after each.

        Raises:
            TransformError: A step would change what the program computes; `obstacles` say why.
            UsageError: A step says nothing meaningful.
            ArgumentError: A step is no text, or `tiles` no sizes by name.

        Examples:
            >>> import loopxform as lx
            >>> mm = lx.load("mm.c")["mm"]
            >>> mm.apply("interchange i j", "stripmine i T", tiles={"T": 8}).records[0].reason
            "no direction vector has '<' for i and '>' for j"
        """
        from loopxform.prepare.while_loops import whole_bodies
        from loopxform.transforms import Derivation, with_tiles  # loads every step

        require(APPLYING, tiles=tiles)
        with quoting(self.file.parsed.sources):
            start = Derivation(with_tiles(whole_bodies(self.function), tiles or {}))
            return start.run(tuple(map(_step, steps)))

    def tile(
        self,
        *,
        recipe: Recipe | None = None,
        variant: Recipe | None = None,
        limits: Limits | str = "generic",
        fp: Level | None = None,
        contract: bool = True,
        pad: bool | None = None,
        separate_full_tiles: bool = False,
        relayout: Mapping[str, Sequence[int]] | None = None,
        Rk: int | None = None,  # noqa: N803
        reassociate: bool = False,
        vector: int | None = None,
        index: Literal[32, 64] | None = None,
        warp_tile: tuple[int, int] | None = None,
        stages: int | None = None,
        async_copies: bool = False,
        tensor_units: bool | None = None,
        bfloat_parts: Literal[0, 2, 3] | None = None,
        register_pipeline: bool | None = None,
        interleave_copies: int | None = None,
        swizzle_groups: int | None = None,
        serpentine: int | None = None,
        block_cyclic: int | None = None,
        single_columns: bool = False,
        shift_inwards: bool = False,
        pack: int | None = None,
        specialise: Mapping[str, int] | None = None,
        threshold: Mapping[str, int] | None = None,
        **sizes: int,
    ) -> TiledRoutine:
        """Tiles a nest for OpenCL: a kernel, and the C that launches it.

        What these arguments do, and when loopxform chooses them itself, is in docs/tiling.md.

        Args:
            recipe: How it is tiled: "register", "block", "stencil", ...; None: by which data is
                reused. A nest without reuse is mapped naively, and the plan says why.
            variant: An older name of `recipe`.
            limits: The device, as a profile or its name (`loopxform devices` lists them).
            fp: What you permit of floating point: "strict", "contract" (default), "reassociate" or
                "fast".
            contract: Whether a*b + c may be fused.
            pad: Whether rows in local memory are padded; None: where that pays.
            separate_full_tiles: Whether full tiles have code of their own, without bounds checks.
            relayout: By array, the order of dimensions of a copy that is read instead; {} for none;
                None: the copies that pay, where no recipe is named.
            Rk: Chunks that a sum is split into.
            reassociate: Whether sums may be in another order.
            vector: Elements that a work-item reads at once: 1, 2, 4, 8 or 16.
            index: Bits of subscripts: 32 or 64.
            warp_tile: Rows and columns of work-items of a warp.
            stages: Tiles in flight from global to local memory.
            async_copies: Whether these are copied without registers.
            tensor_units: Whether tensor units compute products; None: those of doubles and bytes.
            bfloat_parts: Bfloat16 that floats are sums of there; None: 3 where that pays; 0: none.
            register_pipeline: Whether registers are filled a step ahead.
            interleave_copies: Terms of a sum from which on tiles are copied between its iterations.
            swizzle_groups: Rows of groups that run together, for the caches.
            serpentine: Rows that every other column of elements is computed backwards in.
            block_cyclic: Neighbouring elements that a work-item has.
            single_columns: Whether it has single ones of a row: work-items store neighbours.
            shift_inwards: Whether last tiles begin earlier, so that they are whole.
            pack: Iterations from which on operands are packed.
            specialise: Values of integer arguments that the kernel is for, by name.
            threshold: Numbers that guards of versions compare with, by name.
            **sizes: Any of Tz, Ty, Tx, Tk, Ry, Rx: work-items of a group, steps of the sum, and
                elements of a work-item. The rest are chosen to fit `limits`.

        Returns:
            The tiled function: its steps, kernel and files; `compile` makes it a callable.

        Raises:
            UnsupportedC: No loop can run in parallel, or the nest is not one of the recipe's.
            TransformError: A step of the recipe is not legal here.
            LimitError: The sizes do not fit the device.
            ArgumentError: A value is not allowed, or the recipe has no use for an option.
            UsageError: There is no such profile.

        Examples:
            >>> import loopxform as lx
            >>> lx.load("mm.c")["mm"].tile(Ty=16, Tx=16, Tk=16, Ry=8, Rx=4)
            <TiledRoutine mm: register Ty=16 Tx=16 Tk=16 Ry=8 Rx=4>
        """
        from loopxform.api.tile import tile_routine  # loads what only tiling needs
        from loopxform.api.tile_arguments import TILING, as_arguments, asked

        allowed, options = asked(locals(), sizes, TILING)
        with as_arguments():
            return tile_routine(self, sizes, recipe or variant, limits, fp=allowed, options=options)

    def offload(
        self,
        *,
        limits: Limits | str = "generic",
        fp: Level | None = None,
        contract: bool = True,
        pad: bool | None = None,
        separate_full_tiles: bool = False,
        reassociate: bool = False,
        threshold: Mapping[str, int] | None = None,
        time_tile: tuple[int, ...] | None = None,
        fuse_stages: tuple[int, ...] | None = None,
        tile_stages: tuple[int, ...] | None = None,
        scratch: Sequence[str] = (),
        **sizes: int,
    ) -> OffloadedRoutine:
        """The whole function on the device: every nest is a kernel, tiled where that pays.

        Loops that cannot run in parallel run on the host, with kernels inside, or on one work-item.
        Arrays are copied once for all kernels.

        Args:
            limits: As for `tile`, as are `fp`, `contract`, `pad`, `separate_full_tiles`,
                `reassociate`, `threshold` and `sizes`.
            time_tile: Steps, rows and work-items along the other dimensions, of a loop over time
                around stencils: (8, 128, 256); () for none; None: what the model chooses.
            fuse_stages: Rows and work-items of a kernel of neighbouring stages: (32, 256).
            tile_stages: The size of a tile along each dimension, and work-items: (16, 64, 256).
            scratch: Arrays of which nobody reads what they hold afterwards.

        Returns:
            The function: `parts` say what each part of it became, and why.

        Raises:
            UnsupportedC: Something of it is not modelled.
            TransformError: A step is not legal here.
            LimitError: The sizes do not fit the device.
            ArgumentError: A value is not allowed.
            UsageError: There is no such profile.

        Examples:
            >>> import loopxform as lx
            >>> lx.load("mm.c")["mm"].offload().parts
            (<Part mm.c:5:3: kernel>,)
        """
        from loopxform.api.offload import (  # loads what only this needs
            offload_routine,
            require_compared,
        )
        from loopxform.api.scratch import require_known, with_scratch
        from loopxform.api.tile_arguments import OFFLOADING, as_arguments, asked

        allowed, options = asked(locals(), sizes, OFFLOADING)
        with as_arguments():
            own = Routine(self.file, with_scratch(self.function, scratch))
            require_known(scratch, [own.function])
            done = offload_routine(own, sizes, limits, fp=allowed, options=options)
            require_compared(options, [self], [done.derivation])
        return done
