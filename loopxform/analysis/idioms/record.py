"""The record of an idiom, and its words."""

from __future__ import annotations

from typing import Literal, TypeAlias

from loopxform.ir.visit import Path
from loopxform.records import record

Kind: TypeAlias = Literal[
    "scan",
    "compaction",
    "histogram",
    "flags",
    "scatter",
    "search",
    "reduction",
    "arg-min",
    "arg-max",
]
Reads: TypeAlias = Literal["", "inclusive", "exclusive", "both"]

LINEAR = "linear"
"""The operator of `s = a*s + b`: linear functions, applied one after the other."""

LAST = "last"
"""The operator of `if (c) s = e`: what was set last stays."""

_OPERATORS = {
    LINEAR: "linear recurrence",
    LAST: "last value set",
    "argmin": "arg-min",
    "argmax": "arg-max",
}


@record
class Idiom:
    """What a loop does with one variable. `variable` is the text of what each iteration updates: a
    scalar, an array, what counts the elements of a compaction, what a search runs over. `reads`
    says whether what a scan hands to other statements has the term of the iteration in it
    (inclusive), and `segmented` that it begins anew where a condition holds. `condition` is the
    property that is searched, or under which elements are kept; `arrays` are those that a
    compaction fills, `bound` is what is asked of a count that stops. An element is
    computed from the one `distance` iterations before: so many scans take turns. `paths` are the
    statements that update, in text order."""

    kind: Kind
    variable: str
    op: str = ""
    reads: Reads = ""
    segmented: bool = False
    condition: str = ""
    arrays: tuple[str, ...] = ()
    bound: str = ""
    distance: int = 1
    assumes: tuple[str, ...] = ()
    paths: tuple[Path, ...] = ()

    def __str__(self) -> str:
        """`scan of s (+, inclusive)`."""
        return self._name + (f" while {self.bound}" if self.bound else "")

    @property
    def _name(self) -> str:
        match self.kind:
            case "scan":
                kind = "segmented scan" if self.segmented else "scan"
                far = f"distance {self.distance}" if self.distance > 1 else ""
                words = (_OPERATORS.get(self.op, self.op), self.reads, far)
                said = ", ".join(x for x in words if x)
                return f"{kind} of {self.variable} ({said})"
            case "compaction":
                return f"compaction into {', '.join(self.arrays)}, counted by {self.variable}"
            case "search":
                return f"search for the first {self.variable} with {self.condition}"
            case "flags":
                return f"flags in {self.variable} (= {self.op})"
            case "scatter":
                return f"scatter into {self.variable} (last writer)"
            case "histogram" | "reduction":
                return f"{self.kind} of {self.variable} ({self.op})"
            case _:
                return f"{self.kind} in {self.variable}"

    def json(self) -> dict[str, object]:
        """The idiom as the contract of `check --format json` has it."""
        more = {
            "operator": self.op,
            "reads": self.reads,
            "segmented": self.segmented,
            "condition": self.condition,
            "arrays": list(self.arrays),
            "bound": self.bound,
            "distance": self.distance if self.distance > 1 else 0,
            "assumes": list(self.assumes),
        }
        return {
            "kind": self.kind,
            "variable": self.variable,
            **{k: v for k, v in more.items() if v},
        }
