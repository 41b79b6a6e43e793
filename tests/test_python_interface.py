"""What a user sees of the objects in an interactive session: short texts, whole errors, arguments
that are checked."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import loopxform as lx
from loopxform import budget, errors

MM = Path(__file__).parents[1] / "corpus" / "mm.c"

SUMS = """
void scale(int n, float *a) { for (int i = 0; i < n; i++) a[i] *= 2; }
float sum(int n, const float *a) {
    float s = 0;
    #pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++) s += a[i];
    return s;
}
void shift(int n, float *a) { for (int i = 1; i < n; i++) a[i] = a[i - 1]; }
"""


@pytest.fixture(scope="module")
def mm() -> lx.Routine:
    return lx.load(MM)["mm"]


# ---------------------------------------------------------------- texts


def test_every_object_is_one_short_line(mm: lx.Routine, tmp_path: Path) -> None:
    sums = tmp_path / "sums.c"
    sums.write_text(SUMS)
    report, file = lx.check(sums), lx.load(sums)
    tiled, offloaded = mm.tile(Ty=4, Tx=4), file["scale"].offload()
    whole = file.offload("scale")
    shown = [
        *(file, *file, mm.file, mm, tiled, offloaded, *offloaded.parts, whole, *whole.regions),
        *(report, *report, *report.loops, *report.claims, mm.apply("interchange i j")),
        *(m for f in report for m in f.matrices),
        *(d for f in report for d in f.dependences),
        *(tiled.derivation, *tiled.derivation.records, report.functions[1].claims[0]),
    ]
    for x in shown:
        text = repr(x)
        assert text.startswith(f"<{type(x).__name__} ")
        assert "\n" not in text
        assert len(text) < 60 + 2 * len(str(sums)), text


def test_what_the_texts_say(mm: lx.Routine) -> None:
    assert repr(mm) == f"<Routine mm of {MM}>"
    assert repr(lx.loads(SUMS, "s.c")) == "<File s.c: scale, sum, shift>"
    assert repr(mm.tile(recipe="naive", Ty=4, Tx=4)).startswith("<TiledRoutine mm: naive T")
    assert [repr(v) for v in lx.loads(SUMS, "s.c")["shift"].check()] == [
        "<LoopVerdict s.c:9:31: i no>"
    ]
    many = "".join(f"void f{n}(void) {{}}\n" for n in range(100))
    assert repr(lx.loads(many)) == "<File <text>: f0, f1, f2, f3, f4, f5 and 94 more>"


# ---------------------------------------------------------------- files


def test_a_file_is_a_collection_of_functions() -> None:
    file = lx.loads(SUMS)
    assert "sum" in file
    assert "max" not in file
    assert 3 not in file
    assert len(file) == 3
    assert [f.name for f in file] == ["scale", "sum", "shift"]
    assert bool(lx.loads("int x;"))
    assert len(lx.loads("int x;")) == 0


def test_a_report_is_a_collection_of_functions() -> None:
    report = lx.check(MM)
    assert "mm" in report
    assert "nn" not in report
    assert len(report) == 1


# ---------------------------------------------------------------- errors


def test_every_error_is_public() -> None:
    kinds = [*vars(errors).values(), *vars(budget).values()]
    for kind in kinds:
        if inspect.isclass(kind) and issubclass(kind, lx.LoopxformError):
            assert getattr(lx, kind.__name__) is kind
            assert kind.__name__ in lx.__all__


def test_the_text_of_an_error_is_whole() -> None:
    with pytest.raises(lx.InputError) as e:
        lx.loads("void f(int n, float *a) { for (int i = 0; i < n; i++) a[i] = ; }", "f.c")
    text, shown = str(e.value), e.value.render()
    first, *rest = text.split("\n")
    assert first.startswith("f.c:1:62: ")
    assert first.endswith(f"[{e.value.code}]")
    assert [line.replace(" error:", "", 1) for line in shown.split("\n") if "|" not in line] == [
        first,
        *rest,
    ]
    assert "^" not in text


def test_a_refused_step_says_why_and_what_to_do() -> None:
    with pytest.raises(lx.TransformError) as e:
        lx.loads(SUMS, "s.c")["shift"].apply("parallelise i")
    assert str(e.value).startswith("s.c:9:59: cannot parallelise i: ")
    assert "\n   = witness: " in str(e.value)


# ---------------------------------------------------------------- arguments

Call = Callable[[lx.Routine], Any]

REFUSED: dict[str, tuple[Call, str]] = {
    "vector": (lambda f: f.tile(vector=3), "vector must be 1, 2, 4, 8 or 16, or None, not 3"),
    "stages": (lambda f: f.tile(stages=0), "stages must be a whole number from 1 to 8, or None"),
    "pad": (lambda f: f.tile(pad="no"), "pad must be True or False, or None, not 'no'"),
    "recipe": (lambda f: f.tile(recipe="registers"), "recipe must be 'register', 'block', "),
    "contract": (lambda f: f.tile(contract="off"), "contract must be True or False, not 'off'"),
    "one": (lambda f: f.tile(reassociate=1), "reassociate must be True or False, not 1"),
    "index": (lambda f: f.tile(index=16), "index must be 32 or 64, or None, not 16"),
    "layout": (lambda f: f.tile(warp_tile="4x8"), r"\(4, 8\), or None, not '4x8'"),
    "relayout": (lambda f: f.tile(relayout={"A": "1,0"}), "relayout must be orders of dimensions"),
    "specialise": (lambda f: f.tile(specialise=["M=4"]), "specialise must be sizes by name"),
    "limits": (lambda f: f.tile(limits=3), "limits must be the name of a profile"),
    "size": (lambda f: f.tile(Ty="16"), "Ty must be a whole number from 1 to 1048576, not '16'"),
    "true": (lambda f: f.tile(Ty=True), "Ty must be a whole number from 1 to 1048576, not True"),
    "unknown": (lambda f: f.tile(stage=2), "no argument 'stage'.*\n.*did you mean 'stages'"),
    "offload": (lambda f: f.offload(reasociate=True), "did you mean 'reassociate'"),
    "offload-pad": (lambda f: f.offload(pad=1), "pad must be True or False, or None, not 1"),
    "file": (lambda f: f.file.offload(Tz=0), "Tz must be a whole number from 1"),
    "tiles": (lambda f: f.apply(tiles={"T": "4"}), "tiles must be sizes by name"),
    "step": (lambda f: f.apply(3), "step must be a text, not 3"),
    "include": (lambda _: lx.load(MM, include="foo"), r"include must be a list: \['foo'\], not"),
    "define": (lambda _: lx.loads("", define=[3]), r"define must be a list of texts, not \[3\]"),
    "bytes": (lambda _: lx.loads(b"int x;"), "text must be a text, not b'int x;'"),  # type: ignore[arg-type]
    "number": (lambda f: f.file[3], "name must be a text, or None, not 3"),
    "load": (lambda _: lx.load(MM, includes=["."]), "did you mean 'include'"),
    "check": (lambda _: lx.check(MM, time_limit="20"), "time_limit must be a number above 0"),
    "check-name": (lambda _: lx.check(MM, funktion="mm"), "did you mean 'function'"),
    "opposite": (lambda f: f.tile(no_pad=True), "there is no argument 'no_pad'"),
    "tile-only": (lambda f: f.offload(stages=2), "there is no argument 'stages'"),
    "file-only": (lambda f: f.file.offload(cyclic=2), "there is no argument 'cyclic'"),
    "twice": (
        lambda f: f.tile(pack=0, serpentine=0, group_order=4, swizzle_groups=8),
        "'group_order' is 'swizzle_groups', which is given too",
    ),
    "twice-no": (lambda f: f.tile(preload=True, register_pipeline=False), "given too"),
    "former": (lambda f: f.tile(layouts={}, manifest={"A": (1, 0)}), "given too"),
    "variant": (lambda f: f.tile(recipe="block", variant="naive"), "given too"),
    "seconds": (lambda f: f.check(-1), "seconds must be a number above 0, or None, not -1"),
    "device": (lambda f: f.tile().compile(device=0), "device must be a text, or None, not 0"),
}


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("case", REFUSED)
def test_an_argument_that_is_not_allowed(case: str, mm: lx.Routine) -> None:
    call, message = REFUSED[case]
    with pytest.raises(lx.ArgumentError, match=message) as e:
        call(mm)
    assert isinstance(e.value, TypeError)


def test_a_function_that_is_not_there_is_not_offloaded(mm: lx.Routine) -> None:
    with pytest.raises(lx.InputError, match="there is no function 'nm'"):
        mm.file.offload("nm")


def test_arguments_that_are_allowed(mm: lx.Routine) -> None:
    assert len(lx.load(MM, include=(Path("."),), define=["X=1"], undefine=["Y"])) == 1
    tiled = mm.tile(vector=4, stages=1, pad=False, index=64, warp_tile=(4, 8), limits="h100")
    assert tiled.sizes


# ---------------------------------------------------------------- numpy

WITHOUT = "import sys; sys.modules['numpy'] = None; "


@pytest.mark.parametrize("call", ["m.tile(Ty=4).compile()", "m.dtype('A')"])
def test_missing_numpy_is_an_error_of_ours(call: str) -> None:
    code = f"import loopxform as lx; m = lx.load({str(MM)!r})['mm']\n"
    code += f"try: {call}\nexcept lx.DeviceError as e: print(e)"
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + code], capture_output=True, text=True, check=True
    )
    assert "running kernels needs numpy" in done.stdout
    assert "= help: pip install numpy" in done.stdout


@pytest.mark.parametrize("command", ["run", "bench", "devices"])
def test_commands_without_numpy_end_in_one_diagnostic(command: str) -> None:
    words = [command] if command == "devices" else [command, str(MM), "--size", "M=4,N=4,U=4"]
    code = f"{WITHOUT}from loopxform.cli import main; sys.exit(main({words}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.count("running kernels needs numpy") == 1
    assert "help: pip install numpy" in done.stderr
