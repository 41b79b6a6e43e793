#!/usr/bin/env bash
# Builds the site of docs/ in build/site (or the folder named); any warning is an error, a link that
# leads nowhere for one. Open build/site/index.html: it needs no server and no network.
set -euo pipefail
extras=docs
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

cd "$root"
export NO_MKDOCS_2_WARNING=1
mkdocs build --strict --site-dir "${1:-build/site}"
