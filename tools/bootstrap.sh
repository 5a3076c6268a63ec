#!/bin/sh
# Prepares a fresh clone to `run` the platform, for development (`all`) or for the `system` tests. Installs
# the required locked packages, and Node 24 if the system does not have it. Prepares the embedded database.
set -eu
scope=${1:-run}
cd "$(dirname "$0")/.."

# Runs a command that is killed together with this script. A shell handles no signals while it runs a command
# in the foreground.
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

# Checks the system's Node. Ignores node_modules/.bin, which `npm run` puts first in the path and which may
# contain the Node of an earlier install.
has_current_node() {
  (
    PATH=$(echo "$PATH" | sed 's|[^:]*/node_modules/\.bin:||g')
    is_node_current
  )
}

# npm writes .package-lock.json last. TypeScript is installed only with the development tools.
if ! [ node_modules/.package-lock.json -nt package-lock.json ] || { [ "$scope" != run ] && ! [ -d node_modules/typescript ]; }; then
  echo "Installing packages" >&2
  if [ "$scope" != run ]; then
    attended npm ci --loglevel=error
  elif has_current_node; then
    # At run time, the only optional packages contain Node, which the system already has.
    attended npm ci --omit=dev --omit=optional --loglevel=error
  else
    attended npm ci --omit=dev --loglevel=error
  fi
fi

# npm reports no error if it cannot install the optional packages node-linux-*, so this script checks Node.
PATH="$PWD/node_modules/.bin:$PATH"
is_node_current || {
  echo "Node 24.11 or newer is required, and no package for this machine exists. Install Node, then try again." >&2
  exit 1
}

# The embedded database is stored outside node_modules, so that it is prepared only once.
[ .cache/pglite.tar.gz -nt package-lock.json ] ||
  attended node libs/storage/src/prepare-embedded.ts

can_install() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null
}

# Installs Debian packages for tests.
install_for() {
  tests=$1
  shift
  echo "As root: installing $* from Debian's packages, for the $tests tests" >&2
  attended apt-get update -qq
  # In run level 1, Debian does not start services after the install. The tests start the servers themselves.
  RUNLEVEL=1 attended apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# Installs a Debian package for the tests, unless a variable or the path provides its program.
need() {
  program=$1 package=$2 chosen=$3 tests=$4
  if [ -n "$chosen" ] || command -v "$program" >/dev/null; then return; fi
  if can_install; then
    install_for "$tests" "$package"
  else
    echo "The $tests tests need $package. Install it, or set $5 to its program, then try again." >&2
    exit 1
  fi
}

if [ "$scope" = system ]; then
  # The headless shell is lighter, but any Chromium works.
  chromium=${CHROMIUM_PATH:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
  [ "$(id -u)" != 0 ] || chromium=${CHROMIUM_PATH:-}
  need chromium-headless-shell chromium-headless-shell "$chromium" browser CHROMIUM_PATH
  need firefox-esr firefox-esr "${FIREFOX_PATH:-}" browser FIREFOX_PATH
  need prometheus prometheus "${PROMETHEUS_PATH:-}" monitoring PROMETHEUS_PATH
  need python3 python3 "${PYTHON_PATH:-}" documentation PYTHON_PATH
  need javac default-jdk-headless "${JAVA_PATH:-}" documentation JAVA_PATH
  need jq jq "" documentation PATH
  need amtool prometheus-alertmanager "${AMTOOL_PATH:-}" monitoring AMTOOL_PATH
  # Without the libraries of others, the tests in tests/clients are skipped, or fail in CI.
  [ tests/clients/node_modules/.package-lock.json -nt tests/clients/package-lock.json ] ||
    attended npm ci --prefix tests/clients --loglevel=error || true
  libraries='python3-msal python3-requests-oauthlib ruby-openid-connect libapache2-mod-auth-openidc apache2-bin'
  dpkg -s $libraries >/dev/null 2>&1 || ! can_install || install_for client $libraries
fi
