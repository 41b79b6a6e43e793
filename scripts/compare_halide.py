"""Times the pipelines of corpus/pipelines on a GPU against Halide's, in one run.

    pip download --no-deps halide==21.0.0; unzip halide-*.whl -d WHEEL
    git clone --branch v21.0.0 https://github.com/halide/Halide
    python scripts/compare_halide.py build Halide WHEEL/halide OUT    # no GPU needed
    python scripts/compare_halide.py check OUT    # whether they compute the same
    OUT/timer; python scripts/bench_pipelines.py --device 0:0

The camera, the interpolation and the bilateral grid are Halide's apps with the schedules that their
authors wrote. Harris corners are its app without the step from colours to grey. The others are in
scripts/halide/generators.cpp, in several tiles each, of which the quickest counts. Kernels are PTX,
which the driver compiles; `check` needs an OpenCL device, for which `build --opencl` compiles them.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from bench_pipelines import FOLDER as CORPUS
from bench_pipelines import SIZES

HERE = Path(__file__).parent
CUDA = "x86-64-linux-cuda-cuda_capability_86"
OPENCL = "x86-64-linux-opencl"
SYSTEM = ("-ldl", "-lpthread")
GREY = {  # Harris corners of an image that is grey
    "Input<Buffer<float, 3>> input": "Input<Buffer<float, 2>> input",
    "(0.299f * input(x, y, 0) +": "input(x, y);",
    "0.587f * input(x, y, 1) +": "",
    "0.114f * input(x, y, 2));": "",
    "input.dim(2).set_estimate(0, 3);": "",
}
READ = {  # arrays, of pipelines that are not apps of Halide's
    "blur3": ["in"],
    "unsharp_mask": ["in"],
    "harris": ["in"],
    "pyramid_blend": ["a", "b", "mask"],
}
SMALLER = 16
APPS = ("bilateral_grid", "camera_pipe", "harris", "interpolate")


@dataclass(frozen=True, slots=True)
class Variant:
    """A pipeline as Halide's generators make it with `options`."""

    generator: str
    options: str = ""

    @property
    def function(self) -> str:
        numbers = [o.split("=")[1] for o in self.options.split()]
        return "_".join([self.generator, *numbers])


def _tiles(generator: str) -> list[Variant]:
    shared = [(32, 16, 2), (32, 32, 2), (32, 32, 4), (64, 16, 2), (64, 16, 4), (64, 32, 4)]
    own = [(w, h, r) for w in (32, 64) for h, r in ((8, 4), (16, 4), (32, 8), (4, 1))]
    return [
        Variant(generator, f"width={w} height={h} rows={r} shared={word}")
        for word, tiles in (("true", shared), ("false", own))
        for w, h, r in tiles
    ]


VARIANTS = [
    *_tiles("blur3"),
    *_tiles("unsharp_mask"),
    Variant("harris"),
    Variant("camera_pipe"),
    *(Variant("pyramid_blend", f"width={w} height={h}") for w, h in ((64, 16), (64, 32), (32, 32))),
    Variant("interpolate", "levels=10"),
    Variant("interpolate", "levels=5"),
    Variant("bilateral_grid"),
]


def main() -> int:
    p = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    verbs = p.add_subparsers(dest="verb", required=True)
    build = verbs.add_parser("build", help="generators, kernels and the executable `timer`")
    build.add_argument("halide", type=Path, help="its sources")
    build.add_argument("wheel", type=Path, help="folder of include, lib64 and share")
    build.add_argument("out", type=Path)
    build.add_argument("--opencl", action="store_true", help="kernels for OpenCL, to be checked")
    check = verbs.add_parser("check", help="compares what `timer` computes with the corpus")
    check.add_argument("out", type=Path)
    args = p.parse_args()
    if args.verb == "check":
        return _check(args.out)
    args.out.mkdir(parents=True, exist_ok=True)
    target = OPENCL if args.opencl else CUDA
    generator = _generator(args.halide / "apps", args.wheel, args.out)
    for v in VARIANTS:
        named = [str(generator), "-g", v.generator, "-f", v.function, "-o", str(args.out)]
        made = ["-e", "static_library,c_header", f"target={target}-no_runtime"]
        _run(*named, *made, *v.options.split())
    _run(str(generator), "-r", "runtime", "-o", str(args.out), f"target={target}")
    (args.out / "variants.h").write_text(_header())
    libraries = [str(args.out / f"{v.function}.a") for v in VARIANTS]
    here = [f"-I{args.out}", f"-I{args.wheel / 'include'}"]
    given = [str(HERE / "halide" / "timer.cpp"), *libraries, str(args.out / "runtime.a")]
    _run(
        "g++",
        "-std=c++17",
        "-O2",
        *here,
        *given,
        "-o",
        str(args.out / "timer"),
        "-ldl",
        "-lpthread",
    )
    return 0


