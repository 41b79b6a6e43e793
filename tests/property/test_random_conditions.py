"""What `assume` asks at run time is what C says of the text in it."""

from __future__ import annotations

import random
import subprocess
from contextlib import suppress
from itertools import product
from pathlib import Path

from loopxform.analysis.domain import assumptions_of
from loopxform.analysis.linear import TRUE, equal, variable
from loopxform.analysis.system import feasible
from loopxform.errors import InputError
from loopxform.frontend import parse_file
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Function

PARAMS = "int n, unsigned u, long m, unsigned short h"
VALUES = {"n": (-5, 0, 7, 100000), "u": (0, 3, 4294967295), "m": (-9, 4, 70000), "h": (0, 65535)}
MAIN = """
#include <stdio.h>
int main(void)
{
  for (unsigned i = 0; i < sizeof p / sizeof *p; i++)
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
      putchar('0' + all[k](p[i][0], p[i][1], p[i][2], p[i][3]));
  return 0;
}
"""


class Random:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def condition(self, depth: int = 2) -> str:
        if depth and self.random.random() < 0.5:
            joined = f" {self.random.choice(('&&', '||'))} "
            return f"({self.condition(depth - 1)}{joined}{self.condition(depth - 1)})"
        op = self.random.choice(("<", "<=", ">", ">=", "==", "!="))
        return f"{self.number()} {op} {self.number()}"

    def number(self, depth: int = 2) -> str:
        choice = self.random.random()
        if depth and choice < 0.5:
            op = self.random.choice("+-*/%")
            return f"({self.number(depth - 1)} {op} {self.number(depth - 1)})"
        if choice < 0.8:
            return self.random.choice("nnmmuh")
        return self.random.choice(("0", "1", "3", "16", "-2", "0x10", "-n", "7u"))


def accepted(seed: int, wanted: int) -> list[tuple[str, Function]]:
    """Conditions that are understood, with a function each that assumes one."""
    made, out = Random(seed), list[tuple[str, Function]]()
    while len(out) < wanted:
        text = made.condition()
        c = f"#pragma loopxform assume({text})\nvoid f({PARAMS}) {{ }}\n"
        with suppress(InputError):
            out.append((text, parse_file("t.c", text=c).unit.functions[0]))
    return out


def test_it_means_what_c_means(tmp_path: Path) -> None:
    found = accepted(1, 40)
    points = list(product(*VALUES.values()))
    lines = [
        f"static int c{k}({PARAMS}) {{ (void)n; (void)u; (void)m; (void)h; return {text}; }}"
        for k, (text, _) in enumerate(found)
    ]
    names = ", ".join(f"c{k}" for k in range(len(found)))
    rows = ", ".join(f"{{{n}, {u}, {m}, {h}}}" for n, u, m, h in points)
    lines += [
        f"static int (*all[])({PARAMS}) = {{ {names} }};",
        f"static long p[][4] = {{ {rows} }};",
        MAIN,
    ]
    (tmp_path / "c.c").write_text("\n".join(lines))
    command = ["cc", "-O0", "-fsanitize=undefined", "-w", "c.c", "-o", "c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "c"], capture_output=True, text=True, check=True).stdout
    expected = ""
    for point in points:
        values = dict(zip(VALUES, point))
        for _, fn in found:
            expected += str(int(all(evaluate(e, values) for e in fn.assumes)))
    assert len(set(printed)) == 2
    wrong = [k for k, (a, b) in enumerate(zip(printed, expected)) if a != b]
    assert not wrong, (found[wrong[0] % len(found)][0], points[wrong[0] // len(found)])
    assert len(printed) == len(expected)


def test_the_analysis_takes_no_more_for_granted_than_is_asked() -> None:
    """Whatever is asked and true is a case that the analysis has in mind."""
    seen = 0
    for text, fn in accepted(2, 40):
        domain = assumptions_of(fn)
        for point in product(*VALUES.values()):
            values = dict(zip(VALUES, point))
            if not all(evaluate(e, values) for e in fn.assumes):
                continue
            here = tuple(equal(variable(name), {"": value}) for name, value in values.items())
            assert any(feasible((*conj, *here)) for conj in domain), (text, values)
            seen += domain != TRUE
    assert seen > 200
