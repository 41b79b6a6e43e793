"""The names of loops: scans, compactions, histograms, searches, and what only looks like one."""

from __future__ import annotations

import pytest

from loopxform import loads
from loopxform.cli.check_text import named

HEAD = "int f(int n, int m, int key, int *restrict a, int *restrict b, int *restrict out, float *x)"
GRID = "void f(int n, int m, int a[n][m], int y[n][m], int *restrict b, int *restrict out)"


def names_of(text: str, line: int = 1) -> str:
    """What the first loop of a line is."""
    (first, *_) = (v for v in next(iter(loads(text))).check() if v.line == line)
    return "; ".join(map(str, first.idioms))


def body(statements: str, *, before: str = "int s = 0, t = 1, k = 0;", lo: int = 1) -> str:
    loop = f"for (int i = {lo}; i < n; i++) {{ {statements} }}"
    return f"{HEAD} {{ {before} {loop} return s + t + k; }}"


SCANS = {
    "a[i + 1] = a[i - 1] + b[i];": "scan of a (+, inclusive, distance 2)",
    "a[i] += a[i - 4];": "scan of a (+, inclusive, distance 4)",
    "out[i] = 3 * out[i - 2] + a[i];": "scan of out (linear recurrence, inclusive, distance 2)",
    "s += a[i]; out[i] = s;": "scan of s (+, inclusive)",
    "out[i] = s; s += a[i];": "scan of s (+, exclusive)",
    "out[i] = s; s -= a[i]; b[i] = s;": "scan of s (+, both)",
    "s = s ^ a[i]; out[i] = s;": "scan of s (^, inclusive)",
    "if (a[i] > s) s = a[i]; out[i] = s;": "scan of s (max, inclusive)",
    "s = a[i] < s ? a[i] : s; out[i] = s;": "scan of s (min, inclusive)",
    "if (a[i] > s) { s = a[i]; k = i; } out[i] = k;": (
        "scan of s (max); scan of k (arg-max, inclusive)"
    ),
    "s = s * 31 + a[i];": "scan of s (linear recurrence)",
    "s = b[i] - 3 * (s + a[i]); out[i] = s;": "scan of s (linear recurrence, inclusive)",
    "s *= 3; s += a[i]; out[i] = s;": "scan of s (linear recurrence, inclusive)",
    "if (b[i]) s += a[i]; out[i] = s;": "scan of s (+, inclusive)",
    "if (b[i]) s = 0; s += a[i]; out[i] = s;": "segmented scan of s (+, inclusive)",
    "if (b[i]) k = i; out[i] = k;": "scan of k (last value set, inclusive)",
    "s += a[i]; t += s; out[i] = t;": "scan of s (+, inclusive); scan of t (+, inclusive)",
    "s += a[i]; t += s;": "scan of s (+, inclusive); reduction of t (+)",
    "s += a[i]; a[i] = s;": "scan of s (+, inclusive)",
    "int old = a[i]; a[i] = s; s += old;": "scan of s (+, exclusive)",
    "for (int j = 0; j < m; j++) s += a[i * m + j]; out[i] = s;": "scan of s (+, inclusive)",
    "if (b[i]) out[i] = a[k++];": "scan of k (+, exclusive)",
    "out[i] = s; s = 0; s += a[i];": "segmented scan of s (+, exclusive)",
    "out[i] = s; s = a[i];": "scan of s (last value set, exclusive)",
    "s += a[i]; k += 2; out[i] = s + k;": "scan of s (+, inclusive)",
    "a[i] += a[i - 1];": "scan of a (+, inclusive)",
    "a[i] = a[i] * b[i] + a[i - 1];": "scan of a (+, inclusive)",
    "a[i + 1] = a[i] + b[i];": "scan of a (+, inclusive)",
    "x[i] = (x[i] - x[i - 1] * b[i]) / a[i];": "scan of x (linear recurrence, inclusive)",
    "a[i] = b[i] > a[i - 1] ? b[i] : a[i - 1];": "scan of a (max, inclusive)",
    "a[i] = a[i - 1] + b[i]; out[i] = 2 * a[i];": "scan of a (+, inclusive)",
    "if (b[i]) a[i] = a[i - 1] * 3;": "segmented scan of a (*, inclusive)",
    "a[i] = a[i - 1];": "scan of a (last value set, inclusive)",
}

