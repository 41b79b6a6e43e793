"""Macros that compilers predefine, and what they decide: the text is the one the compiler sees."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

import loopxform as lx
from loopxform import cli, compiler
from loopxform.frontend.parsed import CppOptions
from loopxform.frontend.text.preprocess import preprocess
from loopxform.frontend.text.reader import Reader

IF = "#if {}\n#define SC 2\n#else\n#define SC 3\n#endif\n"


def defined(name: str, header: str = "") -> str:
    return (f"#include <{header}>\n" if header else "") + IF.format(f"defined({name})")


def value(condition: str, header: str = "") -> str:
    return (f"#include <{header}>\n" if header else "") + IF.format(condition)


TABLE: dict[str, str] = {
    "__GNUC__": "#ifdef __GNUC__\n#define SC 2\n#else\n#define SC 3\n#endif\n",
    "__GNUC__ version": value("__GNUC__ >= 5"),
    "__GNUC_MINOR__": "#define SC (__GNUC_MINOR__ + 1)\n",
    "__GNUC_PREREQ": value("__GNUC_PREREQ(5, 1)", "features.h"),
    "__clang__": defined("__clang__"),
    "__x86_64__": defined("__x86_64__"),
    "__SSE2__": defined("__SSE2__"),
    "__AVX2__": defined("__AVX2__"),
    "__FMA__": defined("__FMA__"),
    "_OPENMP": defined("_OPENMP"),
    "_OPENMP date": value("_OPENMP >= 201511"),
    "__STDC_VERSION__": value("__STDC_VERSION__ >= 199901L"),
    "__STDC_VERSION__ in between": value(
        "defined __STDC_VERSION__ && __STDC_VERSION__ > 199901L && __STDC_VERSION__ < 201710L"
    ),
    "__STRICT_ANSI__": "#ifndef __STRICT_ANSI__\n#define SC 2\n#else\n#define SC 3\n#endif\n",
    "__GNUC_STDC_INLINE__": defined("__GNUC_STDC_INLINE__"),
    "__OPTIMIZE__": defined("__OPTIMIZE__"),
    "__NO_INLINE__": defined("__NO_INLINE__"),
    "__OPTIMIZE_SIZE__": defined("__OPTIMIZE_SIZE__"),
    "__FAST_MATH__": defined("__FAST_MATH__"),
    "__FINITE_MATH_ONLY__": "#define SC (__FINITE_MATH_ONLY__ + 2)\n",
    "__NO_MATH_ERRNO__": defined("__NO_MATH_ERRNO__"),
    "__GCC_IEC_559": value("__GCC_IEC_559 > 0"),
    "__BYTE_ORDER__": value("__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__"),
    "__CHAR_BIT__": "#define SC __CHAR_BIT__\n",
    "__SIZEOF_LONG__": value("__SIZEOF_LONG__ == 8"),
    "__INT_MAX__": value("__INT_MAX__ > 32767"),
    "__SIZE_TYPE__": "#define SC ((int)sizeof(__SIZE_TYPE__))\n",
    "__LP64__": defined("__LP64__"),
    "__PIC__": defined("__PIC__"),
    "__PIE__": defined("__PIE__"),
    "unix": defined("unix"),
    "__linux__": defined("__linux__"),
    "__ELF__": defined("__ELF__"),
    "_WIN32": defined("_WIN32"),
    "__cplusplus": defined("__cplusplus"),
    "__STDC_HOSTED__": value("__STDC_HOSTED__"),
    "__STDC_IEC_559__": defined("__STDC_IEC_559__"),
    "__STDC_NO_VLA__": defined("__STDC_NO_VLA__"),
    "__has_include": value("defined __has_include && __has_include(<stdio.h>)"),
    "__has_include of nothing": (
        "#ifdef __has_include\n#if __has_include(<no_such_header.h>)\n#define SC 4\n#else\n"
        "#define SC 2\n#endif\n#else\n#define SC 3\n#endif\n"
    ),
    "__has_attribute": value("defined __has_attribute && __has_attribute(always_inline)"),
    "__has_builtin": "#ifdef __has_builtin\n" + value("__has_builtin(__builtin_readcyclecounter)")
    + "#else\n#define SC 4\n#endif\n",
    "__has_builtin beside the user's": "#define OWN 1\n"
    + value("OWN && __has_builtin(__builtin_bswap32)"),
    "by another name": "#define HAS(x) __has_builtin(x)\n" + value("HAS(__builtin_bswap32)"),
    "the user's own": "#define __has_wide(x) ((x) > 3)\n#define WIDE 7\n"
    + value("__has_wide(WIDE)"),
    "__COUNTER__": "enum { first = __COUNTER__, second = __COUNTER__ };\n#define SC (second + 2)\n",
    "#ifdef __COUNTER__": defined("__COUNTER__"),
    "__LINE__": "enum { line = __LINE__ };\n#define SC line\n",
    "#if __LINE__": value("__LINE__ > 3"),
    "__INCLUDE_LEVEL__": value("__INCLUDE_LEVEL__"),
    "CHAR_BIT": value("CHAR_BIT == 8", "limits.h"),
    "INT_MAX": value("INT_MAX > 32767", "limits.h"),
    "PATH_MAX": defined("PATH_MAX", "limits.h"),
    "RAND_MAX": value("RAND_MAX == 2147483647", "stdlib.h"),
    "M_PI": "#include <math.h>\n#ifndef M_PI\n#define M_PI 3\n#endif\n"
    "#define SC ((int)(M_PI * 100))\n",
    "UINT64_MAX": value("UINT64_MAX > UINT32_MAX", "stdint.h"),
    "FLT_EVAL_METHOD": value("FLT_EVAL_METHOD == 0", "float.h"),
    "__GLIBC__": defined("__GLIBC__", "stdlib.h"),
    "_POSIX_C_SOURCE": defined("_POSIX_C_SOURCE", "stdio.h"),
    "__USE_GNU": "#define _GNU_SOURCE\n" + defined("__USE_GNU", "stdio.h"),
    "NDEBUG": defined("NDEBUG", "assert.h"),
    "isnan": defined("isnan", "math.h"),
    "a pasted name": "#define MOST(T) __##T##_MAX__\n" + value("MOST(SCHAR) == 127"),
    "a macro of macros": "#define NEW (__GNUC__ > 4 && MODERN)\n#define MODERN __OPTIMIZE__\n"
    + value("NEW"),
    "undefined": "#undef __GNUC__\n" + defined("__GNUC__"),
    "defined anew": "#undef __OPTIMIZE__\n#define __OPTIMIZE__ 5\n#define SC __OPTIMIZE__\n",
}  # fmt: skip
"""What compilers define, and text that says how many times `SC` is."""

STANDARDS = ["c89", "gnu89", "c99", "gnu99", "c11", "c17", "gnu17"]
MORE = ["-fopenmp", "-march=haswell", "-ffast-math", "-Os", "-fno-pic", "-DNDEBUG -U__SSE2__"]
BUILDS = [
    *(f"-std={s} -{o}" for s, o in product(STANDARDS, ("O0", "O2"))),
    *(f"-O2 {x}" for x in MORE),
]


QUICK = ["-std=c89 -O0", "-std=gnu17 -O2", "-O2 -ffast-math", "-O2 -DNDEBUG -U__SSE2__"]


@pytest.mark.parametrize("cc", ["gcc", "clang"])
@pytest.mark.parametrize(
    "build", [pytest.param(b, marks=[] if b in QUICK else [pytest.mark.slow]) for b in BUILDS]
)
def test_the_text_is_the_compilers(
    cc: str, build: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of the table is one file: what one row does is in force for the next."""
    monkeypatch.setenv("CC", cc)
    words = build.split()
    options = CppOptions(
        (),
        tuple(w[2:] for w in words if w.startswith("-D")),
        tuple(w[2:] for w in words if w.startswith("-U")),
        compiler.flags(words),
    )
    rows = "".join(f"{text}int lx_row = SC;\n#undef SC\n" for text in TABLE.values())
    ours = preprocess("rows.c", rows, options, Reader()).text
    file = tmp_path / "rows.c"
    file.write_text(rows)
    command = [cc, *words, "-E", "-P", "rows.c"]
    theirs = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert dict(zip(TABLE, said(ours), strict=True)) == dict(
        zip(TABLE, said(theirs.stdout), strict=True)
    )


