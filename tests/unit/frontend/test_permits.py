"""What the source says of floating point, statement by statement."""

from __future__ import annotations

import pytest
from lowering import parsed

from loopxform.floating_point import CONTRACT, LEVELS, PERMITTED, FloatingPoint, Said
from loopxform.ir.nodes import Function
from loopxform.ir.permitted import permitted

BODY = "for (int i = 0; i < n; i++) a[i] += b[i] * b[i];"


def functions(text: str) -> dict[str, Function]:
    return {f.name: f for f in parsed(text).unit.functions}


def f(name: str, body: str = BODY) -> str:
    return f"void {name}(int n, float a[n], float b[n])\n{{\n{body}\n}}\n"


def contracted(text: str) -> str:
    """The functions of which products may be fused with sums."""
    return " ".join(n for n, fn in functions(text).items() if permitted(CONTRACT, fn).contract)


OFF, ON = "#pragma STDC FP_CONTRACT OFF\n", "#pragma STDC FP_CONTRACT ON\n"
CONTRACTED = {
    "nothing is said": (f("f") + f("g"), "f g"),
    "of the rest of a file": (f("f") + OFF + f("g") + f("h"), "f"),
    "till it is on again": (OFF + f("f") + ON + f("g"), "g"),
    "the default is on again": (OFF + f("f") + ON.replace(" ON", " DEFAULT") + f("g"), "g"),
    "of one function": (f("f", OFF + BODY) + f("g"), "g"),
    "of one block": (f("f", "{\n" + OFF + "a[0] = b[0];\n}\n" + BODY) + f("g"), "f g"),
    "of the block of the loop": (f("f", "{\n" + OFF + BODY + "\n}") + f("g"), "g"),
    "on in an inner block": (OFF + f("f", "{\n" + ON + BODY + "\n}") + f("g"), "f"),
    "after an inner block": (f("f", "{\n" + OFF + "n++;\n{\n" + ON + "}\n" + BODY + "\n}"), ""),
    "_Pragma": (f("f", '_Pragma("STDC FP_CONTRACT OFF")\n' + BODY) + f("g"), "g"),
    "clang's": ("#pragma clang fp contract(off)\n" + f("f"), ""),
    "clang's, of two": ("#pragma clang fp reassociate(off) contract(off)\n" + f("f"), ""),
    "clang's ends": (OFF + "#pragma clang fp contract(fast)\n" + f("f"), "f"),
    "gcc's": ('#pragma GCC optimize ("fp-contract=off")\n' + f("f"), ""),
    "gcc's stays": ('#pragma GCC optimize ("-ffp-contract=off")\n' + ON + f("f"), ""),
    "gcc's, something else": ('#pragma GCC optimize ("O3", "unroll-loops")\n' + f("f"), "f"),
    "an attribute": ('__attribute__((optimize("O2,fp-contract=off")))\n' + f("f") + f("g"), ""),
    "rounding": ('__attribute__((optimize("rounding-math")))\n' + f("f"), ""),
    "no options": ("__attribute__((hot))\n" + f("f"), "f"),
    "behind a label": (
        f("f", f"switch (n) {{\ncase 1:\n{OFF}b[0] = 1;\nbreak;\ncase 2:\n{BODY}\n}}") + f("g"),
        "g",
    ),
    "in a branch": (f("f", f"if (n) {{\n{OFF}b[0] = 1;\n}}\nelse\n{BODY}") + f("g"), "f g"),
    "other compilers'": ("#pragma fp_contract (off)\n" + f("f"), ""),
}


@pytest.mark.parametrize("case", CONTRACTED)
def test_contraction(case: str) -> None:
    text, expected = CONTRACTED[case]
    assert contracted(text) == expected


def test_what_is_called_counts() -> None:
    """Inlined, and as a function of the kernel; what nothing is said of is the caller's."""
    called = "static float g(float x) {{ {} return x * x + 1.0f; }}\n"
    loop = "for (int i = 0; i < n; i++)\n a[i] = g(b[i]);"
    looping = "while (x > 1.0f) x = x * 0.5f + 0.25f;"
    for body in ("", looping):
        text = called.format(body)
        assert "f" not in contracted(OFF + text + ON + f("f", loop))
        assert "f" not in contracted(text + OFF + f("f", loop))
        fast = functions(text + "#pragma loopxform fp(fast)\n" + f("f", loop))["f"]
        assert permitted(CONTRACT, fast) == PERMITTED["fast"]
        strict = "#pragma loopxform fp(strict)\n" + text
        assert permitted(CONTRACT, functions(strict + f("f", loop))["f"]).exact


@pytest.mark.parametrize("level", LEVELS)
def test_levels(level: str) -> None:
    said = f"#pragma loopxform fp({level})\n"
    for text in (said + f("f"), f("f", said + BODY)):
        fn = functions(text)["f"]
        for base in PERMITTED.values():
            assert permitted(base, fn).level == level
            bounded = permitted(base.bounded(True), fn)
            assert bounded == base.both(PERMITTED[level])  # type: ignore[index]
        unfused = CONTRACT.contracting(False).bounded(False, fused=False)
        assert not permitted(unfused, fn).contract


def test_the_nearest_level_counts() -> None:
    inner = "for (int i = 0; i < n; i++)\n#pragma loopxform fp(fast)\n" + BODY.replace(
        "int i", "int j"
    ).replace("i ", "j ").replace("i+", "j+").replace("[i]", "[j]")
    outer = "#pragma loopxform fp(strict)\n" + f("f", inner)
    (loop,) = (s for s in functions(outer)["f"].body)
    assert permitted(CONTRACT, functions(outer)["f"], (loop,)) == PERMITTED["fast"]


def test_parts_of_a_function() -> None:
    text = f("f", "#pragma loopxform fp(fast)\n" + BODY + "\n" + BODY)
    fn = functions(text)["f"]
    assert [permitted(CONTRACT, fn, (s,)).level for s in fn.body] == ["fast", "contract"]
    assert permitted(CONTRACT, fn).level == "contract"


def test_what_is_forbidden_of_a_level() -> None:
    fn = functions(OFF + "#pragma loopxform fp(fast)\n" + f("f"))["f"]
    assert permitted(CONTRACT, fn) == FloatingPoint(False, reassociate=True, approximate=True)
    assert CONTRACT.at(Said(None, frozenset(["exact"]))) == PERMITTED["strict"]
