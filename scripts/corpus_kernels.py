"""Every kernel of the corpus, as `loopxform tile` writes it, and which recipe made it.

    python scripts/corpus_kernels.py                   # each with its recipe; how many there are
    python scripts/corpus_kernels.py --write FOLDER    # FOLDER/NAME/{NAME.c, NAME.cl, ...}, too
    python scripts/corpus_kernels.py --recipe 1-d      # those of one recipe

From Python:

    for k in kernels():
        k.file, k.options, k.recipe, k.names    # the C, the options, the recipe, the kernels
        cl, host = k.write(folder)[:2]          # NAME.cl, NAME_opencl.c
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import loopxform as lx
from loopxform.api.tile import TiledRoutine
from loopxform.cli import main as loopxform

CORPUS = Path(__file__).parents[1] / "corpus"
FOLDERS = (".", "nests")


@dataclass(frozen=True)
class CorpusKernels:
    """The kernels of one function of the corpus: its C file, the options of `loopxform tile`, and
    what they lead to. `names` are those of the kernels in the text; `small` are sizes that are no
    multiples of tiles (where the corpus states some), `fixed` scalars that are no sizes."""

    file: Path
    function: str
    options: tuple[str, ...]
    recipe: str
    names: tuple[str, ...]
    small: dict[str, int]
    fixed: dict[str, float]

    @property
    def name(self) -> str:
        return self.file.stem

    def write(self, folder: Path) -> tuple[Path, Path, Path]:
        """Writes `NAME.cl`, `NAME_opencl.c` and `NAME_opencl.h` with the command, beside a copy of
        the C file, and returns their paths. Raises RuntimeError where `tile` fails."""
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.file, folder)
        words = [*self.options, "-o", str(folder), "--quiet"]
        if loopxform(["tile", str(folder / self.file.name), *words]):
            raise RuntimeError(f"loopxform tile {self.file} {' '.join(words)} failed")
        return (
            folder / f"{self.name}.cl",
            folder / f"{self.name}_opencl.c",
            folder / f"{self.name}_opencl.h",
        )


def files() -> list[Path]:
    """The C files that hold the nests of the corpus."""
    return [file for folder in FOLDERS for file in sorted((CORPUS / folder).glob("*.c"))]


def kernels(recipe: str = "", name: str = "") -> Iterator[CorpusKernels]:
    """The kernels of every function of the corpus, tiled for the default profile; those of one
    recipe, or of the file of one name, where it is given. Raises LoopxformError where a function is
    not tiled."""
    for file in (f for f in files() if name in ("", f.stem)):
        for routine in lx.load(file):
            tiled = routine.tile()
            if recipe in ("", tiled.recipe):
                yield _of(file, tiled)


def _of(file: Path, tiled: TiledRoutine) -> CorpusKernels:
    from loopxform.codegen import emit

    stated: dict[str, Any] = {}
    if (table := file.with_suffix(".toml")).exists():
        stated = tomllib.loads(table.read_text())
    plan = emit.kernel(tiled.derivation, fp=tiled.fp)
    return CorpusKernels(
        file=file,
        function=tiled.routine.name,
        options=("--function", tiled.routine.name),
        recipe=tiled.recipe,
        names=tuple(dict.fromkeys(k.name for k in plan.kernels)),
        small=stated.get("residual", {}),
        fixed=stated.get("fixed", {}),
    )


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--recipe", default="", help="kernels of this recipe only")
    p.add_argument("--write", type=Path, metavar="FOLDER", help="write the kernels there, too")
    args = p.parse_args()
    functions, texts = Counter[str](), Counter[str]()
    for k in kernels(args.recipe):
        functions[k.recipe] += 1
        texts[k.recipe] += len(k.names)
        print(f"{k.file.relative_to(CORPUS)!s:32} {k.recipe:14} {' '.join(k.names)}", flush=True)
        if args.write:
            k.write(args.write / k.name)
    print(f"\n{'recipe':14} functions kernels")
    for name, count in [*functions.most_common(), ("all", functions.total())]:
        print(f"{name:14} {count:9} {texts[name] or texts.total():7}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