def said(text: str) -> list[str]:
    """What the rows say, without blanks."""
    return ["".join(x.split()) for x in re.findall(r"int lx_row =([^;]*);", text)]


# ---------------------------------------------------------------- what is written

LOOP = "void f(int n, int *a)\n{\n  int i;\n  for (i = 0; i < n; i++)\n    a[i] = i * SC;\n}\n"
MAIN = """int printf(const char *format, ...);
int main(void)
{
  int a[10];
  f(10, a);
  printf("%d\\n", a[7]);
  return 0;
}
"""
PLACED = {"__COUNTER__", "__LINE__", "#if __LINE__"}
"""Rows that say something else at another place."""


def cc_of(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)


def tiled(name: str, tmp_path: Path, *cflags: str) -> Path:
    """The drop-in of a row, written for these options."""
    (tmp_path / "row.c").write_text(TABLE[name] + LOOP)
    define = [w[2:] for w in cflags if w.startswith("-D")]
    undefine = [w[2:] for w in cflags if w.startswith("-U")]
    file = lx.load(tmp_path / "row.c", cflags=cflags, define=define, undefine=undefine)
    file["f"].tile().write(tmp_path)
    return tmp_path / "row_opencl.c"


def program(tmp_path: Path, cc: str, build: list[str], *files: str) -> str:
    """What the program prints, or what the compiler says of it."""
    words = [cc, *build, "-w", "-DCL_TARGET_OPENCL_VERSION=120", *files, "-o", "app", "-lOpenCL"]
    built = cc_of(tmp_path, *words)
    return cc_of(tmp_path, "./app").stdout if not built.returncode else built.stderr


