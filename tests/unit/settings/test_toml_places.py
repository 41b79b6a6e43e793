"""Where keys and values of TOML stand: the text there means the value."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from loopxform.settings.toml_places import Path, Places

TEXTS = {
    "plain": 'a = "x" # c\n  b= 1\nc =true\r\n',
    "dotted": "a.b = 1\na . \"c d\" = [1]\na.'e.f'.g = 2",
    "tables": '[tool.x]\nk = 1\n[ "tool" . y ]\nk = 2\n[tool]\nz.k = "]"\n',
    "lists": 'a = [1, "two, ]", # c ]\n  [3.5, {x = 1, y.z = [ ]}], ]\nb = []\n',
    "arrays of tables": "[[o]]\nk = 1\n[[o]]\n[o.p]\nk = 2\n[[o.q]]\nk = 3\n[[o.q]]\nk = 4\n",
    "strings": 'a = """x"y\\""""\nb = \'\'\'l\'\n\'\'\'\nc = "#\\""\n'
    "d = '\\'\ne = \"\"\ne2 = ''\n",
    "dates": "d = 1979-05-27 07:32:00Z # z\nt = 07:32:00\nf = 1e5\nn = -inf",
    "unicode": '"\\u00e9" = "é"\n"é2" = 1',
}


def at(data: Any, path: Path) -> Any:
    for key in path:
        data = data[key]
    return data


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_of_a_value_means_it(name: str) -> None:
    text = TEXTS[name].replace("\r\n", "\n")
    data, places = tomllib.loads(text), Places(text)
    leaves = 0
    for path, (start, end) in places.values.items():
        assert tomllib.loads(f"v = {text[start:end]}")["v"] == at(data, path), path
        leaves += 1
    assert leaves
    for path, (start, end) in places.keys.items():
        (key,) = tomllib.loads(f"{text[start:end]} = 1")
        assert key == path[-1]
        at(data, path)
