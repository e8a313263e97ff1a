# terminal.sh: a terminal is told what goes on, on one line that is gone at the end; a file is not.
. "$(dirname "$0")/lib.sh"

script -qec true typed >/dev/null 2>&1 </dev/null || { echo 'no terminal can be had here'; exit 77; }

# on_terminal COMMAND: what a terminal gets to see, with a line for each time that the status is drawn.
on_terminal() {
    script -qec "$1" typed >/dev/null 2>&1 </dev/null
    got=$?
    tr '\r' '\n' <typed | sed 's/\x1b\[K//g' >said.err
}

printf 'input image[y, x]\noutput m = median_filter(image, 2)\n' >m.pipe
printf 'input image[y, x]\noutput m = median_filter(image, 2) + median_filter(image, 3) + median_filter(image, 4)\n' >long.pipe
mkdir new
on_terminal "env POCL_CACHE_DIR=$WORK/new XDG_CACHE_HOME=$WORK/new $PIPEC run long.pipe $SAMPLES/blobs.tif -o out"
check test "$got" -eq 0
says 'compiling for this device, once: '
says '1/1 blobs.tif  '
check test -s out/blobs_m.tif

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

# try: again for what is typed, for another pipeline and for another image.
printf 'input image[y, x]\nparam low = 40 in 1 .. 200 "threshold"\noutput spots = label(image > low)\n' >t.pipe
printf 'low = 60\nlow=900\nhigh 3\n?\n\nq\nlow=70\n' | "$PIPEC" try t.pipe "$SAMPLES/blobs.tif" -o out --low 50 >said.out 2>said.err
check test "$?" -eq 0
shows 'low=50'
shows 'low=60'
shows ' objects'
shows 'low=60  1 .. 200  threshold'
says "--low is 900, but must be in 1 .. 200"
says "t has no parameter 'high'"
check test "$(grep -c objects said.out)" -eq 3
check test ! -e out/t_low

# wait_for N: until N runs have said what they found.
wait_for() {
    for i in $(seq 3000); do
        [ "$(grep -c ' objects' typed.out)" -ge "$1" ] && return 0
        sleep 0.1
    done
    return 1
}
cp "$SAMPLES/blobs.tif" t.tif
mkfifo keys
"$PIPEC" try t.pipe t.tif -o out <keys >typed.out 2>typed.err &
job=$!
exec 3>keys
check wait_for 1
sed 's/image > low/imag > low/' t.pipe >new.pipe && mv new.pipe t.pipe
for i in $(seq 3000); do grep -q 'did you mean' typed.err && break || sleep 0.1; done
check grep -q 'did you mean `image`' typed.err
sed 's/imag > low/image < low/' t.pipe >new.pipe && mv new.pipe t.pipe
check wait_for 2
touch t.tif
check wait_for 3
echo 'fn bright(v) = v > 50' >part.pipe
printf 'include "part.pipe"\ninput image[y, x]\noutput spots = label(bright(image))\n' >new.pipe && mv new.pipe t.pipe
check wait_for 4
echo 'fn bright(v) = v > 60' >part.pipe
check wait_for 5
kill -TERM "$job"
wait "$job"
check test "$?" -eq 143
exec 3>&-
expect 2 'which pipeline' "$PIPEC" try
expect 2 'runs on a device' "$PIPEC" try t.pipe t.tif --device reference

finish
