"""The process that says for `loopxform tune --dask` what is measured where it runs: it answers any
job.

    {}
    {"status": "ok", "place": "...", "text": "3f..."}      a `Place` as text, and which function
"""

from __future__ import annotations

import base64
import pickle
import sys
from dataclasses import replace

from loopxform.cli.arguments import understood
from loopxform.cli.options import chosen, read
from loopxform.cli.serving import Message, Tell, serve
from loopxform.cli.tune_subject import Place, place_here
from loopxform.cli.tuned import digest_of


def answering(argv: list[str]) -> Message:
    """The answer. Raises LoopxformError."""
    args = understood("tune", argv)
    text = digest_of(chosen(read(args), args))
    return {"status": "ok", "place": packed(place_here(args)), "text": text}


def packed(place: Place) -> str:
    """A place without what only its own process can use."""
    elsewhere = replace(place, device=replace(place.device, handle=None))
    return base64.b64encode(pickle.dumps(elsewhere)).decode()


def unpacked(text: str) -> Place:
    place: Place = pickle.loads(base64.b64decode(text))
    return place


def main(argv: list[str]) -> int:
    def answer(_: Message, tell: Tell) -> Message:
        tell({"status": "started", "about": {}})
        return answering(argv)

    return serve(lambda: answer)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
