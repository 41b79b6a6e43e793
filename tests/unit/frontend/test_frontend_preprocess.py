"""Macros, conditionals, headers, GNU spellings; and files that need no preprocessor at all."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from lowering import body, lower, opaques, parsed, text

from loopxform.errors import InputError
from loopxform.frontend import CppOptions, parse_file
from loopxform.frontend.text.macros import expand
from loopxform.frontend.text.reader import Reader
from loopxform.ir.printer import listing


def out(c: str, **options: tuple[str, ...]) -> str:
    return " ".join(listing(lower(c, **options)).split())


EXPANDS = [
    ("#define N 8\nvoid f(float *a) { for (int i = 0; i < N; i++) a[i] = N; }",
     "for (i = 0; i < 8; i++) a[i] = 8;"),
    ("#define IDX(i, j) ((i)*n + \\\n  (j))\nvoid f(int n, float *a) { a[IDX(1, 2)] = 0; }",
     "a[1*n+2] = 0;"),
    ("#ifdef N\nvoid f(int n) { n = N; }\n#else\nvoid f(int n) { n = 0; }\n#endif", "n = 0;"),
    ("#if defined(__LP64__) && __STDC_VERSION__ >= 199901L\nvoid f(int n) { n = 1; }\n#endif",
     "n = 1;"),
    ("#include <stdbool.h>\nvoid f(bool b) { b = true; }", "b = 1;"),
    ("#include <limits.h>\nvoid f(int n) { n = INT_MAX; }", "n = 2147483647;"),
    ("#include <math.h>\nvoid f(double x) { x = M_PI; }", "x = 3.14159265358979323846;"),
    ("#define M_PI 3\n#include <math.h>\n#undef M_PI\n#define M_PI 4\nvoid f(int x) { x = M_PI; }",
     "x = 4;"),
    ("#include <stdlib.h>\nint f(void) { return EXIT_SUCCESS; }", "return 0;"),
    ("#include <assert.h>\nvoid f(int n) { assert(n > 0); n = 1; }", "n = 1;"),
    ("#pragma once\n#pragma scop\nvoid f(int n) {\n#pragma omp parallel for\n  n = 1; }", "n = 1;"),
    ("#warning hello\nvoid f(int n) { n = 1; }", "n = 1;"),
    ("#line 7 \"other.c\"\nvoid f(int n) { n = 1; }", "n = 1;"),
    ("#if 0\n don't \n#endif\nvoid f(int n) { n = 1; }", "n = 1;"),
    ("void f(int n) { n = '\"'; /* \" */ n = '\\''; // '\n n = 2; }",
     "n = '\"'; n = '\\''; n = 2;"),
    ("#define SET(x) x = 1; /* a \\\n b */ \\\n /* c\n d */ x = 2;\nvoid f(int n) { SET(n) }",
     "n = 1; n = 2;"),
    ("#define A 1 /* one\n#define B 2\n*/ + 3\n/*\n # \\\n*/ /*\n*/ void f(int n) { n = A; }",
     "n = 1 + 3;"),
    ("void f(int n) { n = 1 /* // */ + 2; // \\\n n = 3;\n n = 4; }", "n = 1 + 2; n = 4;"),
]  # fmt: skip


@pytest.mark.parametrize(("c", "expected"), EXPANDS)
def test_expands(c: str, expected: str) -> None:
    assert out(c) == expected


MACROS = """
#define STEP(x) ((x) + 1)
#define count STEP(count)
#define PAIR(a, b) (STEP(a) * b)
#define one PAIR(one, PAIR(two, 1))
#define two PAIR(one, two)
#define larger(a, b) ((a) > (b) ? (a) : larger(b, a))
#define there(x) back(there(x))
#define back(x) there(back(x))
#define SAME(x) x
"""
ITSELF = "count one two SAME(SAME(count)) STEP(STEP(1)) SAME(STEP(SAME(STEP)(2)))"
ITSELF += " larger(larger(1, 2), 3) there(back(1)) back(there(back(2))) SAME(one)"


def test_a_macro_that_comes_to_itself_expands_as_by_the_compiler() -> None:
    """C11 6.10.3.4: in the text that a macro stands for, and in the arguments there, its name is
    left alone."""
    text = f"{MACROS}{ITSELF}"
    reader = Reader()
    reader.add("t.c", text)
    ours, *_ = expand("t.c", text, CppOptions(), reader)
    cc = ["cc", "-E", "-P", "-"]
    theirs = subprocess.run(cc, input=text, capture_output=True, text=True, check=True).stdout
    marked = re.sub(r"#line.*", "", ours)
    assert "".join(marked.split()) == "".join(theirs.split())


def test_options() -> None:
    c = "void f(int n) { n = N; }"
    assert out(c, defines=("N=3",)) == "n = 3;"
    assert out(c, defines=("N",)) == "n = 1;"
    assert out(c, defines=("N=3", "F(x)=x")) == "n = 3;"
    assert out(c.replace("N", "F(2)"), defines=("F(x)=x+x",)) == "n = 2 + 2;"
    assert opaques(lower(c, defines=("N=3",), undefines=("N",)))[0].code == "LX018"
    assert out(c, defines=("N=n",)) == "n = n;"


def test_names_of_headers_are_known_only_where_included() -> None:
    assert opaques(lower("void f(double x) { x = M_PI; }"))[0].reason == "'M_PI' is not declared"
    assert out("void f(int bool) { bool = 2; }") == "bool = 2;"
    with pytest.raises(InputError, match="unknown type name 'size_t'"):
        parsed("void f(size_t n) { n = 1; }")


HEADER_TYPES = [
    ("stddef.h", "size_t", "unsigned long"),
    ("stdint.h", "uint8_t", "unsigned char"),
    ("stdint.h", "int64_t", "long"),
    ("stdio.h", "size_t", "unsigned long"),
    ("sys/types.h", "uint", "unsigned int"),
    ("CL/cl.h", "cl_float", "float"),
]


@pytest.mark.parametrize(("header", "name", "type"), HEADER_TYPES)
def test_types_of_headers(header: str, name: str, type: str) -> None:
    fn = lower(f"#include <{header}>\nvoid f({name} *a) {{ a[0] = 1; }}")
    assert fn.signature == f"void f({type} *a)"


def test_headers_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "sizes.h").write_text('#pragma once\n#include "deep.h"\n#define N DEEP\n')
    (tmp_path / "inc" / "deep.h").write_text(
        "#ifndef D\n#define D\n#define DEEP 7\nstatic int twice(int x) { return 2*x; }\n#endif\n"
    )
    file = tmp_path / "m.c"
    file.write_text(
        '#include "sizes.h"\n#include "sizes.h"\n#include <deep.h>\n\nint f(void)\n{ return N; }\n'
    )
    with pytest.raises(InputError, match=r"include file 'deep.h' not found") as caught:
        parse_file(str(file))
    assert str(caught.value.loc) == f"{tmp_path}/sizes.h:2:10"
    assert caught.value.help == "name its folder: -I DIR"
    assert caught.value.render().splitlines()[2:4] == [
        ' 2 | #include "deep.h"',
        "   |          ^^^^^^^^",
    ]
    got = parse_file(str(file), CppOptions(include_dirs=(str(tmp_path / "inc"),)))
    assert [f.name for f in got.unit.functions] == ["f"], "functions of headers are not the user's"
    assert listing(got.unit.functions[0]) == "return 7;\n"
    assert str(got.unit.functions[0].origin.loc) == f"{file}:5:5"
    names = [Path(d).name for d in got.dependencies]
    assert names == ["m.c", "sizes.h", "deep.h"]


def test_headers_are_looked_for_where_the_compiler_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every place holds another value; they go one after the other, as cc finds them."""
    monkeypatch.chdir(tmp_path)
    places = ["src/sub", "src", ".", "one", "two"]
    for n, place in enumerate(places):
        Path(place).mkdir(parents=True, exist_ok=True)
        for name in ("value.h", "math.h"):
            Path(place, name).write_text(f"#undef V\n#define V {n}\n")
    Path("src/sub/a.h").write_text('#include "value.h"\n')
    includes = [
        '#include "sub/a.h"',
        '#include "value.h"',
        "#include <value.h>",
        "#include <math.h>",
    ]
    folders = [(), ("one",), ("two", "one")]
    agreed = 0
    for gone in range(len(places)):
        for line in includes:
            for dirs in folders:
                Path("src/f.c").write_text(f"#define V 9\n{line}\nint f(void) {{ return V; }}\n")
                flags = [f"-I{d}" for d in dirs]
                cc = subprocess.run(
                    ["cc", "-E", "-P", *flags, "src/f.c"],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                if cc.returncode:
                    if "<" not in line:  # a system header that is not there is known by its name
                        with pytest.raises(InputError, match="not found"):
                            parse_file("src/f.c", CppOptions(dirs))
                    continue
                (fn,) = parse_file("src/f.c", CppOptions(dirs)).unit.functions
                found = listing(fn).split()
                assert found == cc.stdout.split("{")[-1].rstrip("}\n ").split(), (gone, line, dirs)
                agreed += 1
        Path(places[gone], "value.h").unlink()
        Path(places[gone], "math.h").unlink()
    assert agreed > 30


def test_dependencies_are_spelled_relative_to_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "n.h").write_text("#define N 1\n")
    (tmp_path / "src" / "m.c").write_text('#include "n.h"\nint f(void) { return N; }\n')
    monkeypatch.chdir(tmp_path)
    assert parse_file("src/m.c").dependencies == ("src/m.c", "src/n.h")


