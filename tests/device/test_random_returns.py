"""Random loops that return, written for a device, do what they do without: elements end where they
are declared to end, and both programs run with sanitizers."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from c_project import assert_file_prints_the_same, require_opencl
from returning_programs import program

import loopxform as lx
from loopxform.targets.target import GENERIC

CONDITIONS = (
    *("a[i] == key", "x[i] > 2 * key", "!(x[i] >= 0)", "a[i] != b[i]", "a[i] * 2 > key + b[i]"),
    *("a[i] == key && x[i] < 9", "a[n - 1 - i] == key", "x[i] != x[n - 1 - i] || a[i] > 2"),
    *("i > 0 && a[i] == key + 1", "a[i] / 2 == b[i]"),
)
RESULTS = (
    *("return i;", "return a[i] * 3;", "*row = i; return -2;", "{ *row += a[i]; return *row; }"),
    *("return a[i] < b[i] ? -1 : 1;", "{ for (int k = 0; k < 3; k++) *row -= k; return n - i; }"),
    *("{ if (i % 2) return 7; return 8; }", "{ *value += x[i]; return b[n - 1]; }", "break;"),
)
HEADS = (
    *("for (int i = 0; i < n; i++)", "for (int i = 0; n > i; ++i)", "for (int i = 2; i < n; i++)"),
    *(
        "for (i = 0; i < n; i++)",
        "for (i = 1; i <= n - 1; i += 1)",
        "for (int i = n - 1; i >= 0; i--)",
    ),
    *("for (i = n - 1; i > 0; --i)", "while"),
)
BODIES = (
    "if ({c}) {{ {r} }}",
    "if ({c}) {{ {r} }} if ({d}) {{ {s} }}",
    "if (!({c})) continue; {r}",
    "int w = a[i] - b[i]; if (w > 3) continue; if ({c}) {{ {r} }} else if (w < 0) {{ {s} }}",
    "w = a[i] + i; if (w > key) {{ if ({c}) {{ {r} }} }}",
    "for (int j = 0; j < 4; j++) if (m[i][j] == key + 9 && b[i] > 0) {{ *row = j; return i; }}",
    "float t = 0; for (int j = 0; j < 4; j++) t += m[i][j]; if (t > 9 && {c}) {{ {r} }}",
    "for (int j = 0; j <= i; j++) if (a[j] == key && a[i] == a[j] + 1) return j;",
)


def function(name: str, rng: random.Random) -> str:
    head, body = rng.choice(HEADS), rng.choice(BODIES)
    (c, d), (r, s) = rng.sample(CONDITIONS, 2), rng.sample(RESULTS, 2)
    text = body.format(c=c, d=d, r=r, s=s)
    if head == "while":
        text = text.replace("continue;", "{ i++; continue; }")
        loop = f"i = {rng.choice('013')}; while (i < n) {{ {text} i++; }}"
    else:
        loop = f"{head} {{ {text} }}"
    return (
        f"int {name}(int n, int key, const int a[n], const int b[n], const float x[n], "
        "int (*m)[4], int *row, float *value)\n{ int i = 5, w = 1;\n"
        f"{loop}\n*value += {rng.choice('wi')}; return i - 100; }}".replace(
            "int (*m)[4]", "const int m[n][4]"
        )
    )


CALL = "{}(n, key, a, b, x, (const int (*)[4])table, &row, &value)"


def block(seed: int, count: int, tmp_path: Path) -> tuple[int, int]:
    """How many functions of one program are on the device, and what that said of calls."""
    rng = random.Random(seed)
    names = [f"f{n}" for n in range(count)]
    pairs = [(function(name, rng), CALL.format(name)) for name in names]
    source = tmp_path / "returns.c"
    source.write_text(program(pairs, "0, 1, 2, 7, 255, 257"))
    limits = replace(GENERIC, search_parts=(5,) if seed % 2 else ())
    done = lx.load(source).offload(*names, limits=limits, contract=False)
    said = assert_file_prints_the_same(source, done, sanitized=True)
    return len(done.regions), sum("on the device" in x for x in said)


@pytest.mark.opencl_sdk
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_random_returns(tmp_path: Path, seed: int) -> None:
    require_opencl()
    count = 6 if not seed else 12
    taken, calls = block(seed, count, tmp_path)
    assert taken > count / 2, taken
    assert calls > 10 * taken, calls
