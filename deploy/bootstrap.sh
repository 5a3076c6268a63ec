#!/bin/sh
# Makes a fresh clone ready: installs the locked packages (Node 24 among them), prepares the embedded database
# and, for `test`, installs browsers.
set -eu
cd "$(dirname "$0")/.."

# Runs a command that ends with this script: a shell that waits for one hears no signal.
attended() {
  "$@" &
  child=$!
  trap 'kill -TERM $child 2>/dev/null; exit 143' HUP INT TERM
  wait $child
  trap - HUP INT TERM
}

[ node_modules/.package-lock.json -nt package-lock.json ] || attended npm ci --loglevel=error

# The packages node-linux-* are optional for npm, so their absence must be noticed here.
PATH="$PWD/node_modules/.bin:$PATH"
node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 24 || (a === 24 && b >= 11) ? 0 : 1)' || {
  echo "Node 24.11 or newer is needed and none came with the install for this machine: install it, then repeat." >&2
  exit 1
}

[ node_modules/.cache/clinical-launch/pglite.tar.gz -nt package-lock.json ] ||
  attended node libs/storage/src/prepare-embedded.ts

# Installs a Debian package for the tests, unless a variable or the path names its program.
need() {
  program=$1 package=$2 chosen=$3 tests=$4
  if [ -n "$chosen" ] || command -v "$program" >/dev/null; then return; fi
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "As root: installing $package from Debian's packages, for the $tests tests" >&2
    attended apt-get update -qq
    # In run level 1, Debian starts no service after the install: the tests start their own.
    RUNLEVEL=1 attended apt-get install -y -qq --no-install-recommends "$package" >/dev/null
  else
    echo "The $tests tests need $package: install it, or set $5 to its program, then repeat." >&2
    exit 1
  fi
}

if [ "${1:-}" = test ]; then
  # One without windows is lighter, and any other will do.
  chromium=${CHROMIUM_PATH:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
  [ "$(id -u)" != 0 ] || chromium=${CHROMIUM_PATH:-}
  need chromium-headless-shell chromium-headless-shell "$chromium" browser CHROMIUM_PATH
  need firefox-esr firefox-esr "${FIREFOX_PATH:-}" browser FIREFOX_PATH
  need prometheus prometheus "${PROMETHEUS_PATH:-}" monitoring PROMETHEUS_PATH
  need amtool prometheus-alertmanager "${AMTOOL_PATH:-}" monitoring AMTOOL_PATH
fi
