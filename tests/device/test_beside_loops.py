"""What stands beside loops leaves them alone: jumps, calls that print, copy, clear or take time,
and addresses of variables that no pointer of the loops leads to."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from c_project import assert_both_print, build_both, require_opencl

import loopxform as lx
from loopxform.api.splice import offload_file
from loopxform.floating_point import SEPARATE

PROGRAM = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
static double seconds(void)
{
  struct timeval now;
  gettimeofday(&now, NULL);
  return now.tv_sec + 1e-6 * now.tv_usec;
}
int main(int argc, char **argv)
{
  int n = 40, option, rounds = 2, found = -1;
  double began, sum = 0;
  char name[16];
  while ((option = getopt(argc, argv, "n:v")) != -1) {
    switch (option) {
    case 'n':
      n = atoi(optarg);
      break;
    case 'v':
      puts("verbose");
      break;
    default:
      goto usage;
    }
  }
  if (n < 1)
    return 1;
  if (sscanf("7", "%d", &rounds) != 1)
    goto usage;
  double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof(double));
  if (!x || !y) {
    fprintf(stderr, "no memory\\n");
    exit(1);
  }
  memset(x, 0, n * sizeof *x);
  memset(y, 0, n * sizeof *y);
  strcpy(name, "x");
  began = seconds();
  for (int i = 0; i < n; i++)
    x[i] = i * rounds;
  printf("%s: filled\\n", name);
  for (int r = 0; r < rounds; r++) {
    if (r == 1)
      began = seconds();
    for (int i = 1; i < n - 1; i++)
      y[i] = x[i - 1] + x[i + 1];
    memcpy(x, y, n * sizeof *x);
  }
  for (int i = 0; i < n; i++)
    if (x[i] > 1e9) {
      found = i;
      break;
    }
  if (found >= 0)
    goto usage;
  for (int i = 0; i < n; i++) {
    x[i] = 2 * x[i] + y[i];
  }
  for (int i = 0; i < n; i++)
    sum += x[i];
  printf("%g %d\\n", sum, seconds() < began);
  free(x);
  free(y);
  return 0;
usage:
  fprintf(stderr, "usage\\n");
  return 2;
}
"""


def test_loops_beside_calls_and_jumps(tmp_path: Path) -> None:
    require_opencl()
    user = tmp_path / "user.c"
    user.write_text(PROGRAM)
    made = lx.load(user).offload(contract=False)
    text = made.text.plain
    taken = [text[r.region.start : r.region.end] for r in made.regions]
    for line in ("x[i] = i * rounds;", "y[i] = x[i - 1] + x[i + 1];", "x[i] = 2 * x[i] + y[i];"):
        assert sum(line in x for x in taken) == 1
    made.write(tmp_path)
    build_both(tmp_path, "-Wall", "-Werror")
    for given in ((), ("-n", "50", "-v"), ("-q",)):
        found = assert_both_print(tmp_path, *given)
        assert ("on the device" in found.stderr) == (found.returncode == 0)


HEAD = """#include <stdio.h>
#include <stdlib.h>
static int *kept, all[64];
static int *keep(int *p) { kept = p; return p; }
static int *other(int *p) { (void)p; return all; }
"""


