#!/bin/sh
# pack.sh: all fuzz targets in one folder that runs on another machine (../README.md): x86-64 Linux with a C library that is
# not older than this one's, and for `compare` an OpenCL device.
#
#   usage: tests/fuzz/pack.sh FOLDER
#
# Builds in build-fuzz/, with libtiff and cfitsio in sanitizers where libraries.sh can have their sources.  Needs clang.
# FOLDER gets the programs, stripped, the shared libraries that they need, seeds, the dictionary and run.sh.
set -e
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
build=build-fuzz libraries=$PWD/build-fuzz/libraries
mkdir -p "$build"
[ -e "$libraries/lib/libcfitsio.so" ] || tests/fuzz/libraries.sh "$libraries" >"$build/libraries.log" 2>&1 ||
  echo "libtiff and cfitsio are the machine's, without sanitizers: see $build/libraries.log"
CC=clang cmake -G Ninja -B "$build" -S . -DFUZZ=ON -DSANITIZE=ON -DCMAKE_PREFIX_PATH="$libraries" >"$build/configure.log"
targets=$(ls tests/fuzz/fuzz_*.c | sed 's/.*fuzz_\(.*\)\.c/\1/')
# shellcheck disable=SC2086
cmake --build "$build" -j "${JOBS:-$(nproc)}" --target dictionary $(printf 'libfuzz_%s ' $targets) >"$build/build.log"

rm -rf "$folder/bin" "$folder/lib" "$folder/seeds"
mkdir -p "$folder/bin" "$folder/lib" "$folder/seeds"
for target in $targets; do
  strip -o "$folder/bin/$target" "$build/tests/fuzz/libfuzz_$target"
  cp -r "tests/fuzz/corpus/$target" "$folder/seeds/$target"
done
cp tests/data/images/* "$folder/seeds/image"

# needed FILE...: the libraries that they load, but those that come with each system.
needed() {
  LD_LIBRARY_PATH="$libraries/lib" ldd "$@" | awk '$3 ~ "^/" { print $3 }' | sort -u |
    grep -v -E '/(libc|libm|libdl|libpthread|librt|libOpenCL)\.so'
}
# cfitsio is loaded when a FITS file is met (runtime/files/cfitsio.h).
cfitsio=$(grep -o 'libcfitsio\.so\.[0-9]*' "$build/build.ninja" | head -1)
[ -e "$libraries/lib/$cfitsio" ] && cfitsio=$libraries/lib/$cfitsio || cfitsio=$(ldconfig -p | sed -n "s,.*=> \(.*/$cfitsio\)$,\1,p")
for library in $(needed "$folder"/bin/*) "$cfitsio" $(needed "$cfitsio"); do
  strip -o "$folder/lib/$(basename "$library")" "$library"
done
cp "$build/tests/fuzz/words.dict" tests/lsan.supp tests/fuzz/run.sh "$folder"
git rev-parse HEAD >"$folder/commit"
du -sh "$folder"
