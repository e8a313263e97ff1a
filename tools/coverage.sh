#!/bin/sh
# Line coverage of the compiler: builds with -DCOVERAGE=ON in build-coverage, runs the tests that are
# not mostly kernel compilation (and do not let the instrumentation's own calls fail), prints a table
# and fails when a folder is under 90 %.
#
#   tools/coverage.sh [-l] [TESTS]    -l also lists the lines that nothing ran; TESTS as for ctest -R
set -e
cd "$(dirname "$0")/.."
lines=""
if [ "$1" = -l ]; then
  lines=yes
  shift
fi
build=${BUILD:-build-coverage}
cmake -G Ninja -B "$build" -S . -DCMAKE_BUILD_TYPE=Debug -DCOVERAGE=ON >/dev/null
cmake --build "$build"
find "$build" -name '*.gcda' -delete
ctest --test-dir "$build" --output-on-failure -LE slow -E failing_calls ${1:+-R "$1"}
gcovr --root . --object-directory "$build" --filter 'frontend/' --filter 'ir/' --filter 'passes/' \
  --filter 'codegen/' --csv "$build/coverage.csv" ${lines:+--txt "$build/coverage.txt"} "$build"
if [ -n "$lines" ]; then
  cat "$build/coverage.txt"
fi
awk -F, 'NR > 1 {
    split($1, part, "/")
    total[part[1]] += $2
    covered[part[1]] += $3
  }
  END {
    for (folder in total) {
      percent = 100 * covered[folder] / total[folder]
      printf "%-10s %6d of %6d lines  %5.1f %%\n", folder, covered[folder], total[folder], percent
      bad += percent < 90
    }
    exit bad > 0
  }' "$build/coverage.csv"
