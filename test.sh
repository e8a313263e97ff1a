#!/bin/sh
# Builds and runs the tests.
set -e
cd "$(dirname "$0")"
PIPEC_SETUP_ONLY=1 ./setup.sh
ctest --test-dir build --output-on-failure -j "$(nproc)"
