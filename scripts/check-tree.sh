#!/usr/bin/env bash
# Checks what no compiler sees: that tracked files name no package registry and
# no path of the machine they were written on, and that generated files are
# fresh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
failed=0

# forbid WHAT GREP-ARGUMENT…: fails when a tracked file matches.
forbid() {
  local what=$1
  shift
  if git grep --untracked -nI "$@" -- . >&2; then
    echo "check-tree: $what in a tracked file (above)" >&2
    failed=1
  fi
}

# Hosts by their shape, so that this file names none.
forbid "a registry's host name" -iE \
  '\b(registry|proxy|sum|files|static|index|deb|security|ftp|repo[0-9]*)\.(npm|yarn|golang|py[a-z]+host|pypi|debian|maven|crates)[a-z]*\.|\bpypi\.(o|i|p)'
forbid "a resolved download address" -E '"resolved": *"'
forbid "an index or registry setting" -E '^(--(extra-)?index-url|--find-links|registry *=|index-url *=)'
forbid "this checkout's path" -F "$PWD/"
forbid "this machine's module cache" -F "$(go env GOMODCACHE)"
forbid "this machine's build cache" -F "$(go env GOCACHE)"

if git grep --untracked -qE '^//go:generate ' -- '*.go'; then
  before=$(git status --porcelain; git diff | sha256sum)
  go generate ./...
  after=$(git status --porcelain; git diff | sha256sum)
  if [[ $before != "$after" ]]; then
    git status --short >&2
    echo "check-tree: generated files are stale; run: go generate ./..." >&2
    failed=1
  fi
fi

exit "$failed"
