"""Whole programs with their loops on the device print what they print without, are compiled without
a warning where the user's own text is, and are the user's text but for what is put in."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from c_project import PLAIN, STRICT, build_both, cc, require_opencl, run_app
from harness import CORPUS

import loopxform as lx
from loopxform.api.splice import OffloadedFile

FILES = CORPUS / "files"
REGIONS = {
    "convergence": ["relax_1", "sorted_1", "main_1", "main_2"],
    "inside_others": [
        "relax_1",
        "choose_1",
        "choose_2",
        "choose_3",
        "choose_4",
        "main_1",
        "main_2",
    ],
    "line_ends": ["f", "main_1"],
    "odd_text": ["three_1", "three_2", "four_1", "main_1"],
    "old_style": ["fill", "weigh_1", "bend", "main_1"],
    "one_array_twice": ["shifted", "scaled_1", "from_the_end", "sized", "main_1", "main_2"],
    "partial_writes": ["smooth", "every_other", "inner", "narrow", "main_1"],
    "routines": ["turn", "count", "main_1", "main_2"],
    "states": ["step_1", "main_1", "main_2", "main_3"],
    "statistics": ["above_1", "main_1", "main_2"],
    "until_still": ["relax_1", "main_1"],
}
"""What runs on the device of every program."""

SAID = {"one_array_twice": "shifted: to and from overlap; running the loops on the host"}


@cache
def offloaded(name: str) -> OffloadedFile:
    return lx.load(FILES / f"{name}.c").offload(contract=False)


def test_every_program_is_here() -> None:
    assert sorted(REGIONS) == sorted(p.stem for p in FILES.glob("*.c"))


@pytest.mark.parametrize("name", REGIONS)
def test_regions(name: str) -> None:
    assert [r.region.name for r in offloaded(name).regions] == REGIONS[name]


@pytest.mark.parametrize("name", REGIONS)
def test_without_what_is_put_in_it_is_the_users_text(name: str) -> None:
    text = offloaded(name).files[f"{name}_opencl.c"].encode(errors="surrogateescape")
    raw = (FILES / f"{name}.c").read_bytes()
    assert raw not in text
    assert without_inserts(text, raw) == raw


def without_inserts(text: bytes, raw: bytes) -> bytes:
    """Without the lines that `raw` does not go on with; where one breaks a line of `raw`, without
    its end."""
    out = b""
    for line in text.splitlines(keepends=True):
        for kept in (line, line.rstrip(b"\r\n")):
            if raw.startswith(kept, len(out)):
                out += kept
                break
    return out


@pytest.mark.parametrize("name", REGIONS)
def test_the_program_prints_the_same(tmp_path: Path, name: str) -> None:
    require_opencl()
    plain = cc(tmp_path, *STRICT, *PLAIN, str(FILES / f"{name}.c"), "-o", "plain", "-lm")
    assert not plain.returncode, plain.stderr
    offloaded(name).write(tmp_path)
    built = cc(tmp_path, *STRICT, *PLAIN, f"{name}_opencl.c", "-o", "app", "-lOpenCL", "-lm")
    assert not built.returncode, built.stderr
    expected = run_app(tmp_path / "plain")
    found = run_app(tmp_path / "app", LOOPXFORM_VERBOSE="1")
    assert (found.stdout, found.returncode) == (expected.stdout, expected.returncode)
    assert SAID.get(name, "") in found.stderr
    assert bool(found.stderr) == (name in SAID)


@pytest.mark.opencl_sdk
def test_a_compiler_names_the_places_of_the_user(tmp_path: Path) -> None:
    user = tmp_path / "user.c"
    lines = ["#include <math.h>", "void f(int n, double *x) {", "  int before;"]
    lines += ["  for (int i = 0; i < n; i++) {", "    int inside;", "    x[i] = sqrt(i); }"]
    lines += ["  int after; }", "static int unused;"]
    user.write_text("\n".join(lines))
    lx.load(user).offload().write(tmp_path / "out")
    made = cc(tmp_path, *STRICT[:-1], "-c", "out/user_opencl.c", "-o", "user.o")
    places = [m for m in made.stderr.splitlines() if "warning" in m]
    assert [m.split(": warning")[0].rpartition(":")[0] for m in sorted(places)] == [
        f"{user}:{n}" for n in (3, 5, 7, 8)
    ]


SWITCHED = """#include <stdio.h>
#ifndef N
#define N 100
#endif
#ifdef WIDE
typedef double real;
#else
typedef float real;
#endif
static real x[N];
static void f(void)
{
  for (int i = 0; i < N; i++)
    x[i] = i / (real)7;
}
int main(void)
{
  f();
  for (int i = 0; i < N; i++)
    printf("%.17g ", (double)x[i]);
  return 0;
}
"""


@pytest.mark.parametrize(("option", "said"), [("-DM", ""), ("-DN=20", "N"), ("-DWIDE", "WIDE")])
def test_another_configuration_runs_its_own_loops(tmp_path: Path, option: str, said: str) -> None:
    require_opencl()
    user = tmp_path / "user.c"
    user.write_text(SWITCHED)
    lx.load(user).offload(contract=False).write(tmp_path)
    build_both(tmp_path, *STRICT, option)
    found = run_app(tmp_path / "user_opencl", LOOPXFORM_VERBOSE="1")
    assert found.stdout == run_app(tmp_path / "user").stdout
    expected = f"the macro {said} is not what it was when this was written"
    assert (expected in found.stderr) if said else not found.stderr
