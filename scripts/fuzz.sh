#!/usr/bin/env bash
# Runs every fuzz target of the module, one after the other, for FUZZTIME each
# (10s unless set).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fuzztime=${FUZZTIME:-10s}

# Only packages with a target in their source are compiled; go test -list then
# says which of them this platform has.
packages=$(grep -rlE '^func Fuzz' --include='*_test.go' --exclude-dir=.cache --exclude-dir=.git . | xargs -n1 dirname | sort -u)

count=0
for package in $packages; do
  listed=$(go test -list='^Fuzz' "$package")
  for target in $(grep '^Fuzz' <<<"$listed"); do
    echo "fuzz: $package $target for $fuzztime"
    go test -run='^$' -fuzz="^$target\$" -fuzztime="$fuzztime" "$package"
    count=$((count + 1))
  done
done
echo "fuzz: $count targets passed"
