#!/usr/bin/env bash
# Runs the pinned golangci-lint (scripts/lint/go.mod) with the given arguments,
# after building it once into .cache/bin.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# One program a version and toolchain: golangci-lint has to be built with a Go
# no older than the code it reads.
key=$(go env GOVERSION)-$(cksum <scripts/lint/go.sum | cut -d' ' -f1)
program=$PWD/.cache/bin/golangci-lint-$key
if [[ ! -x $program ]]; then
  echo "lint: building golangci-lint (once; a minute or two)"
  mkdir -p .cache/bin
  CGO_ENABLED=0 GOFLAGS='' go -C scripts/lint build -trimpath -ldflags='-s -w' -o "$program.$$" \
    github.com/golangci/golangci-lint/v2/cmd/golangci-lint
  mv "$program.$$" "$program"
fi
export GOLANGCI_LINT_CACHE=$PWD/.cache/golangci-lint
exec "$program" "${@:-run}"