def _generator(apps: Path, wheel: Path, out: Path) -> Path:
    """Compiles all generators into one executable."""
    texts = [HERE / "halide" / "generators.cpp"]
    for app in APPS:
        text = (apps / app / f"{app}_generator.cpp").read_text()
        if app == "harris":
            for old, new in GREY.items():
                assert old in text, f"Halide's harris has no `{old}`"
                text = text.replace(old, new)
        texts.append(out / f"{app}.cpp")
        texts[-1].write_text(text)
    flags = [f"-I{wheel / 'include'}", f"-I{wheel / 'share' / 'tools'}"]
    objects = [str(out / f"{t.stem}.o") for t in texts]
    for file, made in zip(texts, objects, strict=True):
        _run("g++", "-std=c++17", "-O1", *flags, "-c", str(file), "-o", made)
    lib = wheel.absolute() / "lib64"
    linked = [str(lib / "libHalide_GenGen.a"), f"-L{lib}", "-lHalide", f"-Wl,-rpath,{lib}"]
    _run("g++", *objects, *linked, "-o", str(out / "generator"), *SYSTEM)
    return out / "generator"


def _header() -> str:
    """Headers, and the functions of each pipeline by name."""
    lines = [f'#include "{v.function}.h"' for v in VARIANTS]
    lines += ["#include <string>", "#include <utility>", "#include <vector>"]
    for generator in dict.fromkeys(v.generator for v in VARIANTS):
        functions = [v.function for v in VARIANTS if v.generator == generator]
        pairs = ", ".join(f'{{"{f}", {f}}}' for f in functions)
        kind = f"std::vector<std::pair<std::string, decltype(&{functions[0]})>>"
        lines.append(f"const {kind} {generator.upper()}{{{pairs}}};")
    return "\n".join(lines) + "\n"


def _check(out: Path) -> int:
    """Compares what is not an app of Halide's with the corpus, at a fraction of the sizes."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        _run(str(out / "timer"), name, environment={"SMALLER": str(SMALLER)})
        expected = {g: _expected(folder, g) for g in READ}
        for v in VARIANTS:
            if v.generator in expected:
                found = np.fromfile(folder / v.function, np.float32)
                difference = np.abs(found - expected[v.generator].ravel())
                apart = np.count_nonzero(difference > 1e-4)
                print(f"{v.function:40} largest difference {difference.max():.1e}, apart {apart}")
    return 0


def _expected(folder: Path, name: str) -> np.ndarray:
    """What the C of the corpus computes of the arrays that `timer` wrote."""
    whole = SIZES[name]
    h, w = int(whole["h"]) // SMALLER, int(whole["w"]) // SMALLER
    library = folder / f"{name}.so"
    text = str(CORPUS / f"{name}.c")
    _run("cc", "-O2", "-ffp-contract=off", "-shared", "-fPIC", text, "-o", str(library), "-lm")
    arrays = [np.fromfile(folder / f"{name}.{read}", np.float32) for read in READ[name]]
    out = np.zeros((1 if name == "harris" else 3, h, w), np.float32)
    planes = [ctypes.c_int(3)] * ("planes" in whole)
    floats = [ctypes.c_float(whole[n]) for n in ("threshold", "weight") if n in whole]
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*arrays, out)]
    call = getattr(ctypes.CDLL(str(library)), name)
    call(*planes, ctypes.c_int(h), ctypes.c_int(w), *floats, *pointers)
    return out[:, 3:-3, 3:-3] if name == "harris" else out


def _run(*command: str, environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, check=False, env={**os.environ, **(environment or {})})
    if done.returncode:
        sys.exit(f"failed: {' '.join(command)}")


if __name__ == "__main__":
    raise SystemExit(main())
