"""The report on one C file: judged, transformed, and told as facts."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from loopxform.api.check import CheckedFile, CheckedFunction, checked
from loopxform.api.facade import File
from loopxform.budget import part, within
from loopxform.cli import offload_summary
from loopxform.cli.tuned import digest_of, path_of, read_tuning
from loopxform.cli.users_names import UsersNames
from loopxform.errors import InternalError, LoopxformError, contained
from loopxform.report import gains, restrict
from loopxform.report.collect import file_facts, refusal
from loopxform.report.facts import (
    FileFact,
    Finding,
    FunctionFact,
    Gain,
    LoopFact,
    Mapping,
    NextStep,
    Table,
)
from loopxform.report.mapping import Became, LoopNote, Wanted, became, mappings
from loopxform.report.names import Names
from loopxform.source import Loc
from loopxform.tune.results import results

MOST_TO_DO = 12
"""Things to do next that are listed for a file."""


def file_report(file: File, prefix: str, wanted: Wanted, function: str | None = None) -> FileFact:
    """All that is known of a file, within the budget in force: half of it is for the verdicts.
    Raises InputError."""
    with within(part(1 / 2)):
        report = checked(file, function=function)
    facts = file_facts(report, prefix)
    names = Names(prefix, report.name)
    if not report.loops:
        return facts
    try:
        with contained(file.name, Loc(file.name, 1, 1)):
            return _with_mappings(facts, report, names, wanted)
    except LoopxformError as e:
        problem = refusal(e, names, file.parsed.sources, "not transformed")
        internal = facts.internal or isinstance(e, InternalError)
        facts = replace(facts, problems=(*facts.problems, problem), internal=internal)
        return replace(facts, todo=tuple(_to_do(facts)))


def _with_mappings(facts: FileFact, report: CheckedFile, names: Names, wanted: Wanted) -> FileFact:
    file = report.file
    done = became(file, wanted)
    made, notes = dict[str, list[Mapping]](), dict[int, LoopNote]()
    for name, mapping, said in mappings(done, names, wanted):
        made.setdefault(name, []).append(mapping)
        for n in said:  # of two kernels for one loop, the first is launched where it can be
            notes.setdefault(n.line, n)
    refused = dict[str, list[Finding]]()
    users = UsersNames(file)
    for name, why in done.offloaded.left if done.offloaded else ():
        own = refusal(users.in_error(why), names, file.parsed.sources, "stays on the host")
        if own not in refused.setdefault(name, []):
            refused[name].append(own)
    won = _gains(report, done, wanted)
    functions = tuple(
        replace(
            f,
            loops=tuple(_noted(x, notes) for x in f.loops),
            mappings=tuple(made.get(f.name, ())),
            refusals=tuple(refused.get(f.name, ())),
            tuning=_tuning(c, wanted),
            gains=tuple(won.get(f.name, ())),
            verify=_verify(c, done, wanted) if f.name in made else "",
        )
        for f, c in zip(facts.functions, report.functions)
    )
    internal = facts.internal or bool(done.offloaded and done.offloaded.broken)
    command = f"loopxform {done.command} {_word(file.name)}{wanted.words}"
    facts = replace(facts, functions=functions, command=command, internal=internal)
    return replace(facts, todo=tuple(_to_do(facts, done, names)))


def _noted(loop: LoopFact, notes: dict[int, LoopNote]) -> LoopFact:
    note = notes.get(loop.line) if loop.line else None
    return loop if note is None else replace(loop, mapped=note.mapped, time=note.time)


def _gains(report: CheckedFile, done: Became, wanted: Wanted) -> dict[str, list[Gain]]:
    out = {f.name: [*restrict.of_restrict(f)] for f in report.functions}
    for name, gain in gains.of_floating_point(done, wanted):
        out.setdefault(name, []).append(gain)
    return out


def _verify(f: CheckedFunction, done: Became, wanted: Wanted) -> str:
    """The command that compares the kernel with the user's C; `run` does so for one nest."""
    if done.tiled is None:
        return ""
    fn = f.routine.function
    sizes = [p.name for p in fn.params if not p.array and not p.shape and p.type.is_integer]
    given = f" --size {','.join(f'{n}={v}' for n, v in zip(sizes, _odd()))}" if sizes else ""
    file = _word(f.routine.file.name)
    return f"loopxform run {file} --function {f.name}{given}{wanted.words}"


