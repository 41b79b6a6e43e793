#!/usr/bin/env bash
# The main job on a fresh machine: tiles corpus/mm.c, shows what was done, and runs the kernel
# against the C program compiled by cc: on an OpenCL device where there is one, else compiled as C.
# Sets up all it needs in .venv.
set -euo pipefail
extras=
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

out=${1:-$root/out}
cd "$root"
show() { printf '\n$ %s\n' "$*"; "$@"; }
show loopxform tile corpus/mm.c --Ty 16 --Rx 4 -o "$out"
show loopxform run corpus/mm.c --Ty 16 --Rx 4 --size M=513,U=129,N=1025
