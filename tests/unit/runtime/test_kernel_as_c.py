"""Kernels compiled by the C compiler: the words of OpenCL C, and what sanitizers find."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loopxform.errors import ArgumentError, DeviceError
from loopxform.runtime.c.machine import Here, Watched
from loopxform.runtime.c.program import HERE, MODES, Program, program
from loopxform.runtime.c.queue import Buffer, CQueue
from loopxform.runtime.c.translate import CKernel, translated
from loopxform.runtime.launch import BufferParam, Launcher, LocalParam, ScalarParam
from loopxform.runtime.selection import choose

TEXTS = (
    (
        "  __local float A[8][9 + 1];",
        "  float (*const A)[9 + 1] = lx_local(sizeof(float[8][9 + 1]));",
    ),
    (
        "__local uchar b[N] __attribute__((aligned(16)));",
        "uchar *const b = lx_local(sizeof(uchar[N]));",
    ),
    (
        "  const float4 v = *(__local const float4 *)&A[k];",
        "  const float4 v = *(__local const float4 *)&A[k];",
    ),
    ("v = (float4)(a, f(b), c, d);", "v = LX_MAKE(float4, a, f(b), c, d);"),
    ("v = convert_int4(w);", "v = LX_CONVERT(int, 4, w);"),
    ("x = (float)(a); /* __local int c[2]; */", "x = (float)(a);  "),
)


@pytest.mark.parametrize(("written", "wanted"), TEXTS)
def test_words_that_no_macro_can_stand_for(written: str, wanted: str) -> None:
    _, _, body = translated(written).text.partition('"kernel.cl"\n')
    assert body.startswith(wanted + "\n")


def test_lines_keep_their_numbers_and_kernels_their_parameters() -> None:
    text = (
        "/* a\n   comment */\n__kernel __attribute__((reqd_work_group_size(4, 1, 1)))\n"
        "void f(const int n,\n  __global const float *restrict a, __local int *t)\n{\n"
        "  barrier(CLK_LOCAL_MEM_FENCE);\n}\n__kernel void g(void) { }\n"
    )
    c = translated(text)
    assert [(k.name, k.params, k.barriers) for k in c.kernels] == [
        ("f", ("const int", "*", "*"), True),
        ("g", (), False),
    ]
    body = c.text.partition('"kernel.cl"\n')[2].splitlines()
    assert "barrier" in body[6]
    assert "barrier" in text.splitlines()[6]


def test_the_runtime_compiles_without_warnings(tmp_path: Path) -> None:
    for part in ("groups.c", "server.c"):
        for flags in ([], ["-DLX_ASAN"], ["-DLX_TSAN"]):
            words = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", *flags, "-c", part]
            subprocess.run([*words, "-o", str(tmp_path / "o")], cwd=HERE, check=True)


# ---------------------------------------------------------------- results


def run(source: str, *args: Any, items: tuple[int, ...], group: tuple[int, ...], on: str) -> None:
    """Launches the kernel f. A number is a parameter as an array is, by its numpy type."""
    params = [
        ScalarParam(f"p{n}", a.dtype.name)
        if isinstance(a, np.generic)
        else a
        if isinstance(a, LocalParam)
        else BufferParam(f"p{n}", a.dtype.name)
        for n, a in enumerate(args)
    ]
    values = [a for a in args if not isinstance(a, LocalParam)]
    Launcher(choose(on), source, "f", params).launch(values, items, group)


def test_work_items_know_where_they_are_in_three_dimensions() -> None:
    source = """__kernel void f(__global int *out)
{
  const size_t at = (get_global_id(2) * get_global_size(1) + get_global_id(1))
                    * get_global_size(0) + get_global_id(0);
  out[at] = (int)(get_local_id(0) + 10 * get_local_id(1) + 100 * get_local_id(2)
                  + 1000 * get_group_id(0) + 10000 * get_group_id(1) + 100000 * get_group_id(2)
                  + 1000000 * get_work_dim() + 10000000 * get_num_groups(1));
}"""
    out = np.zeros((6, 4, 6), np.int32)
    run(source, out, items=(6, 4, 6), group=(3, 2, 2), on="c")
    z, y, x = np.indices(out.shape)
    wanted = x % 3 + 10 * (y % 2) + 100 * (z % 2) + 1000 * (x // 3) + 10000 * (y // 2)
    assert (out == wanted + 100000 * (z // 2) + 3000000 + 20000000).all()


def test_numbers_of_16_bits_are_those_of_numpy() -> None:
    """All halves, and floats around every half and between two."""
    source = """__kernel void f(__global const ushort *h, __global float *x,
                               __global const float *y, __global ushort *g)
{
  const size_t i = get_global_id(0);
  x[i] = vload_half(0, (const __private half *)&h[i]);
  for (int n = 0; n < 4; n++)
    vstore_half_rte(y[4*i + n], 0, (__private half *)&g[4*i + n]);
}"""
    h = np.arange(65536, dtype=np.uint16)
    values = h.view(np.float16).astype(np.float32)
    x, g = np.zeros(65536, np.float32), np.zeros((65536, 4), np.uint16)
    with np.errstate(all="ignore"):
        between = (values + np.roll(values, -1)) / 2
        y = np.stack([values, between, np.nextafter(between, np.float32(np.inf)), -between], 1)
        wanted = y.astype(np.float16)
    run(source, h, x, y.astype(np.float32), g, items=(65536,), group=(64,), on="c")
    assert np.array_equal(x, values, equal_nan=True)
    assert np.array_equal(g.view(np.float16), wanted, equal_nan=True)
    finite = ~np.isnan(wanted)
    assert np.array_equal(g[finite], wanted.view(np.uint16)[finite])


WORDS = (
    (
        "min(max(x, 3), 7) + min(y, x)",
        lambda x, y: np.minimum(np.maximum(x, 3), 7) + np.minimum(y, x),
    ),
    ("(int)abs(y)", lambda _, y: np.abs(y)),
    ("(long)abs((long)y * 4294967296L) / 4294967296L", lambda _, y: np.abs(y)),
    ("isnan(0.0f / (float)(x - x)) + isinf(1.0f / (float)(x - x))", lambda x, _: 2 + 0 * x),
    ("1 - 2 * signbit((float)y)", lambda _, y: np.where(y < 0, -1, 1)),
    ("(int)(sqrt((float)x) * 4096.0f)", lambda x, _: (np.sqrt(x.astype("f4")) * 4096).astype("i4")),
    ("(int)(fmin((double)x, (double)y) * 2.0)", lambda x, y: 2 * np.minimum(x, y)),
    (
        "as_int(convert_float_rtz(0.1 * (double)x)) - as_int((float)(0.1 * (double)x)) <= 0",
        lambda x, _: 1 + 0 * x,
    ),
    ("((int4)(x, y, 3, 4)).s1 + convert_int2((float2)(x, y)).s0", lambda x, y: x + y),
    ("((int4)(x + 1)).s0 + ((int16)(y)).sf + ((int2)(y, 1)).s1", lambda x, y: x + y + 2),
    ("vload4(0, a + i / 4 * 4).s2", lambda x, _: x // 4 * 4 + 2),
)


@pytest.mark.parametrize(("text", "wanted"), WORDS)
def test_words_of_opencl(text: str, wanted: Any) -> None:
    source = f"""__kernel void f(__global const int *a, __global const int *b, __global int *c)
{{
  const int i = (int)get_global_id(0);
  const int x = a[i], y = b[i];
  c[i] = (int)({text});
}}"""
    x = np.arange(64, dtype=np.int32)
    y = (x - 20) * 3
    c = np.zeros(64, np.int32)
    run(source, x, y, c, items=(64,), group=(16,), on="c")
    assert np.array_equal(c, wanted(x, y)), text


def test_vectors_are_stored_and_atomics_lose_nothing() -> None:
    source = """__kernel void f(__global float *a, __global int *n, __local int *t)
{
  const int i = (int)get_local_id(0);
  vstore4((float4)(i, i, i, 1), get_global_id(0), a);
  t[i] = i;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&n[0], t[(i + 1) % 8]);
  atomic_max(&n[1], (int)get_global_id(0));
  atomic_min(&n[2], -(int)get_global_id(0));
  if (atomic_cmpxchg(&n[3], 0, 1) == 0)
    atomic_inc(&n[4]);
}"""
    a, n = np.zeros(4 * 800, np.float32), np.zeros(5, np.int32)
    run(source, a, n, LocalParam("t", 32), items=(800,), group=(8,), on="c")
    assert n.tolist() == [2800, 799, -799, 1, 1]
    assert np.array_equal(a.reshape(-1, 4)[:, 0], np.arange(800) % 8)
    assert (a.reshape(-1, 4)[:, 3] == 1).all()


@pytest.mark.parametrize("on", MODES)
def test_work_items_that_wait_have_room_for_large_arrays(on: str) -> None:
    source = """__kernel void f(__global int *a)
{
  __local int t[4];
  int r[100000];
  const int i = (int)get_local_id(0);
  for (int n = 0; n < 100000; n++)
    r[n] = n + i;
  t[i] = r[i * 1000];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = t[3 - i] + r[99999];
}"""
    a = np.zeros(8, np.int32)
    run(source, a, items=(8,), group=(4,), on=on)
    assert a.tolist() == [1001 * (3 - i) + 99999 + i for i in (0, 1, 2, 3)] * 2


def test_names_of_c_are_free_in_kernels() -> None:
    """What headers of C define must not be in the way."""
    source = """__constant float rand[2] = {2, 3};
