"""Random programs in two files: what is looked into elsewhere is judged as if it stood here.

The functions that others call are in a file of their own, with their declarations in a header; the
verdicts are those of the program in one file, or unknown. `scripts/fuzz_programs.py` writes them.
"""

from __future__ import annotations

import importlib.util
import random
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from loopxform.api.check import CheckedFile, checked
from loopxform.api.reading import load, load_of_program, program_of

SCRIPT = Path(__file__).parents[2] / "scripts" / "fuzz_programs.py"
EXTERNAL = re.compile(r"^static (?=word \w+\(|void put\()", re.MULTILINE)


def fuzz_programs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz_programs", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


FUZZ = fuzz_programs()


def verdicts(report: CheckedFile) -> list[tuple[str, str, str]]:
    return [(f.name, v.var, v.parallel) for f in report for v in f.loops]


def assert_alike(folder: Path, seed: int) -> int:
    """How many loops are decided in functions that call something of the other file."""
    head, functions = FUZZ.HEAD, FUZZ.program(seed).removeprefix(FUZZ.HEAD)
    rng = random.Random(seed)
    lines = EXTERNAL.sub("", functions).splitlines(keepends=True)
    known = set(EXTERNAL.sub("", FUZZ.HELPERS).splitlines(keepends=True))
    helpers = [x for x in lines if x in known]
    rest = "".join(x for x in lines if x not in known)
    moved = [h for h in helpers if rng.random() < 0.8]
    kept = [h for h in helpers if h not in moved]
    variables = re.compile(r"^(word|int|float|unsigned char|pair) (\w.*);$", re.MULTILINE)
    header = variables.sub(r"extern \1 \2;", head) + "".join(map(declaration, helpers))
    (folder / "all.h").write_text(header)
    own = '#include "all.h"\n'
    (folder / "helpers.c").write_text(own + "".join(moved))
    (folder / "a.c").write_text(own + "".join(kept) + rest)
    (folder / "whole.c").write_text(own + "".join(moved) + "".join(kept) + rest)
    paths = [str(folder / "a.c"), str(folder / "helpers.c")]
    split = checked(load_of_program(paths[0], program_of(paths, lambda _: {})))
    names = {f.name for f in split}
    whole = [v for v in verdicts(checked(load(str(folder / "whole.c")))) if v[0] in names]
    assert len(whole) == len(verdicts(split))
    for here, there in zip(whole, verdicts(split)):
        assert there in (here, (*here[:2], "unknown")), (folder / "a.c").read_text()
    return sum(v.parallel != "unknown" for f in split if f.rests for v in f.loops)


def declaration(definition: str) -> str:
    """The prototype of a helper, with the types of its parameters."""
    head = definition.partition("{")[0].strip()
    old = re.fullmatch(r"(word old)\(x, y\) word x; int y;", head)
    return f"{old[1]}(word x, int y);\n" if old else f"{head};\n"


@pytest.mark.parametrize("seed", range(4))
def test_split_programs(tmp_path: Path, seed: int) -> None:
    assert assert_alike(tmp_path, seed) >= 0


@pytest.mark.slow
def test_more_split_programs(tmp_path: Path) -> None:
    decided = 0
    for seed in range(100, 130):
        decided += assert_alike(tmp_path, seed)
    assert decided > 30
