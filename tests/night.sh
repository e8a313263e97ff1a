#!/bin/sh
# night.sh: what takes too long for every stop: random pipelines and all tests on each OpenCL device that is installed, every
# call that can fail, killed processes, and fuzzing with sanitizers, also in libtiff and cfitsio.
#
#   usage: tests/night.sh [HOURS]     8 if not said; a third goes to random pipelines, a third to fuzzing
#
# Needs what setup.sh installs, clang, dpkg-dev, libjpeg-dev and libzstd-dev, and Python's numpy, scipy and tifffile.  Builds in build/
# and build-fuzz/; logs, and what was found, are in build-night/found/, inputs that crash in build-night/fuzz/found/.  The exit code
# is 1 when anything was found; a line is printed for each.
set -u
cd "$(dirname "$0")/.." || exit 1
hours=${1:-8}
found=$PWD/build-night/found
wrong=0
rm -rf "$found"
mkdir -p "$found"

# step NAME COMMAND...: its output in a file, and a line about it.
step() {
  name=$1
  shift
  if "$@" >"$found/$name.log" 2>&1; then
    echo "well: $name"
  else
    echo "WRONG: $name (see $found/$name.log)"
    wrong=1
  fi
}

# share PARTS: hours of a third that is divided into so many parts.
share() {
  echo "$hours $1" | awk '{ printf "%.4f", $1 / 3 / $2 }'
}

step build sh -c './setup.sh && cmake --build build'
step build-fuzz tests/fuzz/pack.sh "$PWD/build-night/fuzz"

# All tests with all their cases, every call that can fail, and many processes of mpirun killed.
step tests env PIPEC_TEST_TURN=0/1 ctest --test-dir build --output-on-failure -j "$(nproc)"
step failing_calls env FULL=1 ctest --test-dir build -R failing_calls --output-on-failure --timeout 36000
step ranks_killed env FULL=1 ctest --test-dir build -R e2e_ranks --output-on-failure --timeout 36000

# Each device: what all pipelines of the project give, and what the tests' pipelines compute.  "#0" is the one that all tests above
# have used.
step images tests/devices.py make build-night/devices
step devices tests/devices.py run build-night/devices
devices=$(build/pipec devices | sed -n 's/^#\([0-9]*\) .*/\1/p')
n=$(echo "$devices" | wc -w)
for device in $devices; do
  export PIPEC_TEST_DEVICE="#$device"
  [ "$device" -eq 0 ] || step "tests-device-$device" env PIPEC_TEST_TURN=0/1 PIPEC_TEST_FLAGS= \
    ctest --test-dir build --output-on-failure -R '^test_' -j "$(nproc)"
  step "random-device-$device" build/tests/random/random_pipelines --seeds 1..100000000 --hours "$(share "$n")" --device --quick \
    --out "$found"
done
unset PIPEC_TEST_DEVICE

# All targets at the same time; new inputs stay for the next night.
processes=$(($(nproc) / 6))
step fuzz build-night/fuzz/run.sh "$(share 1 | awk '{ printf "%d", $1 * 3600 }')" "$((processes > 0 ? processes : 1))"
tail -n 8 "$found/fuzz.log"
exit $wrong
