"""Dependences: kinds, directions, distances, witnesses."""

from __future__ import annotations

import pytest
from nests import decl, e, fn, integer, loop, mm, mm_c89, opaque, s, skew, when

from loopxform.analysis import deps
from loopxform.analysis.dependence import Dependence
from loopxform.analysis.deps import carried_rows, dependences
from loopxform.analysis.region import region
from loopxform.ir.memo import forget
from loopxform.ir.nodes import Copy, Function, Slice
from loopxform.ir.visit import replace_at


def rows(f: Function, scope: tuple[int, ...] | None = None) -> set[tuple[str, str, str]]:
    return {(d.kind, d.array, "".join(d.direction)) for d in dependences(f, scope)}


def only(f: Function) -> Dependence:
    (d,) = dependences(f)
    return d


def test_matrix_product() -> None:
    found = [
        (d.kind, d.source.label, d.sink.label, d.vector, d.distance) for d in dependences(mm())
    ]
    assert found == [
        ("flow", "S0", "S1", "(=, =)", (0, 0)),
        ("output", "S0", "S1", "(=, =)", (0, 0)),
        ("flow", "S0", "S2", "(=, =)", (0, 0)),
        ("anti", "S1", "S1", "(=, =, <)", (0, 0, 1)),
        ("flow", "S1", "S1", "(=, =, <)", (0, 0, 1)),
        ("output", "S1", "S1", "(=, =, <)", (0, 0, 1)),
        ("flow", "S1", "S2", "(=, =)", (0, 0)),
    ]
    assert {d.reduction for d in dependences(mm()) if d.level == 2} == {"+"}


def test_a_scalar_outside_the_nest_connects_all_iterations() -> None:
    found = rows(mm_c89())
    assert ("flow", "acc", "<**") in found
    assert ("output", "acc", "<*") in found
    assert ("anti", "acc", "==<") in found


def test_constant_distance() -> None:
    d = only(skew())
    assert (d.kind, d.array, d.vector, d.distance, d.exact) == (
        "flow",
        "a",
        "(<, >)",
        (1, -1),
        True,
    )
    assert d.witness == "i=0, j=1 and i=1, j=0 (M=3, N=3)"
    assert d.point is not None
    assert (d.point.params, d.point.source, d.point.sink) == (
        {"M": 3, "N": 3}, {"i": 0, "j": 1}, {"i": 1, "j": 0},
    )  # fmt: skip
    assert str(d.source) == f"S0 (line {d.source.loc.line})" if d.source.loc else False


def test_one_dimension_forwards_and_backwards() -> None:
    forwards = fn("n, a[]", loop("i", 0, "n", s("a[i] = a[i-2]", "S0")))
    assert (only(forwards).kind, only(forwards).distance) == ("flow", (2,))
    backwards = fn("n, a[]", loop("i", 0, "n", s("a[i] = a[i+2]", "S0")))
    assert (only(backwards).kind, only(backwards).distance) == ("anti", (2,))


@pytest.mark.parametrize(("lo", "hi", "step"), [(4, "n", 2), ("n - 1", 3, -2)])
def test_distance_counts_iterations(lo: int | str, hi: int | str, step: int) -> None:
    f = fn("n, a[]", loop("i", lo, hi, s("a[i] = a[i-4]", "S0"), step=step))
    assert only(f).distance == (2,)


def test_a_negative_step_turns_the_dependence_round() -> None:
    f = fn("n, a[]", loop("i", "n - 1", -1, s("a[i] = a[i-1]", "S0"), step=-1))
    assert (only(f).kind, only(f).vector, only(f).distance) == ("anti", "(<)", (1,))
    assert only(f).witness == "i=1 and i=0 (n=2)"


def test_strides_keep_even_and_odd_apart() -> None:
    assert rows(fn("n, a[]", loop("i", 0, "n", s("a[i] = a[i+1]"), step=2))) == set()
    assert rows(fn("n, a[]", loop("i", 0, "n", s("a[i] = a[i+2]"), step=2))) == {("anti", "a", "<")}
    assert rows(fn("n, a[]", loop("i", 0, "n", s("a[2*i] = a[2*i + 1]")))) == set()
    assert rows(fn("n, a[]", loop("i", 0, "n", s("a[i % 2] = a[i % 2] + 1")))) == {
        ("flow", "a", "<"), ("anti", "a", "<"), ("output", "a", "<"),
    }  # fmt: skip


