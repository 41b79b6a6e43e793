"""How arrays get to the device and back: in pieces by threads, not at all where the device shares
the memory of the host, or whole. Whatever they are (const, unaligned, overlapping), results are
those of the user's C."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from c_project import PLAIN, SANITIZED, STRICT, cc, require_opencl, run_app
from calling_threads import threads_calling
from test_failing_opencl import (
    FAILING,
    LENT,
    NAMES,
    PIECES,
    SHIM,
    SHIMMED,
    judge,
    redefine,
    run_it,
    shim_threads,
)
from test_shared_runtime import assert_no_error_of_ours

import loopxform as lx

ADD = """
void add(int n, const float *restrict a, const float *restrict b, float *restrict c,
         float *restrict d)
{
  for (int i = 0; i < n; i++)
    c[i] = a[i] + 2 * b[i];
  for (int i = 0; i < n; i++)
    d[i] = d[i] * 0.5f + c[n - 1 - i];
}
"""
HEAD = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "add_opencl.h"
enum { N = 100, ROOM = 2 * N };
void add(int, const float *, const float *, float *, float *);
void user_add(int, const float *, const float *, float *, float *);
static const float read[ROOM] __attribute__((aligned(64))) = {1.25f, 2, 3.5f, [N] = 7, [109] = 1};

/* Whether it computes anything else than the user's C, or touches anything beside. */
static int wrong(const float *a, const float *b, size_t at_c, size_t at_d)
{
  float c[2][ROOM] __attribute__((aligned(64))), d[2][ROOM] __attribute__((aligned(64)));
  for (int which = 0; which < 2; which++)
    for (int i = 0; i < ROOM; i++)
      c[which][i] = (float)i * 0.37f, d[which][i] = 3 - (float)i * 0.11f;
  add(N, a, b, c[0] + at_c, d[0] + at_d);
  user_add(N, a, b, c[1] + at_c, d[1] + at_d);
  return memcmp(c[0], c[1], sizeof c[0]) != 0 || memcmp(d[0], d[1], sizeof d[0]) != 0;
}
"""
PLACES = """
int main(int count, char **places)
{
  const float *a = read + atoi(places[1]), *b = read + atoi(places[2]);
  int found;
  failing_start(1, 0);
  if (count > 5 && !loopxform_pin(read, sizeof read))
    return 2;
  found = wrong(a, b, (size_t)atoi(places[3]), (size_t)atoi(places[4]));
  printf("%s, copies: %ld\\n", found ? "differs" : "same", failing_copies());
  found = count > 5 && wrong(a, b, 0, 0);
  loopxform_release();
  loopxform_unpin(read);
  loopxform_unpin(read);
  return found || failing_live() != 0 || failing_launches() == 0;
}
"""
THREADS = threads_calling(
    "wrong(read, read + 4 * (round % 3), 0, 0)", threads=5, rounds=40, release=16
)


def built(
    folder: Path,
    caller: str,
    sizes: dict[str, int],
    *options: str,
    shimmed: bool = True,
    whole: bool = False,
    more: Sequence[str] = (),
) -> Path:
    """The program with other sizes of copies, in front of the shim if it is `shimmed`. The caller
    is the `whole` of it or stands below `HEAD`; `more` files are written ones."""
    require_opencl()
    (folder / "add.c").write_text(ADD)
    (folder / "caller.c").write_text(
        ("" if whole else HEAD) + (SHIMMED if shimmed else "") + caller
    )
    lx.load(folder / "add.c").offload(contract=False).write(folder)
    redefine(folder / "add_opencl.c", sizes)
    if shimmed:
        shim_threads(folder / "add_opencl.c")
    renamed = [f"-D{name}=failing_{name}" for name in NAMES if name != "pthread_create"]
    user = [*PLAIN, "-c", "-Dadd=user_add", "add.c", "-o", "user.o"]
    own = [*STRICT, *PLAIN, *options, *(renamed if shimmed else ()), "-c", "add_opencl.c", *more]
    objects = [f"{Path(x).stem}.o" for x in ("add_opencl.c", *more)]
    parts = [*objects, "user.o", "caller.c", *([str(SHIM)] if shimmed else [])]
    all_of_it = [*PLAIN, *options, *parts, "-o", "app", "-lOpenCL", "-lm", "-pthread"]
    for step in (user, own, all_of_it):
        done = cc(folder, *step)
        assert done.returncode == 0, done.stderr
    return folder / "app"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("copies"), PLACES, {**LENT, **PIECES}, *SANITIZED)


