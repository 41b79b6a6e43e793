"""Histograms, and sums and extrema by key: by work-items that update elements atomically, in a copy
for each group where that has room, on a device, in the executor of groups and as tiled C."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from c_project import assert_file_prints_the_same, require_opencl
from harness import assert_clean_and_right, assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.targets.profile import PROFILES
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource, run_reference
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program


@dataclass(frozen=True)
class Case:
    """The parameters of a function and its body, the recipe that is chosen, and sizes."""

    params: str
    body: str
    recipe: str = "histogram"
    sizes: tuple[dict[str, int], ...] = ({"n": 0}, {"n": 1}, {"n": 1000}, {"n": 40000})


ROWS = tuple({"n": n, "m": m} for n, m in ((0, 5), (1, 1), (17, 1030), (40, 3)))
KEYS = tuple({"n": n, "m": m} for n, m in ((0, 1), (1, 1), (1000, 37), (9000, 400)))

LONG = ({"n": 16384}, {"n": 16383}, {"n": 50001})

CASES = {
    "bytes": Case("int n, const unsigned char a[n], int h[256]", "h[a[i]]++;"),
    "of-the-file": Case("int n, const unsigned char a[n]", "bins[a[i] >> 3]++;"),
    "bits": Case(
        "int n, const int a[n], unsigned h[16], int g[16]",
        "h[a[i] & 15] |= 1u << (a[i] & 31); g[a[i] >> 3 & 15] &= ~a[i];",
    ),
    "extrema": Case(
        "int n, const int a[n], int lo[8], int hi[8]",
        "if (a[i] < lo[i & 7]) lo[i & 7] = a[i]; if (hi[i & 7] < a[i]) hi[i & 7] = a[i];",
    ),
    "products": Case(
        "int n, const int a[n], const unsigned w[n], int h[16], unsigned long g[8]",
        "h[a[i] & 15] *= w[i] * 2 + 1; g[a[i] & 7] = a[i] * g[a[i] & 7] * w[i];",
    ),
    "products-by-key": Case(
        "int n, int m, const int key[n], const int w[n], int s[m]",
        "if (w[i] & 1) s[key[i]] *= w[i];",
        "naive",
        KEYS,
    ),
    "long-sums": Case("int n, const short a[n], long h[16]", "h[a[i] & 15] += a[i];"),
    "some": Case("int n, const int a[n], int h[16]", "if (a[i] > 9) h[a[i] & 15] -= a[i] * 7;"),
    "and-more": Case(
        "int n, const int a[n], unsigned h[16], int b[n]", "h[a[i] & 15] ^= a[i]; b[i] = a[i] * 2;"
    ),
    "colours": Case(
        "int n, const unsigned char a[n][3], int h[3][256]",
        "for (int c = 0; c < 3; c++) h[c][a[i][c]]++;",
    ),
    "image": Case(
        "int n, int m, const unsigned char a[n][m], unsigned h[256]",
        "for (int j = 0; j < m; j++) h[a[i][j]]++;",
        sizes=ROWS,
    ),
    "least": Case("int n, const int a[n], int m[8]", "if (a[i] < m[i & 7]) m[i & 7] = a[i];"),
    "nearest": Case(
        "int n, const int a[n], const float w[n], float h[8]",
        "float d = w[i] * w[i]; if (d < h[a[i] & 7]) h[a[i] & 7] = d;",
    ),
    "greatest-or-nan": Case(
        "int n, const int a[n], const double w[n], double h[8]",
        "h[a[i] & 7] = fmax(w[i], h[a[i] & 7]);",
    ),
    "keys": Case(
        "int n, int m, const int key[n], const int w[n], int s[m]",
        "s[key[i]] += w[i];",
        "naive",
        KEYS,
    ),
    "too-large": Case(
        "int n, const unsigned short a[n], int h[65536]", "h[a[i]]++;", "naive", ({"n": 1000},)
    ),
    "stages-in-a-triangle": Case(
        "int n, const unsigned char a[n], int h[256]",
        "for (int j = 0; j <= i; j++) h[(a[i] + a[j]) & 255]++;",
        sizes=({"n": 0}, {"n": 1}, {"n": 70}),
    ),
}


def text(case: Case) -> str:
    params = case.params.replace("[n]", "[restrict n]").replace(" h[", " h[restrict ")
    loop = f"for (int i = 0; i < n; i++) {{ {case.body} }}"
    return f"#include <math.h>\nint bins[32];\nvoid f({params}) {{ {loop} }}\n"


@pytest.mark.device
@pytest.mark.parametrize("name", CASES)
def test_as_the_c_program(name: str) -> None:
    case = CASES[name]
    done = lx.loads(text(case))["f"].tile(contract=False)
    assert done.tiled.recipe == case.recipe
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    assert_runs_agree(plan, CSource(text=text(case)), case.sizes, 3)


VECTORS = ("bytes", "bits", "least", "long-sums", "products", "some")


@pytest.mark.device
@pytest.mark.parametrize("name", VECTORS)
def test_work_items_read_vectors(name: str) -> None:
    """As long as these are whole; the last ones element by element."""
    case = CASES[name]
    limits = PROFILES["h100"]
    plan = emit.kernel(lx.loads(text(case))["f"].tile(contract=False, limits=limits).derivation)
    assert any("LX_VECTOR" in k.text for k in plan.kernels)
    assert_runs_agree(plan, CSource(text=text(case)), (*case.sizes, *LONG), 3)


@pytest.mark.device
@pytest.mark.parametrize(
    "name", ["bytes", "bits", "extrema", "colours", "image", "greatest-or-nan"]
)
def test_several_copies_of_an_element(name: str) -> None:
    case, limits = CASES[name], PROFILES["h100"]
    limits = replace(limits, costs=replace(limits.costs, update_copies=8))
    plan = emit.kernel(lx.loads(text(case))["f"].tile(contract=False, limits=limits).derivation)
    assert "][8]" in plan.source
    assert_runs_agree(plan, CSource(text=text(case)), case.sizes, 3)


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", ["bytes", "long-sums"])
def test_vectors_without_races(name: str) -> None:
    case = CASES[name]
    done = lx.loads(text(case))["f"].tile(contract=False, Tx=4, Rx=8)
    plan = emit.kernel(done.derivation)
    assert "LX_VECTOR" in plan.source
    given = [arguments(plan.start, {"n": n}, 5) for n in (0, 15, 16, 17, 77)]
    assert_clean_and_right(plan, given)


ALONE = ("bytes", "bits", "extrema", "colours", "image", "greatest-or-nan", "products")


@pytest.mark.device
@pytest.mark.parametrize("name", ALONE)
def test_groups_of_one_work_item(name: str) -> None:
    """Nothing is atomic but what is added to the array itself."""
    case = CASES[name]
    done = lx.loads(text(case))["f"].tile(contract=False, limits=PROFILES["pocl"], Rx=512)
    assert (done.tiled.recipe, done.tiled.sizes["Tx"]) == ("histogram", 1)
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    assert "(&h_own[" not in plan.source
    assert_runs_agree(plan, CSource(text=text(case)), case.sizes, 3)


@pytest.mark.oclgrind
def test_groups_of_one_work_item_without_races() -> None:
    case = CASES["bytes"]
    done = lx.loads(text(case))["f"].tile(contract=False, limits=PROFILES["pocl"], Rx=16)
    plan = emit.kernel(done.derivation)
    assert_clean_and_right(plan, [arguments(plan.start, {"n": n}, 5) for n in (0, 1, 16, 77)])


SIMULATED = ("bytes", "extrema", "colours", "image", "keys", "products")


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", SIMULATED)
def test_without_races(name: str) -> None:
    """In the simulator: no race, nothing out of bounds, nothing that was never set."""
    case = CASES[name]
    small = {"Tx": 8, "Rx": 2} if case.recipe == "histogram" else {"Tx": 4, "Ty": 2}
    plan = emit.kernel(lx.loads(text(case))["f"].tile(contract=False, **small).derivation)
    given = [arguments(plan.start, {k: min(v, 37) for k, v in s.items()}, 5) for s in case.sizes]
    assert_clean_and_right(plan, given)


@pytest.mark.parametrize(
    "name", ["bytes", "long-sums", "products", "and-more", "image", "nearest", "greatest-or-nan"]
)
def test_in_the_executor_of_groups(name: str) -> None:
    case = CASES[name]
    plan = emit.kernel(lx.loads(text(case))["f"].tile(contract=False, Tx=4, Rx=2).derivation)
    args = arguments(plan.start, dict.fromkeys(case.sizes[0], 19), 5)
    expected = copy.deepcopy(args)
    Program(plan.start).run(expected)
    execute(plan, args, seed=3)
    assert not compare(expected, args)


@pytest.mark.device
@pytest.mark.parametrize("kind", ["float", "double"])
def test_sums_of_real_numbers_need_permission(kind: str) -> None:
    source = f"""void f(int n, const int a[restrict n], const {kind} w[restrict n],
      {kind} h[restrict 16]) {{ for (int i = 0; i < n; i++) h[a[i] & 15] += w[i]; }}"""
    f = lx.loads(source)["f"]
    with pytest.raises(lx.UnsupportedC, match="floating-point addition is not associative"):
        f.tile()
    done = f.tile(reassociate=True)
    assert done.tiled.recipe == "histogram"
    sums = np.zeros(16, dtype=np.dtype("f4" if kind == "float" else "f8"))
    keys = np.arange(5000, dtype=np.int32) * 7
    values = np.ones(5000, dtype=sums.dtype)  # of which all sums are exact
    done.compile()(n=5000, a=keys, w=values, h=sums)
    assert np.array_equal(sums, np.bincount(keys & 15, minlength=16))


@pytest.mark.device
@pytest.mark.parametrize("kind", ["float", "double"])
def test_products_of_real_numbers_need_permission(kind: str) -> None:
    """NaNs, infinities and zeros of both signs are as in the C: their products are exact."""
    source = f"""void f(int n, const int a[restrict n], const {kind} w[restrict n],
      {kind} h[restrict 8]) {{ for (int i = 0; i < n; i++) h[a[i] & 7] *= w[i]; }}"""
    f = lx.loads(source)["f"]
    with pytest.raises(lx.UnsupportedC, match="floating-point multiplication is not associative"):
        f.tile()
    dtype = np.dtype("f4" if kind == "float" else "f8")
    keys = np.arange(800, dtype=np.int32)
    values = np.where(keys % 16 < 8, 2, -0.5).astype(dtype)
    values[16:21] = [np.nan, -0.0, np.inf, 0.0, -np.inf]
    expected, found = np.ones(8, dtype), np.ones(8, dtype)
    for k, v in zip(keys & 7, values):
        expected[k] *= v
    f.tile(reassociate=True).compile()(n=800, a=keys, w=values, h=found)
    assert np.array_equal(expected, found, equal_nan=True)
    assert np.array_equal(np.signbit(expected[1:]), np.signbit(found[1:]))


@pytest.mark.device
@pytest.mark.parametrize("calls", [False, True])
def test_extrema_of_real_numbers_that_are_nan(calls: bool) -> None:
    """What is compared neither takes a NaN nor replaces one; fmin finds a number wherever it is."""
    update = "h[k] = fminf(h[k], w[i]);" if calls else "if (w[i] < h[k]) h[k] = w[i];"
    source = f"""#include <math.h>
    void f(int n, const int a[restrict n], const float w[restrict n], float h[restrict 4])
    {{ for (int i = 0; i < n; i++) {{ int k = a[i] & 3; {update} }} }}"""
    keys = np.arange(64, dtype=np.int32)
    values = np.where(keys % 3 == 0, np.nan, 50 - keys).astype(np.float32)
    values[keys % 4 == 2] = np.nan
    values[keys % 4 == 3] = np.inf
    before = np.array([np.nan, np.inf, 7, np.nan], dtype=np.float32)
    expected, found = before.copy(), before.copy()
    for k, v in zip(keys & 3, values):
        expected[k] = np.fmin(expected[k], v) if calls else v if v < expected[k] else expected[k]
    lx.loads(source)["f"].tile(reassociate=True).compile()(n=64, a=keys, w=values, h=found)
    assert np.array_equal(expected, found, equal_nan=True)


def test_threads_have_copies_of_their_own() -> None:
    """Tiled C counts in an array of each thread, and adds that up atomically."""
    source = text(CASES["bytes"])
    (written,) = lx.loads(source)["f"].tile(limits=PROFILES["cpu"]).openmp.files.values()
    assert written.count("#pragma omp atomic") == 1


POINTERS = """\
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>