def test_a_stripmined_loop_counts_its_tile_size() -> None:
    f = fn(
        "n, a[]",
        loop("ii", 0, "n", loop("i", "ii", "min(n, ii + Ty*Ry)", s("a[i] = a[i-1]")), step="Ty*Ry"),
    )
    assert rows(f) == {("flow", "a", "=<"), ("flow", "a", "<<")}
    apart = fn(
        "n, a[]",
        loop("ii", 0, "n", loop("i", "ii", "ii + Ty", s("a[i] = a[i] + 1")), step="Ty"),
    )
    assert rows(apart) == set()


def test_a_triangle_bounds_the_directions() -> None:
    f = fn("n, A[n][n]", loop("i", 0, "n", loop("j", 0, "i", s("A[i, j] = A[j, i]"))))
    assert rows(f) == set()
    full = fn("n, A[n][n]", loop("i", 0, "n", loop("j", 0, "n", s("A[i, j] = A[j, i]"))))
    assert rows(full) == {("flow", "A", "<>"), ("anti", "A", "<>")}


def test_a_guard_can_separate() -> None:
    f = fn("n, a[]", loop("i", 0, "n", when("i < 5", s("a[i] = a[i + 9]"))))
    assert rows(f) == set()
    g = fn("n, a[]", loop("i", 0, "n", when("i % 2 == 0", s("a[i] = 1"), orelse=(s("a[i] = 2"),))))
    assert rows(g) == set()


def test_branches_exclude_each_other_within_an_iteration() -> None:
    f = fn(
        "n, x:float, a[]", loop("i", 0, "n", when("x > 0", s("a[0] = 1"), orelse=(s("a[0] = 2"),)))
    )
    assert all(d.level == 0 for d in dependences(f))
    assert not any(d.exact for d in dependences(f))


def test_assumptions_of_the_function_are_used() -> None:
    nest = loop("i", 0, "n", s("a[i] = a[i + m]"))
    assert rows(fn("n, m, a[]", nest)) == {("flow", "a", "<"), ("anti", "a", "<")}
    assert rows(fn("n, m, a[]", nest, assumes=("m >= n",))) == set()


def test_what_is_not_affine_is_reported_as_uncertain() -> None:
    f = fn("n, a[], p[]:int", loop("i", 0, "n", s("a[p[i]] = 1", "S0")))
    assert [(d.kind, d.exact, d.witness) for d in dependences(f)] == [("output", False, None)]


def test_a_bound_that_the_loop_changes() -> None:
    f = fn("n, a[]", loop("i", 0, "n", s("n = n - 1", "S0"), s("a[i] = 1", "S1")))
    assert ("flow", "n", "<") in rows(f)
    assert not any(d.exact for d in dependences(f) if d.array == "n" and d.sink.label == "for i")


def test_temporaries_in_subscripts_have_their_value() -> None:
    f = fn("n, a[]", loop("i", 0, "n", integer("t"), s("t = 2*i + 1"), s("a[t] = a[2*i]", "S1")))
    assert {d.array for d in dependences(f)} == {"t"}
    g = fn("n, a[]", integer("m"), s("m = 4"), loop("i", 0, "m", s("a[i] = a[i + 8]")))
    assert {d.array for d in dependences(g, (2,))} == set()


def test_a_temporary_set_in_the_other_branch_has_no_known_value() -> None:
    f = fn(
        "n, a[]", integer("t"), s("a[9] = 0"),
        loop("i", 0, "n", when("i > 4", s("t = i"), orelse=(s("a[t] = a[i]", "S1"),))),
    )  # fmt: skip
    assert ("output", "a", "<") in rows(f, (2,))


