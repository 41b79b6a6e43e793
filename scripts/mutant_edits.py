"""Mistakes to plant in the text of kernels, line by line.

Each kind of mistake is a function from a line to the lines that it could be by that mistake. What
does not change the meaning is sorted out later, by runs (`mutant_runs`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mutant_runs import Edit

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
LOOP = re.compile(
    r"for \((?P<type>\w+ )(?P<var>\w+) = (?P<start>[^;]+); (?P=var) < (?P<end>[^;]+);"
)
DECLARED = re.compile(
    r"\s*(const )?(unsigned )?(int|uint|long|ulong|float|double|uchar|size_t|half)\d* "
)
ASSIGNED = re.compile(r"^(\s*(?:LX_\w+ )?)([A-Za-z_][\w.\[\]()*+/% -]*?) ([-+*|&^]?=) (.+);$")


@dataclass(frozen=True)
class Text:
    """What a mistake may confuse: local arrays of one type, pointers, and numbers of a text."""

    locals: tuple[tuple[str, str], ...]
    pointers: tuple[tuple[str, str], ...]
    numbers: tuple[str, ...]

    @classmethod
    def of(cls, source: str) -> Text:
        numbers = re.findall(r"const int (\w+)[,)]", source)
        return cls(
            tuple(dict.fromkeys(re.findall(r"__local (\w+) (\w+)\[", source))),
            tuple(dict.fromkeys(re.findall(r"__global const (\w+) \*restrict (\w+)", source))),
            tuple(dict.fromkeys(numbers)),
        )


Kind = Callable[[str, Text], Iterator[str]]
KINDS: dict[str, Kind] = {}


def kind(name: str) -> Callable[[Kind], Kind]:
    def listed(change: Kind) -> Kind:
        KINDS[name] = change
        return change

    return listed


def each(pattern: str, new: str | Callable[[re.Match[str]], str], line: str) -> Iterator[str]:
    """The line with each place of the pattern changed in turn."""
    for m in re.finditer(pattern, line):
        text = m.expand(new) if isinstance(new, str) else new(m)
        yield line[: m.start()] + text + line[m.end() :]


def condition(line: str) -> tuple[int, int] | None:
    """Where the condition of an `if` stands, without its parentheses."""
    begin = re.search(r"\bif \(", line)
    if begin is None:
        return None
    depth = 1
    for n in range(begin.end(), len(line)):
        depth += {"(": 1, ")": -1}.get(line[n], 0)
        if depth == 0:
            return begin.end(), n
    return None


def is_code(line: str) -> bool:
    head = line.strip()
    return bool(head) and not head.startswith(("/*", "*", "#", "//"))


# ---------------------------------------------------------------- loops


@kind("loop bound")
def _bound(line: str, _: Text) -> Iterator[str]:
    if m := LOOP.search(line):
        start, end = m.span("end")
        yield f"{line[: start - 2]}<= {line[start:]}"
        yield f"{line[:start]}{m['end']} - 1{line[end:]}"


@kind("loop start")
def _start(line: str, _: Text) -> Iterator[str]:
    if m := LOOP.search(line):
        yield f"{line[: m.start('start')]}{m['start']} + 1{line[m.end('start') :]}"


@kind("loop step")
def _step(line: str, _: Text) -> Iterator[str]:
    if LOOP.search(line):
        yield from each(r"\+= ([^;)]+)\)", r"+= 2*(\1))", line)
        yield from each(r"\+\+(\w+)\)", r"\1 += 2)", line)


@kind("missing epilogue")
def _epilogue(line: str, _: Text) -> Iterator[str]:
    m = LOOP.search(line)
    if m and re.search(r"/.*\*", m["start"]):
        yield f"{line[: m.start('start')]}{m['end']}{line[m.end('start') :]}"


# ---------------------------------------------------------------- guards


@kind("guard off by one")
def _compared(line: str, _: Text) -> Iterator[str]:
    place = condition(line)
    if place is not None:
        part = line[slice(*place)]
        for new in each(r" (<=?|>=?) ", lambda m: f" {COMPARISONS[m[1]]} ", part):
            yield line[: place[0]] + new + line[place[1] :]


@kind("dropped conjunct")
def _conjunct(line: str, _: Text) -> Iterator[str]:
    place = condition(line)
    if place is not None:
        parts = line[slice(*place)].split(" && ")
        for n in range(len(parts) if len(parts) > 1 else 0):
            rest = " && ".join(parts[:n] + parts[n + 1 :])
            yield line[: place[0]] + rest + line[place[1] :]


@kind("negated guard")
def _negated(line: str, _: Text) -> Iterator[str]:
    if place := condition(line):
        yield f"{line[: place[0]]}!({line[slice(*place)]}){line[place[1] :]}"


@kind("missing guard")
def _unguarded(line: str, _: Text) -> Iterator[str]:
    if place := condition(line):
        yield f"{line[: place[0]]}1{line[place[1] :]}"


@kind("choice off by one")
def _chosen(line: str, _: Text) -> Iterator[str]:
    if " ? " in line and condition(line) is None:
        yield from each(r" (<=?|>=?) (?=[^?]*\?)", lambda m: f" {COMPARISONS[m[1]]} ", line)


# ---------------------------------------------------------------- barriers


@kind("missing barrier")
def _barrier(line: str, _: Text) -> Iterator[str]:
    yield from each(r"barrier\([^;]*\);", ";", line)


@kind("wrong fence")
def _fence(line: str, _: Text) -> Iterator[str]:
    swapped = {"LOCAL": "GLOBAL", "GLOBAL": "LOCAL"}
    yield from each(r"CLK_(\w+?)_MEM", lambda m: f"CLK_{swapped[m[1]]}_MEM", line)


@kind("divergent barrier")
def _divergent(line: str, _: Text) -> Iterator[str]:
    yield from each(r"barrier\(", "if (get_local_id(0) == 0) barrier(", line)


@kind("early use of a copy")
def _arrived(line: str, _: Text) -> Iterator[str]:
    yield from each(r"LX_ARRIVED\((\d+)\);", lambda m: f"LX_ARRIVED({int(m[1]) + 1});", line)
    yield from each(r"LX_STARTED\(\);", ";", line)


@kind("wrong buffer")
def _buffer(line: str, _: Text) -> Iterator[str]:
    yield from each(r"\[1 - stage\]", "[stage]", line)
    yield from each(r"\[stage\]", "[1 - stage]", line)
    yield from each(r"stage = 1 - stage", "stage = stage", line)
    yield from each(r"\(stage \+ (\d)\) % (\d)", r"(stage + \1 + 1) % \2", line)


# ---------------------------------------------------------------- subscripts


def _is_array(line: str) -> bool:
    return "__local " not in line and not re.match(r"\s*(float|int|double|half) \w+\[", line)


@kind("subscript off by one")
def _subscript(line: str, _: Text) -> Iterator[str]:
    if _is_array(line):
        yield from each(r"\]", " + 1]", line)
        yield from each(r"\[(?=\w)", "[-1 + ", line)


@kind("swapped subscripts")
def _swapped(line: str, _: Text) -> Iterator[str]:
    if _is_array(line):
        yield from each(r"\[([^\[\]]+)\]\[([^\[\]]+)\]", r"[\2][\1]", line)
        yield from each(r"\(ptrdiff_t\)(\w+)\*(\w+) \+ (\w+)\]", r"(ptrdiff_t)\3*\2 + \1]", line)


@kind("wrong stride")
def _stride(line: str, text: Text) -> Iterator[str]:
    for n in text.numbers:
        others = [x for x in text.numbers if x != n]
        for other in others[:2]:
            yield from each(rf"\*{n}\b(?= \+)", f"*{other}", line)
        yield from each(rf"\*{n}\b(?= \+)", f"*({n} + 1)", line)


@kind("clamp off by one")
def _clamp(line: str, _: Text) -> Iterator[str]:
    yield from each(r"(min\([^()]+?, \w+) - 1\)", r"\1)", line)
    yield from each(r"(min\([^()]+?, \w+) - 1\)", r"\1 - 2)", line)
    yield from each(r"min\(([^(),]+), \w+ - 1\)", r"(\1)", line)


@kind("swapped coordinates")
def _coordinates(line: str, _: Text) -> Iterator[str]:
    swapped = {"/": "%", "%": "/"}
    yield from each(r"\bat ([/%]) ", lambda m: f"at {swapped[m[1]]} ", line)


# ---------------------------------------------------------------- work-items


@kind("swapped ids")
def _ids(line: str, _: Text) -> Iterator[str]:
    other = {"0": "1", "1": "0", "2": "0"}
    pattern = r"get_(local|group)_id\((\d)\)"
    yield from each(pattern, lambda m: f"get_{m[1]}_id({other[m[2]]})", line)
    if re.search(r"_id\(0\).*_id\(1\)", line):
        yield re.sub(pattern, lambda m: f"get_{m[1]}_id({other[m[2]]})", line)


@kind("wrong extent")
def _extent(line: str, _: Text) -> Iterator[str]:
    if "get_" in line or "local_" in line or "= r *" in line:
        yield from each(r" \* \((\w+)\*(\w+)\)", r" * (\1)", line)
        yield from each(r" \* ([A-Z]\w*)\b", r" * (\1 - 1)", line)
        yield from each(r"local_([xy])\*(\w+)", r"local_\1", line)


# ---------------------------------------------------------------- values


@kind("wrong initial value")
def _initial(line: str, _: Text) -> Iterator[str]:
    if DECLARED.match(line) or LOOP.search(line):
        return
    yield from each(r" = (0(?:\.0f?)?|1(?:\.0f?)?);", r" = \1 + 1;", line)
    yield from each(r" = (\([^;=]*/ 0\.0f?\));", " = 0;", line)


@kind("wrong operator")
def _operator(line: str, _: Text) -> Iterator[str]:
    if LOOP.search(line):
        return
    m = ASSIGNED.match(line)
    if m is None or DECLARED.match(line):
        return
    if m[3] in ("+=", "*="):
        yield f"{m[1]}{m[2]} {'-=' if m[3] == '+=' else '+='} {m[4]};"
    head = line[: m.start(4)]
    for pattern, new in (
        (r"(?<=[\w\])]) \* (?=[\w(])", " + "),
        (r"(?<=\]) \+ (?=\w)", " - "),
        (r"(?<=[\w\])]) - (?=\w+\[|\w+_reg|\w+_acc)", " + "),
        (r" / (?=\w)", " * "),
        (r"\bfmax\(", "fmin("),
        (r"\bfmin\(", "fmax("),
    ):
        for new_value in each(pattern, new, m[4]):
            yield f"{head}{new_value};"


@kind("swapped operands")
def _operands(line: str, _: Text) -> Iterator[str]:
    operand = r"\b([A-Za-z_]\w*(?:\[[^\[\]]*\])+)"
    if ASSIGNED.match(line):
        yield from each(rf"{operand} ([-/]) {operand}", r"\3 \2 \1", line)


@kind("dropped statement")
def _dropped(line: str, _: Text) -> Iterator[str]:
    m = ASSIGNED.match(line)
    if m and not DECLARED.match(line) and not LOOP.search(line):
        yield f"{m[1]};"
    elif m and LOOP.search(line):
        return


@kind("assignment for update")
def _assigned(line: str, _: Text) -> Iterator[str]:
    if ASSIGNED.match(line) and not LOOP.search(line):
        yield from each(r" [+*]= ", " = ", line)


@kind("wrong array")
def _array(line: str, text: Text) -> Iterator[str]:
    if "__local " in line or "restrict" in line:
        return
    for group in (text.locals, text.pointers):
        for type, name in group:
            for other in [n for t, n in group if t == type and n != name][:1]:
                yield from each(rf"\b{name}\[", f"{other}[", line)


@kind("local array too small")
def _small(line: str, _: Text) -> Iterator[str]:
    if "__local " in line:
        yield from each(r"\[([^\[\]]+)\]", r"[(\1) - 1]", line.split(" __attribute__")[0] + ";")


@kind("wrong component")
def _component(line: str, _: Text) -> Iterator[str]:
    yield from each(r"\.s([0-2])\b", lambda m: f".s{int(m[1]) + 1}", line)
    yield from each(r"\.x\b", ".y", line)
    yield from each(r"vload(\w+)\(([^,]+),", r"vload\1(\2 + 1,", line)
    yield from each(r"vstore(\w+)\(([^,]+), ([^,]+),", r"vstore\1(\2, \3 + 1,", line)
    yield from each(r"(LX_SPREAD\(\d+, \w+, )(\w+), (\w+),", r"\1\3, \2,", line)
    yield from each(r"\(float4\)\((\w+\[[^()]*?\]), (\w+\[[^()]*?\]),", r"(float4)(\2, \1,", line)


def edits(source: str) -> Iterator[tuple[str, Edit]]:
    """All mistakes that can be planted in the text of kernels, with their kinds."""
    text = Text.of(source)
    lines = source.split("\n")
    for n, line in enumerate(lines):
        if not is_code(line):
            continue
        for name, change in KINDS.items():
            for new in dict.fromkeys(change(line, text)):
                if new != line:
                    yield name, Edit(line, new, lines[:n].count(line))
