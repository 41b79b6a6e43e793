# Sourced by the other scripts: a virtual environment with loopxform and the extras named in
# "extras" (or $LOOPXFORM_EXTRAS), in .venv (or $LOOPXFORM_VENV). Made once; made anew when
# pyproject.toml changes; extras that are missing are added.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${LOOPXFORM_VENV:-$root/.venv}
extras=${LOOPXFORM_EXTRAS-$extras}

say() { printf '%s\n' "$*" >&2; }

find_python() {
  local name
  for name in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      printf '%s\n' "$name"
      return
    fi
  done
  say "loopxform needs Python 3.11 or newer; set PYTHON to name it"
  return 1
}

make_venv() {
  local python
  python=$(find_python) || return 1
  rm -rf "$venv"
  say "setting up $venv with $("$python" --version) (once)"
  if "$python" -m venv "$venv" >/dev/null 2>&1; then
    return
  fi
  if ! { "$python" -m venv --without-pip "$venv" && "$python" -m pip --version; } >/dev/null 2>&1; then
    rm -rf "$venv"
    say "this Python cannot make virtual environments; on Debian: apt install python3-venv"
    return 1
  fi
}

run_pip() {
  if [ -x "$venv/bin/pip" ]; then
    "$venv/bin/python" -m pip "$@"
  else
    "$(find_python)" -m pip --python "$venv/bin/python" "$@"
  fi
}

install() {
  run_pip install --quiet --disable-pip-version-check --editable "$root${extras:+[$extras]}" || return 1
  "$venv/bin/python" -m compileall -q "$root/loopxform" >/dev/null || true # as pip does for a wheel
}

stamp=$(cksum < "$root/pyproject.toml"; printf '%s\n' "$root")
if [ "$(cat "$venv/loopxform.stamp" 2>/dev/null)" != "$stamp" ]; then
  make_venv || exit 1
  install || exit 1
  printf '%s\n' "$stamp" > "$venv/loopxform.stamp"
  printf ',%s,' "$extras" > "$venv/loopxform.extras"
fi
for extra in ${extras//,/ }; do
  case "$(cat "$venv/loopxform.extras")" in
    *",$extra,"*) ;;
    *)
      install || exit 1
      printf '%s,' "$extras" >> "$venv/loopxform.extras"
      break
      ;;
  esac
done
export PATH="$venv/bin:$PATH"
