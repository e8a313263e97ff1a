# terminal.sh: a terminal is told what goes on, on one line that is gone at the end; a file is not.
. "$(dirname "$0")/lib.sh"

command -v script >/dev/null || exit 77

# on_terminal COMMAND: what a terminal gets to see, with a line for each time that the status is drawn.
on_terminal() {
    script -qec "$1" typed >/dev/null 2>&1 </dev/null
    got=$?
    tr '\r' '\n' <typed | sed 's/\x1b\[K//g' >said.err
}

printf 'input image[y, x]\noutput m = median_filter(image, 2)\n' >m.pipe
export POCL_CACHE_DIR="$WORK/new" XDG_CACHE_HOME="$WORK/new"
mkdir new
on_terminal "$PIPEC run m.pipe $SAMPLES/blobs.tif -o out"
check test "$got" -eq 0
says 'compiling for this device, once: '
says '1/1 blobs.tif  '
check test -s out/blobs_m.tif

# It may be in a cache now; another image, other words.
on_terminal "$PIPEC run m.pipe --quiet $SAMPLES/blobs.tif -o out"
check test "$got" -eq 0
check test -z "$(grep -v '^Script \|^$' said.err)"
expect 0 '1/1 blobs.tif' "$PIPEC" run m.pipe "$SAMPLES/blobs.tif" -o out
check test "$(wc -l <said.err)" -eq 1

# Executables, too; and mistakes stand on lines of their own.
expect 0 '' "$PIPEC" build m.pipe -o m
on_terminal "./m $SAMPLES/blobs.tif -o out"
says '1/1 blobs.tif  '
on_terminal "./m nothing.tif -o out"
check test "$got" -ne 0
check grep -q '^[^ ]*m: .*nothing.tif' said.err

finish
