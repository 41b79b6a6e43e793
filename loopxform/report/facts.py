"""What a page tells, as plain data: texts and numbers, nothing that has to be computed again.

Pictures are SVG, all other texts plain: the page escapes them.
"""

from __future__ import annotations

from loopxform.records import record


@record
class Finding:
    """A reason, an OpenMP finding or a refusal: its code with what that means in general, what is
    said here, where, with which iterations as `witness`, and what to do. `kind` is a word for what
    it is; `line` is in the file of the page, 0 where it stands in another."""

    kind: str
    code: str
    message: str
    place: str
    line: int = 0
    witness: str = ""
    remedy: str = ""
    notes: tuple[str, ...] = ()
    meaning: str = ""
    quote: str = ""
    picture: str = ""


@record
class ClaimFact:
    """An OpenMP pragma: its text, where it stands, the answer, what is wrong, what is doubted."""

    text: str
    place: str
    answer: str
    assumes: str
    findings: tuple[Finding, ...]


@record
class LoopFact:
    """A loop: where it stands, its verdict, and what says so. `words` is the verdict with what it
    takes, `named` which algorithm it is, `mapped` what became of it, `time` what the model predicts
    for its nest, `source` the text of its line."""

    anchor: str
    var: str
    line: int
    place: str
    source: str
    depth: int
    verdict: str
    words: str
    named: str
    kinds: tuple[str, ...]
    findings: tuple[Finding, ...]
    claim: ClaimFact | None
    mapped: str = ""
    time: str = ""


@record
class MatrixFact:
    """A dependence matrix: a column for each loop. A row is the kind, the storage, the statements,
    an entry for each loop, and which loop carries it ("": none)."""

    title: str
    loops: tuple[str, ...]
    rows: tuple[tuple[str, str, str, tuple[str, ...], str], ...]
    notes: tuple[str, ...]


@record
class Line:
    """A line of a listing; `is_new` where the listing before has none like it."""

    text: str
    is_new: bool = False


@record
class Stage:
    """A step of a derivation: its title, the transformations with their reasons, the listing after
    them, how many lines of the one before are gone, and how many of this one are left out."""

    title: str
    steps: tuple[tuple[str, str], ...]
    lines: tuple[Line, ...]
    gone: int = 0
    left: int = 0


@record
class Variant:
    """One of those between which the host chooses: its guard and its steps, a line each."""

    title: str
    cost: str
    about: str
    guard: tuple[str, ...]
    steps: tuple[str, ...]


@record
class Branch:
    """A loop or a statement of a kernel, so many loops deep, what runs it, and the user's line."""

    depth: int
    text: str
    role: str
    level: str
    line: int = 0


@record
class KernelFact:
    """A kernel: how it is launched, its loops, and its text beside the user's lines: of each line
    the numbers of those that it comes from."""

    name: str
    about: str
    launch: tuple[tuple[str, str], ...]
    tree: tuple[Branch, ...]
    lines: tuple[tuple[str, tuple[int, ...]], ...]
    left_out: int = 0


@record
class Table:
    """A table with a title; the first cell of a row names it."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


@record
class PartFact:
    """A part of a function that runs on the device, or does not: where it begins, its loops, what
    it became and why, with pictures and tables."""

    title: str
    line: int
    form: str
    why: str
    time: str = ""
    gain: str = ""
    pictures: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()


@record
class Mapping:
    """What a function, or a part of it, became: the command that writes it, its parts, how it was
    derived, the variants that the host chooses from, and the kernels; how many stages and kernels
    are left out."""

    title: str
    headline: str
    parts: tuple[PartFact, ...]
    stages: tuple[Stage, ...]
    stages_left: int
    variants: tuple[Variant, ...]
    shown: str
    skipped: tuple[tuple[str, str], ...]
    kernels: tuple[KernelFact, ...]
    kernels_left: int
    tables: tuple[Table, ...] = ()


@record
class Gain:
    """What a permission or a qualifier would change: what to write, and what that brings."""

    what: str
    brings: str
    lines: tuple[int, ...] = ()


@record
class FunctionFact:
    """A function with all that is known of it; `independent` are the lines of nests without any
    dependence."""

    anchor: str
    name: str
    line: int
    loops: tuple[LoopFact, ...]
    matrices: tuple[MatrixFact, ...]
    independent: tuple[int, ...]
    claims: tuple[ClaimFact, ...]
    annotations: tuple[str, ...]
    macros: tuple[str, ...]
    mappings: tuple[Mapping, ...] = ()
    refusals: tuple[Finding, ...] = ()
    tuning: tuple[Table, ...] = ()
    gains: tuple[Gain, ...] = ()
    verify: str = ""


@record
class NextStep:
    """Something to do, the most useful first: where, what, and why."""

    line: int
    place: str
    what: str
    why: str
    anchor: str = ""


@record
class FileFact:
    """A file: its text, its functions, and what could not be read or judged. `internal` says that
    something went wrong by our own fault."""

    anchor: str
    name: str
    command: str
    source: tuple[str, ...]
    functions: tuple[FunctionFact, ...]
    problems: tuple[Finding, ...]
    todo: tuple[NextStep, ...]
    internal: bool = False

    @property
    def numbered(self) -> tuple[tuple[int, str], ...]:
        """The lines of the text with their numbers."""
        return tuple(enumerate(self.source, 1))

    @property
    def loops(self) -> tuple[LoopFact, ...]:
        """Those of all functions, in text order of each."""
        return tuple(x for f in self.functions for x in f.loops)
