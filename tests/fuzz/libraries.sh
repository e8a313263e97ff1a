#!/bin/sh
# libraries.sh: libtiff and cfitsio from Debian's sources, built with sanitizers for the fuzzing build (../README.md).
#
#   usage: tests/fuzz/libraries.sh FOLDER
#
# makes FOLDER/lib and FOLDER/include; then configure with -DCMAKE_PREFIX_PATH=FOLDER.  Needs clang, cmake, ninja, dpkg-dev,
# libjpeg-dev, libzstd-dev and the network.  The machine's list of sources need not name source packages.
set -e
mkdir -p "$1"
folder=$(cd "$1" && pwd)
. /etc/os-release
mkdir -p "$folder/lists/partial" "$folder/source"
cd "$folder/source"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Component: main' | grep -v security | head -1) # where packages come from here
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $VERSION_CODENAME main" >"$folder/sources.list"
apt_get() {
  apt-get -qq -o "Dir::Etc::SourceList=$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o "Dir::State::Lists=$folder/lists" -o APT::Sandbox::User=root "$@"
}
apt_get update

# build PACKAGE OPTION...: with Debian's changes where these can be had.
build() {
  package=$1
  shift
  rm -rf "$package"
  if apt_get source --download-only "$package" && dpkg-source --no-check -x "$package"_*.dsc "$package" >"$package.log"; then
    :
  else
    echo "$package: without Debian's changes"
    mkdir "$package"
    tar -xf "$(ls "$package"_*.orig.tar.*z* | head -1)" -C "$package" --strip-components=1
  fi
  cmake -G Ninja -S "$package" -B "$package/build-sanitized" -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Release \
    -DBUILD_SHARED_LIBS=ON -DCMAKE_INSTALL_PREFIX="$folder" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_C_FLAGS_RELEASE="-O1 -g" \
    -DCMAKE_C_FLAGS="-fsanitize=address,fuzzer-no-link -fno-omit-frame-pointer" "$@" >"$package.log"
  cmake --build "$package/build-sanitized" >"$package.log"
  cmake --install "$package/build-sanitized" >"$package.log"
}
build tiff -Dcxx=OFF -Dtiff-tools=OFF -Dtiff-tests=OFF -Dtiff-contrib=OFF -Dtiff-docs=OFF -Dwebp=OFF -Djbig=OFF -Dlerc=OFF
build cfitsio -DUSE_CURL=OFF -DUSE_PTHREADS=ON
echo "$folder"