GNU = [
    ("void f(float *__restrict__ a) { a[0] = 1; }", "a[0] = 1;"),
    ("__attribute__((noinline, aligned (16))) void f(int n) { n = 1; }", "n = 1;"),
    ("static __inline__ void f(__const int n, int m) { m = n; }", "m = n;"),
    ("__extension__ void f(int n) { int t[2] __attribute__((unused)); n = 1; }", "t[2]; n = 1;"),
]


@pytest.mark.parametrize(("c", "expected"), GNU)
def test_gnu(c: str, expected: str) -> None:
    assert out(c) == expected


def test_an_attribute_that_changes_a_type_is_not_dropped() -> None:
    got = parsed(
        "typedef float v4 __attribute__((vector_size(16)));\n"
        "void f(v4 *a) { a[0] = a[1]; }\nvoid g(float *a) { a[0] = 1; }\n"
    )
    assert [f.name for f in got.unit.functions] == ["g"]
    assert got.failed["f"].message == "unknown type name 'v4'"


def modules(c: str, tmp_path: Path) -> set[str]:
    """What reading `c` imports, in a process of its own."""
    file = tmp_path / "m.c"
    file.write_text(c)
    code = (
        "import sys; from loopxform.frontend import parse_file; "
        f"parse_file({str(file)!r}); print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


PLAIN = """#include <stdio.h>
/* A comment. */
void f(size_t n, float *__restrict__ a)
{
  #pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 1; // done
}
"""


def test_start_up_imports_little(tmp_path: Path) -> None:
    loaded = modules(PLAIN, tmp_path)
    assert not loaded & {"pcpp", "islpy", "numpy", "jinja2", "argparse", "pyopencl", "fractions"}
    assert "pcpp" in modules("#define N 1\n" + PLAIN, tmp_path)
    assert "pcpp" in modules("#include <stdbool.h>\nint f(void) { return true; }\n", tmp_path)


def test_the_two_ways_agree() -> None:
    plain, expanded = parsed(PLAIN), parsed("#define UNUSED\n" + PLAIN)
    assert plain.unit.functions == expanded.unit.functions
    a, b = plain.unit.functions[0].body[0], expanded.unit.functions[0].body[0]
    assert a.origin.loc is not None
    assert b.origin.loc is not None
    assert (a.origin.loc.line + 1, a.origin.loc.column) == (b.origin.loc.line, b.origin.loc.column)


def test_macros_used_as_names_do_not_confuse_columns() -> None:
    fn = lower("#define LONGNAME a\nvoid f(int n, float *a) { n = 1; LONGNAME[n] = bad(n); }")
    loc = opaques(fn)[0].origin.loc
    assert loc is not None
    assert loc.column == 48


def test_text_from_memory() -> None:
    assert parse_file("-", text="int f(void) { return 1; }").unit.file == "-"
    assert text("a[0] = 1;") == "a[0] = 1;"
    assert body("a[0] = 1;").name == "f"