class Aliased:
    """Random functions of `n` and `x`, whose local `m` may be what a pointer leads to."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pointer(self, known: list[str]) -> str:
        sources = ["x", "x + 1", "&m", "kept", "keep(&m)", "other(&m)", "all", "&all[2]"]
        sources += ["(n > 3 ? x : &m)", "(int *)calloc(64, sizeof(int))", *known, *known]
        return self.random.choice(sources)

    def function(self, number: int) -> str:
        choose = self.random.choice
        lines = [f"static int f{number}(int n, int *x)", "{", "int m = 5, s = 0;"]
        lines.append(choose(["keep(&m);", "kept = all;", 'sscanf("6", "%d", &m);', ""]))
        known: list[str] = []
        for name in "pq"[: self.random.randrange(1, 3)]:
            lines.append(f"int *{name} = {self.pointer(known)};")
            known.append(name)
        if self.random.randrange(2):
            lines.append(f"{choose(known)} = {self.pointer(known)};")
        if self.random.randrange(3) == 0:
            lines.append(f"if (n > 9) {choose(known)}++;")
        target, source = choose([*known, "x", "kept", "all"]), choose([*known, "x", "all"])
        lines += [
            "for (int i = 0; i < 1; i++)",
            choose(
                [
                    f"{target}[i] = {source}[i] + m;",
                    f"{{ m = i + 3; s = {source}[i] + m; {target}[i] = s; }}",
                    f"{{ m += 2; {target}[i] += m; s = {source}[i]; }}",
                    f"{{ {target}[i] = 9; s = m; }}",
                ]
            ),
            "return 100 * s + m;",
            "}",
        ]
        return "\n".join(lines)

    def program(self, count: int) -> str:
        functions = [self.function(n) for n in range(count)]
        calls = [
            f'{{ int x[64] = {{1, 2, 3}}; kept = all; printf("%d ", f{n}(4, x)); '
            'printf("%d %d %d %d\\n", x[0], x[1], all[0], all[2]); }'
            for n in range(count)
        ]
        return "\n".join([HEAD, *functions, "int main(void)", "{", *calls, "return 0;", "}", ""])


@pytest.mark.parametrize(("seed", "count"), [(0, 10), (1, 30)])
def test_random_pointers(tmp_path: Path, seed: int, count: int) -> None:
    """With each function named, whatever can be taken is, on one work-item or more."""
    require_opencl()
    user = tmp_path / "user.c"
    user.write_text(Aliased(seed).program(count))
    file = lx.load(user)
    names = [f"f{n}" for n in range(count)]
    made = offload_file(file, names, {}, "generic", fp=SEPARATE)
    assert len(made.regions) > count // 4
    made.write(tmp_path)
    build_both(tmp_path, "-w")
    assert_both_print(tmp_path)


class Declared:
    """Random functions that declare numbers among their loops and use them far behind."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def function(self, number: int) -> str:
        choose, known, lines = self.random.choice, ["n"], []
        for k in range(10):
            name = choose(known)
            what = self.random.randrange(5)
            if what == 0:
                lines.append(f"int d{k} = {name} * 3 + {k}, e{k};")
                known.append(f"d{k}")
                lines.append(f"e{k} = d{k} & 7;")
                known.append(f"e{k}")
            elif what == 1:
                lines.append(f"for (i = 0; i < n; i++) x[i] += {name} - i;")
            elif what == 2:
                step = f"{{ x[i] ^= {name}; {choose(known)} += x[i] & 1; }}"
                lines.append(f"for (i = 0; i < n; i++) {step}" if name != "n" else "x[0]++;")
            elif what == 3:
                lines.append(f"s += {name};")
            else:
                lines.append(f'printf("%d ", {name});')
        lines = [x.replace("n += x", "s += x") for x in lines]
        body = "\n".join(lines)
        return f"static int f{number}(int n, int *x)\n{{\nint i, s = 1;\n{body}\nreturn s;\n}}"

    def program(self, count: int) -> str:
        functions = [self.function(n) for n in range(count)]
        calls = [
            f'{{ int x[40] = {{1, 2, 3}}; printf("%d ", f{n}(33, x)); '
            'for (int i = 0; i < 40; i++) printf("%d ", x[i]); puts(""); }'
            for n in range(count)
        ]
        return "\n".join([HEAD, *functions, "int main(void)", "{", *calls, "return 0;", "}", ""])


def test_what_is_declared_among_loops_is_there_behind_them(tmp_path: Path) -> None:
    require_opencl()
    user = tmp_path / "user.c"
    user.write_text(Declared(0).program(12))
    made = lx.load(user).offload(contract=False)
    assert len(made.regions) > 9
    made.write(tmp_path)
    build_both(tmp_path, "-w")
    assert_both_print(tmp_path)
