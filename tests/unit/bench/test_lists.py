"""Lists on the command line: sizes, variants, programs."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from loopxform.bench import external, sizes, variants
from loopxform.errors import InputError, LoopxformError, UsageError


def test_sweeps_multiply_and_equal_names_go_together() -> None:
    asked = ["M=N=2,4", "U=8,16"]
    assert sizes.every({"c": 0.5}, asked) == [
        {"c": 0.5, "M": m, "N": m, "U": u} for m in (2, 4) for u in (8, 16)
    ]
    assert sizes.every({"M": 3}, []) == [{"M": 3}]
    assert sizes.every({}, ["M=2,2"]) == [{"M": 2}]


def test_a_file_has_a_set_a_line(tmp_path: Path) -> None:
    file = tmp_path / "sizes.txt"
    file.write_text("# nearly square\nM=214 U=272 N=263\n\nM=432,U=415, N=456  # the second\n")
    first, second = sizes.every({}, [str(file)])
    assert first == {"M": 214, "U": 272, "N": 263}
    assert second == {"M": 432, "U": 415, "N": 456}
    assert sizes.every({}, ["thesis"])[:2] == [first, second]


def test_the_sizes_of_the_thesis_are_nearly_square() -> None:
    every = sizes.every({}, ["thesis"])
    assert len(every) == 16
    assert every[-1] == {"M": 4294, "U": 4220, "N": 4229}
    assert all(max(s.values()) < 1.3 * min(s.values()) for s in every)


@pytest.mark.parametrize("text", ["M=", "M=1,2,N=3", "M=M=2", "=2", "1=2", "M=1_0"])
def test_what_is_no_sweep(text: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"'{text}' is not NAME=NUMBER")):
        sizes.every({}, [text])


def test_a_size_that_is_given_twice() -> None:
    for common, asked in (({"M": 2}, ["M=3"]), ({}, ["M=2", "M=3"])):
        with pytest.raises(UsageError, match="'M' is given twice"):
            sizes.every(common, asked)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("M=2 N\n", "sizes:1:5: error: 'N' is not NAME=NUMBER [LX237]"),
        ("\nM=2, M=3\n", "sizes:2:6: error: 'M' is there twice [LX237]"),
        ("# none\n", "has no sizes"),
        ("[]", "has no sizes"),
        ('[{"M": 2},\n {"M": x}]', "sizes:2:8: error: this is no JSON: Expecting value"),
        ('[{"M": 2},\n 3]', "sizes:2:2: error: a set of sizes is an object, names with numbers"),
        ('{"M": 2}', "sizes:1:7: error: a set of sizes is an object"),
        ('[{"M": 2, "N": "3"}]', """sizes:1:16: error: "3" is not a number [LX237]"""),
        ('[{"M": true}]', "sizes:1:8: error: true is not a number"),
        ('[{"M": 2, "M": 3}]', "sizes:1:16: error: 'M' is there twice"),
        ('[{"n-1": 2}]', "sizes:1:10: error: 'n-1' is no name"),
        (
            "[" * 100_000,
            "sizes:1:1: error: a number is too long, or brackets are nested too deeply",
        ),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_the_place(
    text: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sizes").write_text(text)
    with pytest.raises(InputError) as caught:
        sizes.every({}, ["sizes"])
    assert words in caught.value.render()


def test_sets_in_json(tmp_path: Path) -> None:
    path = tmp_path / "sizes"
    for text in (
        '[{"M": 2, "x.n": 0.5}, {"M": 3, "x.n": 1e3}]',
        ' {"small" : {"M":2 , "x.n":0.5} , "large" : {"M": 3,\n"x.n": 1e3}}\n',
    ):
        path.write_text(text)
        found = sizes.every({"k": 1}, [str(path)])
        assert found == [{"k": 1, "M": 2, "x.n": 0.5}, {"k": 1, "M": 3, "x.n": 1000}]


def test_variants_are_recipes_times_numbers() -> None:
    found = variants.every("naive,auto,naive", ["Tk=8,16", "Rk=2"])
    assert [v.label for v in found] == [
        "naive Tk=8 Rk=2",
        "naive Tk=16 Rk=2",
        "auto Tk=8 Rk=2",
        "auto Tk=16 Rk=2",
    ]
    assert [v.recipe for v in found] == ["naive", "naive", None, None]


def test_a_label_has_what_the_recipe_has() -> None:
    for v, label in zip(
        variants.every("naive,register", ["Tk=8", "stages=2", "warp-tile=4x8"]),
        ("naive", "register Tk=8 stages=2 warp-tile=4x8"),
    ):
        sizes = {"Ty": 16} if v.recipe == "naive" else {"Ty": 16, "Tk": 8}
        assert v.used(sizes).label == label


def test_an_option_is_varied_by_the_name_of_an_earlier_release() -> None:
    with pytest.warns(FutureWarning, match="'cyclic' is called 'block-cyclic' now"):
        former = variants.every("register", ["cyclic=1,2"])
    assert former == variants.every("register", ["block-cyclic=1,2"])


@pytest.mark.parametrize(
    ("recipes", "varied", "words"),
    [
        ("naive,blok", [], "there is no variant 'blok'"),
        ("naive", ["Q=1"], "'Q=1' is not NAME=VALUE,..."),
        ("naive", ["Tk"], "'Tk' is not NAME=VALUE,..."),
        ("naive", ["Tk=8,0"], "Tk must be a whole number"),
        ("naive", ["vector=3"], "no vector has 3 elements"),
        ("naive", ["stages=2,9"], "stages must be a whole number from 1 to 8, not '9'"),
        ("naive", ["warp-tile=4"], "'4' is no rectangle"),
        ("naive", ["pad="], "'pad=' is not NAME=VALUE,..."),
        ("naive", ["Tk=8", "Tk=16"], "'Tk' is varied twice"),
    ],
)
def test_what_is_no_variant(recipes: str, varied: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        variants.every(recipes, varied)


# ---------------------------------------------------------------- programs


def program(tmp_path: Path, body: str) -> str:
    file = tmp_path / "prog.py"
    file.write_text(f"import sys\n{body}\n")
    return f"'{sys.executable}' '{file}' {{M}} n={{N}}"


def test_the_last_line_is_milliseconds(tmp_path: Path) -> None:
    text = program(tmp_path, "print('hello', sys.argv[1:]); print(int(sys.argv[1]) / 4, '2.5')")
    at = {"M": 6, "N": 9}
    (command,) = external.commands([text], [at])
    row = command.row(at)
    assert row.milliseconds == (1.5, 2.5)
    assert (row.kind, row.median) == ("command", 2.0)


def test_programs_of_one_name_are_numbered() -> None:
    found = external.commands(["a/prog {M}", "prog", "other", "prog 2"], [{"M": 1}])
    assert [c.label for c in found] == ["prog", "prog#2", "other", "prog#3"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("print('done')", "prints no milliseconds"),
        ("print('1.5'); print('nan')", "prints no milliseconds"),
        ("", "prints no milliseconds"),
        ("sys.exit('no device')", "ends with status 1"),
    ],
)
def test_a_program_that_fails_says_why(body: str, words: str, tmp_path: Path) -> None:
    at = {"M": 6, "N": 9}
    (command,) = external.commands([program(tmp_path, body)], [at])
    with pytest.raises(LoopxformError) as e:
        command.row(at)
    assert words in e.value.message
    assert e.value.code == "LX069"
    assert "no device" in str(e.value.notes) or "sys.exit" not in body


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("prog {Q}", "there is no size 'Q'"),
        ("prog {}", "there is no size ''"),
        ("prog {M", "expected '}'"),
        ("prog 'x", "No closing quotation"),
        ("", "there is no program"),
    ],
)
def test_what_is_no_command(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        external.commands([text], [{"M": 1}])