void bytes(const uint8_t *a, size_t n, uint32_t *h)
{
  for (size_t i = 0; i < n; i++)
    h[a[i]]++;
}

void image(const uint8_t *a, int rows, int columns, int *h)
{
  for (int y = 0; y < rows; y++)
    for (int x = 0; x < columns; x++)
      h[a[y * columns + x] >> 1] += 2;
}

void low_bits(long n, const int *a, int *restrict h)
{
  for (long i = 0; i < n; i++)
    if (a[i] > 3)
      h[a[i] & 31] -= a[i];
}

int main(void)
{
  enum { N = 9001 };
  uint8_t *a = malloc(N);
  int *k = malloc(N * sizeof *k), *g = calloc(20, sizeof *g), *f = calloc(32, sizeof *f);
  uint32_t *h = calloc(40, sizeof *h);  /* as many as the values need, not all that bytes have */
  for (int i = 0; i < N; i++) {
    a[i] = i * i % 40;
    k[i] = i % 77 - 20;
  }
  bytes(a, N, h);
  bytes(a, 0, h);
  image(a, 90, 100, g);
  low_bits(N, k, f);
  for (int i = 0; i < 40; i++)
    printf("%u %d %d\\n", h[i], i < 20 ? g[i] : 0, i < 32 ? f[i] : 0);
  return 0;
}
"""


@pytest.mark.device
@pytest.mark.parametrize("sanitized", [False, True])
def test_arrays_behind_pointers(tmp_path: Path, sanitized: bool) -> None:
    """Subscripts say how much there can be, and the copy adds only what the program would touch."""
    require_opencl()
    (tmp_path / "h.c").write_text(POINTERS)
    done = lx.load(tmp_path / "h.c").offload(fp="strict", limits=PROFILES["h100"])
    text = "".join(done.files.values())
    assert all(f"h_own[{n}]" in text for n in (256, 128, 32))
    said = assert_file_prints_the_same(tmp_path / "h.c", done, sanitized=sanitized)
    assert sum("on the device" in line for line in said) >= 3, said


NARROW = {
    "bytes": ("unsigned char", 256, "h[a[i] & 255]++;"),
    "signed": ("signed char", 16, "h[a[i] & 15] -= a[i];"),
    "shorts": ("unsigned short", 37, "if (a[i] % 5) h[a[i] % 37] += a[i] * 3;"),
    "products": ("unsigned char", 16, "h[a[i] & 15] *= a[i] | 1;"),
    "bits": ("short", 8, "h[a[i] & 7] ^= a[i]; g[a[i] & 7]++;"),
}


@pytest.mark.device
@pytest.mark.parametrize("name", NARROW)
def test_narrow_elements_wrap_around(name: str) -> None:
    """They are updated in a wide copy, the low bits of which are copied back."""
    kind, size, body = NARROW[name]
    params = f"int n, const int a[restrict n], {kind} h[restrict {size}], int g[restrict 8]"
    source = f"void f({params}) {{ for (int i = 0; i < n; i++) {{ {body} }} }}"
    f = lx.loads(source)["f"]
    call = f.offload().compile()
    for n in (0, 1, 3000):
        rng = np.random.default_rng(n)
        dtype = {"unsigned char": "u1", "signed char": "i1", "unsigned short": "u2"}.get(kind, "i2")
        given = {
            **{"n": n, "a": rng.integers(0, 999, n, dtype=np.int32)},
            **{"h": rng.integers(0, 99, size).astype(dtype), "g": np.zeros(8, np.int32)},
        }
        expected = copy.deepcopy(given)
        run_reference(CSource(text=source), f.function, expected)
        call(**given)
        assert not compare(expected, given)
