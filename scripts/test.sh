#!/usr/bin/env bash
# Runs the tests; sets up all it needs in .venv. Options are pytest's: scripts/test.sh -k interchange
# Tests of the system's OpenCL and of Oclgrind run where these are installed (with CI=1 they must be).
set -euo pipefail
extras=pocl,test
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

cd "$root"
ruff check .
ruff format --check .
mypy
case " $* " in
  *" -m "*) exec pytest -n auto "$@" ;;
  *) exec pytest -n auto -m "not slow" "$@" ;;
esac
