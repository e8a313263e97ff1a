# SIGINT and SIGTERM end every command within a second or so, whatever the driver compiles, with 130 or 143; whole
# outputs or none are left, and nothing temporary.
. "$ROOT/tests/e2e/lib.sh"
many=many.pipe
{
    echo 'input image[y, x]'
    i=0
    while [ $i -lt 40 ]; do
        echo "output m$i = mean(image * $i) + max(median_filter(image, $((i % 7 + 1))))"
        i=$((i + 1))
    done
} >"$many"
image=$SAMPLES/blobs.tif

# children: the milliseconds that processors have worked for the commands that have ended.
children() {
    times >times.txt
    awk -F'[ms ]+' 'NR == 2 { printf "%d", 1000 * (60 * ($1 + $3) + $2 + $4) }' times.txt
}

# interrupted SIGNAL CODE SECONDS SIGNALS COMMAND...: so long after its start, or once its kernel runs, the command gets so
# many signals.  It then works for not much longer: on a busy machine that may take a while.
interrupted() {
    signal=$1 wanted=$2 after=$3 times=$4
    shift 4
    rm -rf pocl out
    mkdir pocl
    children >before.txt
    # A shell starts background commands with SIGINT ignored; env gives it back.
    env --default-signal=INT POCL_CACHE_DIR="$PWD/pocl" "$@" >said.out 2>said.err </dev/null &
    pid=$!
    if [ "$after" = running ]; then
        while [ -z "$(find pocl -name '*.so')" ] && kill -0 $pid; do
            sleep 0.1
        done
        after=0.3
    fi
    sleep "$after"
    worked=$(awk '{ print 10 * ($14 + $15 + $16 + $17) }' /proc/$pid/stat)
    begin=$(date +%s)
    while [ "$times" -gt 0 ]; do
        kill -"$signal" $pid
        times=$((times - 1))
    done
    wait $pid
    code=$?
    took=$(($(date +%s) - begin))
    children >after.txt
    check test $code -eq "$wanted"
    check test $(($(cat after.txt) - $(cat before.txt) - worked)) -lt 2000
    check test $took -lt 40
    check test -z "$(find out "$TMPDIR" -type f 2>/dev/null | grep -v journal)"
    check test -z "$(find . -name '.*pipec-*')"
}

"$PIPEC" build "$many" -o many || fail "build"
number=0
for after in 0.1 0.4 1; do
    number=$((number + 1))
    turn_has $number || continue
    interrupted INT 130 $after 1 "$PIPEC" run "$many" "$image" -o out
    interrupted TERM 143 $after 1 ./many "$image" -o out
    interrupted TERM 143 $after 2 "$PIPEC" run "$many" "$image" -o out
done
interrupted INT 130 0.1 1 "$PIPEC" devices --probe
# A kernel that runs for hours is not waited for.
cat >long.pipe <<'END'
fn hours(v : i32) : i32 {
  i = 0
  while i < 2000000000 {
    v = (v * 31 + i) % 1000003
    i = i + 1
  }
  return v
}
output o = hours(ramp(x = 1000))
END
interrupted INT 130 running 1 "$PIPEC" run long.pipe -o out
interrupted TERM 143 running 1 "$PIPEC" run long.pipe -o out
# A compiler that takes long, and has begun to write.
cat >cc <<'END'
#!/bin/sh
while [ $# -gt 1 ]; do
    shift
done
echo begun >"$1"
echo $$ >cc.pid
sleep 60
echo ended >>"$1"
END
chmod +x cc
for signal in INT:130 TERM:143; do
    interrupted ${signal%:*} ${signal#*:} 1 1 env CC=./cc "$PIPEC" build "$many" -o out/many
    check eval '! kill -0 "$(cat cc.pid)"'
done
# What a killed build has left goes with the next one.
CC=./cc "$PIPEC" build "$many" -o out/many 2>said.err &
pid=$!
while ! grep -q begun out/.many.pipec-* 2>grep.err; do
    sleep 0.05
done
kill -KILL $pid
kill -KILL "$(cat cc.pid)"
wait $pid 2>wait.err
check test -n "$(find out -name '.many.pipec-*')"
expect 5 'failed' env CC=false "$PIPEC" build "$many" -o out/many
check test -z "$(find out -type f)"
finish
