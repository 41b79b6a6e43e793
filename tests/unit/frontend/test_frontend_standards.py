"""Text that the standard decides is read as the compiler reads it, or refused."""

from __future__ import annotations

import re
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from loopxform import compiler
from loopxform.errors import InputError
from loopxform.frontend.parsed import CppOptions
from loopxform.frontend.text.preprocess import preprocess
from loopxform.frontend.text.reader import Reader

TEXTS = {
    "string": 'char s[] = "??/"; int x = 1; //";',
    "macro": '#define T(x) x\nchar s[] = T("??/"); int x = T(1); //");',
    "character": "int x = '??!' == '|';",
    "spliced comment": "int x = 1 // what??/\n+ 1\n;",
    "comment": "int x = 1; /* what??( */",
    "division": "int x = 6 //* six */ 2\n;",
    "banner": "//*****\nint x = 1;",
    "escaped": 'char s[] = "?\\?/"; int x = 1;',
}
STANDARDS = ["", "-std=gnu89", "-std=c89", "-ansi", "-std=c99", "-std=gnu17", "-trigraphs"]


def plain(text: str) -> str:
    """The tokens, strings as the characters they stand for."""
    return "".join(re.sub(r"(?m)^#.*|\\(?=\?)", "", text[text.find("\nlx_begin") + 9 :]).split())


@pytest.mark.parametrize("cc", ["gcc", "clang"])
@pytest.mark.parametrize("standard", STANDARDS)
def test_the_text_is_that_of_the_compiler(
    cc: str, standard: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which(cc) is None:
        cc = "cc"
    monkeypatch.setenv("CC", cc)
    options = CppOptions(flags=compiler.flags(standard.split()))
    read = set()
    for name, line in TEXTS.items():
        text = f"\nlx_begin\n{line}\n"
        command = [cc, *standard.split(), "-w", "-E", "-P", "-x", "c", "-"]
        theirs = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        with suppress(InputError):
            ours = preprocess("t.c", text, options, Reader()).text
            assert plain(ours) == plain(f"\n{theirs.stdout}"), name
            read.add(name)
    strict = standard in ("-std=c89", "-ansi", "-std=c99", "-trigraphs")
    divides = standard in ("-std=c89", "-ansi")
    refused = {"string", "macro", "character", "spliced comment"} if strict else set[str]()
    assert read == TEXTS.keys() - refused - ({"division", "banner"} if divides else set[str]())


def test_what_is_read_otherwise_in_a_header_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.h").write_text("int x = 6 //* six */ 2\n;\n")
    text = '#include "x.h"\n'
    file = str(tmp_path / "t.c")
    assert "int x = 6" in preprocess(file, text, CppOptions(), Reader()).text
    with pytest.raises(InputError, match="begins no comment") as caught:
        preprocess(file, text, CppOptions(flags=("-std=c89",)), Reader())
    assert caught.value.loc is not None
    assert (Path(caught.value.loc.file).name, caught.value.loc.line) == ("x.h", 1)