__constant int lround = 1;
__constant uchar conj[1] = {1};
__kernel void f(__global int *free, const int I)
{
  const int linux = (int)get_global_id(0), complex = I, stdin = 1;
  free[linux] = linux * complex + (int)rand[stdin] * lround * conj[0];
}"""
    out = np.zeros(4, np.int32)
    run(source, out, np.int32(5), items=(4,), group=(2,), on="c")
    assert out.tolist() == [3, 8, 13, 18]


# ---------------------------------------------------------------- what goes wrong


def test_a_kernel_that_does_not_compile_is_told_by_its_own_line() -> None:
    with pytest.raises(DeviceError, match="does not build") as e:
        program("__kernel void f(__global int *a)\n{\n  a[0] = nothing;\n}\n", MODES["c"])
    assert any("kernel.cl:3" in n and "nothing" in n for n in e.value.notes)
    assert e.value.code == "LX059"


def test_a_barrier_that_not_all_reach() -> None:
    source = """__kernel void f(__global int *a)
{
  if (get_local_id(0) < 2)
    barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = 1;
}"""
    with pytest.raises(DeviceError, match="barrier of line 4 is not reached by all"):
        run(source, np.zeros(8, np.int32), items=(8,), group=(4,), on="c")


TILE = """__kernel void f(__global const int *a, __global int *b)
{{
  __local int t[16];
  int r[4];
  const int i = (int)get_local_id(0), at = (int)get_global_id(0);
  t[i] = a[at];
  {barrier}
  for (int n = 0; n < 4; n++)
    r[n] = t[{read}] + n;
  {global_write};
  b[at] = r[{own}];
}}"""
RIGHT = {
    "barrier": "barrier(CLK_LOCAL_MEM_FENCE);",
    "read": "15 - i",
    "global_write": "(void)0",
    "own": "at % 4",
}
PLANTED = (
    ("c+tsan", {"barrier": ""}, "data race", 9),
    ("c+tsan", {"global_write": "b[0] = at"}, "data race", 10),
    ("c+tsan", {"global_write": "b[(at + 16) % 48] = at"}, "data race", 10),
    ("c+tsan", {"global_write": "if (i == 3) t[2] = 1"}, "data race", 10),
    ("c+asan", {"read": "16 - i"}, "heap-buffer-overflow", 9),
    ("c+asan", {"read": "15 - i - (at == 47)"}, "heap-buffer-overflow", 9),
    ("c+asan", {"global_write": "b[at + 1] = 1"}, "heap-buffer-overflow", 10),
    ("c+asan", {"own": "at % 5"}, "out of bounds", 11),
)


def tiled(on: str, **changes: str) -> np.ndarray[Any, Any]:
    a, b = np.arange(48, dtype=np.int32), np.zeros(48, np.int32)
    run(TILE.format(**{**RIGHT, **changes}), a, b, items=(48,), group=(16,), on=on)
    return b


@pytest.mark.parametrize("on", MODES)
def test_sanitizers_find_nothing_where_there_is_nothing(on: str) -> None:
    at = np.arange(48)
    assert np.array_equal(tiled(on), at // 16 * 16 + 15 - at % 16 + at % 4)


@pytest.mark.parametrize(("on", "changes", "what", "line"), PLANTED)
def test_sanitizers_find_what_is_planted(
    on: str, changes: dict[str, str], what: str, line: int
) -> None:
    with pytest.raises(DeviceError, match=what) as e:
        tiled(on, **changes)
    assert any(f"kernel.cl:{line}" in n for n in e.value.notes), e.value.notes


def test_arrays_of_another_queue_are_refused() -> None:
    source = "__kernel void f(__global int *a) { a[get_global_id(0)] = 1; }"
    first, second = (
        Launcher(choose("c"), source, "f", [BufferParam("a", "int32")]) for _ in range(2)
    )
    buffer = first.queue.allocate(16)
    first.launch([buffer], (4,), None)
    with pytest.raises(ArgumentError, match="memory of another queue"):
        second.launch([buffer], (4,), None)


def test_nothing_is_contracted_whatever_the_build_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "gcc -ffp-contract=fast -march=native")
    source = """__kernel void f(__global const float *x, __global float *y)
{
  y[get_global_id(0)] = x[0] * x[0] - x[1];
}"""
    y = np.ones(4, np.float32)
    x = np.array([1 + 2**-12, 1 + 2**-11], np.float32)  # the square is a tie, rounded down
    run(source, x, y, items=(4,), group=(2,), on="c")
    assert y.tolist() == [0] * 4


# ---------------------------------------------------------------- limits, threads, damaged files

LARGE = """__kernel void f(__global int *a)
{{
  int own[{n}];
  const int i = (int)get_local_id(0);
  for (int k = 0; k < {n}; k++)
    own[k] = a[k % 8] + i;
  {barrier}
  int sum = 0;
  for (int k = 0; k < {n}; k++)
    sum += own[(k * i + k) % {n}];
  a[8 + get_global_id(0)] = sum;
}}"""
BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"


@pytest.mark.parametrize("barrier", [BARRIER, ""])
def test_arrays_of_work_items_fit_on_their_stacks_or_are_refused(barrier: str) -> None:
    a = np.arange(16, dtype=np.int32)
    run(LARGE.format(n=180_000, barrier=barrier), a, items=(8,), group=(4,), on="c")
    own = np.arange(180_000) % 8 + np.arange(4)[:, None]
    at = np.arange(180_000)
    sums = [own[i][(at * i + at) % 180_000].sum() for i in range(4)]
    assert a[8:].tolist() == [*sums, *sums]
    with pytest.raises(DeviceError, match="too large"):
        run(LARGE.format(n=400_000, barrier=barrier), a, items=(8,), group=(4,), on="c")


def test_groups_of_many_processors_do_not_use_up_the_mappings_of_the_process() -> None:
    source = f"""__kernel void f(__global int *a)
{{ __local int t[1024];
  const int i = (int)get_local_id(0);
  t[i] = i;
  {BARRIER}
  a[get_global_id(0)] = t[1023 - i];
}}"""
    launcher = Launcher(choose("c"), source, "f", [BufferParam("a", "int32")])
    launcher.queue.machine.threads = 64  # type: ignore[attr-defined]
    a = np.zeros(64 * 1024, np.int32)
    launcher.launch([a], a.shape, (1024,))
    assert (a.reshape(64, 1024) == np.arange(1023, -1, -1)).all()
    assert len(Path("/proc/self/maps").read_text().splitlines()) < 10_000


def test_more_parameters_or_local_memory_than_there_is_are_refused() -> None:
    a = np.zeros(4, np.int32)
    many = ", ".join(f"const int x{n}" for n in range(256))
    with pytest.raises(DeviceError, match="more than 256 parameters"):
        run(
            f"__kernel void f(__global int *a, {many}) {{ a[0] = x255; }}",
            a,
            *[np.int32(1)] * 256,
            items=(4,),
            group=(4,),
            on="c",
        )
    arrays = "\n".join(f"  __local int t{n}[4];" for n in range(65))
    source = f"__kernel void f(__global int *a)\n{{\n{arrays}\n  a[0] = t64[0];\n}}"
    with pytest.raises(DeviceError, match="more than 64 arrays"):
        run(source, a, items=(4,), group=(4,), on="c")
    source = "__kernel void f(__global int *a, __local int *t) { a[0] = t[0]; }"
    with pytest.raises(DeviceError, match="wants 2000000 bytes of local memory"):
        run(source, a, LocalParam("t", 2_000_000), items=(4,), group=(4,), on="c")


@pytest.mark.parametrize("on", ["c", "c+asan"])
def test_threads_share_a_kernel(on: str) -> None:
    source = f"""__kernel void f(__global int *a, const int x)
{{
  __local int t[4];
  const int i = (int)get_local_id(0);
  t[i] = x + i;
  {BARRIER}
  a[get_global_id(0)] = t[3 - i];
}}"""
    params = [BufferParam("a", "int32"), ScalarParam("x", "int32")]
    launcher = Launcher(choose(on), source, "f", params)

    def launched(x: int) -> bool:
        a = np.zeros(40, np.int32)
        launcher.launch([a, np.int32(x)], a.shape, (4,))
        return bool((a.reshape(-1, 4) == x + np.arange(3, -1, -1)).all())

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(launched, range(80)))


def test_a_process_under_a_sanitizer_is_not_shared_with_forks() -> None:
    source = "__kernel void f(__global int *a) { a[get_global_id(0)] = 1; }"
    launcher = Launcher(choose("c+asan"), source, "f", [BufferParam("a", "int32")])
    a = np.zeros(4, np.int32)
    child = os.fork()
    if not child:
        try:
            launcher.launch([a], (4,), (4,))
        except DeviceError as e:
            os._exit(7 if "compile again" in str(e) else 1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    launcher.launch([a], (4,), (4,))
    assert a.tolist() == [1, 1, 1, 1]


def test_a_damaged_file_is_compiled_anew(tmp_path: Path) -> None:
    path = tmp_path / "kernel"
    for mode in (MODES["c"], MODES["c+asan"]):
        path.write_text("damaged")
        path.chmod(0o700)
        damaged = Program(path, (CKernel("f", ("*",), False, 0),), mode)
        with pytest.raises(DeviceError, match="cannot be loaded"):
            _load(damaged)
        assert not path.exists()


def _load(program: Program) -> None:
    machine = Watched(program.mode) if program.mode.sanitizer else Here(1)
    machine.launch(program, 0, (1,), (1,), ())


@pytest.mark.parametrize(
    ("mode", "found"), [("c+asan", "heap-buffer-overflow"), ("c+tsan", "race")]
)
def test_a_sanitizer_watches_the_kernels_of_several_sources(mode: str, found: str) -> None:
    line = "__kernel void f(__global int *a) {{ a[{}] {}= 2; }}"
    add = line.format("get_global_id(0)", "+")
    times = line.format("get_global_id(0)", "*")
    wrong = line.format("4" if mode == "c+asan" else "0", "+")
    queue, a = CQueue(choose(mode)), np.ones(4, np.int32)
    buffer = queue.allocate(a.nbytes)
    queue.write(buffer, a)
    for source in (add, times, add):
        _run(queue, source, buffer)
    queue.read(a, buffer)
    assert a.tolist() == [8] * 4
    with pytest.raises(DeviceError, match=found):
        _run(queue, wrong, buffer)


def _run(queue: CQueue, source: str, buffer: Buffer) -> None:
    kernel = queue.kernel(source, "f", ())
    queue.bind(kernel, [buffer])
    queue.enqueue(kernel, (4,), (4,))


def test_names_of_devices_have_any_case() -> None:
    assert [choose(name).place for name in ("C", "C+ASan")] == ["c", "c+asan"]


def test_a_sanitizer_of_the_compiler_of_the_build_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Python could not load such a library."""
    monkeypatch.setenv("CC", "gcc -fsanitize=address")
    out = np.zeros(4, np.int32)
    source = "__kernel void f(__global int *a) { a[get_global_id(0)] = 41 + 1; /* CC */ }"
    run(source, out, items=(4,), group=(2,), on="c")
    assert out.tolist() == [42] * 4
