"""Steps of time in boxes as tiled C: the results of the C program, to the last bit, at sizes that
are no multiples of anything."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from test_time_tiles import SHAPES, STEPS, TEXTS

from loopxform.cli import main
from loopxform.codegen import emit
from loopxform.frontend import parse_file
from loopxform.ir.visit import resolve
from loopxform.offload.time_in_c import time_in_c
from loopxform.offload.time_tiles import counting_up, signed
from loopxform.recipes.deriving import Work
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Derivation, TimeBoxes
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource, Library

SIZES = {"line": ("7",), "waves": ("7",), "space": ("3", "4", "16")}


@pytest.mark.device
@pytest.mark.parametrize("name", TEXTS)
def test_as_the_users_c(name: str) -> None:
    (fn,) = parse_file("f.c", text=TEXTS[name]).unit.functions
    assert (time_in_c(fn, PROFILES["cpu"]) is None) == (name == "space")
    w = Work(Derivation(fn), {})
    signed(w, counting_up(w, resolve(w.fn, "t")[0]))
    w.do(TimeBoxes("t", ("3" if name == "planes" else "2",), SIZES.get(name, ("5", "6")), "1"))
    files = emit.openmp(w.derivation, stem="f", origin="f.c", version="").files
    tiled, plain = CSource(text=files["f_openmp.c"], flags=("-fopenmp",)), CSource(text=TEXTS[name])
    both = [Library(source, [fn]) for source in (plain, tiled)]
    for t in STEPS:
        for n, m in SHAPES:
            given = arguments(fn, {"T": t, "n": n, "m": m}, 5)
            results = [copy.deepcopy(given) for _ in both]
            for library, args in zip(both, results, strict=True):
                library.run("f", args)
            assert not compare(*results), (name, t, n, m)


def test_tile_for_a_cpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "f.c").write_text(TEXTS["two_arrays"])
    assert (
        main([*("tile", str(tmp_path / "f.c")), *("--target", "openmp", "-o", str(tmp_path))]) == 0
    )
    said = "f: loop t: 6 steps of time a pass, a thread computes boxes of 128 x 128\n"
    assert capsys.readouterr().out.startswith(said)
    assert "A_box" in (tmp_path / "f_openmp.c").read_text()
