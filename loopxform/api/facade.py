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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal

from loopxform.analysis.matrix import matrix, matrix_text
from loopxform.analysis.verdict import LoopVerdict
from loopxform.api.annotated import considered, require_read, require_understood, tiled_first
from loopxform.api.arguments import APPLYING, CHECKING, require
from loopxform.api.reading import cpp_options
from loopxform.api.source import SourceFile, SourceRoutine
from loopxform.api.verdicts import claims, verdicts
from loopxform.errors import InputError, quoting
from loopxform.frontend import Parsed, parse_file
from loopxform.ir.nodes import For, Function, Opaque
from loopxform.ir.printer import listing
from loopxform.ir.visit import walk
from loopxform.nearest import did_you_mean
from loopxform.source import Loc

if TYPE_CHECKING:
    from loopxform.analysis.openmp import Claim
    from loopxform.api.offload import OffloadedRoutine
    from loopxform.api.splice import OffloadedFile
    from loopxform.api.tile import TiledRoutine
    from loopxform.floating_point import Level
    from loopxform.schedule.params import Recipe
    from loopxform.targets.target import Limits
    from loopxform.transforms import Derivation, Step


def load(
    path: str | PathLike[str],
    *,
    config: bool | str | PathLike[str] = False,
    **options: Sequence[str],
) -> File:
    """Reads a C file. `include`, `define` and `undefine` list what -I, -D and -U of a C compiler
    take; `cflags` all its options, of which those count that change the text (`-std=c99`, `-O0`,
    `-include`). With `config`, so do what the project of the file says, by its loopxform.toml and
    compile_commands.json, or by the file that is named (docs/configuration.md).

    Raises InputError with the place.
    """
    return _file(parse_file(fspath(path), cpp_options(fspath(path), config, options)))


def loads(text: str, name: str = "<text>", **options: Sequence[str]) -> File:
    """Reads C text; see `load`. Raises InputError with the place."""
    return _file(parse_file(name, cpp_options(name, False, options), text=text))


def _file(parsed: Parsed) -> File:
    """The file; raises InputError for an annotation that asks for what there is not."""
    if any(a.verb == "tile" for found in parsed.annotations.values() for a in found):
        require_understood(parsed)
    return File(parsed)


@dataclass(frozen=True, repr=False)
class File(SourceFile):
    """A C file: `file["mm"]` is one of its functions."""

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
        """The whole file with the loops of these functions (none named: of all) on the device: the
        user's text, with launches in front of the loops that they stand for. The options are those
        of `Routine.offload`.

        Raises EmitError where a macro of the file stands in the way, LimitError, and
        ArgumentError for a value that is not allowed.
        """
        from loopxform.api.permitted import permission
        from loopxform.api.splice import offload_file  # loads what only this needs
        from loopxform.api.tile_arguments import (
            OFFLOADING,
            as_arguments,
            current,
            options_of,
            require_sizes,
        )

        arguments = {name: value for name, value in locals().items() if name in OFFLOADING}
        arguments = current(sizes, arguments, OFFLOADING)
        require(OFFLOADING, **arguments)
        require_sizes(sizes, OFFLOADING)
        allowed = permission(fp, contract=contract, reassociate=reassociate)
        options = options_of({**arguments, "reassociate": allowed.reassociate})
        with as_arguments():
            return offload_file(
                self, functions, sizes, limits, fp=allowed, options=options, scratch=scratch
            )

    def routine(self, name: str | None = None) -> Routine:
        """The function of that name, or the only one with a loop nest. Raises InputError."""
        with quoting(self.parsed.sources):
            return Routine(self, _choose(self.parsed, name))


def _step(given: Step | str) -> Step:
    """Raises ArgumentError, UsageError."""
    from loopxform.transforms import Step, step  # loads every step

    if isinstance(given, Step):
        return given
    require(APPLYING, step=given)
    return step(given)


MOST_NAMES = 6
"""Names that are shown of many."""


def listed(names: Iterable[str]) -> str:
    """The first of the names, and how many there are besides."""
    every = tuple(names)
    more = f" and {len(every) - MOST_NAMES} more" if len(every) > MOST_NAMES else ""
    return ", ".join(every[:MOST_NAMES]) + more or "no functions"


def _choose(parsed: Parsed, name: str | None) -> Function:
    functions = parsed.unit.functions
    top = Loc(parsed.unit.file, 1, 1)
    if name is not None:
        for fn in functions:
            if fn.name == name:
                return fn
        if name in parsed.failed:
            raise parsed.failed[name]
        known = [fn.name for fn in functions]
        message = f"there is no function '{name}'"
        help = f"{did_you_mean(name, known)}the functions are: {', '.join(known) or 'none'}"
        raise InputError(message, loc=top, code="LX052", help=help)
    require_read(parsed)
    with_loops = [fn for fn in functions if _has_loop(fn)]
    meant = tiled_first(parsed, considered(parsed, with_loops))
    if len(meant) == 1:
        return meant[0]
    if parsed.problems and not with_loops:
        raise parsed.problems[0]
    if not with_loops:
        raise InputError(
            "no function of the file has a loop nest",
            loc=functions[0].origin.loc if functions else top,
            code="LX060",
            help="give a file with a for loop over arrays",
        )
    if not meant:
        raise InputError(
            "every function with a loop nest is annotated ignore",
            loc=with_loops[0].origin.loc,
            code="LX067",
            help="remove one of the annotations",
        )
    names = ", ".join(fn.name for fn in meant)
    raise InputError(
        f"{len(meant)} functions have loop nests: {names}",
        loc=meant[1].origin.loc,
        code="LX053",
        help=f'name one: --function {meant[0].name}, or file["{meant[0].name}"] in Python',
    )