@pytest.mark.parametrize("row", ["__has_builtin beside the user's", "by another name"])
def test_a_question_beside_the_users_macros_is_asked_again(row: str, tmp_path: Path) -> None:
    """The compiler that reads the written file may answer another thing; that one does not."""
    written = tiled(row, tmp_path)
    assert "#if !(__has_builtin(__builtin_bswap32))\n#error" in written.read_text()
    said = cc_of(tmp_path, "cc", "-O2", "-fsyntax-only", written.name).stderr
    assert "other than here" not in said


SOME = ["__GNUC__ version", "__OPTIMIZE__", "__FAST_MATH__", "__SIZE_TYPE__", "M_PI", "NDEBUG"]
OTHER = [("gcc", "-std=c99 -O0"), ("clang", "-std=gnu17 -O2"), ("gcc", "-O2 -ffast-math -DNDEBUG")]


def _cases() -> Iterator[object]:
    """Some rows in all builds, those with headers in one each: `test_the_whole_product` has all."""
    for n, (name, text) in enumerate(TABLE.items()):
        if name in SOME or "#include" in text:
            marks = [] if name in SOME else [pytest.mark.slow]
            for cc, build in OTHER if name in SOME else [OTHER[n % len(OTHER)]]:
                yield pytest.param(name, cc, build, marks=marks, id=f"{name}-{cc}-{build}")


@pytest.mark.opencl_sdk
@pytest.mark.parametrize(("name", "cc", "build"), list(_cases()))
def test_a_drop_in_is_right_or_no_program(name: str, cc: str, build: str, tmp_path: Path) -> None:
    """Written for `gcc -O2`, compiled otherwise: the number of the user's file, or an #error."""
    tiled(name, tmp_path)
    (tmp_path / "main.c").write_text(f"void f(int n, int *a);\n{MAIN}")
    (tmp_path / "user.c").write_text(TABLE[name] + LOOP + MAIN)
    said = program(tmp_path, cc, build.split(), "row_opencl.c", "main.c")
    right = program(tmp_path, cc, build.split(), "user.c")
    assert right.strip().isdigit()
    assert said == right or "other than here" in said or "not_what_it_was" in said


