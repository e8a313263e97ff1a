#!/bin/sh
# night.sh: what takes too long for every stop: random pipelines and all tests on each OpenCL device that is installed, every
# call that can fail, and fuzzing with sanitizers, also in libtiff and cfitsio.
#
#   usage: tests/night.sh [HOURS]     8 if not said; a third goes to random pipelines, a third to fuzzing
#
# Needs what setup.sh installs, clang, dpkg-dev, libjpeg-dev and libzstd-dev.  Builds in build/ and build-night/; logs, and what was found, are in
# build-night/found/.  The exit code is 1 when anything was found; a line is printed for each.
set -u
cd "$(dirname "$0")/.." || exit 1
hours=${1:-8}
found=$PWD/build-night/found
inputs=$PWD/build-night/inputs
wrong=0
rm -rf "$found"
mkdir -p "$found" "$inputs"

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
libraries=
if step libraries tests/fuzz/libraries.sh "$PWD/build-night/libraries" && [ -e build-night/libraries/lib/libcfitsio.so ]; then
  libraries=$PWD/build-night/libraries
fi
step build-fuzz sh -c "CC=clang cmake -G Ninja -B build-night -S . -DFUZZ=ON -DSANITIZE=ON -DCMAKE_PREFIX_PATH='$libraries' \
  -DKERNEL_CACHE='$PWD/build/pocl-cache' && cmake --build build-night"

# All tests with all their cases, and every call that can fail.
step tests env PIPEC_TEST_TURN=0/1 ctest --test-dir build --output-on-failure -j "$(nproc)"
step failing_calls env FULL=1 ctest --test-dir build -R failing_calls --output-on-failure --timeout 36000

# Each device: the samples' files, and what pipelines compute.  "#0" is the one that all tests above have used.
step samples-on-devices sh tests/devices.sh build
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

# Each target for its share of the time; what crashes is in found/; new inputs stay for the next night.
targets=$(ls tests/fuzz/fuzz_*.c | sed 's/.*fuzz_\(.*\)\.c/\1/')
n=$(echo "$targets" | wc -w)
seconds=$(share "$n" | awk '{ printf "%d", $1 * 3600 }')
for target in $targets; do
  mkdir -p "$inputs/$target"
  corpus=tests/fuzz/corpus/$target
  [ "$target" != image ] || corpus="$corpus tests/data/images"
  more=
  case $target in pipeline | compare | graph | options) more=-dict=build-night/tests/fuzz/words.dict ;; esac
  leaks=1
  [ "$target" != compare ] || leaks=0 # drivers keep what they have until the end
  # shellcheck disable=SC2086
  step "fuzz-$target" env ASAN_OPTIONS="allocator_may_return_null=1:detect_leaks=$leaks" LSAN_OPTIONS=suppressions=tests/lsan.supp \
    POCL_CACHE_DIR="$PWD/build/pocl-cache" "build-night/tests/fuzz/libfuzz_$target" -max_total_time="$seconds" -timeout=60 \
    -rss_limit_mb=4096 -max_len=4096 -print_final_stats=1 -artifact_prefix="$found/$target-" $more "$inputs/$target" $corpus
  sed -n 's/^stat::average_exec_per_sec: */  executions a second: /p' "$found/fuzz-$target.log"
done
exit $wrong