@pytest.mark.parametrize(
    ("places", "copies"),
    [
        ((0, N := 100, 0, 0), {"": 0, "pieces": 35, "whole": 5}),
        ((0, 4, 4, 8), {"": 1, "pieces": 35, "whole": 5}),  # what is read overlaps
        ((0, 0, 0, 0), {"": 1, "pieces": 35, "whole": 5}),
        ((1, N, 0, 3), {"": 3, "pieces": 35, "whole": 5}),  # a and d are not aligned
    ],
)
def test_places(app: Path, places: tuple[int, ...], copies: dict[str, int]) -> None:
    """Of 400 bytes: a, b and d go there, c and d come back. What is read is in memory that nobody
    may write to."""
    for how, count in copies.items():
        done = run_it(app, *places, LOOPXFORM_COPIES=how)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == f"same, copies: {count}\n", how


def test_registered_memory(app: Path) -> None:
    """What is read is copied in one piece each. It is pinned again after all was freed."""
    done = run_it(app, 0, N, 0, 0, "pin", LOOPXFORM_COPIES="pieces")
    assert (done.returncode, done.stdout, done.stderr) == (0, "same, copies: 23\n", "")


FILES = """
#include <stdio.h>
#include "add_opencl.h"
#include "scale_opencl.h"
enum { N = 100 };
void add(int, const float *, const float *, float *, float *), scale(int, const float *, float *);

int main(void)
{
  static float a[N], b[N], c[N], d[N], e[N];
  for (int i = 0; i < N; i++)
    a[i] = b[i] = 2;
  add(N, a, b, c, d);
  loopxform_pin(a, sizeof a);
  failing_start(1, 0);
  scale(N, a, e);
  printf("%g, copies: %ld\\n", (double)e[N - 1], failing_copies());
  loopxform_unpin(a);
  loopxform_release();
  return failing_live() != 0;
}
"""
SCALE = """
void scale(int n, const float *restrict a, float *restrict e)
{
  for (int i = 0; i < n; i++)
    e[i] = 3 * a[i];
}
"""


def test_several_files(tmp_path: Path) -> None:
    """One registers memory, the other copies it."""
    (tmp_path / "scale.c").write_text(SCALE)
    lx.load(tmp_path / "scale.c").offload(contract=False).write(tmp_path)
    redefine(tmp_path / "scale_opencl.c", PIECES)
    app = built(tmp_path, FILES, PIECES, more=["scale_opencl.c"], whole=True)
    done = run_it(app, LOOPXFORM_COPIES="pieces")
    assert (done.returncode, done.stdout, done.stderr) == (0, "6, copies: 8\n", "")


KEPT = """
/* How many objects of OpenCL there are after a call. */
static long after(int n)
{
  static float c[ROOM], d[ROOM];
  if (n == N ? wrong(read, read + N, 0, 4) : (add(n, read, read, c, d), 0))
    puts("differs");
  return failing_live();
}

int main(void)
{
  long kept, again, other;
  failing_start(1, 0);
  kept = after(N), again = after(N), other = after(N + 1);
  printf("%ld %ld %ld\\n", kept - other, again - other, after(N) - other);
  loopxform_release();
  return failing_live() != 0;
}
"""


@pytest.mark.parametrize(
    ("limits", "objects"),
    [
        ({"LX_SPARE_BYTES": 400}, "8 8 8"),  # of N elements, each with its queue; more make way
        ({"LX_SPARE_BYTES": 400, "LX_SPARE_TOTAL": 1000}, "4 4 4"),
        ({"LX_SPARE_BYTES": 400, "LX_SPARES": 3}, "6 6 6"),
        ({"LX_SPARE_BYTES": 399}, "0 0 0"),
    ],
)
def test_memory_of_the_device_is_kept(tmp_path: Path, limits: dict[str, int], objects: str) -> None:
    """For the next call, which needs no other, and not more than that."""
    app = built(tmp_path, KEPT, {**PIECES, **limits}, *SANITIZED)
    done = run_it(app, LOOPXFORM_COPIES="pieces")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{objects}\n", "")


