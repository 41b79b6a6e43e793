"""Parts of functions that use what the function declares for itself: structs whose address others
have, constants of local enumerations."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_project import PLAIN, STRICT, cc, require_opencl, run_app

import loopxform as lx

STRUCTS = """\
#include <stdio.h>
#include <stdlib.h>

typedef struct { int n, k; float *x; int t[8]; } box;
static box *kept;

static void show(const box *b)
{
  for (int i = 0; i < 20; i++)
    printf("%g ", (double)b->x[i]);
  for (int i = 0; i < 8; i++)
    printf("%d ", b->t[i]);
  printf("%d %d\\n", b->n, b->k);
}

static void start(box *b, int n)
{
  b->n = n;
  b->k = 2;
  for (int i = 0; i < 8; i++)
    b->t[i] = -i;
  b->x = malloc(20 * sizeof(float));
  kept = b;
}

int main(void)
{
  box b;
  start(&b, 20);
  box *q = &b;
  int *p = &b.k, *r = b.t + 3;
  for (int i = 0; i < b.n; i++)
    b.x[i] = (float)(i * b.k);
  show(&b);
  for (int i = 0; i < 8; i++)
    q->t[i] += b.t[7 - i] * b.k;
  show(&b);
  for (int i = 0; i < 4; i++)
    r[i] = b.t[i] + 1;
  show(&b);
  for (int i = 0; i < 3; i++) {
    p[0] += 1;
    b.x[i] = (float)b.k;
  }
  show(&b);
  for (int i = 0; i < b.n; i++)
    b.x[i] += (float)kept->t[i % 8];
  show(&b);
  for (int i = 0; i < 6; i++) {
    kept->k = i;
    b.x[i] = (float)b.k;
  }
  show(&b);
  kept->n = 10;
  for (int i = 0; i < b.n; i++)
    b.x[i] *= 2;
  show(&b);
  for (int i = 0; i < 5; i++)
    kept->t[i] = b.t[i + 3] + kept->n;
  show(&b);
  return 0;
}
"""

CONSTANTS = """\
#include <stdio.h>

enum { Q = 3, R = 100 };

int main(void)
{
  int before = R;
  enum { N = 20, M, K = N - 4, P = -2, R = 7 };
  int a[N][M], b[M], s = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      a[i][j] = i * K + j * P + Q;
  printf("%d\\n", before + R);
  for (int j = 0; j < (int)(sizeof b / sizeof b[0]); j++) {
    b[j] = 0;
    for (int i = 0; i < N; i++)
      b[j] += a[i][j];
  }
  for (int j = 0; j < M; j++)
    s += b[j];
  printf("%d\\n", s);
  return 0;
}
"""


@pytest.mark.parametrize(("text", "parts"), [(STRUCTS, 8), (CONSTANTS, 2)], ids=["structs", "enum"])
def test_programs_print_the_same(tmp_path: Path, text: str, parts: int) -> None:
    require_opencl()
    (tmp_path / "names.c").write_text(text)
    done = lx.load(tmp_path / "names.c").offload(fp="strict")
    assert len([r for r in done.regions if r.region.owner.name == "main"]) == parts, done.left
    done.write(tmp_path / "out")
    plain = cc(tmp_path, *STRICT, *PLAIN, "names.c", "-o", "plain")
    built = cc(tmp_path, *STRICT, *PLAIN, "out/names_opencl.c", "-o", "app", "-lOpenCL", "-lm")
    assert not plain.returncode + built.returncode, plain.stderr + built.stderr
    expected = run_app(tmp_path / "plain")
    found = run_app(tmp_path / "app", LOOPXFORM_HOST="never", LOOPXFORM_VERBOSE="1")
    assert (found.stdout, found.returncode) == (expected.stdout, expected.returncode)
    said = "overlap; running the loops on the host"
    assert all(said in line for line in found.stderr.splitlines()), found.stderr


def test_a_name_that_the_function_uses_before_is_another() -> None:
    text = (
        "enum { N = 2 };\nint g(void);\nvoid f(int *a)\n{\n  int m = N; g();\n  enum { N = 9 };\n"
    )
    text += "  for (int i = 0; i < N; i++) a[i] = m;\n  g();\n}\n"
    done = lx.loads(text).offload()
    assert done.regions == ()
