"""Random OpenMP kernels: what the audit proves, four threads compute as one does."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

import loopxform as lx

KERNELS = 200

NAMES = ("i", "x", "y", "t", "j", "k[i]", "a[i]", "b[i]", "k[2*i]", "q[i]", "z.u", "w[1]", "1", "2")
SHARED = ("a[i+1]", "q[0]", "w[i%4]")
"""What other iterations write too: seldom, or nothing would be proven."""
OBJECTS = ["x", "y", "t", "w", "q", "z", "j"]

KERNEL = """static void f{n}(int n, int *restrict a, int *restrict b, int *restrict k,
    int *restrict q)
{{
  int x = 5, y = 6, t = 7, j = 2, w[4] = {{1, 2, 3, 4}};
  struct two z = {{3, 4}};
{text}
  k[0] = x; k[1] = y; k[2] = t; k[3] = w[0] + w[1]; k[4] = z.u; k[5] = j;
}}
"""
STRUCT = "struct two { int u, v; };\n"
DRIVER = """#include <stdio.h>
enum { SIZE = 20100 };
static int a[SIZE], b[SIZE], k[SIZE], q[SIZE];
typedef void kernel(int, int *restrict, int *restrict, int *restrict, int *restrict);
static void run(kernel *f, int id)
{
  unsigned hash = 0;
  for (int i = 0; i < SIZE; i++)
    a[i] = i * 37 % 101, b[i] = i * 53 % 97, k[i] = i * 7 % 40, q[i] = i % 13;
  f(6000, a, b, k, q);
  for (int i = 0; i < SIZE; i++)
    hash = hash * 31 + a[i] * 7 + b[i] * 5 + k[i] * 3 + q[i];
  printf("%d %x\\n", id, hash);
}
"""


class Kernels:
    """The texts of one seed."""

    names: tuple[str, ...] = NAMES
    targets: tuple[str, ...] = ("x", "t", "a[i]", "b[i]", "a[i]", "b[i]", "q[i]")

    def __init__(self, seed: str) -> None:
        self.r = random.Random(seed)

    def value(self, depth: int = 0) -> str:
        if depth > 1 or self.r.random() < 0.5:
            return self.r.choice(self.names if self.r.random() < 0.95 else SHARED)
        return f"({self.value(depth + 1)} {self.r.choice('+-*^')} {self.value(depth + 1)})"

    def target(self) -> str:
        return self.r.choice(
            self.targets if self.r.random() < 0.85 else ["y", "w[1]", "z.u", *SHARED]
        )

    def statement(self, depth: int = 0) -> str:
        kind = self.r.random()
        if kind < 0.3:
            return f"{self.target()} = {self.value()};"
        if kind < 0.55:
            return f"{self.target()} {self.r.choice(['+=', '^=', '-='])} {self.value()};"
        if kind < 0.65:
            return f"if ({self.value()} > {self.r.randint(0, 9)}) {{ {self.statement(depth + 1)} }}"
        if kind < 0.72 and not depth:
            return f"for (j = 0; j < 3; j++) {{ {self.statement(1)} }}"
        if kind < 0.85:
            return self.atomic()
        word = self.r.choice(["critical", "critical", "critical(m)", "ordered"])
        return f"\n#pragma omp {word}\n{{ {self.statement(1)} {self.statement(1)} }}\n"

    def atomic(self) -> str:
        name = self.r.choice(["x", "y", "w[0]", "a[0]"])
        forms = {
            "update": f"{name} += {self.r.choice(['1', 'i', 'k[i]'])};",
            "read": f"t = {name};",
            "write": f"{name} = {self.r.choice(['1', '7', 'i'])};",
            "capture": f"{{ t = {name}; {name} += 1; }}",
        }
        word = self.r.choice(["update", *forms])
        return f"\n#pragma omp atomic {word}\n{forms[word]}\n"

    def clauses(self, objects: list[str]) -> str:
        found = []
        for name in objects:
            kind = self.r.random()
            if kind < 0.6:
                word = self.r.choice(["private", "firstprivate", "lastprivate"])
                found.append(f"{word}({name})")
            elif kind < 0.75 and name in "xyt":
                found.append(f"reduction({self.r.choice('+^')}:{name})")
        return " ".join(found)

    def loop(self, words: str, objects: list[str]) -> str:
        body = " ".join(self.statement() for _ in range(self.r.choice([1, 1, 1, 2, 2, 3])))
        clauses = self.clauses(objects)
        return f"#pragma omp {words} {clauses}\nfor (int i = 0; i < n; i++) {{ {body} }}\n"

    def kernel(self) -> str:
        if self.r.random() < 0.6:
            ordered = self.r.choice(["", "", "", " ordered"])
            return self.loop("parallel for" + ordered, OBJECTS)
        start = self.r.choice(["", "t = 1;", "int t = 2;", "\n#pragma omp single\nx = 3;\n"])
        words = ["", "private(t)", "firstprivate(t)", "private(x)", "firstprivate(z)", "private(j)"]
        share = [self.loop(f"for {self.r.choice(['', 'nowait'])}", ["t", "j"]) for _ in range(2)]
        between = self.r.choice(["", "\n#pragma omp barrier\n"])
        inside = f"{start}\n{between.join(share[: self.r.randint(1, 2)])}"
        return f"#pragma omp parallel {self.r.choice(words)}\n{{ {inside} }}\n"


BODIES = (
    "m += k[i];", "m ^= i;", "m = i;", "{ m = b[i]; a[i] = m; }", "h[i%40] += 1;", "h[i%40] = i;",
    "{ for (j = 0; j < 4; j++) w[j] = i; a[i] = w[2]; }", "{ w[1] = i; a[i] = v[1]; }", "v[1] = 3;",
    "{ for (j = 0; j < 4; j++) v[j] = i; a[i] = w[2]; }", "{ t = q[i]; b[i] = t; }", "b[i] = q[i];",
    "a[i] = m;", "b[i] += h[i%40] + m;", "q[i] = g;", "a[i] = h[3] * g;", "if (g > 2) q[i] = 1;",
    "for (int r = 0; r < g; r++) a[i] += r;", "a[i] += w[1];", "b[i] = x;", "x += b[i];",
)  # fmt: skip


class Shares(Kernels):
    """Loops of a region whose threads have variables of their own, and a pointer to an array that
    clauses copy."""

    def between(self) -> str:
        value = self.r.choice(["m", "g", "h[2]", "7", "n", "y"])
        loop = f"for (int r = 0; r < {value} % 9; r++) g += 2;"
        return self.r.choice(["", "", "", f"m = {value};", f"if ({value} > 3) g = 1;", loop])

    def kernel(self) -> str:
        words = ["", "", "", "firstprivate(w)", "private(w)", "num_threads(1)", "reduction(+:x)"]
        inside = ""
        for _ in range(self.r.randint(1, 3)):
            clauses = self.r.choice(["", "", "private(j)", "private(j, t)", "private(j, w)"])
            body = self.r.choice(BODIES)
            inside += f"#pragma omp for {clauses}\nfor (int i = 0; i < n; i++) {body}\n"
            inside += f"{self.between()}\n"
        own = "int m = 1, g = 2, h[40] = {0};"
        return f"int *v = w;\n#pragma omp parallel {self.r.choice(words)}\n{{ {own}\n{inside} }}\n"


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Kernels, Shares])
@pytest.mark.parametrize("seed", range(3))
def test_threads_compute_what_is_proven(seed: int, kind: type[Kernels], tmp_path: Path) -> None:
    cc = shutil.which("gcc")
    assert cc, "gcc runs OpenMP"
    texts = {n: _text(kind(f"{seed} {n}"), n) for n in range(KERNELS)}
    proven = {n: text for n, text in texts.items() if _is_proven(n, text, cc, tmp_path)}
    assert proven, f"seed {seed} proves nothing"
    calls = " ".join(f"run(f{n}, {n});" for n in proven)
    source = tmp_path / "threads.c"
    body = "".join(proven.values())
    source.write_text(f"{STRUCT}{DRIVER}{body}int main(void) {{ {calls} return 0; }}\n")
    wanted = _run(cc, source, "-O1")
    for _ in range(3):
        assert _run(cc, source, "-fopenmp") == wanted, f"seed {seed}"


def _text(made: Kernels, n: int) -> str:
    return KERNEL.format(n=n, text=made.kernel())


def _is_proven(n: int, text: str, cc: str, folder: Path) -> bool:
    """Whether all claims of a kernel are, and it is one that compilers take."""
    found = lx.loads(STRUCT + text)[f"f{n}"].audit()
    if not found or not all(c.proven for c in found):
        return False
    source = folder / "one.c"
    source.write_text(STRUCT + text)
    command = [cc, "-w", "-fopenmp", "-S", str(source), "-o", str(folder / "one.s")]
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0


def _run(cc: str, source: Path, flag: str) -> list[str]:
    program = source.with_suffix(flag.replace("-", "."))
    command = [cc, "-w", "-O1", "-fwrapv", flag, str(source), "-o", str(program)]
    subprocess.run(command, check=True)
    done = subprocess.run(
        [str(program)],
        env={"OMP_NUM_THREADS": "4"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout.splitlines()