PREPARED = {
    "s = b[i] ? a[i] : s + a[i]; out[i] = s;": "segmented scan of s (+, inclusive)",
    "s = (b[i] ? 0 : s) + a[i]; out[i] = s;": "segmented scan of s (+, inclusive)",
    "s = a[i] == a[i - 1] ? s + 1 : 1; out[i] = s;": "segmented scan of s (+, inclusive)",
    "s = b[i] ? s + 1 : 0; t = s > t ? s : t;": (
        "segmented scan of s (+, inclusive); reduction of t (max)"
    ),
    "s = b[i] > 0 ? b[i] : s; out[i] = s;": "scan of s (last value set, inclusive)",
    "s = b[i] > 0 ? s : s ^ a[i]; out[i] = s;": "scan of s (^, inclusive)",
    "s = b[i] > 0 ? s + 1 : b[i] < 0 ? s - 1 : s; out[i] = s;": "scan of s (+, inclusive)",
    "int now = s + a[i]; out[i] = now; s = now;": "scan of s (+, inclusive)",
    "int old = out[i - 1]; out[i] = old + a[i];": "scan of out (+, inclusive)",
    "out[i] = a[i] == a[i - 1] ? out[i - 1] + 1 : 1;": "segmented scan of out (+, inclusive)",
    "if (b[i]) out[i] = b[i]; else out[i] = out[i - 1];": "scan of out (last value set, inclusive)",
    "if (b[i] > out[i - 1]) out[i] = b[i]; else out[i] = out[i - 1];": (
        "scan of out (max, inclusive)"
    ),
    "out[i] = (i > 1 ? out[i - 1] : 0) + a[i];": "scan of out (+, inclusive)",
    "if (i == 1) out[i] = a[i]; else out[i] = out[i - 1] + a[i];": "scan of out (+, inclusive)",
    "s = b[i] ? a[s & 7] : s + a[i]; out[i] = s;": "",
    "s = s > 9 ? a[i] : s + a[i]; out[i] = s;": "",
    "s = b[i] ? s / 2 : s + a[i]; out[i] = s;": "",
    "out[i] = b[i] ? out[i - 1] + out[i + 1] : 1;": "",
    "if (b[i]) out[i] = out[i - 1] / 2; else out[i] = 1;": "",
}

GRIDS = {
    "for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) y[i][j] = a[i][j] + y[i - 1][j];": (
        "scan of y (+, inclusive)"
    ),
    "for (int i = 1; i < n; i++) for (int j = 0; j < m; j++)"
    " y[i][j] = a[i][j] ? y[i - 1][j] + 1 : 0;": "segmented scan of y (+, inclusive)",
    "for (int i = 1; i < n; i++) for (int j = 0; j < m; j++)"
    " if (a[i][j]) y[i][j] = y[i - 1][j]; else y[i][j] = 1;": (
        "scan of y (last value set, inclusive)"
    ),
    "for (int i = 1; i < n; i++) for (int j = 1; j < m; j++)"
    " y[i][j] = a[i][j] ? y[i - 1][j] + y[i][j - 1] : 0;": "",
    "for (int i = 0; i < n; i++) { int s = 0; for (int j = 0; j < m; j++)"
    " { s += a[i][j]; y[i][j] = (i ? y[i - 1][j] : 0) + s; } }": "scan of y (+, inclusive)",
    "for (int i = 1; i < n; i++) for (int j = 1; j < m; j++)"
    " y[i][j] = a[i][j] + y[i - 1][j] + y[i][j - 1] - y[i - 1][j - 1];": (
        "scan of y (+, inclusive)"
    ),
    "{ b[0] = 0; for (int i = 0; i < n; i++) if (out[i]) { y[0][b[0]] = i; b[0]++; } }": (
        "compaction into y, counted by b[0]"
    ),
    "for (int j = 0; j < m; j++) for (int i = 1; i < n; i++) y[i][j] = a[i][j] + y[i - 1][j];": "",
    "for (int i = 0; i < n; i++)"
    " for (int j = 0; j < m; j++) { b[j] += a[i][j]; y[i][j] = b[j]; }": (
        "scan of b[j] (+, inclusive)"
    ),
    "for (int i = 1; i < n; i++) for (int j = 1; j < m; j++)"
    " y[i][j] = a[i][j] + y[i - 1][j] + y[i][j - 1];": "",
    "for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) b[i] = b[i - 1] + a[i][j];": "",
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) out[j] += a[i][j];": (
        "reduction of out[j] (+)"
    ),
}

