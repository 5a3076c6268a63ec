#!/bin/sh
# Makes a fresh clone ready to `run` the platform, for the tools of development (`all`), or for the tests of the
# `system`. Installs the locked packages that are needed for it, and Node 24 where the system has none; prepares the
# embedded database.
set -eu
scope=${1:-run}
cd "$(dirname "$0")/.."

# Runs a command that ends with this script: a shell that waits for one hears no signal.
attended() {
  "$@" &
  child=$!
  trap 'kill -TERM $child 2>/dev/null; exit 143' HUP INT TERM
  wait $child
  trap - HUP INT TERM
}

is_node_current() {
  node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 24 || (a === 24 && b >= 11) ? 0 : 1)'
}

# Node of the system: `npm run` puts that of an earlier install before it.
has_current_node() {
  (
    PATH=$(echo "$PATH" | sed 's|[^:]*/node_modules/\.bin:||g')
    is_node_current
  )
}

# npm writes the first file last. TypeScript is there only if the tools of development are.
if ! [ node_modules/.package-lock.json -nt package-lock.json ] || { [ "$scope" != run ] && ! [ -d node_modules/typescript ]; }; then
  echo "Installing packages" >&2
  if [ "$scope" != run ]; then
    attended npm ci --loglevel=error
  elif has_current_node; then
    # Of the packages that run, only Node is optional.
    attended npm ci --omit=dev --omit=optional --loglevel=error
  else
    attended npm ci --omit=dev --loglevel=error
  fi
fi

# The packages node-linux-* are optional for npm, so their absence must be noticed here.
PATH="$PWD/node_modules/.bin:$PATH"
is_node_current || {
  echo "Node 24.11 or newer is needed and none came with the install for this machine: install it, then repeat." >&2
  exit 1
}

# Outside node_modules, so that it is prepared once.
[ .cache/pglite.tar.gz -nt package-lock.json ] ||
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

if [ "$scope" = system ]; then
  # One without windows is lighter, and any other will do.
  chromium=${CHROMIUM_PATH:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
  [ "$(id -u)" != 0 ] || chromium=${CHROMIUM_PATH:-}
  need chromium-headless-shell chromium-headless-shell "$chromium" browser CHROMIUM_PATH
  need firefox-esr firefox-esr "${FIREFOX_PATH:-}" browser FIREFOX_PATH
  need prometheus prometheus "${PROMETHEUS_PATH:-}" monitoring PROMETHEUS_PATH
  need python3 python3 "${PYTHON_PATH:-}" documentation PYTHON_PATH
  need javac default-jdk-headless "${JAVA_PATH:-}" documentation JAVA_PATH
  need jq jq "" documentation PATH
  need amtool prometheus-alertmanager "${AMTOOL_PATH:-}" monitoring AMTOOL_PATH
fi
