"""The example of docs/data.md, as a reader follows it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from c_project import environment, require_opencl

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "data.md").read_text()


def test_the_example(tmp_path: Path) -> None:
    require_opencl()
    texts = re.findall(r"```c\n(.*?)```", PAGE, re.DOTALL)
    for name, text in zip(("smooth.c", "main.c"), texts[1:3], strict=True):
        (tmp_path / name).write_text(text)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**environment(), "PATH": path, "PYTHONPATH": str(ROOT)}
    examples = re.findall(r"^\$ (.*)\n((?:(?!\$ |```).*\n)*)", PAGE, re.MULTILINE)
    assert len(examples) == 9
    for command, shown in examples:
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        pattern = ".*".join(map(re.escape, shown.split("...")))
        assert re.fullmatch(pattern, done.stdout + done.stderr, re.DOTALL), (command, done)