def _word(name: str) -> str:
    """A file as a command line has it: - for standard input."""
    return "-" if name.startswith("<") else shlex.quote(name)


def _odd() -> Iterator[int]:
    """Sizes that are no multiples of tiles."""
    yield from (513, 129, 1025)
    while True:
        yield 65


def _tuning(f: CheckedFunction, wanted: Wanted) -> tuple[Table, ...]:
    """What NAME.tuning, and that of the profile, say of a function, with their comments."""
    file, name = f.routine.file, f.name
    out = [*_measured(name, wanted)]
    if file.name.startswith("<") or not wanted.tuning:
        return tuple(out)
    for path in (path_of(file.name, wanted.limits.name), path_of(file.name)):
        known = read_tuning(file, path)
        found = None if known is None else known.functions.get(name)
        if known is None or found is None:
            continue
        rows = [("recipe", found.recipe or "-"), ("floating point", found.fp)]
        rows += [(k, str(v)) for k, v in {**found.sizes, **found.tiles, **found.options}.items()]
        rows += [(k, str(v)) for k, v in found.thresholds.items()]
        notes = [f"Found on {known.device}." if known.device else "Found on an unnamed device."]
        notes += _comments(path.read_text(errors="replace"), name)
        if found.text and found.text != digest_of(f.routine):
            notes.append("The function has changed since: tune again.")
        out.append(Table(f"Tuned: {path.name}", ("parameter", "value"), tuple(rows), tuple(notes)))
    return tuple(out)


def _measured(name: str, wanted: Wanted) -> Iterator[Table]:
    """The quickest candidates of a function that were measured, on each device."""
    if not wanted.measured:
        return
    from loopxform.cli.tune_explain import table  # loads what measuring needs

    for r in results(wanted.measured):
        if r.subject["function"] == name:
            head, *rows = table(r)
            title = f"Measured on {r.subject['device']}, the quickest first"
            notes = (
                f"{len(r.candidates)} candidates of the recipe {r.subject['recipe']} have times."
            )
            head[0] = "place"
            yield Table(title, tuple(head), tuple(map(tuple, rows)), (notes,))


def _comments(text: str, name: str) -> list[str]:
    """What a file of tuning says of a function beside its values."""
    lines = (line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#"))
    return [line for line in lines if line.startswith(f"{name},")]


# ---------------------------------------------------------------- what to do next


def _to_do(
    facts: FileFact, done: Became | None = None, names: Names | None = None
) -> Iterator[NextStep]:
    """The most useful first: what is wrong, what keeps the most work off the device, what more
    would gain."""
    steps = [*_wrong(facts.functions)]
    if done is not None and done.offloaded is not None and names is not None:
        steps += _changes(done, names)
    steps += [
        NextStep(
            line=(g.lines or (0,))[0],
            place=f.name,
            what=f"consider {g.what}",
            why=g.brings,
            anchor=f"{f.anchor}-gains",
        )
        for f in facts.functions
        for g in f.gains
    ]
    yield from steps[:MOST_TO_DO]
    if len(steps) > MOST_TO_DO:
        more = len(steps) - MOST_TO_DO
        yield NextStep(0, "", f"{more} more", "they stand with the functions below")


def _wrong(functions: Sequence[FunctionFact]) -> Iterator[NextStep]:
    for f in functions:
        for x in f.loops:
            for p in x.claim.findings if x.claim and x.claim.answer == "wrong" else ():
                if p.kind == "wrong":
                    yield NextStep(p.line, f.name, p.remedy, p.message, x.anchor)


def _changes(done: Became, names: Names) -> Iterator[NextStep]:
    """What would bring more loops to the device."""
    assert done.offloaded is not None
    users = UsersNames(done.file)
    for c in offload_summary.changes_of(done.offloaded):
        why = users.in_error(c.why)
        reason, _, change = why.message.partition("; ")
        what = why.help or change
        if what.startswith("name the function to have it on one work-item"):
            what = change  # one work-item is no gain
        if what:
            line, owner = names.line(c.loops[0].loc), c.loops[0].owner
            yield NextStep(line, owner, what, f"{reason} [{why.code}]")
