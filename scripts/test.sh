#!/usr/bin/env bash
# Runs the tests; sets up all it needs in .venv. Options are pytest's: scripts/test.sh -k interchange
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
case " $* " in
  *" -m "*) exec pytest -n auto "$@" ;;
  *)
    # Most of the time is PoCL's, compiling kernels; the slow sweeps run optimised ones.
    export POCL_EXTRA_BUILD_FLAGS=${POCL_EXTRA_BUILD_FLAGS--cl-opt-disable}
    exec pytest -n auto --dist loadfile -m "not slow" "$@"
    ;;
esac
