"""What notebooks show of files, verdicts, programs, tuning results and refusals, as HTML.

Each piece has its own style, which reaches nothing outside it, and no script. It stays readable
where a viewer takes the style away.
"""

from __future__ import annotations

from importlib import import_module

from loopxform.errors import LoopxformError, contained

HOMES = {
    "CheckedFile": "verdicts",
    "CheckedFunction": "verdicts",
    "Claim": "verdicts",
    "CompiledKernel": "programs",
    "Dependence": "verdicts",
    "Derivation": "programs",
    "File": "sources",
    "LoopVerdict": "verdicts",
    "LoopxformError": "refusals",
    "MappedRoutine": "programs",
    "Matrices": "verdicts",
    "Matrix": "verdicts",
    "OffloadedFile": "programs",
    "OffloadedRegion": "programs",
    "Record": "programs",
    "Report": "reports",
    "Routine": "sources",
    "Claims": "verdicts",
    "TuningResult": "tuning",
    "Verdicts": "verdicts",
}
"""The modules that show objects, by the names of their classes: only what is shown is loaded."""


def html(shown: object) -> str:
    """The HTML of an object; a refusal's where it cannot be shown, such as a kernel that cannot be
    written."""
    home = next(HOMES[c.__name__] for c in type(shown).__mro__ if c.__name__ in HOMES)
    try:
        with contained(type(shown).__name__, None):
            return _html(home, shown)
    except LoopxformError as e:
        return _html("refusals", e)


def _html(home: str, shown: object) -> str:
    text: str = import_module(f"loopxform.report.notebook.{home}").html(shown)
    return text
