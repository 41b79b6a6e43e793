"""Kernels with one fault each: the executor reports it, where it is and whose it is."""

from __future__ import annotations

import random
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from loopxform.verify.group.fault import ExecutionError
from loopxform.verify.group.queue import ASYNCHRONOUS, GroupQueue

HEAD = "__kernel __attribute__((reqd_work_group_size(4, 1, 1)))\nvoid k("
IDS = "  const int x = (int)get_local_id(0);\n  const int g = (int)get_group_id(0);\n"
START = (
    "#define START(bytes, to, from) "
    'asm volatile("cp.async.ca.shared.global [%0], [%1], " #bytes ";" \\\n'
    '  : : "r"((uint)(size_t)(to)), "l"(from) : "memory")\n'
    '#define COMMIT() asm volatile("cp.async.commit_group;" : : : "memory")\n'
    '#define WAIT(n) asm volatile("cp.async.wait_group " #n ";" : : : "memory")\n'
)


def kernel(body: str, parameters: str = "__global const float *a, __global float *b") -> str:
    lines = dedent(body).strip().split("\n")
    return f"{START}{HEAD}{parameters})\n{{\n{IDS}" + "\n".join(lines) + "\n}\n"


def run(text: str, *arrays: Any, groups: int = 2, seed: int = 0, room: int = 0) -> list[Any]:
    """The arrays after the kernel has run in groups of four; `room` elements of a last argument
    that nothing has set are given where the kernel takes one more."""
    queue = GroupQueue(random.Random(seed), ASYNCHRONOUS)
    k = queue.kernel(text, "k", ())
    buffers = []
    for a in arrays:
        buffers.append(queue.allocate(a.nbytes))
        queue.write(buffers[-1], a)
    given = [*buffers, *([queue.allocate(4 * room)] if room else [])]
    queue.bind(k, given)
    queue.enqueue(k, (4 * groups, 1, 1), (4, 1, 1))
    after = [a.copy() for a in arrays]
    for a, buffer in zip(after, buffers):
        queue.read(a, buffer)
    return after


def floats(n: int = 8) -> Any:
    return np.arange(n, dtype=np.float32)


