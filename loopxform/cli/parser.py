"""argparse, with our diagnostics."""

from __future__ import annotations

import argparse
import re
from typing import NoReturn

from loopxform.errors import UsageError


class Parser(argparse.ArgumentParser):
    """argparse whose errors are diagnostics of ours."""

    def error(self, message: str) -> NoReturn:
        about = re.match(r"argument ([^\s:/]+)|unrecognized arguments: (\S+)", message)
        subject = about and (about[1] or about[2])
        raise UsageError(message, help=f"{self.prog} --help", subject=subject)