COMPACTIONS = {
    "if (a[i] > 0) out[k++] = a[i];": "compaction into out, counted by k",
    "if (a[i] > 0) out[++k] = a[i];": "compaction into out, counted by k",
    "if (a[i] > 0) { out[k] = a[i]; k = 1 + k; }": "compaction into out, counted by k",
    "if (a[i] > 0) out[--k] = a[i];": "compaction into out, counted by k",
    "if (a[i] > 0) { out[k] = b[i]; k -= 1; }": "compaction into out, counted by k",
    "if (a[i] > 0) a[k++] = a[i];": "compaction into a, counted by k",
    "if (a[i] > 0) a[++k] = a[i];": "compaction into a, counted by k",
    "{ int x = a[i]; if (x > 0) { a[k] = x; k++; } }": "compaction into a, counted by k",
    "if (a[i] > 0) { out[k] = a[i]; b[k] = i; k++; }": ("compaction into out, b, counted by k"),
    "if (a[i] > 0) { out[k] = a[i]; out[k + 1] = i; k += 2; }": (
        "compaction into out, counted by k"
    ),
    "if (a[i] > 0) { out[2 * k] = i; out[k * 2 + 1] = a[i]; k++; }": (
        "compaction into out, counted by k"
    ),
    "if (a[i] > 0) out[k++] = a[i]; else b[s++] = i;": (
        "compaction into out, counted by k; compaction into b, counted by s"
    ),
    "for (int j = 0; j < m; j++) if (a[i * m + j]) out[k++] = j;": (
        "compaction into out, counted by k"
    ),
}

CAPPED = {
    "if (a[i] > 0 && k < m) out[k++] = a[i];": "compaction into out, counted by k while k < m",
    "if (m > k && a[i]) { out[k] = i; k++; }": "compaction into out, counted by k while k < m",
    "if (a[i] > 0) if (k != 64) out[k++] = i;": "compaction into out, counted by k while k != 64",
    "if (k >= 64) continue; if (a[i]) out[k++] = i;": (
        "compaction into out, counted by k while k < 64"
    ),
    "if (a[i] && k < m) { out[k] = i; b[k] = a[i]; ++k; }": (
        "compaction into out, b, counted by k while k < m"
    ),
    "if (a[i] && k < m) k++; out[i] = k;": "scan of k (+, inclusive) while k < m",
    "if (a[i] > 0) { if (k < m) out[k] = a[i]; k++; }": "compaction into out, counted by k",
    "if (a[i] && k < m) out[k++] = i; else s += a[i];": "",
    "if (a[i] && k < m) { out[k++] = i; s = s * s + i; }": "",
    "if (a[i] > b[k] && k < m) { out[k++] = i; }": "",
    "if (a[i] && k < m) out[k++] = i; if (b[i]) k++;": "",
    "if (a[i] && k < s) out[k++] = i; s += b[i];": "",
    "if (a[i] && k < m) { b[i] = 1; k++; } if (b[i + 1]) k++;": "",
    "if (a[i] && k > m) out[k++] = i;": "",
}

HISTOGRAMS = {
    "out[a[i]]++;": "histogram of out (+)",
    "int bin = a[i] / 4; out[bin] += b[i];": "histogram of out (+)",
    "if (out[a[i]] < b[i]) out[a[i]] = b[i];": "histogram of out (max)",
    "out[i / 2] += a[i];": "reduction of out (+)",
    "s += a[i];": "reduction of s (+)",
    "if (a[i] < s) { s = a[i]; k = i; }": "reduction of s (min); arg-min in k",
}

FLAGS = {
    "out[b[i]] = 1;": "flags in out (= 1)",
    "if (a[i] > 3) out[b[i] & 7] = m + 1;": "flags in out (= m + 1)",
    "s += a[i]; x[b[i]] = -0.0f;": "flags in x (= -0.0f); reduction of s (+)",
}

SCATTERS = {
    "out[b[i]] = a[i];": "scatter into out (last writer)",
    "if (a[i] > 3) { int t = a[i] * 2; out[b[i] & 7] = t; }": "scatter into out (last writer)",
    "out[b[i]] = i; s += a[i];": "scatter into out (last writer); reduction of s (+)",
    "out[b[i]] = i; x[b[i]] = 2;": "flags in x (= 2); scatter into out (last writer)",
}

