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

# turn_of I N: is it the turn of part I of N, of a test that should not do nothing at any commit?
turn_of() {
    turn=${PIPEC_TEST_TURN:-0/1}
    [ "${turn#*/}" -lt "$2" ] || [ $((${turn%/*} % $2)) -eq "$1" ]
}

# says TEXT: the last command of `expect` said so on stderr.
says() {
    checks=$((checks + 1))
    [ -z "$1" ] || grep -qF -- "$1" said.err ||
        { fail "stderr does not say '$1':"; cat said.err; }
}

# says_nothing: it said nothing there.  PoCL 6 tells how it arranges work-items, kernel by kernel, as it compiles them.
says_nothing() {
    checks=$((checks + 1))
    grep -v '^\[SubCFG\] Form SubCFGs in ' said.err >said.more && { fail 'stderr says:'; cat said.more; }
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

# shown N: N.said is N.shown.
shown() {
    # PoCL 6 says SubCFG while it compiles; whether something was compiled depends on the cache.
    tell='/^\[SubCFG\]/d; s/  */ /g; s/, compiling included$//'
    if grep -qE ' s$|compiling included$|time ms|%|MiB' "$1.shown"; then
        tell="$tell; s/[0-9][0-9.]*/N/g"
    fi
    sed "$tell" "$1.said" | tr -s '\n ' ' ' >"$1.all"
    sed "$tell" "$1.shown" | awk -v file="$1.all" '
        BEGIN { getline all <file; sub(/ $/, "", all) }
        # A line of ...: what is shown before it comes next, or anywhere behind an earlier one.
        /^ *\.\.\.$/ {
            at = part == "" ? 1 : index(all, part)
            missing = missing || at == 0 || (at > 1 && !open)
            all = substr(all, at + length(part))
            part = ""
            open = 1
            next
        }
        { sub(/^ /, ""); sub(/ $/, ""); part = part (part == "" ? "" : " ") $0 }
        # What is shown at last is the end.
        END {
            end = substr(all, length(all) - length(part) + 1)
            exit missing || (open ? part != "" && end != part : all != part)
        }'
}

# sessions PAGE...: what pages show as a session, one command after the other: what is shown is said.  A line of ... stands for
# any lines; where times or sizes of memory are told, any number is as good as another.  `number` is one more than the commands.
sessions() {
    cat "$@" |
        awk '/^    \$ / { n++; printf "%s\n", substr($0, 7) >(n ".command"); printf "" >(n ".shown"); inside = 1; next }
            !/^    / { inside = 0 }
            inside { print substr($0, 5) >(n ".shown") }'
    number=1
    while [ -e "$number.command" ]; do
        PATH="$PWD:$PATH" sh "./$number.command" >"$number.said" 2>&1 </dev/null
        check shown "$number"
        number=$((number + 1))
    done
}

finish() {
    echo "$checks checks, $failures failed"
    [ "$checks" -gt 0 ] && [ "$failures" -eq 0 ]
    exit
}
