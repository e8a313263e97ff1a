# failing_calls.sh: whatever call fails, a run ends with a message and the right exit code, without
# a crash, and with whole outputs or none.
#
#   FAILING   the library (failing.c)      FULL=1   every call; else about 12 of each kind
#
# A call may also be one that can be done without (a cache, the synchronisation of a folder): then
# the exit code is 0 and the outputs are as ever.
. "$(dirname "$0")/../e2e/lib.sh"

IMAGES=$SAMPLES/blobs.tif
DEVICE=cpu
"$PIPEC" run "$SAMPLES/blobs.pipe" "$IMAGES" -o good --device cpu --quiet || exit 1

LIMIT=
QUIET=--quiet
# run KIND N EVER: one run in which that call fails; its exit code is in $code.
run() {
    rm -rf out fail.log
    FAIL_EVER=$3
    [ -n "$FAIL_EVER" ] && export FAIL_EVER || unset FAIL_EVER
    timeout 100 env FAIL_KIND="$1" FAIL_AT="$2" FAIL_LOG=fail.log LD_PRELOAD="$FAILING" \
        "$PIPEC" run "$SAMPLES/blobs.pipe" "$IMAGES" -o out --device "$DEVICE" $QUIET $LIMIT \
        >said.out 2>said.err </dev/null
    code=$?
    unset FAIL_EVER
}

# Every file under its own name is whole, no other is there.  Tables of a batch lack the rows of an image that failed.
whole_or_none() {
    [ -d out ] || return 0
    for file in $(cd out && find . -type f | grep -v '/\.pipec/\|journal'); do
        case $IMAGES:$file in
        pair:*.csv) ! grep -qvxFf "good/$file" "out/$file" ;;
        *) cmp -s "good/$file" "out/$file" ;;
        esac || { fail "$1: $file is not as it should be"; return; }
    done
}

# judge WHAT CODES: the exit code is 0 or one of CODES, and there is a message unless it is 0.
judge() {
    checks=$((checks + 1))
    case " 0 $2 " in
    *" $code "*) ;;
    *) fail "$1: exit code $code"; cat said.err ;;
    esac
    [ "$code" -eq 0 ] || [ -s said.err ] || fail "$1: no message"
    if [ "$code" -eq 0 ]; then
        diff -r -x '.pipec*' -x '*journal*' good out >/dev/null || fail "$1: success without the outputs"
    fi
    whole_or_none "$1"
}

# sweep KIND CODES EVER: the calls of a kind, as many as the sample has or FULL asks for.
sweep() {
    run "$1" 0 ''
    n=$(sed -n 's/^calls //p' fail.log | sort -n | tail -1) # what the run starts counts for itself
    step=$((n / 12 + 1))
    [ -z "${FULL:-}" ] || step=1
    [ "${n:-0}" -gt 0 ] || fail "$1: no call was seen"
    at=1
    while [ "$at" -le "${n:-0}" ]; do
        run "$1" "$at" "$3"
        judge "$1 call $at of $n ${3:+and all after it }($(head -1 fail.log 2>/dev/null))" "$2"
        at=$((at + step))
    done
}

sweep memory '1 2 3 4 5 75' ''
sweep memory '1 2 3 4 5 75' 1
sweep files '1 5 75' ''
sweep files '1 5 75' 1
sweep device '1 3 4 75' ''
sweep device '1 3 4 75' 1
LIMIT='--memory 256KiB' # in parts
sweep memory '1 2 3 4 5 75' ''
sweep device '1 3 4 75' ''
sweep device '1 3 4 75' 1

# The temporary folder is full: pixels of a run in parts find no room on the host.
LIMIT='--memory 256KiB --host-memory 1KiB'
sweep files '1 5 75' 1
run files 1 1
judge 'a full temporary folder' '5 75'
says 'set TMPDIR to a folder with more room'

# A device that has less memory than it says: the run takes what there is, or says what would do.
LIMIT=
for bytes in 400000 150000; do
    run large $bytes ''
    judge "a device with $bytes bytes" ''
    [ -s fail.log ] || fail "$bytes bytes were enough at once"
done
run large 1000 ''
judge 'a device with 1000 bytes' 4
[ "$code" -eq 4 ] || fail "a run in 1000 bytes"
says 'the least that will do is --memory'
least=$(sed -n 's/.*the least that will do is --memory \([0-9]*\).*/\1/p' said.err | head -1)
run large "$least" ''
judge "a device with $least bytes" ''

# Where two share the images and one fails, the other does them all.
mkdir pair
for number in 1 2 3 4 5 6; do
    cp "$SAMPLES/blobs.tif" pair/$number.tif
done
rm -rf good
IMAGES=pair
DEVICE='#0,#0'
QUIET=
"$PIPEC" run "$SAMPLES/blobs.pipe" pair -o good --device '#0' --quiet || fail 'a folder'
run device 0 ''
n=$(sed -n 's/^calls //p' fail.log | sort -n | tail -1)
told=0
for part in 2 3 4 5 6 7; do
    run device $((n * part / 8)) ''
    judge "one of two devices, call $((n * part / 8)) ($(head -1 fail.log))" '1 4'
    if grep -q 'its images are done by other devices' said.err; then
        told=$((told + 1))
        check test "$code" -eq 0
    fi
done
check test $told -gt 0

# What one device has no memory for, another does; where none has, the image fails.
export POCL_DEVICES='pthread pthread' FAIL_FIRST=1
DEVICE='#0,#1'
run large 1000 ''
judge 'one of two devices has no memory' ''
check grep -q clCreateBuffer fail.log
unset FAIL_FIRST
run large 1000 ''
judge 'two devices have no memory' 4
check test "$code" -eq 4
finish