SEARCHES = {
    "if (a[i] == key) { k = i; break; }": "search for the first i with a[i] == key",
    "if (a[i] == key) return i;": "search for the first i with a[i] == key",
    'if (a[i] == key) { puts("hit"); return i; }': "search for the first i with a[i] == key",
    'if (a[i] == key) return i; puts("missed");': "",
    "if (a[i] > key) if (b[i]) break;": "search for the first i with a[i] > key && b[i]",
    "if (a[i] != key) continue; k = i; break;": "search for the first i with a[i] == key",
    "int w = a[i] * a[i]; if (w > key) { s = w; break; }": "search for the first i with w > key",
    "if (a[i] == key) break; if (b[i] == key) return 7;": (
        "search for the first i with a[i] == key || b[i] == key"
    ),
}

LOOPS = {
    "int i = 0; while (i < n && a[i] != key) i++; return i;": (
        "search for the first i with a[i] == key"
    ),
    "int i; for (i = 0; i < n && a[i] != key; i++) ; return i;": (
        "search for the first i with a[i] == key"
    ),
    "int i; for (i = 0; i < n && a[i]; i++) ; return i;": ("search for the first i with a[i] == 0"),
    "int i, found = 0; for (i = 0; i < n && !found; i++) if (a[i] > key) found = 1;"
    " return found;": ("search for the first i with a[i] > key"),
    "int i, go = 1, at = -1; for (i = 0; go && i < n; i++) if (a[i] > key) { go = 0; at = i; }"
    " return at;": "search for the first i with a[i] > key",
    "int i; for (i = 0; i < n && a[i] < key; i++) ; return i;": (
        "search for the first i with a[i] >= key"
    ),
    "int i; for (i = 0; i < n && a[i] < 0.5f * key; i++) ; return i;": (
        "search for the first i with !(a[i] < 0.5f * key)"
    ),
    "int i; for (i = 0; a[i] != key; i++) ; return i;": "",
    "int i, s; for (i = 0, s = 0; i < n; s += a[i], i++) out[i] = s; return s;": (
        "scan of s (+, exclusive)"
    ),
    "int i, s; for (i = 0, s = 0; i < n; i++, s += a[i]) out[i] = s; return s;": "",
    "while (n--) out[*a++]++; return 0;": "histogram of out (+)",
    "int i, found = 0; for (i = 0; i < n && !found; i++) if (a[i] > key + found) found = 1;"
    " return found;": "",
}

NAMELESS = {
    "in place, beyond what was read": "if (a[i] > 0) { a[2 * k] = a[i]; k++; }",
    "in place, two at a time": "if (a[i] > 0) { a[k++] = a[i]; a[k++] = 1; }",
    "in place, what was written is read": "if (a[i - 1] > 0) a[k++] = a[i];",
    "in place, from an unknown place": "if (i == 1) k = key; if (a[i] > 0) a[k++] = a[i];",
    "down and up": "if (a[i] > 0) out[--k] = a[i]; else out[k++] = 1;",
    "a term that comes from it": "s += a[s & 7]; out[i] = s;",
    "a condition that does": "if (s < 100) s += a[i]; out[i] = s;",
    "a bound that does": "for (int j = 0; j < s; j++) s += a[j]; out[i] = s;",
    "by way of another": "s += a[i] + t; t = s / 2; out[i] = s;",
    "by way of an array": "s += a[i]; a[i + 1] = s;",
    "by way of an element of the iteration": "a[i] = s; s += a[i] + 1;",
    "two that feed each other": "s += t; t += s; out[i] = t;",
    "clamped": "s += a[i]; if (s < 0) s = 0; out[i] = s;",
    "a division of integers": "s = s / 2 + a[i]; out[i] = s;",
    "rounded each time": "s += x[i]; out[i] = s;",
    "squared": "s = s * s + a[i]; out[i] = s;",
    "the second one before too": "a[i] = a[i - 1] + a[i - 2];",
    "two that take turns": "a[i] = a[i - 2] + a[i - 4];",
    "a far one": "a[i] = a[i - 17] + b[i];",
    "an old value that is overwritten": "a[i] = a[i - 1] + b[i]; out[i] = a[i + 1];",
    "turns": "a[i % 2] = a[(i - 1) % 2] + b[i]; out[i] = a[i % 2];",
    "an element that a later one overwrites": "out[i] = s; s += out[i + 1];",
    "an induction variable": "out[k] = a[i]; k += 2; b[k] = i;",
    "what was kept last": "if (k == 0 || a[i] != out[k - 1]) out[k++] = a[i];",
    "counted less often than written": "out[k] = a[i]; if (a[i] > 0) k++;",
    "written past what is counted": "if (a[i]) { out[k] = i; out[k + 1] = i; k++; }",
    "written past the pair that is counted": (
        "if (a[i]) { out[2 * k] = i; out[2 * k + 2] = i; k++; }"
    ),
    "counted back": "if (a[i] > 0) out[k++] = i; if (b[i] > 0) k--;",
    "counted by what may be below 0": "if (a[i] > 0) out[k++] = i; else k += b[i];",
    "of two widths": "if (a[i]) { out[2 * k] = i; out[k] = i; k++; }",
    "ranks": "out[i] = b[a[i]]; b[a[i]]++;",
    "another dependence": "s += a[i]; out[i] = s; b[a[i]] = b[i];",
    "a search that writes": "out[i] = a[i]; if (a[i] == key) break;",
    "a search of a sum": "s += a[i]; if (s > key) break;",
    "along a list": "if (a[k] < 0) break; k = a[k];",
    "no data": "if (i * i > key) break;",
}