def test_storage_declared_in_a_loop_is_private_to_the_iteration() -> None:
    inside = fn("n, a[]", loop("i", 0, "n", decl("w", 4), s("w[0] = 1"), s("a[i] = w[0]")))
    assert rows(inside) == {("flow", "w", "=")}
    outside = fn("n, a[]", decl("w", 4), loop("i", 0, "n", s("w[0] = 1"), s("a[i] = w[0]")))
    assert ("output", "w", "<") in rows(outside)


def test_it_is_private_too_where_there_are_too_many_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deps, "MAX_SYSTEMS", 0)
    forget()
    inner = loop("j", 0, "n", s("t[0] = t[0] + a[j]"))
    f = fn("n, a[]", loop("i", 0, "n", decl("t", 1), s("t[0] = a[i]"), inner))
    found = {d.vector for d in dependences(f) if d.array == "t"}
    forget()
    assert found
    assert not any(v.startswith("(<") for v in found), found
    assert any("<" in v for v in found)


def test_dependences_between_nests_have_no_common_loop() -> None:
    f = fn("n, a[], b[]", loop("i", 0, "n", s("a[i] = 1")), loop("i", 0, "n", s("b[i] = a[i]")))
    assert rows(f) == {("flow", "a", "")}
    assert rows(f, (0,)) == set()


def test_a_scope_fixes_the_loops_around_it() -> None:
    f = fn("n, A[n][n]", loop("i", 0, "n", loop("j", 0, "n", s("A[i, j] = A[i-1, j]"))))
    assert rows(f) == {("flow", "A", "<=")}
    assert rows(f, (0, 0)) == set()


def test_an_opaque_statement_may_touch_everything() -> None:
    f = fn("n, a[], b[]", loop("i", 0, "n", s("a[i] = b[i]"), opaque()))
    found = dependences(f)
    assert {d.array for d in found} >= {"a", "b", "n"}
    assert not any(d.exact for d in found)


def test_a_copy_reads_its_box_and_writes_its_target() -> None:
    copy = Copy("t", "a", (Slice(e(0), e(4)),), collective=True)
    f = fn("n, a[]", loop("i", 0, "n", decl("t", 4), copy, s("a[i] = t[0]")))
    assert {("flow", "t", "="), ("anti", "a", "<"), ("flow", "a", "<")} <= rows(f)
    far = fn("n, a[]", loop("i", 9, "n", decl("t", 4), copy, s("a[i] = t[0]")))
    assert rows(far) == {("flow", "t", "=")}


def test_a_loop_variable_read_after_its_loop_is_data() -> None:
    f = fn(
        "n, m, a[]",
        integer("j"),
        loop("i", 0, "n", loop("j", 0, "m", s("a[j] = 1")), s("a[i] = j", "S1")),
    )
    assert ("flow", "j", "=") in rows(f)


def test_accesses_that_are_alike_depend_alike() -> None:
    """One pair of each kind tells what all pairs tell of the dependences between iterations."""
    body = [s(f"a[i + {k % 3}] = a[2*j - {k % 2}] + t", "S") for k in range(6)]
    odd = when("a[i] > 0", s("a[j] += 1"), s("t = a[i + 1]"))
    many = fn("n, a[], t", loop("i", 0, "n", *body, loop("j", 1, "i", *body, odd), s("t = i")))
    for f in (many, mm(), mm_c89(), skew()):
        where = region(f)
        every = {_facts(d) for d in dependences(f) if d.level is not None}
        assert {_facts(d) for d in carried_rows(where)} == every
    assert len(carried_rows(region(many))) < len(dependences(many)) / 3


def _facts(d: Dependence) -> tuple[object, ...]:
    return d.kind, d.array, d.declared, d.loop_paths, d.vector, d.exact


def test_the_same_program_is_analysed_once() -> None:
    f = mm()
    assert dependences(f) is dependences(f)
    assert dependences(replace_at(f, (0,), f.body)) is not dependences(f)


@pytest.mark.parametrize("depth", [6, 9])
def test_a_deep_nest_stays_affordable(depth: int) -> None:
    nest = s("t = t + 1", "S0")
    body = (nest,)
    for n in range(depth):
        body = (loop(f"i{n}", 0, "n", *body),)
    found = dependences(fn("n, t:float", *body))
    assert {d.direction[0] for d in found} >= {"<", "="}
    assert len(found) == 3 * depth