LOCAL = "__local float t[4][2];\n"
COUNTS = "__local int t[4];\nt[x] = 0;\nbarrier(CLK_LOCAL_MEM_FENCE);\n"
FAULTS = {
    "a write of a neighbour's element without a barrier": (
        LOCAL + "t[x][0] = a[x];\nb[4*g + x] = t[(x + 1) % 4][0];",
        "race|unset",
        r"t\[\d\]\[0\](, which was never set| is (written|read) by .* and .* no barrier between)",
    ),
    "an atomic update beside a read": (
        COUNTS + "atomic_add(&t[0], 1);\nb[4*g + x] = t[0];",
        "race",
        r"t\[0\] is (updated|read) by .* and (read|updated) .* with no barrier between",
    ),
    "an atomic update beside a write": (
        COUNTS + "t[x] = 1;\natomic_max(&t[(x + 1) % 4], 2);",
        "race",
        r"t\[\d\] is (written|updated) by .* and (written|updated) .* no barrier between",
    ),
    "atomic updates by two operators": (
        COUNTS + "atomic_add(&t[0], 3);\natomic_or(&t[0], 4);",
        "race",
        r"t\[0\] is updated \((add|or)\) by .* and updated \((add|or)\) .* with no barrier between",
    ),
    "a barrier that does not fence global memory": (
        "b[4*g + x] = a[x];\nbarrier(CLK_LOCAL_MEM_FENCE);\nb[4*g + (x + 1) % 4] = 7.0f;",
        "race",
        r"b\[\d\] is written by .* and written by",
    ),
    "groups that write one element": (
        "b[x] = a[x] + g;",
        "race",
        r"b\[\d\] is written by work-item .* of group \(\d, 0, 0\) and written",
    ),
    "a group that reads what another writes": (
        "b[4*g + x] = 1.0f;\nif (g == 1) b[4*g + x] = b[3 - x];",
        "race",
        r"b\[\d\] is (read|written) by",
    ),
    "many readers, then a writer": (
        LOCAL + "if (x == 0) t[0][0] = 1.0f;\nbarrier(CLK_LOCAL_MEM_FENCE);\n"
        "float v = t[0][0];\nif (x == 2) t[0][0] = v + 1.0f;\nb[4*g + x] = v;",
        "race",
        r"t\[0\]\[0\] is",
    ),
    "a read past the end": (
        "b[4*g + x] = a[4*g + x + 1];",
        "bounds",
        r"a\[8\] is outside of a\[8\]",
    ),
    "a read before the beginning": (
        "b[4*g + x] = a[4*g + x - 1];",
        "bounds",
        r"a\[-1\] is outside",
    ),
    "a write past the end": ("b[4*g + x + 1] = 1.0f;", "bounds", r"b\[8\] is outside of b\[8\]"),
    "a row that is too short": (
        LOCAL + "t[x / 2][x] = 1.0f;",
        "bounds",
        r"subscript [23] is outside of a row of 2",
    ),
    "a local element that nobody set": (
        LOCAL + "if (x > 0) t[x][1] = 1.0f;\nb[4*g + x] = t[x][1];",
        "unset",
        r"b\[\d\] is computed from t\[0\]\[1\], which was never set",
    ),
    "a register that was never set": (
        "float s[2];\ns[0] = 1.0f;\ns[1] += 2.0f;\nb[4*g + x] = s[0] + s[1];",
        "unset",
        r"computed from s\[1\]",
    ),
    "a variable that was never set": (
        "float s;\nif (x > 1) s = 1.0f;\nb[4*g + x] = s;",
        "unset",
        r"computed from s,",
    ),
    "a branch on what was never set": (
        "int n;\nif (n > 1) b[4*g + x] = 0.0f;",
        "unset",
        r"n was never set, and decides",
    ),
    "a subscript that was never set": ("int n;\nb[n] = 0.0f;", "unset", r"n was never set"),
    "a barrier that some do not reach": (
        "if (x < 2) {\nbarrier(CLK_LOCAL_MEM_FENCE);\n}\nb[4*g + x] = 1.0f;",
        "barrier",
        r"work-items do not meet: .*(waits at the barrier of line \d+|ends)",
    ),
    "two barriers where they have to meet": (
        "if (x < 2) {\nbarrier(CLK_LOCAL_MEM_FENCE);\n} else {\nbarrier(CLK_LOCAL_MEM_FENCE);\n}",
        "barrier",
        r"waits at the barrier of line 1[13], .* waits at the barrier of line 1[13]",
    ),
    "a vector that is not aligned": (
        "__local float t[8];\nt[x] = a[x];\nt[x + 4] = a[x];\nbarrier(CLK_LOCAL_MEM_FENCE);\n"
        "const float4 v = *(__local const float4 *)&t[x];\nb[4*g + x] = v.s0;",
        "alignment",
        r"t\[[123]\] is no place for an aligned vector of 4",
    ),
    "a vector that leaves its row": (
        "__local float t[4][6];\n*(__local float4 *)&t[x][4] = (float4)(1.0f);",
        "bounds",
        r"t\[\d\]\[4\] begins a vector of 4 that leaves its row",
    ),
    "a vector past the end": (
        "if (x == 3 && g == 1) vstore4(vload4(0, &a[0]), g, &b[x]);",
        "bounds",
        r"b\[\d+\] is outside",
    ),
    "a copy that is read before it is waited for": (
        "__local float t[4];\nSTART(4, &t[x], &a[x]);\nCOMMIT();\nb[4*g + x] = t[x];",
        "copy",
        r"t\[\d\] is touched before the asynchronous copy of work-item",
    ),
    "a wait for all copies but the one that is read": (
        "__local float t[2][4];\nSTART(4, &t[0][x], &a[x]);\nCOMMIT();\n"
        "START(4, &t[1][x], &a[x]);\nCOMMIT();\nWAIT(1);\nbarrier(CLK_LOCAL_MEM_FENCE);\n"
        "b[4*g + x] = t[1][x];",
        "copy",
        r"t\[1\]\[\d\] is touched before",
    ),
    "a copy of another that is read before the barrier": (
        "__local float t[4];\nSTART(4, &t[x], &a[x]);\nCOMMIT();\nWAIT(0);\n"
        "b[4*g + x] = t[(x + 1) % 4];",
        "copy|race|unset",
        r"t\[\d\] is|t\[\d\], which was never set",
    ),
    "a copy into what others still read": (
        "__local float t[4];\nt[x] = 1.0f;\nbarrier(CLK_LOCAL_MEM_FENCE);\n"
        "const float v = t[(x + 1) % 4];\nSTART(4, &t[x], &a[x]);\nCOMMIT();\nWAIT(0);\n"
        "b[4*g + x] = v;",
        "race|copy",
        r"t\[\d\] is",
    ),
    "an asynchronous copy that is not aligned": (
        "__local float t[8];\nSTART(16, &t[x], &a[0]);",
        "alignment|copy",
        r"t\[\d\] is",
    ),
    "a sum that overflows": (
        "int n = 2147483647;\nn = n + x;\nb[4*g + x] = n;",
        "arithmetic",
        r"a sum or product overflows: 214748364[89]|overflows: 2147483650",
    ),
    "a division by 0": ("b[4*g + x] = 4 / x;", "arithmetic", r"4 is divided by zero"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_reported(name: str) -> None:
    body, kinds, what = FAULTS[name]
    for seed in range(3):
        with pytest.raises(ExecutionError, match=what) as e:
            run(kernel(body), floats(), floats(), seed=seed)
        assert e.value.kind in kinds.split("|")
        place = e.value.place
        assert place is not None
        assert place.kernel == "k"
        assert place.text == kernel(body).split("\n")[place.line - 1]


def test_the_report_names_line_and_work_item() -> None:
    text = kernel("if (x == 2 && g == 1) b[99] = 1.0f;\nelse b[4*g + x] = 0.0f;")
    with pytest.raises(ExecutionError) as e:
        run(text, floats(), floats())
    assert str(e.value) == (
        "b[99] is outside of b[8] [LX211]\n"
        "   = kernel k, line 10: work-item (2, 0, 0) of group (1, 0, 0)\n"
        "   = if (x == 2 && g == 1) b[99] = 1.0f;"
    )


CLEAN = {
    "work-items that write the same value": ("b[0] = 5.0f;", [5.0]),
    "what is computed from an unset value and left": (
        "float s[2];\ns[0] = 1.0f;\ns[1] = s[1] * 2.0f;\nb[4*g + x] = s[0];",
        [1.0],
    ),
    "a barrier with both fences": (
        "b[4*g + x] = a[x];\nbarrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
        "const float v = b[4*g + 3 - x];\nbarrier(CLK_GLOBAL_MEM_FENCE);\nb[4*g + x] = v;",
        [3.0, 2.0, 1.0, 0.0],
    ),
    "copies that are waited for": (
        "__local float t[2][4];\nSTART(4, &t[0][x], &a[x]);\nCOMMIT();\n"
        "START(4, &t[1][x], &a[x + 4]);\nCOMMIT();\nWAIT(1);\nbarrier(CLK_LOCAL_MEM_FENCE);\n"
        "b[4*g + x] = t[0][3 - x];\nWAIT(0);",
        [3.0, 2.0, 1.0, 0.0],
    ),
    "a loop that ends early": (
        "float s = 0;\nfor (int i = 0; i < 8; ++i) {\nif (i == 2) continue;\nif (i > 3) break;\n"
        "s += a[i];\n}\nint n = 0;\ndo {\nn += 2;\n} while (n < 5);\nb[4*g + x] = s + n;",
        [10.0],
    ),
    "numbers of every width": (
        "const uint u = (uint)x - 4u;\nconst uchar c = (uchar)(u >> 1);\n"
        "const long l = (long)u << 2;\nconst short h = (short)40000;\n"
        "const int n = (l > 4294967296L) + (h < 0) + (u % 7u == 0u);\n"
        "b[4*g + x] = (float)(c + n + -7 / 2 + (-7 % 4));",
        [254.0 + 3 - 6, 254.0 + 2 - 6, 255.0 + 2 - 6, 255.0 + 2 - 6],
    ),
    "a function of the C library": (
        "b[4*g + x] = sqrt((float)x) + fma(0.1f, 0.1f, -0.01f) + (isnan(0.0f / 0.0f) ? 1 : 0);",
        [],
    ),
}


@pytest.mark.parametrize("name", CLEAN)
def test_what_is_no_fault(name: str) -> None:
    body, expected = CLEAN[name]
    for seed in range(3):
        _, b = run(kernel(body), floats(), np.zeros(8, np.float32), seed=seed)
        assert b[: len(expected)].tolist() == pytest.approx(expected)


def test_products_are_rounded_once_in_fma() -> None:
    _, b = run(kernel(CLEAN["a function of the C library"][0]), floats(), floats())
    tenth = np.float32(0.1)
    exact = float(tenth) * float(tenth) - float(np.float32(0.01))
    assert b[0] == np.float32(np.float32(exact) + np.float32(1))


def test_memory_of_the_device_is_not_set_at_first() -> None:
    text = kernel("b[4*g + x] = t[x];", "__global float *b, __global const float *t")
    with pytest.raises(ExecutionError, match=r"computed from t\[\d\]"):
        run(text, floats(), room=4)


def test_structs_have_the_layout_of_c() -> None:
    pair = np.dtype([("c", np.int8), ("d", np.float64), ("v", np.float32, (3,))], align=True)
    text = (
        "typedef struct { char c; double d; float v[3]; } pair;\n"
        + HEAD
        + "__global pair *p)\n{\n"
        + IDS
        + "  p[4*g + x].d = p[4*g + x].v[2] + p[4*g + x].c;\n  p[4*g + x].v[1] = 9;\n}\n"
    )
    p = np.zeros(8, pair)
    p["c"], p["v"] = np.arange(8), np.arange(24).reshape(8, 3)
    (after,) = run(text, p)
    assert after["d"].tolist() == [n + 3 * n + 2 for n in range(8)]
    assert (after["v"][:, 1] == 9).all()
    with pytest.raises(ExecutionError, match="subscript 3 is outside of a row of 3"):
        run(text.replace("v[2]", "v[x]"), p)


def test_what_is_not_modelled_is_said() -> None:
    for body, what in {
        "b[x] = dot(a[0], a[1]);": "the function dot is not modelled",
        "float4 v = (float4)(1.0f);\nv = v + v;": "vectors and the operator +",
        'asm volatile("membar.cta;" : : : "memory");': "membar",
        "b[x] = y;": "the name y is not modelled",
    }.items():
        with pytest.raises(ExecutionError, match=what.replace("+", r"\+")) as e:
            run(kernel(body), floats(), floats())
        assert e.value.kind is None
