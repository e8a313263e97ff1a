#!/bin/sh
set -e
cmake -G Ninja -B made -S . $CMAKE_ARGS -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX"
cmake --build made
cmake --install made