def _has_loop(fn: Function) -> bool:
    return any(isinstance(s, For) or (isinstance(s, Opaque) and s.loop) for _, s in walk(fn.body))


@dataclass(frozen=True, repr=False)
class Routine(SourceRoutine):
    """One C function."""

    file: File

    def __repr__(self) -> str:
        return f"<Routine {self.name} of {self.file.name}>"

    @property
    def listing(self) -> str:
        """The function as the seed prints programs."""
        return listing(self.function)

    def dtype(self, name: str) -> Any:
        """The numpy dtype of the elements of a parameter or a variable of the file; of structs it
        has the layout of C. Raises KeyError."""
        from loopxform.runtime.structs import dtype_of

        return dtype_of(self.function, name)

    def check(self, seconds: float | None = None) -> tuple[LoopVerdict, ...]:
        """A verdict for every loop, in text order. The loops of a nest that takes longer than
        `seconds` are unknown for that reason."""
        require(CHECKING, seconds=seconds)
        return verdicts(self, seconds)

    def audit(self, seconds: float | None = None) -> tuple[Claim, ...]:
        """What is true of every OpenMP loop, in text order. A claim that takes longer than
        `seconds` is not proven."""
        require(CHECKING, seconds=seconds)
        return claims(self, seconds)

    def matrix(self) -> str:
        """The dependence matrix of every nest, as text."""
        return "\n".join(matrix_text(m) for m in matrix(self.function))

    def apply(self, *steps: Step | str, tiles: Mapping[str, int] | None = None) -> Derivation:
        """Applies steps (`Stripmine("i", "64")`, or `"stripmine i 64"`), each checked. `tiles` are
        sizes that steps may name.

        Raises TransformError where one is illegal, UsageError where one says nothing meaningful.
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
        register_pipeline: bool | None = None,
        swizzle_groups: int | None = None,
        serpentine: int | None = None,
        block_cyclic: int | None = None,
        pack: int | None = None,
        specialise: Mapping[str, int] | None = None,
        threshold: Mapping[str, int] | None = None,
        **sizes: int,
    ) -> TiledRoutine:
        """Tiling. `sizes` are any of Tz, Ty, Tx, Tk, Ry, Rx; the rest are chosen to fit `limits`, a
        profile or its name. Without `recipe`, loopxform finds which data is reused and tiles for
        it; a nest without reuse is mapped naively, and the plan says why. `variant` is an older
        name of `recipe`. `fp` is what you permit of floating point: "strict", "contract" (default),
        "reassociate" or "fast"; with `contract=False` a*b + c is not fused. The other
        arguments are the options of the command line (docs/tiling.md): `warp_tile` is rows and
        columns, `specialise` and `threshold` numbers by name. `relayout` gives arrays that are read
        from a copy with its dimensions in that order, {} for none; without it loopxform makes the
        copies that pay, where no recipe is named.

        Raises UnsupportedC, TransformError, LimitError; ArgumentError for a value that is not
        allowed, or an option that the recipe has no use for.
        """
        from loopxform.api.permitted import permission
        from loopxform.api.tile import tile_routine  # loads what only tiling needs
        from loopxform.api.tile_arguments import (
            TILING,
            as_arguments,
            current,
            options_of,
            require_sizes,
            require_taken_by,
        )

        arguments = {name: value for name, value in locals().items() if name in TILING}
        arguments = current(sizes, arguments, TILING)
        require(TILING, **arguments)
        require_sizes(sizes, TILING)
        chosen = recipe or variant
        require_taken_by(chosen, {**arguments, **sizes})
        allowed = permission(fp, contract=contract, reassociate=reassociate)
        options = options_of({**arguments, "reassociate": allowed.reassociate})
        with as_arguments():
            return tile_routine(self, sizes, chosen, limits, fp=allowed, options=options)

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
        """The whole function on the device: every nest is a kernel, tiled where that pays; loops
        that cannot run in parallel run on the host, with kernels inside, or on one work-item.
        Arrays are copied once for all kernels. The options are those of `tile`; nobody reads what
        the arrays of `scratch` hold afterwards.

        Raises UnsupportedC, TransformError, LimitError; ArgumentError for a value that is not
        allowed.
        """
        from loopxform.api.offload import (  # loads what only this needs
            offload_routine,
            require_compared,
        )
        from loopxform.api.permitted import permission
        from loopxform.api.scratch import require_known, with_scratch
        from loopxform.api.tile_arguments import (
            OFFLOADING,
            as_arguments,
            current,
            options_of,
            require_sizes,
        )

        arguments = {name: value for name, value in locals().items() if name in OFFLOADING}
        arguments = current(sizes, arguments, OFFLOADING)
        require(OFFLOADING, **arguments)
        require_sizes(sizes, OFFLOADING)
        allowed = permission(fp, contract=contract, reassociate=reassociate)
        options = options_of({**arguments, "reassociate": allowed.reassociate})
        with as_arguments():
            own = Routine(self.file, with_scratch(self.function, scratch))
            require_known(scratch, [own.function])
            done = offload_routine(own, sizes, limits, fp=allowed, options=options)
            require_compared(options, [self], [done.derivation])
        return done
