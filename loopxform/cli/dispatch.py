"""Runs one command and turns its errors into diagnostics and exit statuses."""

from __future__ import annotations

import importlib
import sys

from loopxform.cli.place import put_on_command_line
from loopxform.errors import LoopxformError


def run_command(name: str, args: list[str]) -> int:
    """Deliberate errors are one diagnostic; anything else is our bug: a traceback and 101."""
    command = importlib.import_module(f"loopxform.cli.{name}")
    try:
        status: int = command.main(args)
        sys.stdout.flush()
        return status
    except LoopxformError as e:
        if e.loc is None:
            put_on_command_line(e, [name, *args])
        sys.stdout.flush()
        print(e.render(), file=sys.stderr)
        return e.status
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        return 130
    except Exception:
        import traceback

        traceback.print_exc()
        print("loopxform: internal error; please report it with the input file", file=sys.stderr)
        return 101
