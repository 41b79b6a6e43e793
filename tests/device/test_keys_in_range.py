"""Keys of a histogram that are out of range: your own loops run, and say why."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_project import PLAIN, SANITIZED, STRICT, cc, require_opencl, run_app

import loopxform as lx

LOOPS = {
    "counts": ("int h[restrict m]", "int *h", "h[key[i]]++;"),
    "sums-under-a-condition": (
        "int h[restrict m]", "int *h", "if (key[i] != 3) h[key[i]] += key[i];",
    ),
    "flags": ("int h[restrict m]", "int *h", "h[key[i]] = 77;"),
    "last-writer": ("int h[restrict m]", "int *h", "if (i % 3 != 1) h[key[i]] = i * 5;"),
    "key-in-a-scalar": (
        "int h[restrict m]", "int *h", "{ int k = key[i]; if (h[k] < i) h[k] = i; }",
    ),
    "rows": ("int h[restrict 2][5]", "int (*h)[5]", "h[key[i] / 5][key[i] % 5]++;"),
    "members": ("struct pair h[restrict 5]", "struct pair *h", "h[key[i] >> 1].b++;"),
}  # fmt: skip
PROGRAM = """
struct pair {{ int a, b; }};
void f(int n, int m, const int key[n], {declared})
{{
  for (int i = 0; i < n; i++)
    {body}
}}
"""
MAIN = """
struct pair {{ int a, b; }};
void f(int n, int m, const int *key, {pointer});

static int differs(int n, int m, int bad)
{{
  static int key[1000], h[16], own[16];
  for (int i = 0; i < 16; i++)
    h[i] = own[i] = i;
  for (int i = 0; i < n; i++)
    key[i] = i * 7 % 10;
  if (bad && n > 0)
    key[n / 2] = 12;
  for (int i = 0; i < n; i++) {{
    {pointer} = (void *)own;
    {body}
  }}
  f(n, m, key, (void *)h);
  for (int i = 0; i < 16; i++)
    if (h[i] != own[i])
      return 1;
  return 0;
}}

int main(void)
{{
  return differs(1000, 10, 0) || differs(0, 10, 0) || differs(1, 1, 0) || differs(1000, 10, 1);
}}
"""


@pytest.mark.parametrize("case", LOOPS)
def test_they_are_for_the_host(case: str, tmp_path: Path) -> None:
    require_opencl()
    file = tmp_path / "f.c"
    declared, pointer, body = LOOPS[case]
    file.write_text(PROGRAM.format(declared=declared, body=body))
    lx.load(file).offload("f").write(tmp_path)
    (tmp_path / "main.c").write_text(MAIN.format(pointer=pointer, body=body))
    files = ["f_opencl.c", "main.c", "-o", "app", "-lOpenCL", "-lm"]
    built = cc(tmp_path, *STRICT, "-Wno-shadow", *PLAIN, *SANITIZED, *files)
    assert built.returncode == 0, built.stderr
    leaks = {"ASAN_OPTIONS": "detect_leaks=0"}
    done = run_app(
        tmp_path / "app", whole=True, LOOPXFORM_HOST="never", LOOPXFORM_VERBOSE="1", **leaks
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("is out of range; running") == 1
    assert done.stderr.count("on the device") == 2


def test_bytes_need_no_look(tmp_path: Path) -> None:
    declared, _, body = LOOPS["counts"]
    text = PROGRAM.format(declared=declared, body=body)
    text = text.replace("const int key", "const unsigned char key")
    for size, looks in (("256", False), ("255", True), ("m", True)):
        file = tmp_path / "f.c"
        file.write_text(text.replace("restrict m]", f"{size}]"))
        lx.load(file).offload("f").write(tmp_path)
        assert ("lx_keys_of_f" in (tmp_path / "f_opencl.c").read_text()) == looks


def test_rows_of_any_number(tmp_path: Path) -> None:
    """Arrays whose first dimension has no size: those of rows, and members of a struct that a
    pointer leads to."""
    text = """
    struct tally { int used, key[50], count[10]; };
    void f(struct tally *t) { for (int i = 0; i < t->used; i++) t->count[t->key[i]]++; }
    void g(int n, const int *key, int h[][10]) { for (int i = 0; i < n; i++) h[i % 3][key[i]]++; }
    """
    file = tmp_path / "f.c"
    file.write_text(text)
    lx.load(file).offload().write(tmp_path)
    assert (tmp_path / "f_opencl.c").read_text().count("lx_at >= (long long)10") == 2


def test_tiled_functions_look_as_well(tmp_path: Path) -> None:
    declared, _, body = LOOPS["counts"]
    text = PROGRAM.format(declared=declared, body=body)
    lx.loads(text)["f"].tile().write(tmp_path)
    written = next(tmp_path.glob("*_opencl.c")).read_text()
    assert "lx_keys_of_f(n, m, key, h, lx_told);" in written
