"""What `check` prints, format by format."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from loopxform.cli import check_text
from loopxform.cli.colour import painter
from loopxform.cli.outcome import Outcome
from loopxform.files import Output, write_all
from loopxform.quotation import Paint


def show(args: argparse.Namespace, o: Outcome) -> None:
    """Prints it in the format that was asked for."""
    if args.format in ("concise", "github", "gitlab"):
        from loopxform.cli import finding_text  # loads what only these need

        lines = getattr(finding_text, args.format)(o)
    elif args.format == "sarif":
        lines = [_sarif(o)]
    elif not (o.reports or o.compared.path):
        return
    elif args.format == "json":
        lines = [json.dumps(_statistics(o).json() if args.stats else _json(o), indent=2)]
    elif args.stats:
        lines = _statistics(o).text()
    else:
        lines = _text(o, painter(["--color", args.color], sys.stdout))
    for line in lines:
        print(line)


def write(args: argparse.Namespace, o: Outcome, inputs: Sequence[str]) -> None:
    """Writes the file of --sarif. Raises InputError."""
    if args.sarif is not None:
        output = Output(Path(args.sarif), _sarif(o, only_wrong=True) + "\n", "--sarif")
        write_all([output], inputs)


def _sarif(o: Outcome, *, only_wrong: bool = False) -> str:
    from loopxform.cli import sarif  # loads what only SARIF needs

    log = sarif.log(o.reports, o.answers, o.failed, o.compared, only_wrong=only_wrong)
    return json.dumps(log, indent=2)


def _statistics(o: Outcome) -> Any:
    from loopxform.cli.check_stats import Statistics  # loads what only --stats needs

    return Statistics(o.reports)


def _text(o: Outcome, paint: Paint) -> Iterator[str]:
    if o.answers:
        for a in o.answers:
            yield from a.text(paint)
    else:
        yield from _report(o, paint)
    if o.compared.path:
        from loopxform.cli import finding_text  # loads what only these need

        yield from finding_text.beside_baseline(o)


def _report(o: Outcome, paint: Paint) -> Iterator[str]:
    for r in o.reports:
        judged = r.loops or r.claims or r.asserted or any(f.missing for f in r.functions)
        if not judged:
            yield check_text.without_loops(r)
        for f in r.functions if judged else ():
            yield from check_text.function(f, r.name if o.many else None, paint)
    if any(m.rows for r in o.reports for f in r.functions for m in f.matrices):
        yield check_text.LEGEND
    if o.many and o.reports:
        yield check_text.total(o.reports)


def _json(o: Outcome) -> dict[str, Any]:
    """The contract; several files are a list of it."""
    compared = {"baseline": o.compared.json()} if o.compared.path else {}
    if o.many or not o.reports:
        return {"schema_version": 1, "files": [r.json() for r in o.reports], **compared}
    data: dict[str, Any] = o.reports[0].json()
    if o.answers:
        data["answers"] = [a.json() for a in o.answers]
    return data | compared
