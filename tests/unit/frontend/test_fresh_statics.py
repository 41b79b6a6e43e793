"""Static variables that every call sets before it reads them: which ones, and that no call, nor one
inside another, tells the difference."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest
from differential import needs_compiler
from pycparser import c_ast, c_parser

from loopxform.compiler import command
from loopxform.frontend.desugar.fresh_statics import with_fresh_statics
from loopxform.frontend.syntax.tree import every

CASES = [
    ("s = n; a[0] = s;", True),
    ("for (s = 0; s < n; s++) a[s] = s;", True),
    ("for (int i = 0; i < n; i++) { s = i; a[i] = s; }", True),
    ("if (n > 2) s = 1; else s = 2; a[0] = s;", True),
    ("if (n > 2) { s = 1; } else return; a[0] = s;", True),
    ("do { s = n; n--; } while (n > 0); a[0] = s;", True),
    ("s = sqrt(n); s += fabs(s); a[0] = s;", True),
    ("int i = (s = n) + 1; a[i] = s;", True),
    ("a[0] = s; s = n;", False),
    ("s++; a[0] = s;", False),
    ("s += n;", False),
    ("if (n > 2) s = 1; a[0] = s;", False),
    ("for (int i = 0; i < n; i++) s = i; a[0] = s;", False),
    ("while (n > 0) { if (n == 3) { n--; continue; } s = n--; } a[0] = s;", False),
    ("for (int i = 0; i < n; a[i] = s, i++) { if (i == 3) continue; s = i; }", False),
    ("do { if (n == 3) break; s = n; } while (n-- > 0); a[0] = s;", False),
    ("n > 2 && (s = n); a[0] = s;", False),
    ("n > 2 ? (s = n) : 0; a[0] = s;", False),
    ("int *p = &s; s = n; a[0] = *p;", False),
    ("s = n; other(a); a[0] = s;", False),
    ("s = n; a[0] = other(a) + s;", False),
    ("for (int i = 0; i < n; i++) { s = i; a[i] = s; other(a); }", True),
    ("s = 1; for (int i = 0; i < n; i++) { a[i] = s; other(a); }", False),
    ("for (int i = 0; (s = i) < n; i++) if (other(a)) break; a[0] = s;", False),
    ("int v[s]; s = n;", False),
    ("goto end; end: s = n; a[0] = s;", False),
    ("{ int s = 3; a[0] = s; } s = n; a[1] = s;", False),
]
HARMLESS = {"sqrt", "fabs"}


def freed(text: str) -> set[str]:
    """The variables that are static no more."""
    (node,) = (n for n in c_parser.CParser().parse(text).ext if isinstance(n, c_ast.FuncDef))
    with_fresh_statics(node, HARMLESS.__contains__)
    declared = [d for d in every(node.body) if isinstance(d, c_ast.Decl)]
    kept = {d.name for d in declared if "static" in d.storage}
    return {d.name for d in declared if re.fullmatch(r"s\d?", d.name)} - kept


@pytest.mark.parametrize(("statements", "fresh"), CASES)
def test_which_are_set_first(statements: str, fresh: bool) -> None:
    text = f"void f(int n, double *a) {{ static double s; {statements} }}"
    assert freed(text) == ({"s"} if fresh else set())


def _statements(rng: random.Random, depth: int, *, loop: bool = False) -> str:
    out = list[str]()
    for _ in range(rng.randint(1, 4)):
        s, t = rng.choice(["s0", "s1", "s2"]), rng.choice(["s0", "s1", "s2", "n", "3"])
        inner = _statements(rng, depth - 1, loop=loop) if depth else f"{s} = {t};"
        again = _statements(rng, depth - 1, loop=True) if depth else f"{s} = {t};"
        out.append(
            rng.choice(
                [
                    f"{s} = {t};",
                    f"{s} = n; r += {s};",
                    f"r = r * 3 + {t};",
                    f"{s} += {t};",
                    f"if (n & {rng.randint(1, 3)}) {{ {inner} }}",
                    f"if ({t} > 1) {{ {inner} }} else {{ {s} = 5; }}",
                    f"for ({s} = 0; {s} < 3 && w-- > 0; {s}++) {{ {again} }}",
                    f"while (w-- > 0 && {t} != 7) {{ {again} }}",
                    f"do {{ {again} }} while (w-- > 0 && n > 2);",
                    f"if (n > 3) r += F(n - {rng.randint(1, 3)});",
                    f"r += n > 1 && ({s} = {t}) ? {s} : 2;",
                ]
            )
        )
        if loop and rng.random() < 0.2:
            out.append(
                rng.choice(["if (r & 1) break;", "if (r & 2) continue;", "if (r & 4) break;"])
            )
    return " ".join(out)


@needs_compiler
@pytest.mark.parametrize("batch", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_calls_are_the_same(tmp_path: Path, batch: int) -> None:
    rng = random.Random(41 + batch)
    text, calls, every_one = "#include <stdio.h>\nint w;\n", "", 0
    for n in range(600 if batch else 120):
        body = "".join(f" static int s{k};" for k in range(3)) + " int r = 0; "
        body += _statements(rng, 2).replace("F(", f"f{n}(")
        body += f" r += {rng.choice(['0', 's0', 's1', 's2'])}; return r;"
        found = freed(f"int f{n}(int n) {{ {body} }}")
        other = body.replace(f"f{n}(", f"g{n}(")
        for name in found:
            other = other.replace(f"static int {name};", f"int {name} = -977;")
        text += f"int f{n}(int n) {{ {body} }}\nint g{n}(int n) {{ {other} }}\n"
        calls += f"for (int k = 0; k < 9; k++) {{ w = 40; int r = f{n}(k); w = 40; "
        calls += f'if (r != g{n}(k)) printf("f{n} "); }}\n'
        every_one += len(found)
    source, program = tmp_path / "statics.c", tmp_path / "statics"
    source.write_text(text + f"int main(void) {{ {calls} return 0; }}\n")
    subprocess.run(
        [*command(), "-w", "-O0", "-fwrapv", str(source), "-o", str(program)], check=True
    )
    done = subprocess.run([str(program)], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == ""
    assert every_one >= (150 if batch else 30)