PRODUCT = [
    *(f"-std={s} -{o}" for s, o in product(("c89", "c99", "c17", "gnu17"), ("O0", "O2"))),
    *(f"-O2 {x}" for x in MORE),
]


APART = {"__USE_GNU", "undefined", "defined anew"}
"""Rows that decide what headers, or other rows, say."""


@pytest.mark.slow
@pytest.mark.parametrize("cc", ["gcc", "clang"])
def test_the_whole_product(cc: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row, written for a compiler as it is, in every build of both: what the written C asks
    is an error there, or its number is that of the user's text. In its own build it is no error.
    Rows that leave each other alone are one file: all that is asked, then the numbers."""
    monkeypatch.setenv("CC", cc)
    names = [x for x in TABLE if x not in PLACED]
    asked, same = dict[str, str](), dict[str, str]()
    for n, name in enumerate(names):
        text = tiled(name, tmp_path).read_text()
        (number,) = re.findall(r"^    a\[i\] = i ?\* ?([^;]*);", text, re.MULTILINE)
        questions = text.split("*/\n", 1)[1].split("#ifndef LOOPXFORM_RUNTIME")[0]
        test = f"typedef char lx_wrong_{n}[(SC) == ({number}) ? 1 : -1];\n#undef SC\n"
        asked[name] = f'#line 1 "asked {n}"\n{questions}'.replace("not_what_it_was", f"was_{n}")
        same[name] = f'#line 1 "row {n}"\n{TABLE[name]}{test}'
    plain = [x for x in names if "#include" not in TABLE[x] and x not in APART]
    headers = [x for x in names if "#include" in TABLE[x] and x not in APART]
    counts = {"right": 0, "refused": 0}
    for rows in (plain, headers, *([x] for x in APART)):
        both = "".join(asked[x] for x in rows) + "".join(same[x] for x in rows)
        (tmp_path / "both.c").write_text(both)
        for other, build in [(cc, "-O2"), *product(("gcc", "clang"), PRODUCT)]:
            more = ["-ferror-limit=0"] if other == "clang" else []
            words = ["-w", "-fsyntax-only", *more, *build.split(), "both.c"]
            said = cc_of(tmp_path, other, *words).stderr
            refused = {names[int(n)] for n in re.findall(r"^asked (\d+):.*error", said, re.M)}
            wrong = {names[int(n)] for n in re.findall(r"^row (\d+):.*error", said, re.M)}
            assert refused >= wrong, (other, build, wrong - refused, said)
            assert refused or not said, (other, build, said)
            assert not refused or (other, build) != (cc, "-O2"), refused
            counts["refused"] += len(refused)
            counts["right"] += len(rows) - len(refused)
    print(cc, counts)
    assert min(counts.values()) > 100


def test_check_says_for_which_builds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What decides other functions is not said, and nothing is said twice."""
    file = tmp_path / "f.c"
    other = "#ifdef __FAST_MATH__\n#define LOG 1\n#endif\n#include <math.h>\n"
    other += "#ifndef __OPTIMIZE__\n#undef EXTRA\n#endif\n"
    file.write_text(f"{TABLE['__OPTIMIZE__']}{other}{LOOP}")
    assert cli.main(["check", str(file), "--cflags", "-O0"]) == 0
    assert "        for builds with __OPTIMIZE__ not defined\n" in capsys.readouterr().out
    assert cli.main(["check", str(file), "--format", "json"]) == 0
    (function,) = json.loads(capsys.readouterr().out)["functions"]
    assert function["macros"] == ["__OPTIMIZE__ defined"]
