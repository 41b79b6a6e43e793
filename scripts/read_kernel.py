"""Reads the machine code of kernels for an NVIDIA GPU, without one: for each loop the instructions,
and where loads, stores and barriers stand between the multiply-adds.

python scripts/read_kernel.py out/mm.cl [--arch sm_90] [--least 100]

Needs `pip install nvidia-cuda-nvrtc nvidia-cuda-nvdisasm nvidia-cuda-cuobjdump`. The kernels are
compiled as CUDA C, by the compiler that NVIDIA's OpenCL has too; of OpenCL C this knows what
kernels of floats and halves use. `LDG x2 at 256-288 of 512` are two loads of global memory behind
256 and 288 of the 512 multiply-adds of the loop.
"""

from __future__ import annotations

import argparse
import ctypes
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

PRELUDE = """
#define __NV_CL_C_VERSION 1
#define LX_ASYNC
#define __kernel extern "C" __global__
#define __global
#define restrict __restrict__
typedef unsigned int uint;
#define get_local_id(n) ((size_t)((n) == 0 ? threadIdx.x : (n) == 1 ? threadIdx.y : threadIdx.z))
#define get_group_id(n) ((size_t)((n) == 0 ? blockIdx.x : (n) == 1 ? blockIdx.y : blockIdx.z))
#define CLK_LOCAL_MEM_FENCE 0
#define barrier(x) __syncthreads()
#define __private
#define half ushort
#define vload_half(n, p) as_float_of((p)[n])
#define vstore_half_rte(x, n, p) ((p)[n] = as_bits_of(x))
typedef unsigned short ushort;
static __device__ float as_float_of(ushort h)
{
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
  return x;
}
static __device__ ushort as_bits_of(float x)
{
  ushort h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
  return h;
}
"""
MEMORY = ("LDG", "LDGSTS", "STG", "LDS", "STS", "BAR")


def as_cuda(text: str) -> str:
    """OpenCL C as CUDA C."""
    size = r"__attribute__\(\(reqd_work_group_size\(([^()]*)\)\)\)(\s*)void"
    text = re.sub(size, lambda m: f"void __launch_bounds__(({')*('.join(m[1].split(','))}))", text)
    text = re.sub(r"(?m)^(\s*)__local (?=\w+ \w+\[)", r"\1__shared__ ", text)
    text = text.replace("__local", "")
    text = re.sub(r"\.s([0-3])\b", lambda m: "." + "xyzw"[int(m[1])], text)
    text = re.sub(r"(?m)^CALLED (?=\w+ \w+\()", "__device__ ", text)
    text = re.sub(r"\(float([24])\)\((?=float_of_half)", r"make_float\1(", text)
    text = re.sub(r"\((float|double|int)([24])\)\((?=[^()]*,)", r"make_\1\2(", text)
    same = r"\((float|ushort)([24])\)\(([-\w.]+)\)"
    text = re.sub(same, lambda m: f"make_{m[1]}{m[2]}({', '.join([m[3]] * int(m[2]))})", text)
    return PRELUDE + text


def found(pattern: str) -> Path:
    spec = find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec else ():
        for path in sorted(Path(folder).glob(f"**/{pattern}")):
            return path
    sys.exit(
        f"no {pattern}: pip install nvidia-cuda-nvrtc nvidia-cuda-nvdisasm nvidia-cuda-cuobjdump"
    )


def compiled(text: str, arch: str) -> bytes:
    """The machine code. Exits with the compiler's log where there is an error."""
    ctypes.CDLL(str(found("libnvrtc-builtins.so.*")), mode=ctypes.RTLD_GLOBAL)
    nvrtc, program = ctypes.CDLL(str(found("libnvrtc.so.*"))), ctypes.c_void_p()

    def told(what: str) -> bytes:
        size = ctypes.c_size_t()
        getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        out = ctypes.create_string_buffer(size.value)
        getattr(nvrtc, f"nvrtcGet{what}")(program, out)
        return out.raw

    source = as_cuda(text).encode()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", 0, None, None)
    options = (ctypes.c_char_p * 1)(f"--gpu-architecture={arch}".encode())
    if nvrtc.nvrtcCompileProgram(program, len(options), options):
        sys.exit(told("ProgramLog").decode(errors="replace"))
    return told("CUBIN")


def blocks(listing: str) -> Iterator[tuple[str, list[str]]]:
    """The instructions from each label on, with the kernel."""
    kernel, body = "", list[str]()
    for line in listing.split("\n"):
        label = re.match(r"\s*\.(text\.\w+|L_x_\d+):", line)
        if label:
            yield kernel, body
            kernel = label[1].removeprefix("text.") if label[1].startswith("text.") else kernel
            body = []
        elif code := re.match(r"\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+ )?(\S+)", line):
            body.append(code[1])
    yield kernel, body


def described(body: list[str]) -> str:
    """How many instructions of each kind, and where those of memory are."""
    kinds = Counter(x.split(".")[0] for x in body)
    places: dict[str, list[int]] = {}
    done = 0
    for x in body:
        name = x.split(".")[0]
        done += name in ("FFMA", "DFMA")
        if name in MEMORY:
            places.setdefault(name, []).append(done)
    most = ", ".join(f"{n} {k}" for k, n in kinds.most_common(8))
    where = "; ".join(f"{k} x{len(v)} at {v[0]}-{v[-1]}" for k, v in places.items())
    return f"{len(body)} instructions: {most}\n      {where} of {done}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kernels", type=Path)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--least", type=int, default=100, help="instructions of a loop to tell of")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        binary = Path(folder, "kernel.cubin")
        binary.write_bytes(compiled(args.kernels.read_text(), args.arch))
        usage = told_by("cuobjdump", "-res-usage", str(binary))
        registers = dict(re.findall(r"Function (\w+):\s+REG:(\d+)", usage))
        listing = told_by("nvdisasm", "-c", str(binary))
    last = ""
    for kernel, body in blocks(listing):
        if kernel and kernel != last:
            print(f"{kernel}: {registers.get(kernel, '?')} registers")
            last = kernel
        if len(body) >= args.least:
            print(f"    {described(body)}")


def told_by(tool: str, *args: str) -> str:
    path = found(f"bin/{tool}")
    path.chmod(path.stat().st_mode | 0o111)
    return subprocess.run([str(path), *args], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
