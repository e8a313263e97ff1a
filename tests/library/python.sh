#!/bin/sh
# python.sh PYTHON ROOT: the tests of the Python package, with the library that was built here.
"$1" -c 'import numpy, pytest' 2>/dev/null || { echo "numpy or pytest is missing"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$2/python exec "$1" -m pytest -q -p no:cacheprovider "$2/python/tests"
