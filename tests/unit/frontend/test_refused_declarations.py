"""Declarations that are no C, macros of <inttypes.h>, and arrays that are never touched."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import loopxform as lx
from loopxform.errors import UnsupportedC
from loopxform.frontend.text.prelude import MACROS

NO_C = {
    "void f(int n, float a[2][restrict n]) { a[0][0] = n; }": "'restrict' in brackets",
    "void f(int n, float (*a)[const n]) { a[0][0] = n; }": "'const' in brackets",
    "void f(int n, float *a) { float t[static 4]; t[0] = n; a[0] = t[0]; }": "'static' in brackets",
}


@pytest.mark.parametrize("text", NO_C)
def test_qualifiers_in_other_brackets_are_refused(text: str) -> None:
    with pytest.raises(UnsupportedC, match=NO_C[text]) as e:
        _ = lx.loads(text, "t.c").routine("f").function
    assert (e.value.code, e.value.loc is not None) == ("LX251", True)
    assert "leave it out" in e.value.help


def test_those_of_a_parameter_are_c() -> None:
    text = "void f(int n, float a[static restrict 2][n]) { a[0][0] = n; }"
    assert lx.loads(text, "t.c").routine("f").function.name == "f"


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_formats_of_inttypes_are_those_of_the_compiler(tmp_path: Path) -> None:
    names = {k: v for k, v in MACROS["inttypes.h"].items() if k[:3] in ("PRI", "SCN")}
    tests = "".join(f"if (strcmp({k}, {v})) return 1;\n" for k, v in names.items())
    text = f"#include <inttypes.h>\n#include <string.h>\nint main(void) {{ {tests} return 0; }}\n"
    (tmp_path / "t.c").write_text(text)
    subprocess.run(["cc", "t.c", "-o", "t"], cwd=tmp_path, check=True)
    assert len(names) > 150
    assert subprocess.run([tmp_path / "t"], check=False).returncode == 0


UNTOUCHED = {
    "if (i < 0) a[i] += c[i];",
    "for (int j = 5; j < 3; j++) a[i] += c[j];",
}


@pytest.mark.parametrize("statement", sorted(UNTOUCHED))
def test_an_array_that_is_never_touched_does_not_keep_a_loop_on_the_host(statement: str) -> None:
    head = "void f(int n, float *restrict a, const float *restrict b, const float *restrict c)"
    text = f"{head} {{ for (int i = 0; i < n; i++) {{ a[i] = b[i]; {statement} }} }}"
    assert "__kernel" in "".join(lx.loads(text, "t.c").offload().files.values())


def test_a_variable_with_the_name_of_a_function_of_c_is_refused_with_a_new_name() -> None:
    text = """static float y0 = 3;
void f(int n, float *restrict a) { for (int i = 0; i < n; i++) a[i] = y0; }"""
    ((_, why),) = lx.loads(text, "t.c").offload().left
    assert "is a function of C's library" in why.message
    assert why.help == "rename it, my_y0 for example"
