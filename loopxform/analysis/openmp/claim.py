"""What is said about one OpenMP loop: proven, refuted by findings, or not proven for a reason."""

from __future__ import annotations

from loopxform.display import Shown
from loopxform.ir.visit import Path
from loopxform.records import slotted
from loopxform.source import Loc

RACES = frozenset(["LX300", "LX301", "LX309"])
"""The codes of findings that are data races."""
ORDER = "LX317"
"""The code of a doubt about the order alone."""


@slotted
class Finding:
    """Something the pragma claims that is proven wrong. `witness` are two iterations with numbers,
    `cure` is what would make it right, None where nothing short of removing the pragma would."""

    code: str
    message: str
    loc: Loc | None
    variable: str = ""
    witness: str | None = None
    cure: str | None = None

    def json(self) -> dict[str, object]:
        more = {"variable": self.variable, "witness": self.witness, "cure": self.cure}
        return Doubt(self.code, self.message, self.loc).json() | more


@slotted
class Doubt:
    """Why a claim is not proven."""

    code: str
    message: str
    loc: Loc | None

    def json(self) -> dict[str, object]:
        return {
            "code": self.code,
            "message": self.message,
            "file": self.loc.file if self.loc else "",
            "line": self.loc.line if self.loc else 0,
            "column": self.loc.column if self.loc else 0,
        }


@slotted
class Claim(Shown):
    """A loop under an OpenMP pragma. `path` is that of the loop, `text` the pragma after `omp`. A
    pragma that is not about a loop has the empty path."""

    path: Path
    loc: Loc | None
    text: str
    findings: tuple[Finding, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    assumes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        answers = {True: "proven", False: "refuted", None: "not proven"}
        return f"<Claim {self.loc or self.path}: {answers[self.proven]}>"

    @property
    def proven(self) -> bool | None:
        """True: it runs in parallel as it would in order. False: it does not. None: not known."""
        if self.findings:
            return False
        return None if self.doubts else True

    @property
    def race_free(self) -> bool | None:
        """Whether no two iterations touch a variable at the same time, one writing; its value may
        depend on which comes first all the same. None: not known."""
        if any(f.code in RACES for f in self.findings):
            return False
        return (not self.findings and all(d.code == ORDER for d in self.doubts)) or None

    def json(self) -> dict[str, object]:
        """The extra key of a loop in `check --format json`."""
        return {
            "claim": self.text,
            "file": self.loc.file if self.loc else "",
            "line": self.loc.line if self.loc else 0,
            "proven": self.proven,
            "race_free": self.race_free,
            "findings": [f.json() for f in self.findings],
            "doubts": [d.json() for d in self.doubts],
            "assumes": list(self.assumes) if self.proven or self.race_free else [],
        }
