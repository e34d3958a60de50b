#!/usr/bin/env bash
# Installs Debian packages for scripts/test-deps.sh and scripts/test-engines.sh:
# as root, or with a sudo that asks nothing. Says what to do where neither works.
set -euo pipefail
say() { echo "apt-install: $*" >&2; }

if ! command -v apt-get >/dev/null; then
  say "please install: $* (Debian's names; there is no apt-get here)"
  exit 1
fi
as_root=()
if [[ $(id -u) != 0 ]]; then
  if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
    say "not root, and sudo asks for a password; please run: apt-get install $*"
    exit 1
  fi
  as_root=(sudo)
fi
# Another installer may hold dpkg's lock for a while: wait for it.
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" </dev/null; }
install() { apt install -y --no-install-recommends "$@"; }
say "installing $*"
# The package lists may be missing or old: fetch them only when they are.
install "$@" || { apt update && install "$@"; }