NAMED = {
    **SCANS,
    **PREPARED,
    **COMPACTIONS,
    **CAPPED,
    **HISTOGRAMS,
    **FLAGS,
    **SCATTERS,
    **SEARCHES,
}


@pytest.mark.parametrize("statements", NAMED)
def test_named(statements: str) -> None:
    assert names_of(body(statements)) == NAMED[statements]


@pytest.mark.parametrize("text", LOOPS)
def test_named_whole(text: str) -> None:
    found = [v for v in loads(f"{HEAD} {{ {text} }}")["f"].check() for _ in v.idioms]
    assert "; ".join(str(x) for v in found for x in v.idioms) == LOOPS[text]


@pytest.mark.parametrize("text", GRIDS)
def test_named_in_nests(text: str) -> None:
    assert names_of(f"{GRID} {{ {text} }}") == GRIDS[text]


@pytest.mark.parametrize(
    ("type", "named"),
    [("unsigned char", False), ("short", False), ("unsigned", True), ("long", True)],
)
def test_counters_that_wrap_around_count_nothing_apart(type: str, *, named: bool) -> None:
    text = body("if (a[i]) out[c++] = i;", before=f"int s = 0, t = 0, k = 0; {type} c = 0;")
    assert bool(names_of(text)) == named


@pytest.mark.parametrize("case", NAMELESS)
def test_nameless(case: str) -> None:
    assert names_of(body(NAMELESS[case])) == ""


def test_a_running_extremum_of_real_numbers_assumes_that_none_is_nan() -> None:
    (v,) = loads(
        "void f(int n, const float *restrict x, float *restrict out) { float m = x[0];"
        " for (int i = 0; i < n; i++) { if (x[i] > m) m = x[i]; out[i] = m; } }"
    )["f"].check()
    assert v.idioms[0].assumes == ("no x[i] is NaN", "m is not NaN before the loop")


def test_json() -> None:
    (v,) = loads(body("if (b[i]) s = 0; s += a[i]; out[i] = s;"))["f"].check()
    assert v.json()["idioms"] == [
        {
            "kind": "scan",
            "variable": "s",
            "operator": "+",
            "reads": "inclusive",
            "segmented": True,
        }
    ]
    (v,) = loads(body("if (a[i] > 0) out[k++] = a[i];"))["f"].check()
    assert v.json()["idioms"] == [
        {"kind": "compaction", "variable": "k", "condition": "a[i] > 0", "arrays": ["out"]}
    ]
    (v,) = loads(body("out[i] = a[i];"))["f"].check()
    assert "idioms" not in v.json()


def test_text_names_what_the_verdict_does_not() -> None:
    told = {
        "s += a[i]; out[i] = s;": "; scan of s (+, inclusive)",
        "out[a[i]]++;": "; histogram of out (+)",
        "s += a[i];": "",
        "if (a[i] < s) { s = a[i]; k = i; }": "",
    }
    for statements, words in told.items():
        (v,) = loads(body(statements))["f"].check()
        assert named(v) == words


def test_loops_around_one_that_returns_are_searches() -> None:
    inner = "for (int j = 0; j < m; j++)"
    head = "int f(int n, int m, int x, int a[n][m]) { int k = 0; for (int i = 0; i < n; i++)"
    found = names_of(f"{head} {inner} if (a[i][j] == x) return i * m + j; return k; }}")
    assert found == "search for the first i with a[i, j] == x"
    counting = f"{{ k++; {inner} if (a[i][j] == x) return k; }}"
    assert names_of(f"{head} {counting} return k; }}") == ""
    assert names_of(f"{head} {inner} if (a[i][j] == x) break; return k; }}") == ""
