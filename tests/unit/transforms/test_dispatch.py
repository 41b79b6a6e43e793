"""Dispatch: variants of a nest, each a schedule of its own, under guards that the host asks."""

from __future__ import annotations

import json

import pytest
from c_texts import MM
from conftest import Golden
from deriving import assert_same_meaning, c, derived, start

from loopxform.codegen.c.program import function_text
from loopxform.errors import TransformError, UsageError
from loopxform.ir.nodes import Decl
from loopxform.ir.printer import listing
from loopxform.ir.types import Space
from loopxform.ir.visit import walk
from loopxform.transforms import STEPS, Derivation, Dispatch, Variant, from_json, replay, step

ROWS = c("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = b[j][i] + 1;",
         "int n, float a[n][n], const float b[n][n]")  # fmt: skip
TWICE = c("for (int t = 0; t < 3; t++) { for (int i = 0; i < n; i++) a[i] += b[i]; }")

Row = tuple[str, str, dict[str, int], str]
"""A label, its guard, tile sizes and steps, each list in one text."""

COUNTED = "N<=1073741823; N>=1; U>=1; U<=2147483647/(4*((N+3)/4))"
COPY = "".join(f"assume {x}; " for x in COUNTED.split("; ")) + "pack-operands i 4 B"
STRIPS = "stripmine i T ii; interchange i j"

LISTINGS: dict[str, tuple[str, str, tuple[Row, ...]]] = {
    "two": (ROWS, "i", (
        ("even", "n%2==0", {}, "assume n%2==0; stripmine i 2 ii"),
        ("rest", "", {}, "reverse i"),
    )),
    "tiles": (ROWS, "i", (
        ("large", "n>=8", {"T": 8}, STRIPS),
        ("small", "n>=4", {"T": 4}, STRIPS),
        ("rest", "", {}, ""),
    )),
    "groups": (MM, "i", (
        ("copied, large", f"{COUNTED}; M>=4; M>=8", {"T": 4}, f"{COPY}; stripmine i T ii"),
        ("copied", f"{COUNTED}; M>=4", {"T": 2}, f"{COPY}; stripmine i T ii"),
        ("many", f"M<100; {COUNTED}; M>=2", {}, COPY),
        ("rest", "", {}, "reverse i"),
    )),
    "inside": (TWICE, "i", (
        ("even", "n%2==0", {}, "assume n%2==0; stripmine i 2 ii"),
        ("rest", "", {}, "reverse i"),
    )),
}  # fmt: skip

REFUSALS: dict[str, tuple[str, str, tuple[Row, ...]]] = {
    "illegal-step": (ROWS, "i", (("odd", "n%2==1", {}, "unroll q"), ("rest", "", {}, ""))),
    "no-rest": (ROWS, "i", (("even", "n%2==0", {}, ""),)),
    "none": (ROWS, "i", ()),
    "not-asked": (ROWS, "i", (("even", "n>0", {}, "assume n%2==0"), ("rest", "", {}, ""))),
    "unknown": (ROWS, "i", (("even", "q%2==0", {}, ""), ("rest", "", {}, ""))),
    "division": (ROWS, "i", (("some", "8/n>=2", {}, ""), ("rest", "", {}, ""))),
    "named": (ROWS, "i", (("tiles", "n>=8", {"n": 8}, "stripmine i n ii"), ("rest", "", {}, ""))),
    "no-loop": (ROWS, "z", (("rest", "", {}, ""),)),
    "elsewhere": (
        c("for (int i = 0; i < n; i++) a[i] = 1; for (int k = 0; k < n; k++) b[k] = 2;"),
        "i",
        (("other", "n>2", {}, "reverse k"), ("rest", "", {}, "")),
    ),
}  # fmt: skip


def dispatch(loop: str, rows: tuple[Row, ...]) -> Dispatch:
    def parts(text: str) -> list[str]:
        return [x for x in text.split("; ") if x]

    made = []
    for label, guard, tiles, text in rows:
        steps = tuple(map(step, parts(text)))
        made.append(Variant(label, "", "", tuple(parts(guard)), tuple(tiles.items()), steps))
    return Dispatch(loop, tuple(made))


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, loop, rows = LISTINGS[case]
    first, _ = start(text)
    made = first.then(dispatch(loop, rows))
    assert_same_meaning(first.function, made.function, (0, 1, 2, 5, 8, 9))
    data = json.loads(json.dumps(made.to_json()))
    assert replay(first, data["steps"]).function == made.function
    record = made.records[-1]
    golden.check(f"{record.step}\n{record.reason}\n\n{listing(record.result)}")


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, loop, rows = REFUSALS[case]
    first, sources = start(text)
    with pytest.raises(TransformError) as e:
        first.then(dispatch(loop, rows))
    golden.check(e.value.render(sources) + "\n")


def test_steps_that_were_applied_already_are_not_applied_again() -> None:
    """And those of another program are."""
    first, _ = start(ROWS)
    rows = (("even", "n%2==0", {}, "assume n%2==0; stripmine i 2 ii"), ("rest", "", {}, ""))
    made = dispatch("i", rows)
    known = tuple(
        Variant(v.label, "", "", v.guard, v.tiles, v.steps, Derivation(first.function).run(v.steps))
        for v in made.variants
    )
    assert Dispatch("i", known) == made
    assert first.then(Dispatch("i", known)).function == first.then(made).function
    other = derived(ROWS, "interchange i j", "reverse i")
    with pytest.raises(TransformError):
        other.then(Dispatch("z", known))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loop": 3}, "dispatch needs"),
        ({"variants": "all"}, "dispatch needs"),
        ({"variants": [{}]}, "a variant has label, about, cost, guard, tiles, steps"),
        ({"variants": [{"label": 1}]}, "a variant has"),
        ("guard", "'n' is no condition on integers"),
        ("tiles", "not a variant"),
        ("steps", "'tile' is not a step|not a step"),
    ],
    ids=str,
)
def test_json_that_is_no_dispatch(change: object, message: str) -> None:
    data = dispatch("i", (("rest", "", {}, ""),)).to_json()
    wrong = {"guard": ["n"], "tiles": {"T": 0}, "steps": [{"step": "tile"}]}
    if isinstance(change, dict):
        data |= change
    else:
        data["variants"][0][change] = wrong[str(change)]
    with pytest.raises(UsageError, match=message):
        from_json(STEPS, data)


def test_a_line_of_text_is_no_dispatch() -> None:
    with pytest.raises(UsageError):
        step("dispatch i x")


def test_arrays_of_variants_have_names_of_their_own() -> None:
    text, loop, rows = LISTINGS["groups"]
    made = start(text)[0].then(dispatch(loop, rows)).function
    declared = (s for _, s in walk(made.body) if isinstance(s, Decl) and s.space is Space.GLOBAL)
    assert [s.name for s in declared] == ["B_p", "B_p_2"]


def test_guards_are_asked_in_order() -> None:
    rows = (("a", "M>=8", {}, ""), ("b", "M>=4", {}, ""), ("c", "", {}, ""))
    text = listing(start(MM)[0].then(dispatch("i", rows)).function)
    assert text.index("if (M >= 8)") < text.index("if (M >= 4)")


def test_each_variant_has_its_tile_sizes_in_c_too() -> None:
    text, loop, rows = LISTINGS["tiles"]
    made = function_text(start(text)[0].then(dispatch(loop, rows)).function)
    assert "ii += 8" in made
    assert "ii += 4" in made
    assert "enum" not in made