SOME_FAIL = """
int main(void)
{
  int found = 0;
  for (long from = 1; from < 90; from += 8) {
    failing_start(from, from);
    found += wrong(read, read + N, 0, 4) + wrong(read + 1, read, 3, 0);
  }
  loopxform_release();
  puts(found ? "differs" : "same");
  return failing_live() != 0;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["", "pieces"])
def test_memcheck_where_calls_fail(tmp_path: Path, how: str) -> None:
    """Every eighth call fails, in turn."""
    app = built(tmp_path, SOME_FAIL, {**LENT, **PIECES}, "-g")
    assert_no_error_of_ours(app, LOOPXFORM_COPIES=how)


PINNED = """
static int differs(void)
{
  int found;
  if (!loopxform_pin(read, sizeof read)) /* there was no memory */
    return wrong(read, read, 0, 1);
  found = wrong(read + 1, read + N, 0, 3);
  loopxform_unpin(read);
  return found;
}
"""


@pytest.mark.parametrize(
    "how",
    [pytest.param("", marks=pytest.mark.slow), pytest.param("pieces", marks=pytest.mark.slow)],
)
def test_failing_calls(tmp_path: Path, how: str) -> None:
    """Arrays that are registered, that are not aligned, and that overlap."""
    sizes = {**LENT, **PIECES}
    app = built(tmp_path, PINNED + FAILING, sizes, *SANITIZED)
    judge(run_it(app, LOOPXFORM_COPIES=how), 30)


FORKED = """
#include <sys/types.h>
pid_t fork(void), waitpid(pid_t, int *, int);
int main(void)
{
  int status = 1, found = wrong(read, read + N, 0, 4);
  const pid_t child = fork();
  if (child == 0)
    exit(found);
  found |= waitpid(child, &status, 0) != child || status != 0 || wrong(read, read + N, 0, 4);
  puts(found ? "differs" : "same");
  return 0;
}
"""
UNLOADED = """
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
enum { N = 100 };

static int threads(void)
{
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  while (readdir(tasks) != NULL)
    count++;
  closedir(tasks);
  return count;
}

int main(int count, char **library_name)
{
  static float a[N], b[N], c[N], d[N];
  int before;
  (void)count;
  for (int turn = 0; turn < 3; turn++) {
    void *library = dlopen(library_name[1], RTLD_NOW);
    void (*add)(int, const float *, const float *, float *, float *);
    if (library == NULL)
      return puts(dlerror()), 1;
    *(void **)&add = dlsym(library, "add");
    add(N, a, b, c, d);
    before = threads();
    add(N, a, b, c, d);
    printf("%d ", threads() - before);
    dlclose(library);
    printf("%d ", threads() - before);
  }
  return 0;
}
"""


def test_workers_end_before_their_code_does(tmp_path: Path) -> None:
    """A process that was forked has none; where a library is unloaded, its two are gone."""
    app = built(tmp_path, FORKED, PIECES, shimmed=False)
    done = run_app(app, LOOPXFORM_COPIES="pieces")
    assert (done.returncode, done.stdout, done.stderr) == (0, "same\n", "")
    (tmp_path / "unloaded.c").write_text(UNLOADED)
    library = ["-shared", "-fPIC", "add_opencl.c", "-o", "libadd.so", "-lOpenCL", "-lm"]
    for step in ([*PLAIN, *library], [*PLAIN, "unloaded.c", "-o", "unloaded", "-lOpenCL", "-ldl"]):
        made = cc(tmp_path, *step)
        assert made.returncode == 0, made.stderr
    done = run_app(tmp_path / "unloaded", tmp_path / "libadd.so", LOOPXFORM_COPIES="pieces")
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 -2 " * 3, "")


def test_what_is_no_wish_is_said(app: Path) -> None:
    done = run_it(app, 0, 0, 0, 0, LOOPXFORM_COPIES="some")
    assert (done.returncode, done.stdout) == (0, "same, copies: 1\n")
    assert done.stderr == "loopxform: LOOPXFORM_COPIES=some: not pieces or whole\n"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["", "pieces"])
def test_threads(tmp_path: Path, how: str) -> None:
    """Calls of several threads, each of which copies by threads, while what is shared is freed:
    silent under the sanitizer for threads."""
    sizes = {**LENT, **PIECES}
    app = built(tmp_path, THREADS, sizes, "-g", "-fsanitize=thread", shimmed=False)
    done = run_app(app, LOOPXFORM_COPIES=how, LOOPXFORM_VERBOSE="1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "same\n", "")


@pytest.mark.parametrize("options", [["-U__linux__"], ["-std=c11"]])
def test_without_threads(tmp_path: Path, options: list[str]) -> None:
    """Where nobody knows any, copies are whole."""
    app = built(tmp_path, PLACES, PIECES, *options)
    done = run_it(app, 0, 4, 0, 0, LOOPXFORM_COPIES="pieces")
    copies = 5 if "-U__linux__" in options else 35
    assert (done.returncode, done.stdout) == (0, f"same, copies: {copies}\n")
