#!/usr/bin/env bash
# Runs the tests and tells which lines none of them reach: a table, and coverage/index.html.
# Options are pytest's: scripts/coverage.sh tests/unit
set -euo pipefail
extras=opencl,test
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

cd "$root"
exec pytest -n auto --dist worksteal --cov --cov-report=term --cov-report=html:coverage "$@"
