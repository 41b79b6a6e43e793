"""Steps as text and as JSON, and derivations as a whole."""

from __future__ import annotations

import json

import pytest
from c_texts import MM, PARALLEL, STAGED, TWO
from conftest import GOLDEN
from deriving import derived, shown, start

from loopxform.errors import TransformError, UsageError
from loopxform.ir import wellformed
from loopxform.ir.visit import loops
from loopxform.transforms import STEPS, Derivation, Stripmine, from_json, replay, step
from loopxform.transforms.base import GONE

LISTED = tuple(
    dict.fromkeys(
        first
        for file in sorted(GOLDEN.glob("test_*/test_listing*.txt"))
        if (first := file.read_text().partition("\n")[0]).partition(" ")[0] in STEPS
    )
)
"""The steps that the listings of their tests begin with."""

OTHER_FORMS = (
    "stripmine i Ty*Ry",
    "unit-loop k beside whole",
    "fuse i#1 j",
    "hoist k sum,scale",
    "rematerialise j t,scale",
    "final-value i#2 l",
    "unroll k",
    "unroll k#2 4",
    "serpentine i#2",
    "simd j 16",
    "hoist i j,s",
    "distribute ii,jj kk,ll",
    "copy-to-local A kk A_loc 2",
)
"""Words that no listing begins with."""


def test_every_step_has_a_listing() -> None:
    assert {e.split()[0] for e in LISTED} == set(STEPS)


@pytest.mark.parametrize("verb", sorted(set(STEPS) - {"dispatch"}))  # it is JSON only
def test_text_and_json_round_trip(verb: str) -> None:
    for text in (*LISTED, *OTHER_FORMS):
        if text.split()[0] == verb:
            made = step(text)
            assert str(made) == text
            data = json.loads(json.dumps(made.to_json()))
            assert data["step"] == verb
            assert from_json(STEPS, data) == made


def test_json_of_a_step_names_its_parameters() -> None:
    assert Stripmine("i", "Ty*Ry", "iii").to_json() == {
        "step": "stripmine",
        "loop": "i",
        "size": "Ty*Ry",
        "outer": "iii",
    }
    assert from_json(STEPS, {"step": "stripmine", "loop": "i", "size": 64}) == step(
        "stripmine i 64"
    )


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        ("", "'' is not a step", "steps: assume, atomic-stores, atomic-updates, begin-at, "),
        (
            "mosaic i",
            "'mosaic' is not a step",
            "unscalarise, unsplit, unstripmine, vector-accumulators, vectorise, warp-tile",
        ),
        ("stripmine i", "has the wrong number of words", "usage: stripmine LOOP SIZE [OUTER-NAME]"),
        ("stripmine i 4 a b", "has the wrong number of words", "usage: stripmine"),
        ("interchange i", "has the wrong number of words", "usage: interchange OUTER INNER"),
    ],
)
def test_text_that_is_not_a_step(text: str, message: str, help: str) -> None:
    with pytest.raises(UsageError) as e:
        step(text)
    assert message in e.value.message
    assert help in (e.value.help or "")


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        "parallelise i",
        {"step": "tile"},
        {"step": []},
        {"step": "parallelise"},
        {"step": "parallelise", "loop": None},
        {"step": "parallelise", "loop": True},
        {"step": "parallelise", "loop": ["i"]},
        {"step": "parallelise", "loop": "i", "at": "j"},
        {"step": "distribute", "loops": 3},
        {"step": "distribute", "loops": [None]},
        {"step": "unit-loop", "loop": "i", "place": "2"},
        {"step": "interleave", "loop": "k", "size": "4", "strided": ""},
        {"step": "enclose", "loop": "k", "count": "2"},
    ],
)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_json_that_is_not_a_step(data: object) -> None:
    with pytest.raises(UsageError):
        from_json(STEPS, data)


def test_a_derivation_replays_to_the_same_program() -> None:
    done = derived(MM, *STAGED, "copy-to-private A_loc k", "clamp-edges acc", "epilogue kk")
    data = json.loads(json.dumps(done.to_json()))
    assert data["tiles"] == {"Ty": 2, "Tx": 3, "Tk": 4, "Ry": 2, "Rx": 3}
    again = replay(start(MM)[0], data["steps"])
    assert again.function == done.function
    assert [r.step for r in again.records] == [r.step for r in done.records]
    assert shown(again) == shown(done)


def test_every_step_on_the_way_is_well_formed() -> None:
    for record in derived(MM, *STAGED).records:
        wellformed.check(record.result)


