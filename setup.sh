#!/bin/sh
# Installs what pipec needs on Debian 12 or 13 (as root, or with sudo), builds it, and runs the first
# sample: a label image and a table from samples/blobs.tif in out/.
set -e
cd "$(dirname "$0")"
packages="gcc cmake ninja-build pkg-config flex bison libtiff-dev libpng-dev libjpeg-dev libopenjp2-7-dev zlib1g-dev libexpat1-dev libdeflate-dev libzstd-dev libblosc-dev
  libcjson-dev libcfitsio-dev nettle-dev libxxhash-dev libcmocka-dev ocl-icd-opencl-dev opencl-headers pocl-opencl-icd"
missing=""
for p in $packages; do
  dpkg -s "$p" >/dev/null 2>&1 || missing="$missing $p"
done
if [ -n "$missing" ]; then
  sudo=""
  [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -qq
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing
fi
cmake -G Ninja -B build -S . -DCMAKE_BUILD_TYPE=Release "$@"
cmake --build build --target programs
[ -n "$PIPEC_SETUP_ONLY" ] || build/pipec run samples/blobs.pipe samples/blobs.tif -o out
