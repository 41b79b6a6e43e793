"""`loopxform tune merge FILE.jsonl...`: what several runs have measured, taken together."""

from __future__ import annotations

import argparse
from datetime import date
from pathlib import Path

from loopxform import __version__
from loopxform.bench.measure import text
from loopxform.cli.tune_rows import nothing_in, rows_of
from loopxform.cli.tune_subject import WRONG
from loopxform.cli.tuned import updated
from loopxform.errors import InputError
from loopxform.files import write_all
from loopxform.schedule.tuning_file import Tuned, comment_of
from loopxform.tune.locks import locked
from loopxform.tune.memo import Measurement, Memo
from loopxform.tune.results import Result, results


def main(args: argparse.Namespace) -> int:
    rows = [row for name in args.files for row in rows_of(name)]
    folder = Path(args.files[0]).parent if args.output is None else Path(args.output)
    found = results(rows)
    if not found:
        raise nothing_in(", ".join(args.files), args.files[0])
    _require_one_text(found, args.files[0])
    _require_one_list(found, args.files[0])
    _keep(rows)
    for result in found:
        print("\n".join(_lines(result)))
        if result.best is not None:
            print(f"wrote {_written(result, folder)}")
    return WRONG if any(r.failures.get("wrong") for r in found) else 0


def _require_one_text(found: list[Result], name: str) -> None:
    """Raises InputError where a function was changed between the measurements."""
    for one in found:
        for other in found:
            same = all(
                one.subject[n] == other.subject[n] for n in ("program", "function", "device")
            )
            if same and one is not other:
                names = ("text", "recipe", "fp", "platform", "driver", "given")
                what = next(n for n in names if one.subject[n] != other.subject[n])
                raise InputError(
                    f"{one.subject['function']} was measured on {one.subject['device']} with "
                    f"another {_WORDS[what]} in some of the files",
                    code="LX073",
                    help="measure again what is older",
                    subject=name,
                )


def _require_one_list(found: list[Result], name: str) -> None:
    """Raises InputError where some candidates have times, and none has them for all sizes: the
    files are of different command lines."""
    for one in found:
        measured = any(r["status"] == "ok" and r["sizes"] is not None for r in one.rows)
        if measured and not one.candidates:
            sizes = " and ".join(text(data) for data in one.datasets.values())
            raise InputError(
                f"no candidate of {one.subject['function']} was measured with {sizes}",
                code="LX073",
                help="merge files of the same command line: all that differs is I of --shard I/N",
                subject=name,
            )


_WORDS = {
    "text": "text of the function",
    "recipe": "recipe",
    "fp": "level of --fp",
    "platform": "platform of OpenCL",
    "driver": "driver",
    "given": "list of options",
}


def _keep(rows: list[Measurement]) -> None:
    """Adds what is new to what is kept, so that `tune` does not measure it again."""
    memos: dict[str, Memo] = {}
    for row in rows:
        program = row.get("program")
        if isinstance(program, str):
            memo = memos.setdefault(program, Memo.of(Path(program).name))
            if row not in memo.every:
                memo.keep(row)


def _lines(result: Result) -> list[str]:
    subject, best = result.subject, result.best
    failed = "".join(f", {n} {status}" for status, n in sorted(result.failures.items()))
    head = (
        f"{subject['function']} on {subject['device']}: {len(result.candidates)} measured{failed}"
    )
    if best is None:
        return [head, "  the defaults are the quickest: nothing is written"]
    sizes = ", ".join(f"{n}={v}" for n, v in best.sizes.items())
    return [head, f"  {subject['recipe']}, {sizes}: {1 / best.ratio:.2f} times the defaults' speed"]


def _written(result: Result, folder: Path) -> Path:
    """Writes the file of the device, or that of every device. Raises InputError."""
    subject, best = result.subject, result.best
    assert best is not None
    name, device = subject["function"], subject["device"]
    tuned = Tuned.of(subject["recipe"], best.sizes, subject["text"], subject["fp"], result.given)
    about = [
        f"loopxform {__version__}, tuned for {device} ({subject['platform']}), "
        f"{date.today().isoformat()}"
    ]
    for data, given in result.datasets.items():
        own = result.statistic(best.runs[data])
        default = result.defaults.get(data, own / best.ratio)
        about.append(comment_of(name, text(given), own, default))
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        output = updated(folder / f"{subject['program']}.c", device, name, tuned, about)
        write_all([output])
    return output.path
