"""The language server as an editor drives it: its own process, real messages."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest
from editor import Editor, editor, pid
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from loopxform.api.check import checked
from loopxform.api.reading import loads

ROOT = Path(__file__).parents[2]

SMOOTH = """\
#include "size.h"

void smooth(int n, double *a, const double *b)
{
  int j;
  for (int i = 3; i < n; i++)
    a[i] = a[i - 3] * b[i];
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (j = 0; j < SIZE; j++)
      a[i] += b[j];
}

double total(int n, const double *a)
{
  double s = 0;
  for (int i = 0; i < n; i++) // sums up
    s += a[i];
  return s;
}
"""


def test_verdicts_while_somebody_types(tmp_path: Path) -> None:
    (tmp_path / "size.h").write_text("#define SIZE 8\n")
    uri = (tmp_path / "smooth.c").as_uri()

    async def session() -> None:
        async with editor(tmp_path) as e:
            await e.open(uri, SMOOTH)
            hints = await e.hints(uri)
            assert list(hints) == [6, 9, 10, 17]
            assert hints[6] == "no: flow dependence of a, direction (<)"
            assert hints[9] == "yes, private(j), if a and b do not overlap"
            assert hints[17] == "reduction(+: s)"

            no, racy = sorted(await e.diagnostics(uri), key=lambda d: d.range.start.line)
            assert (no.code, no.range.start) == ("LX101", lsp.Position(5, 2))
            ends = [(r.location.range.start.line, r.message) for r in no.related_information or ()]
            assert ends == [
                (6, "iteration i=3 (n=7): writes a"),
                (6, "iteration i=6 (n=7): reads a"),
            ]
            assert (racy.code, racy.severity) == ("LX301", lsp.DiagnosticSeverity.Error)
            assert "cure: private(j)" in racy.message

            e.edit(uri, "int j;", "int j;\n\n  /* three lines further down */\n")
            moved = await e.hints(uri)
            assert [*moved] == [9, 12, 13, 20]
            assert [*moved.values()] == [*hints.values()]
            first = (await e.diagnostics(uri))[0]
            assert "line 10 writes it at i=3 and reads it at i=6" in first.message

            e.edit(uri, "a[i - 3] *", "a[i] *")
            assert (await e.hints(uri))[9] == "yes, if a and b do not overlap"

            e.edit(uri, "s += a[i];", "s += a[i;")
            assert await e.hints(uri) == {**moved, 9: "yes, if a and b do not overlap"}
            broken = [d for d in await e.diagnostics(uri) if d.code == "LX001"]
            assert [d.range.start.line for d in broken] == [20]
            e.edit(uri, "s += a[i;", "s *= a[i];")
            assert (await e.hints(uri))[20] == "reduction(*: s)"
            assert not [d for d in await e.diagnostics(uri) if d.code == "LX001"]

            (tmp_path / "size.h").write_text("#define SIZE n\n#define OTHER 1\n")
            e.text_document_did_save(
                lsp.DidSaveTextDocumentParams(
                    lsp.TextDocumentIdentifier((tmp_path / "size.h").as_uri())
                )
            )
            await asyncio.sleep(0.1)
            assert "private(j)" in (await e.hints(uri))[12]
            hover = await e.hover(uri, 20)
            assert "**Loop over `i`: reduction (\\* of s)**" in hover
            assert "```text\nkind    array  statements" in hover
            assert not await e.hover(uri, 1)

    asyncio.run(session())


COPIES = """\
/* Copies. */
void copy(int n, int m, float a[n][m], const float *b, float s[])
{
  int i, j;
  float t;
  for (i = 0; i < n; i++)    // rows
    for (j = 0; j < m; j++) { /* columns */
      a[i][j] = b[j];
    }
  t = 1;
  #pragma omp parallel for reduction(+:t)
  for (i = 0; i < n; i++)
    t *= a[i][0];
  s[0] = t;
#pragma omp parallel for
  for (i = 1; i < n; i++)
    s[i] = s[i - 1];
}
"""

ACTIONS = {
    "restrict": (6, "Add restrict to a, b", "float a[restrict n][m], const float *restrict b,"),
    "pragma": (
        6,
        "Insert #pragma omp parallel for private(j)",
        "  #pragma omp parallel for private(j)\n  for (i = 0; i < n; i++)    // rows",
    ),
    "interchange": (
        7,
        "Interchange the loops over i and j",
        "  for (j = 0; j < m; j++)    // rows\n    for (i = 0; i < n; i++) { /* columns */\n",
    ),
    "clause": (11, "Cure: reduction(*:t)", "  #pragma omp parallel for reduction(*:t)\n"),
    "no pragma": (15, "Remove the pragma", "  s[0] = t;\n  for (i = 1;"),
}
"""Where an action is asked for, how its title begins, and what stands in the text afterwards."""


def test_actions_are_correct_c_that_says_what_was_promised(tmp_path: Path) -> None:
    uri = (tmp_path / "copy.c").as_uri()

    async def session() -> dict[str, str]:
        texts = {}
        async with editor(tmp_path) as e:
            await e.open(uri, COPIES)
            for name, (line, title, _) in ACTIONS.items():
                found = await e.actions(uri, line)
                (action,) = (a for t, a in found.items() if t.startswith(title))
                texts[name] = e.apply(uri, action)
            only = await e.actions(uri, 11, [lsp.CodeActionKind.QuickFix])
            assert [a.diagnostics[0].code for a in only.values() if a.diagnostics] == ["LX305"]
            assert not await e.actions(uri, 4)
        return texts

    texts = asyncio.run(session())
    for name, (_, _, written) in ACTIONS.items():
        text = texts[name]
        assert written in text, name
        path = tmp_path / f"{name}.c"
        path.write_text(text)
        command = ["gcc", "-std=c11", "-fopenmp", "-Wall", "-Werror", "-fsyntax-only", str(path)]
        subprocess.run(command, check=True)
        report = checked(loads(text))
        assert not report.problems, name
        assert len(report.loops) == 4, name
        assert sum(bool(c.findings) for c in report.claims) == 2 - (name in ("clause", "no pragma"))


def test_the_tiled_kernel_opens(tmp_path: Path) -> None:
    uri = (tmp_path / "mm.c").as_uri()

    async def session() -> None:
        async with editor(tmp_path) as e:
            await e.open(uri, (ROOT / "corpus" / "mm.c").read_text())
            assert "Show the tiled kernel of mm" in await e.titles(uri, 6)
            about = lsp.ExecuteCommandParams("loopxform.tiledKernel", [uri, 5])
            found = await e.workspace_execute_command_async(about)
            assert "__kernel" in str(found)
            (opened,) = e.opened
            assert "__kernel" in Path(opened.removeprefix("file://")).read_text()
            e.edit(uri, "acc += A", "A[i][k] = A[i][k - 1]; acc += A")
            with pytest.raises(JsonRpcException, match="LX"):
                await e.workspace_execute_command_async(
                    lsp.ExecuteCommandParams("loopxform.tiledKernel", [uri, 0])
                )

    asyncio.run(session())


def _many(count: int) -> str:
    loop = (
        "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n      a[i][j] = a[j][i];\n"
    )
    return "".join(f"void f{k}(int n, float a[n][n])\n{{\n{loop}}}\n\n" for k in range(count))


def test_requests_about_a_text_that_has_changed_are_given_up(tmp_path: Path) -> None:
    uri, other = ((tmp_path / name).as_uri() for name in ("many.c", "renamed.c"))

    async def session() -> None:
        async with editor(tmp_path) as e:
            await e.open(uri, _many(240))
            asked = asyncio.ensure_future(e.hints(uri))
            await asyncio.sleep(0.1)  # it was sent, and is far from answered
            e.edit(uri, "void f0(", "void g0(")
            with pytest.raises(JsonRpcException) as outdated:
                await asked
            assert outdated.value.code == lsp.LSPErrorCodes.ContentModified

            e.edit(uri, "void g0(", "void h0(")
            last = asyncio.ensure_future(e.hints(uri))
            await asyncio.sleep(0.1)
            (number,) = e.protocol._request_futures
            e.cancel_request(lsp.CancelParams(number))
            with pytest.raises(JsonRpcException) as cancelled:
                await last
            assert cancelled.value.code == lsp.LSPErrorCodes.RequestCancelled
            assert len(await e.hints(uri)) == 480
            kinds = [p["kind"] for p in e.progress]
            assert kinds[0] == "begin"
            assert "report" in kinds
            assert kinds.count("end") == kinds.count("begin")

            _rename(e, uri, other)
            assert await e.diagnostics(uri, version=None) == []
            assert len(await e.hints(other)) == 480
            with pytest.raises(JsonRpcException, match="is not open"):
                await e.hints(uri)

            windows = "\r\n".join(["/* \U0001f600 */ void w(int n, int *a) {", *LOOP, "}"])
            await e.open(uri, windows)
            assert list(await e.hints(uri)) == [2]
            (pragma,) = (await e.actions(uri, 2)).values()
            written = e.apply(uri, pragma)
            assert written == windows.replace("  for", "  #pragma omp parallel for\r\n  for")
            e.edit(uri, "a[i] = 0", "a[i] = a[i - 1] /* \U0001f600 */ + a[i + 1]")
            assert (await e.hints(uri))[2].startswith("no: flow dependence")
            e.text_document_did_close(
                lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(uri))
            )
            del e.versions[uri]
            assert await e.diagnostics(uri) == []

    asyncio.run(session())


LOOP = ["  for (int i = 1; i < n; i++)", "    a[i] = 0;"]


def _rename(e: Editor, old: str, new: str) -> None:
    """A file that is open gets another name, as editors say it that keep it open."""
    e.texts[new], e.versions[new] = e.texts.pop(old), e.versions.pop(old)
    e.workspace_did_rename_files(lsp.RenameFilesParams([lsp.FileRename(old, new)]))


def test_settings(tmp_path: Path) -> None:
    uri = (tmp_path / "with_macro.c").as_uri()
    text = "void f(float *a)\n{\n  for (int i = 0; i < N; i++)\n    a[i] = a[i STEP];\n}\n"
    options = {"defines": ["N=64"], "includePath": ["x"], "timeLimit": "long"}

    async def session() -> None:
        async with editor(tmp_path, options, {"defines": ["N=64", "STEP=+0"]}) as e:
            await e.message()
            await e.open(uri, text)
            assert (await e.hints(uri))[3] == "yes"
            assert "there is no setting 'includePath' [LX239]; did you mean 'includePaths'?" in (
                " ".join(e.shown)
            )
            assert "'timeLimit' must be a number from 0.1 to 3600, not 'long'" in " ".join(e.shown)
            e.settings = {"defines": ["N=64", "STEP=-1"]}
            e.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(None))
            for _ in range(100):
                await asyncio.sleep(0.05)
                if (await e.hints(uri))[3].startswith("no: flow"):
                    break
            assert (await e.hints(uri))[3].startswith("no: flow")
            e.settings = ["odd"]
            e.shown.clear()
            e.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(None))
            assert "the settings must be an object, not ['odd']" in await e.message()
            assert pid(e) > 0

    asyncio.run(session())


def test_without_the_extra_a_remedy() -> None:
    code = (
        "import sys; sys.modules['pygls'] = None; from loopxform.cli import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "lsp"], capture_output=True, text=True, check=False, input=""
    )
    assert done.returncode == 2
    assert not done.stdout
    assert re.search(r"needs the package pygls.*\[LX238\]", done.stderr)
    assert "pip install 'loopxform[lsp]'" in done.stderr
