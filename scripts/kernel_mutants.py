"""Kernels with a mistake planted in them, each shown to be wrong: what a validator must find.

    python scripts/kernel_mutants.py --list              # every mutant: kernel, kind, edit, proof
    python scripts/kernel_mutants.py --write FOLDER      # FOLDER/NAME/{NAME.c, NAME.cl, ...}
    python scripts/kernel_mutants.py --prove             # runs each again: is it still wrong?
    python scripts/kernel_mutants.py --find              # searches anew, writes mutants.json

From Python:

    for m in mutants():     # written in a folder that is gone when the loop ends
        m.name, m.c_path, m.options, m.folder

The kernels are those of `tests/validate/kernels.toml`, the mutants of `mutants.json` there: a line
of the kernels (or of the host code that launches them), what stands in its place, and a run
of small sizes that shows it: a race, an access out of bounds, a value that was never set (all seen
by the group executor), or results that are not those of the C compiled by `cc`. `--find` takes what
it tries from a seed, and names what no run showed to be wrong in `not_shown`: these do not count.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from mutant_runs import Base, Edit, planted

FOLDER = Path(__file__).parents[1] / "tests" / "validate"
BASES, MUTANTS = FOLDER / "kernels.toml", FOLDER / "mutants.json"


@dataclass(frozen=True)
class Mutant:
    """A kernel and its mistake. `sizes` are those of a run that shows it, `shown` is what is wrong
    there and who says so. The files are in `folder` once it is written."""

    name: str
    base: Base
    kind: str
    edits: tuple[Edit, ...]
    sizes: dict[str, Any]
    shown: str
    folder: Path = Path()

    @property
    def c_path(self) -> Path:
        """The user's C, as it is."""
        return self.base.path

    @property
    def command(self) -> str:
        """`tile` or `offload`: the command that wrote what was edited."""
        return self.base.command

    @property
    def options(self) -> tuple[str, ...]:
        """Its options."""
        return self.base.options

    @property
    def cl(self) -> Path:
        return self.folder / f"{self.c_path.stem}.cl"

    @property
    def host(self) -> Path:
        return self.folder / f"{self.c_path.stem}_opencl.c"

    def write(self, folder: Path) -> Mutant:
        """Writes the C and the three files of the command with the mistake. A mistake in a kernel
        is in the .cl and in the text that the host code holds. Raises ValueError where an edit no
        longer applies, LoopxformError where the command refuses the kernel."""
        files = planted(self.base.files, self.edits)
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.c_path, folder)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        return replace(self, folder=folder)


@cache
def bases() -> dict[str, Base]:
    """The kernels that mistakes are planted in, by name."""
    every: dict[str, Base] = {}
    for style, rows in tomllib.loads(BASES.read_text()).items():
        for row in rows:
            arguments = {n: v for n, v in row.items() if n not in ("file", "command")}
            stem = Path(row["file"]).stem
            number = sum(b.path.stem == stem for b in every.values())
            name = f"{stem}_{number + 1}" if number else stem
            every[name] = Base(name, row["file"], arguments, style, row.get("command", "tile"))
    return every


def listed() -> list[Mutant]:
    """The mutants, which are not written yet."""
    every: list[Mutant] = []
    for row in json.loads(MUTANTS.read_text())["mutants"]:
        edits = tuple(Edit(**edit) for edit in row["edits"])
        base = bases()[row["kernel"]]
        name = f"{base.name}-{sum(m.base is base for m in every) + 1}"
        every.append(Mutant(name, base, row["kind"], edits, row["sizes"], row["shown"]))
    return every


def mutants(folder: Path | None = None) -> Iterator[Mutant]:
    """Every mutant, written to a folder of its own; without `folder`, to one that is gone once the
    loop goes on. Raises ValueError where one no longer applies."""
    for m in listed():
        if folder is not None:
            yield m.write(folder / m.name)
            continue
        with tempfile.TemporaryDirectory(prefix="mutant-") as name:
            yield m.write(Path(name))


def counted(every: list[Mutant]) -> str:
    kinds = Counter(m.kind for m in every)
    styles = Counter(m.base.style for m in every)
    return (
        f"{len(every)} mutants of {len({m.base.name for m in every})} kernels\n"
        f"kinds: {', '.join(f'{n} {k}' for k, n in kinds.most_common())}\n"
        f"recipes and options: {', '.join(f'{n} {k}' for k, n in styles.most_common())}"
    )


def show(m: Mutant) -> str:
    options = " ".join(m.options)
    edits = [f"  - {e.before.strip()}\n  + {e.after.strip()}" for e in m.edits]
    sizes = ", ".join(f"{n}={v}" for n, v in m.sizes.items())
    head = f"{m.name}: {m.kind} ({m.command} {m.base.file} {options})"
    return "\n".join([head, *edits, f"  {sizes}: {m.shown}"])


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--list", action="store_true", help="print every mutant")
    p.add_argument("--write", type=Path, metavar="FOLDER", help="write the files of each")
    p.add_argument("--prove", action="store_true", help="show again that each is wrong")
    p.add_argument(
        "--find", nargs="*", metavar="KERNEL", help="search anew (in these kernels only)"
    )
    p.add_argument("--seed", type=int, default=26)
    args = p.parse_args()
    if args.find is not None:
        from mutant_search import search

        known = json.loads(MUTANTS.read_text()) if args.find else {"mutants": [], "not_shown": []}
        searched = {n: b for n, b in bases().items() if n in args.find or not args.find}
        MUTANTS.write_text(search(searched, args.seed, known), encoding="utf-8")
    every = listed()
    if args.list:
        print("\n".join(show(m) for m in every))
    if args.write:
        for m in mutants(args.write):
            print(m.folder)
    failed = 0
    if args.prove:
        from mutant_search import proven

        for m in every:
            found = proven(m)
            failed += not found
            print(f"{m.name:28} {m.kind:24} {found or 'NOT SHOWN TO BE WRONG'}", flush=True)
    print(counted(every))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
