#!/bin/sh
# python.sh PYTHON ROOT: the tests of the Python package, with the library that was built here, by the first Python that has
# numpy and pytest.
for python in "$1" /usr/bin/python3; do
    "$python" -c 'import numpy, pytest' 2>/dev/null || continue
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$2/python exec "$python" -m pytest -q -p no:cacheprovider "$2/python/tests"
done
echo "numpy or pytest is missing"
exit 77
