"""The corpus of races: what the audit says of each OpenMP pragma, and what threads make of it.

Behind each pragma stands the truth about what it claims:

    none     no race, and the result of the loop in order
    order    no race, but the result depends on which iteration comes first
    race     a data race
    wrong    no race, but another result: a value is lost, or never there

`(unknown)` says that the audit does not find it out.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import loopxform as lx
from loopxform.analysis.openmp import Claim

FOLDER = Path(__file__).parents[2] / "corpus" / "races"
FILES = sorted(FOLDER.glob("*.c"))
STATED = re.compile(r"#pragma omp .*// (none|order|race|wrong)( \(unknown\))?$")
ANSWERS = {
    "none": (True, True),
    "order": (None, True),
    "race": (False, False),
    "wrong": (False, None),
}


def stated(text: str) -> dict[int, tuple[str, bool]]:
    """By line: the truth, and whether it is found out."""
    found = ((n, STATED.search(line)) for n, line in enumerate(text.splitlines(), 1))
    return {n: (m[1], m[2] is None) for n, m in found if m}


def claims(path: Path) -> dict[int, Claim]:
    every = (c for routine in lx.load(path) for c in routine.audit())
    return {c.loc.line: c for c in every if c.loc}


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_what_the_audit_says(path: Path) -> None:
    said, truths = claims(path), stated(path.read_text())
    assert said.keys() == truths.keys()
    for line, (truth, known) in truths.items():
        wanted = ANSWERS[truth] if known else (None, None)
        assert (said[line].proven, said[line].race_free) == wanted, f"{path.name}:{line}"


DRIVER = """#include <stdio.h>
#include <string.h>
enum { SIZE = 4160 };
static double a[SIZE], b[SIZE];
static int k[SIZE];
typedef void kernel(int, double *restrict, double *restrict, int *restrict);
static void run(kernel *f, const char *name)
{
  for (int i = 0; i < SIZE; i++) {
    a[i] = i * 37 % 101;
    b[i] = i * 53 % 97;
    k[i] = i * 7 % 40;
  }
  f(40, a, b, k);
  unsigned long long hash = 0, bits;
  for (int i = 0; i < SIZE; i++) {
    memcpy(&bits, &a[i], 8);
    hash = hash * 31 + bits;
    memcpy(&bits, &b[i], 8);
    hash = hash * 31 + bits + k[i];
  }
  printf("%s %llx\\n", name, hash);
}
"""


def test_threads_give_what_is_proven(tmp_path: Path) -> None:
    """The kernels whose claims are all proven, run by four threads and by one."""
    cc = shutil.which("gcc")
    assert cc, "gcc runs OpenMP"
    proven = {path: _proven(path) for path in FILES}
    assert sum(map(len, proven.values())) > 30
    calls = "\n".join(f'run({name}, "{name}");' for names in proven.values() for name in names)
    text = "\n".join(f'#include "{path}"' for path in FILES)
    source = tmp_path / "races.c"
    source.write_text(f"{DRIVER}{text}\nint main(void) {{ {calls} return 0; }}\n")
    results = [_run(cc, source, tmp_path / flag[2:], flag) for flag in ("-fopenmp", "-O1")]
    assert results[0] == results[1]


def _proven(path: Path) -> list[str]:
    audits = [(routine.name, routine.audit()) for routine in lx.load(path)]
    return [name for name, found in audits if found and all(c.proven for c in found)]


def _run(cc: str, source: Path, program: Path, flag: str) -> str:
    options = ["-O1", "-ffp-contract=off", "-Wno-unknown-pragmas", flag]
    subprocess.run([cc, *options, str(source), "-o", str(program)], check=True)
    done = subprocess.run(
        [str(program)],
        env={"OMP_NUM_THREADS": "4"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout
