#!/usr/bin/env bash
# Runs every fuzz target of the module, one after the other, for FUZZTIME each
# (10s unless set).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fuzztime=${FUZZTIME:-10s}

# Only packages with a target in their source are compiled; go test -list then
# says which of them this platform has.
packages=$(grep -rlE '^func Fuzz' --include='*_test.go' --exclude-dir=.cache --exclude-dir=.git . | xargs -n1 dirname | sort -u)

# fuzz PACKAGE TARGET. On a busy machine the fuzzer can take the end of its time
# for a failure, and says so by this message and no failing input: then once more.
fuzz() {
  local try log
  log=$(mktemp)
  for try in 1 2 3; do
    if go test -run='^$' -fuzz="^$2\$" -fuzztime="$fuzztime" "$1" 2>&1 | tee "$log"; then
      rm -f "$log"
      return
    fi
    if ! grep -q 'context deadline exceeded' "$log" || grep -q 'Failing input written' "$log"; then
      break
    fi
    echo "fuzz: the fuzzer ended late; try $((try + 1))"
  done
  rm -f "$log"
  return 1
}

count=0
for package in $packages; do
  listed=$(go test -list='^Fuzz' "$package")
  for target in $(grep '^Fuzz' <<<"$listed"); do
    echo "fuzz: $package $target for $fuzztime"
    fuzz "$package" "$target"
    count=$((count + 1))
  done
done
echo "fuzz: $count targets passed"
