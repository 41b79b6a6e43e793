#!/usr/bin/env bash
# Runs the tests; sets up all it needs in .venv. Options are pytest's: scripts/test.sh -k interchange
# Without -m the long sweeps are left out; -m slow runs these, -m "" everything.
# Kernels run on the first OpenCL device, or as C where there is none. Tests of OpenCL itself and of
# Oclgrind run where these are installed (with CI=1 they must be). LOOPXFORM_EXTRAS=pocl,test brings
# an OpenCL for the CPU.
set -euo pipefail
extras=opencl,test
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

cd "$root"
ruff check .
ruff format --check .
mypy
exec pytest -n auto --dist worksteal "$@"
