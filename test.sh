#!/bin/sh
# Builds and runs the tests.  Of long tests each commit runs a twelfth of the cases, the next commit the next twelfth;
# PIPEC_TEST_TURN=0/1 in the environment runs all.
set -e
cd "$(dirname "$0")"
PIPEC_TEST_TURN=${PIPEC_TEST_TURN:-$(($(git rev-list --count HEAD 2>/dev/null || echo 0) % 12))/12}
export PIPEC_TEST_TURN
PIPEC_SETUP_ONLY=1 ./setup.sh
cmake --build build
ctest --test-dir build --output-on-failure -j $(($(nproc) + 1)) # one more, as some wait for a disk
