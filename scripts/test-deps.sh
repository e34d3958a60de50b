#!/usr/bin/env bash
# Installs what the tests run beside Go: PostgreSQL, git, Node.js, Python, an ssh
# server and the usual commands of a GNU system where they are missing, and the
# pinned clients under .cache/; starts the container engines
# (scripts/test-engines.sh), unless --no-engines is given. Quick when all of it
# is there. With --bench also what `make bench` compares with, with --race also
# the C compiler that the race detector needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bench=no race=no engines=yes
for option in "$@"; do
  case "$option" in
    --bench) bench=yes ;;
    --race) race=yes ;;
    --no-engines) engines=no ;;
    *) echo "usage: scripts/test-deps.sh [--bench] [--race] [--no-engines]" >&2; exit 2 ;;
  esac
done

say() { echo "test-deps: $*"; }

# --- system packages -------------------------------------------------------

has_postgres() { compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null; }

# A python3 that can make virtual environments: the first of PATH, else Debian's.
python() {
  local candidate
  for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  return 1
}

missing=()
command -v git >/dev/null || missing+=(git)
has_postgres || missing+=(postgresql)
command -v node >/dev/null || missing+=(nodejs)
command -v npm >/dev/null || missing+=(npm)
[[ $race == no ]] || command -v cc >/dev/null || command -v gcc >/dev/null || missing+=(gcc libc6-dev)
python >/dev/null || missing+=(python3 python3-venv)
command -v sshd >/dev/null || [[ -x /usr/sbin/sshd ]] || missing+=(openssh-server)
# What the shell of state workspaces is held against, with bash and coreutils.
for pair in gawk:gawk bc:bc jq:jq xxd:xxd patch:patch diff:diffutils strings:binutils column:bsdextrautils tree:tree strace:strace unshare:util-linux; do
  command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
done
[[ $bench == no ]] || command -v rg >/dev/null || missing+=(ripgrep)

((${#missing[@]} == 0)) || scripts/apt-install.sh "${missing[@]}"

# --- pinned clients --------------------------------------------------------

sha256() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi; }

# cache_dir KIND LOCKFILE: the directory that belongs to this version of the
# lock file. test/testenv computes the same name.
cache_dir() { echo "$PWD/.cache/$1-$(sha256 "$2" | cut -c1-16)"; }

# locked DIR COMMAND…: runs the command for one installer at a time, and not at
# all when DIR is complete. What an interrupted run left is made anew.
locked() {
  local dir=$1
  shift
  [[ -e $dir/.complete ]] && return
  mkdir -p .cache
  exec 9>"$dir.lock"
  if command -v flock >/dev/null; then flock 9; fi
  if [[ ! -e $dir/.complete ]]; then
    rm -rf "$dir"
    mkdir "$dir"
    "$@" "$dir"
    touch "$dir/.complete"
  fi
  exec 9>&-
  rm -f "$dir.lock"
}

install_npm() { # SOURCE TARGET
  say "installing $(grep -c '"node_modules/' "$1/package-lock.json") npm packages of $1"
  cp "$1/package.json" "$1/package-lock.json" "$2/"
  # The Inspector and the conformance suite want a newer Node.js than npm runs
  # on here; they get the one that the lock file brings.
  npm ci --prefix "$2" --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null
}

install_venv() { # SOURCE TARGET
  say "installing $(grep -c == "$1/requirements.txt") Python packages of $1"
  "$(python)" -m venv "$2"
  "$2/bin/python" -m pip install -q --no-input --disable-pip-version-check --no-deps -r "$1/requirements.txt" </dev/null
}

locked "$(cache_dir npm test/clients/package-lock.json)" install_npm test/clients
locked "$(cache_dir npm test/conformance/package-lock.json)" install_npm test/conformance
locked "$(cache_dir venv test/clients/requirements.txt)" install_venv test/clients
locked "$(cache_dir npm transports/auth/testdata/issuer/package-lock.json)" install_npm transports/auth/testdata/issuer
if [[ $bench == yes ]]; then
  locked "$(cache_dir npm test/bench/package-lock.json)" install_npm test/bench
fi
# --- container engines -----------------------------------------------------

# Their tests skip where no engine can be started, and fail with CI=true.
if [[ $engines == yes ]]; then
  if [[ $(uname -s) == Linux && $(id -u) == 0 ]] || [[ ${CI:-} == true ]]; then
    scripts/test-engines.sh start >/dev/null
  else
    say "container engines need Linux and root; tests that need one skip"
  fi
fi
say "complete"