def test_a_refused_step_leaves_the_derivation_as_it_was() -> None:
    before = derived(MM, *PARALLEL)
    with pytest.raises(TransformError) as e:
        before.then(step("parallelise k"))
    assert e.value.status == 1
    assert len(before.records) == 2
    assert before.function == derived(MM, *PARALLEL).function


def test_a_bad_parameter_is_bad_usage_not_an_illegal_step() -> None:
    for text in ("stripmine i 0", "parallelise x", "normalise i up", "unroll i 1"):
        with pytest.raises(TransformError) as e:
            start(MM)[0].then(step(text))
        assert e.value.status == 2, text


def test_steps_apply_to_the_loop_of_a_number() -> None:
    done = derived(TWO, "stripmine i#2 4")
    assert [s.loop.var for s in loops(done.function)] == ["i", "ii", "i"]


def test_stages_group_consecutive_steps() -> None:
    first, _ = start(MM)
    one = first.titled("one").run((step("parallelise i"), step("parallelise j")))
    two = one.titled("two").then(step("stripmine k Tk"))
    assert [(title, len(records)) for title, records in two.stages] == [("one", 2), ("two", 1)]
    assert isinstance(two, Derivation)


def test_verbs_of_the_last_release_are_understood_and_say_what_they_are_called() -> None:
    former = {old: kind for kind in STEPS.values() for old in kind.former}
    assert len(former) == 21
    assert former.keys().isdisjoint(STEPS)
    with pytest.warns(FutureWarning, match="the step 'demote' is called 'scalar-to-memory' now"):
        made = step("demote acc")
    assert made == step("scalar-to-memory acc")
    with pytest.warns(FutureWarning, match="'sink' is called 'rematerialise'"):
        assert from_json(STEPS, {"step": "sink", "loop": "k"}) == step("rematerialise k")


@pytest.mark.parametrize(
    ("former", "current"),
    [
        ("async kk", "pipeline kk async"),
        ("async kk 3", "pipeline kk 3 async"),
        ("epilogue kk", "split kk full-tiles"),
        ("interleave k 4", "rfactor k 4 strided"),
        ("interleave k 4 reassociate", "rfactor k 4 reassociate strided"),
        ("enclose k", "unit-loop k beside"),
        ("enclose k whole", "unit-loop k beside whole"),
        ("single 2.1 3 whole", "unit-loop 2.1 3 whole"),
        ("dissolve once", "remove-unit-loop once"),
        ("distribute-if 2.-1", "distribute-guard 2.-1"),
        ("arrange i 4 A:T,B", "pack-operands i 4 A:T,B"),
    ],
)
def test_a_step_of_the_last_release_is_a_case_of_one_of_today(former: str, current: str) -> None:
    with pytest.warns(FutureWarning, match=f"the step '{former.split()[0]}' is called"):
        assert step(former) == step(current)


@pytest.mark.parametrize(
    ("former", "current"),
    [
        ({"step": "async", "loop": "kk", "buffers": "3"}, "pipeline kk 3 async"),
        ({"step": "epilogue", "loop": "kk"}, "split kk full-tiles"),
        ({"step": "interleave", "loop": "k", "size": "4"}, "rfactor k 4 strided"),
        ({"step": "enclose", "loop": "k", "name": "x"}, "unit-loop k beside x"),
        ({"step": "single", "place": "2", "count": "1"}, "unit-loop 2 1"),
        ({"step": "distribute-guard", "loop": "j"}, "distribute-guard j"),
        ({"step": "distribute-if", "place": "2"}, "distribute-guard 2"),
    ],
)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_scripts_of_the_last_release_are_understood(former: dict[str, str], current: str) -> None:
    assert from_json(STEPS, former) == step(current)


def test_words_at_the_end_come_in_any_order() -> None:
    assert step("rfactor k 4 strided reassociate") == step("rfactor k 4 reassociate strided")
    assert step("rfactor k strided") != step("rfactor k 4 strided")


@pytest.mark.parametrize("name", GONE)
def test_a_step_that_is_gone_says_what_to_do_instead(name: str) -> None:
    with pytest.raises(UsageError, match=f"there is no step '{name}' any more") as text:
        step(f"{name} i")
    with pytest.raises(UsageError, match=f"there is no step '{name}' any more"):
        from_json(STEPS, {"step": name, "loop": "i"})
    assert "loopxform explain" in (text.value.help or "")
    assert name not in STEPS
