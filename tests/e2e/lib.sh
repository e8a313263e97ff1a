# lib.sh: what every end-to-end test needs.  The tests are started by ctest with
#
#   PIPEC    the compiler         COMPARE  compare.c        CELLS  cells.c
#   ROOT     the source folder    WORK     a folder of the test's own, emptied here
#
# A check that fails is reported and the test goes on, so that one run shows all of them; `finish`
# gives the verdict.

set -u
export LC_ALL=C
SAMPLES=$ROOT/samples
GOLDEN=$ROOT/tests/golden/samples
checks=0
failures=0

rm -rf "$WORK"
mkdir -p "$WORK/temporary"
cd "$WORK" || exit 1
export TMPDIR="$PWD/temporary"

fail() {
    failures=$((failures + 1))
    echo "FAILED: $*"
}

# check COMMAND...: the command must succeed.
check() {
    checks=$((checks + 1))
    "$@" >check.out 2>&1 || { fail "$*"; cat check.out; }
}

# expect CODE TEXT COMMAND...: the exit code, and TEXT in what the command says on stderr
# ('': anything).  Output is left in said.out and said.err.
expect() {
    code=$1
    text=$2
    shift 2
    checks=$((checks + 1))
    "$@" >said.out 2>said.err </dev/null
    got=$?
    if [ "$got" -ne "$code" ]; then
        fail "exit code $got instead of $code: $*"
        cat said.out said.err
    fi
    says "$text"
}

# turn_has NUMBER: is this case to be run this time?  As support/turn.h has it.
turn_has() {
    turn=${PIPEC_TEST_TURN:-0/1}
    [ $(($1 % ${turn#*/})) -eq "${turn%/*}" ]
}

# says TEXT: the last command of `expect` said so on stderr.
says() {
    checks=$((checks + 1))
    [ -z "$1" ] || grep -qF -- "$1" said.err ||
        { fail "stderr does not say '$1':"; cat said.err; }
}

# shows TEXT: the same for stdout.
shows() {
    checks=$((checks + 1))
    grep -qF -- "$1" said.out || { fail "stdout does not say '$1':"; head -40 said.out; }
}

# files FOLDER NAME...: exactly these files are in the folder (journals of batches aside), and so
# no temporary one.
files() {
    folder=$1
    shift
    checks=$((checks + 1))
    want=$(printf '%s\n' "$@" | sed '/^$/d' | sort)
    got=$( (cd "$folder" 2>/dev/null && find . -type f) | sed 's,^\./,,' | grep -v '^\.pipec.*journal' |
        grep -v '^\.pipec/' | sort)
    [ "$want" = "$got" ] || fail "in $folder are" $got "instead of" $want
}

# The image that a sample works on.
image_of() {
    case $1 in
    primes) ;;
    nuclei) echo "$SAMPLES/nuclei.tif" ;;
    sources | clip) echo "$SAMPLES/sky.fits" ;;
    deconvolve) echo "$SAMPLES/volume.tif" ;;
    *) echo "$SAMPLES/blobs.tif" ;;
    esac
}

samples() {
    for file in "$SAMPLES"/*.pipe; do
        basename "$file" .pipe
    done
}

finish() {
    echo "$checks checks, $failures failed"
    [ "$checks" -gt 0 ] && [ "$failures" -eq 0 ]
    exit
}
