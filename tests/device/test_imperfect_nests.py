"""Statements beside parallel loops: what the kernels compute is what the user's C computes."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import arrays_after, assert_runs_agree, simulate
from imperfect_nests import CASES

from loopxform.api.reading import loads
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource, Library

SMALL = {"Ty": 4, "Tx": 8, "Tk": 4, "Ry": 2, "Rx": 2}


def plan(case: str, tiles: dict[str, int]) -> Plan:
    tiled = loads(CASES[case].text)["f"].tile(contract=False, **tiles)
    return emit.kernel(tiled.derivation, fp=SEPARATE)


def sizes(case: str) -> list[dict[str, float]]:
    """Odd ones, and each size 1."""
    odd = CASES[case].sizes
    return [odd, *({**odd, name: 1} for name, n in odd.items() if isinstance(n, int) and n > 3)]


@pytest.mark.parametrize("case", CASES)
def test_kernels(case: str) -> None:
    made = plan(case, SMALL)
    assert tuple(len(k.mapping.grid) for k in made.kernels) == CASES[case].kernels


@pytest.mark.device
@pytest.mark.parametrize("case", CASES)
def test_bit_identical_to_the_c_program(case: str, tmp_path: Path) -> None:
    file = tmp_path / "f.c"
    file.write_text(CASES[case].text)
    assert_runs_agree(plan(case, SMALL), CSource(str(file)), sizes(case), 3)


@pytest.mark.oclgrind
@pytest.mark.parametrize("case", ["product", "skipped", "chosen-rows"])
def test_touches_only_what_the_c_program_touches(case: str, tmp_path: Path) -> None:
    file = tmp_path / "f.c"
    file.write_text(CASES[case].text)
    made = plan(case, {**SMALL, "Ty": 2, "Tx": 3})
    args = arguments(made.start, {n: min(v, 7) for n, v in CASES[case].sizes.items()}, 3)
    report = simulate(made, args)
    assert report.clean, report.findings[0]
    Library(CSource(str(file)), [made.start]).run("f", args)
    after = arrays_after(made, report)
    assert not compare({x: args[x] for x in after}, after, rtol=0.0, atol=0.0)
