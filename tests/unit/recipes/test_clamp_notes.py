"""Windows whose ends are parameters: what is not known of them is said, and assumed if asked."""

from __future__ import annotations

import loopxform as lx

TEXT = """{}
void smooth(int h, int w, int lo, int hi, const float in[restrict h][w], float out[restrict h][w])
{{
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {{
      float s = 0;
      for (int u = 0; u < 5; u++) {{
        int at = x + u - 2;
        s += in[y][at < lo ? lo : at > hi ? hi : at];
      }}
      out[y][x] = s;
    }}
}}
"""
ASKED = ("lo <= hi", "lo >= 0", "hi + 1 <= w")


def test_each_end_that_is_not_known_is_named_until_all_are_assumed() -> None:
    assumed: list[str] = []
    for condition in ASKED:
        pragmas = "".join(f"\n#pragma loopxform assume({x})" for x in assumed)
        tiled = lx.loads(TEXT.format(pragmas))["smooth"].tile().tiled
        assert tiled.recipe == "naive"
        assert f"(#pragma loopxform assume({condition}) says it)" in tiled.reason
        assumed.append(condition)
    pragmas = "".join(f"\n#pragma loopxform assume({x})" for x in assumed)
    assert lx.loads(TEXT.format(pragmas))["smooth"].tile().tiled.recipe == "stencil"
