# wrong_use.sh: whatever is asked for wrongly ends with its exit code, a message that names the
# thing and says what to do, and nothing half-written.
. "$(dirname "$0")/lib.sh"

blobs=$SAMPLES/blobs.pipe
image=$SAMPLES/blobs.tif
run() {
    "$PIPEC" run "$@"
}

# ---- the command line -------------------------------------------------------------------
expect 2 "did you mean 'build'" "$PIPEC" buidl "$blobs"
expect 2 'pipec help' "$PIPEC" xyzzy
expect 2 '' "$PIPEC"
shows 'pipec build'
expect 2 'which pipeline' run
expect 2 'pipec run blobs.pipe IMAGE' "$PIPEC" blobs.pipe
expect 2 'this is an image; the pipeline comes first' run "$image"
expect 2 'give the images' run "$blobs"
expect 2 "did you mean '--sigma'" run "$blobs" "$image" --sgima 3 -o out
expect 2 '--help' run "$blobs" "$image" --entirely-unknown -o out
expect 2 "'-out': write '--output' or '-o'" run "$blobs" "$image" -out out
expect 2 "'three'" run "$blobs" "$image" --sigma three -o out
says 'takes a number'
expect 2 '0.1 .. 50' run "$blobs" "$image" --sigma 0 -o out
expect 2 '0.1 .. 50' run "$blobs" "$image" --sigma 51 -o out
expect 2 "'nan'" run "$blobs" "$image" --sigma nan -o out
expect 2 'needs a value' run "$blobs" "$image" --sigma
expect 2 '2GiB' run "$blobs" "$image" --memory lots -o out
expect 2 'from 1 on' run "$blobs" "$image" --jobs 0 -o out
expect 2 '1/4' run "$blobs" "$image" --shard 3/2 -o out
expect 2 'no input' run "$SAMPLES/primes.pipe" "$image" -o out
expect 2 'none, pointwise or all' run --fuse=some "$blobs" "$image" -o out
expect 2 'pipec help passes' run --passes=nosuch "$blobs" "$image" -o out
expect 2 "there is no pass 'nosuch'" "$PIPEC" show "$blobs" --passes --print-after=nosuch
expect 2 'goes with --passes' "$PIPEC" show "$blobs" --ir --print-after=all
expect 2 '--print-after is an option of `pipec show`' run "$blobs" "$image" --print-after=all -o out
expect 2 '--json is an option of `pipec check`' "$PIPEC" plan "$blobs" --json
expect 2 "there is no option '--json'" "$PIPEC" fmt "$blobs" --json
for option in -o --for --shape; do
    expect 2 "'$option' is not known here, or lacks its value" "$PIPEC" build "$blobs" $option
done
expect 2 "'--memory' is not known here, or lacks its value" "$PIPEC" plan "$blobs" --memory
expect 0 '' "$PIPEC" plan "$blobs" --shape=64x64:u8 --memory=1GiB
expect 2 'or --profile=FILE' run "$blobs" "$image" --profile= -o out
expect 2 '--ast' "$PIPEC" show "$blobs" --nosuch
expect 2 'P9999' "$PIPEC" help P9999
expect 2 'pipec ops' "$PIPEC" ops no_such_operator_at_all
expect 2 'did you mean' "$PIPEC" ops gausian
expect 2 'has all of these words' "$PIPEC" ops gaussian xyzzy
expect 2 'needs a NAME' "$PIPEC" build "$blobs" --library -o ''
check test ! -e out

# ---- pipelines --------------------------------------------------------------------------
expect 2 'no-such.pipe' run no-such.pipe "$image" -o out
expect 2 'no-such.pipe' "$PIPEC" build no-such.pipe -o x
cp "$blobs" own.pipe
expect 2 'is the pipeline itself' "$PIPEC" build own.pipe -o "$PWD/own.pipe"
check cmp "$blobs" own.pipe
printf 'input image[y, x]\noutput a = gausian(imge, 2)\noutput b = label(image)\n' >bad.pipe
for command in run check build 'show --ir' explain; do
    expect 2 '' "$PIPEC" ${command% *} bad.pipe $(echo "$command" | sed -n 's/.* //p')
    says 'unknown operator'
    says 'did you mean `gaussian`'
    says 'bad.pipe:2:20'
    says 'label(image > otsu(image))'
done
printf 'input image[y, x\noutput = \n' >syntax.pipe
expect 2 'error[P0' "$PIPEC" check syntax.pipe
: >empty.pipe
expect 2 'empty.pipe' "$PIPEC" check empty.pipe
head -c 3000 /dev/urandom >noise.pipe
expect 2 'error[P0' "$PIPEC" check noise.pipe
expect 0 '' "$PIPEC" help P0201
shows 'Right:'
check test ! -e out -a ! -e x -a ! -e bad -a ! -e syntax

# ---- images -----------------------------------------------------------------------------
expect 2 "'no-such.tif'" run "$blobs" no-such.tif -o out
expect 1 'neither a TIFF' run "$blobs" "$blobs" -o out
: >empty.tif
expect 1 'empty.tif' run "$blobs" empty.tif -o out
head -c 20000 "$image" >short.tif
expect 1 'cut off' run "$blobs" short.tif -o out
expect 1 'image[c = 1]' run "$blobs" "$SAMPLES/nuclei.tif" -o out
expect 1 'channel' run "$SAMPLES/nuclei.pipe" "$image" -o out
says 'blobs.tif'
printf 'input image[c, y, x]\noutput o = c_of(canvas(image, channels = 2)) + image\n' >channels.pipe
expect 1 "number of channels of 'image'" run channels.pipe "$SAMPLES/nuclei.tif" -o out
says 'is 3, and that of an image it is used with 2: these do not fit'
printf 'input image[y, x, c]\noutput o = image[c = 3] - image[c = 0]\n' >fourth.pipe
expect 1 'are 3 and 3, but the first must be below the second' run fourth.pipe "$SAMPLES/nuclei.tif" -o out
printf 'input image[y, x, c]\nparam k = 0\nv = image / 2\noutput o = v[c = k] + v[c = 0]\n' >before.pipe
expect 1 'are -1 and 3, but the first must not be negative' run before.pipe --k=-1 "$SAMPLES/nuclei.tif" -o out
printf 'input image[y, x, c]\noutput o = sum(image[c = j] for j in -1 .. 1)\n' >around.pipe
expect 1 'are -1 and 3, but the first must not be negative' run around.pipe "$SAMPLES/nuclei.tif" -o out
printf 'input image[y, x, c]\nparam n = 3\noutput o = image[c = 0] + sum(image[c = j] for j in 0 .. n - 1)\n' >some.pipe
expect 0 '' run some.pipe --n=0 "$SAMPLES/nuclei.tif" -q -o some.tif
printf 'input sci[y, x]\ninput ref[y, x]\noutput o = sci - ref\n' >two.pipe
printf 'input image[y, x]\noutput part = crop(image, width = 180)\n' >part.pipe
expect 0 '' run part.pipe "$image" -q -o part.tif
expect 1 "the width of 'sci' and the width of 'ref'" run two.pipe "$image" --ref part.tif -o out
says '256 and 180'
rm -f two.pipe part.pipe part.tif
expect 1 "number of channels of 'image'" run channels.pipe "$image" -o out
printf 'input image[y, x]\noutput moved = translate(image, x = 3 um)\n' >moved.pipe
expect 1 'pixel size along x is needed' run moved.pipe "$image" -o out
says 'or not in a unit of length; set it'
printf 'input image[y, x]\nparam n = 3 in 0 .. 2e9\noutput far = image[dx = n]\n' >far.pipe
expect 0 '' run far.pipe "$image" --n 1000000 --check -q -o away
sed -i 's/= n/= -70000/' far.pipe
expect 0 '' run far.pipe "$image" --check -q -o away
rm -r away
printf 'input image[y, x]\nparam q = 50\noutput a = image > percentile(image, q)\n' >bound.pipe
expect 0 '' run bound.pipe "$image" -q -o within
for with in '' '--device reference'; do
    expect 1 "line 3: 'q' of 'percentile' is 101, it must be in 0 .. 100" run bound.pipe "$image" --q 101 $with -o out
done
"$PIPEC" build bound.pipe -o bound
expect 1 "line 3: 'q' of 'percentile' is -1, it must be in 0 .. 100" ./bound "$image" --q=-1 -o out
expect 0 '' ./bound "$image" --q 100 -q -o within
rm -rf bound.pipe bound within
printf 'input image[y, x]\noutput far = u32(crop(image, width = 9, height = 9)) + 4294967000\n' >far.pipe
expect 0 '' run far.pipe "$image" -q -o far.tif
printf 'input cells[y, x] : labels\nother = label(cells > 0)\noutput o = label_sum(cells, cells > 0)[other]\n' \
    >cells.pipe
for with in '' '--device reference'; do
    expect 1 'more than it has pixels, and meets labels with other numbers; number its labels anew' run cells.pipe far.tif $with -o out
done
rm -f far.pipe far.tif cells.pipe
printf 'input image[y, x]\nparam s = 2 in 0.1 .. 9000\noutput o = gaussian(image, s)\n' > wide.pipe
expect 0 '' "$PIPEC" build wide.pipe -o wide
expect 0 '' ./wide "$image" --s 3000 -q -o wider
mkfifo pipe.tif
expect 1 'not a regular file' run "$blobs" pipe.tif -o out
files out

mkdir plate
cp "$image" plate/a.tif
cp short.tif plate/b.tif
cp "$image" plate/c.tif
cp "$blobs" plate/d.tif
expect 1 '2 of 4 images failed' run "$blobs" plate -o part
says 'b.tif: '
says 'd.tif: '
files part a_labels.tif a_table.csv c_labels.tif c_table.csv table.csv .blobs.journal
check cmp part/a_labels.tif part/c_labels.tif

# A name that no file can have is that of one image.
long=$(printf 'l%.0s' $(seq 245))
mkdir names
cp "$image" names/a.tif
cp "$image" "names/b$long.tif"
cp "$image" names/c.tif
mkdir -p named/c_labels.tif
cp "$image" names/d.tif
expect 1 '2 of 4 images failed' run "$blobs" names -j 1 -o named
says 'the name is too long'
says "'named/c_labels.tif': it is a folder"
files named a_labels.tif a_table.csv d_labels.tif d_table.csv table.csv .blobs.journal
# So is an image of which a format holds no output.
printf 'input image[c, y, x]\noutput a = image[c = 0]\noutput seen = image as png\n' >seen.pipe
mkdir mixed
cp "$ROOT/tests/data/images/shaped_cz.tif" mixed/a.tif
cp "$SAMPLES/nuclei.tif" mixed/b.tif
expect 1 '1 of 2 images failed' run seen.pipe mixed -j 1 -o seen
says '1 plane of 2 channels; write it as tif'
files seen b_a.tif b_seen.png .seen.journal

# ---- the device -------------------------------------------------------------------------
mkdir no-drivers
nothing() {
    OCL_ICD_VENDORS=$WORK/no-drivers "$@"
}
expect 3 'OCL_ICD_VENDORS' nothing "$PIPEC" run "$blobs" "$image" -o out
expect 3 'OCL_ICD_VENDORS' nothing "$PIPEC" devices
expect 3 "'nosuch'" run "$blobs" "$image" --device nosuch -o not/made
check test ! -e not
says '#0'
expect 3 '#99' run "$blobs" "$image" --device '#99' -o out
expect 4 '--memory' run "$blobs" "$image" --memory 1KiB -o out
says 'blobs.tif'
files out

# ---- outputs ----------------------------------------------------------------------------
echo text >file
expect 5 'file' run "$blobs" "$image" -o file/below
expect 5 "'file'" "$PIPEC" build "$blobs" -o file/below
check test "$(cat file)" = text
cp "$image" own_labels.tif
expect 2 'would replace an input' run "$blobs" own_labels.tif -o own_labels.tif
expect 2 'write run_1.5/ for a folder' run "$blobs" "$image" -o run_1.5
check test ! -e run_1.5
check cmp "$image" own_labels.tif
# What is no output of such a pipeline is not replaced, and no input under another name.
mkdir kept
printf 'input image[y, x]\noutput a = image + 1\n' >kept/one.pipe
printf 'input image[y, x]\noutput a = measure(label(image > 9), area)\n' >kept/table.pipe
cp "$image" kept/in.tif
cp "$SAMPLES/sky.fits" kept/sky.dat
echo 'my notes, of today' >kept/notes.txt
ln -s in.tif kept/link.tif
ln kept/in.tif kept/second.tif
cp -r kept before
for pair in link.tif:in.tif in.tif:link.tif second.tif:in.tif in.tif:second.tif; do
    expect 2 'are one file' run kept/one.pipe "kept/${pair%:*}" -o "kept/${pair#*:}"
done
for name in one.pipe notes.txt sky.dat; do
    expect 2 "would replace 'kept/$name', which is not a TIFF file" run kept/one.pipe kept/in.tif -o kept/$name
    expect 2 "would replace 'kept/$name', which is not a table" run kept/table.pipe kept/in.tif -o kept/$name
    expect 2 'was not made by pipec' "$PIPEC" build kept/table.pipe -o kept/$name
done
for name in new.png new.jpg new.csv new.fits.gz; do
    expect 2 "'kept/$name' is no name for the output 'a'" run kept/one.pipe kept/in.tif -o kept/$name
done
expect 2 'end the name in .tif or .{ext}, or write `as png` behind' run kept/one.pipe kept/in.tif -o kept/new.png
expect 2 'end the name in .csv or .{ext}' run kept/table.pipe kept/in.tif -o 'kept/{stem}_{output}.tif'
check diff -r kept before
# Its own outputs and programs it replaces, whatever they are called.
for i in 1 2; do
    expect 0 '' run kept/one.pipe kept/in.tif -q -o kept/a.dat
    expect 0 '' run kept/table.pipe kept/in.tif -q -o kept/b.txt
    expect 0 '' "$PIPEC" build kept/one.pipe -o kept/c.exe
    expect 0 '' "$PIPEC" build kept/one.pipe --library -o kept/d
done
echo 'int main(void) { return 0; }' >kept/main.c
expect 2 "'kept/main.c' is there already" "$PIPEC" build kept/one.pipe --library -o kept/main
printf 'input image[y, x]\noutput large = scale(image, 4)\n' >large.pipe
limited() { # less than the output takes, more than what PoCL writes when it compiles
    (
        ulimit -f 2000
        "$@"
    )
}
expect 5 'limit' limited "$PIPEC" run large.pipe "$image" -o limited
files limited
mkdir full
if mount -t tmpfs -o size=64k tmpfs full 2>/dev/null; then
    expect 75 'disk is full' run "$blobs" plate/a.tif plate/c.tif -o full --compress none
    [ ! -e full/a_labels.tif ] || check "$COMPARE" same full/a_labels.tif part/a_labels.tif
    check test -z "$(find full -name '*pipec-*')"
    rm -rf full/*
    TMPDIR=$PWD/full expect 75 'set TMPDIR' "$PIPEC" run "$SAMPLES/deconvolve.pipe" \
        "$SAMPLES/volume.tif" -o spilled --memory 640KiB --host-memory 1KiB
    files spilled
    umount full
fi
TMPDIR=$PWD/nowhere expect 5 'temporary file' "$PIPEC" run "$SAMPLES/deconvolve.pipe" \
    "$SAMPLES/volume.tif" -o spilled --memory 640KiB --host-memory 1KiB
full_output() {
    "$@" >/dev/full
}
closed_output() {
    "$@" >&-
}
for lost in full_output closed_output; do
    for command in ops devices "explain $blobs" "plan $blobs" "show $blobs --ir" "check --json $blobs" \
        "run $blobs --describe" "run $blobs $image --dry-run" "run $blobs $image --profile -o $lost"; do
        expect 5 'standard output' $lost "$PIPEC" $command
    done
    expect 0 '' $lost "$PIPEC" check "$blobs" # which has nothing to say
done
"$PIPEC" ops --markdown 2>left | head -1 >/dev/null # who reads no more needs no message
check test ! -s left
closed() { # the files that are opened must not become the streams
    "$@" <&- >&- 2>&-
}
expect 0 '' closed "$PIPEC" run "$blobs" plate/a.tif -o closed
check cmp closed/a_table.csv part/a_table.csv
check "$COMPARE" same closed/a_labels.tif part/a_labels.tif

# ---- interruption -----------------------------------------------------------------------
mkdir many
i=0
while [ $i -lt 150 ]; do
    ln "$image" many/"$i".tif 2>/dev/null || cp "$image" many/"$i".tif
    i=$((i + 1))
done
for signal in INT:130 TERM:143; do
    wanted=${signal#*:} signal=${signal%:*}
    folder=stopped_$signal
    # One that is done before the signal comes is tried again.
    for _ in 1 2 3 4 5 6 7 8 9; do
        rm -rf $folder
        # A shell starts background commands with SIGINT ignored; env gives it back.
        env --default-signal=INT "$PIPEC" run "$blobs" many -o $folder >said.out 2>said.err </dev/null &
        pid=$!
        i=0
        while [ $i -lt 6000 ] && [ "$(find $folder -name '*_table.csv' 2>/dev/null | wc -l)" -lt 3 ]; do
            sleep 0.05
            i=$((i + 1))
        done
        kill -$signal $pid
        wait $pid
        code=$?
        [ $code -eq 0 ] || break
    done
    check test $code -eq $wanted
    says '--resume'
    done=$(find $folder -name '*_table.csv' | wc -l)
    check test "$done" -ge 3 -a "$done" -lt 150
    check test -z "$(find $folder -name '*.pipec-*')"
    for table in $folder/*_table.csv; do
        check cmp "$table" part/a_table.csv
    done
    for labels in $folder/*_labels.tif; do
        check "$COMPARE" same "$labels" part/a_labels.tif
    done
done
expect 0 '' run "$blobs" many -q --resume -o stopped_INT
check test "$(find stopped_INT -name '*_labels.tif' | wc -l)" -eq 150
# What a killed run leaves in the folders of outputs is gone after the next one.
left=
try=0
while [ -z "$left" ] && [ $try -lt 20 ]; do
    try=$((try + 1))
    "$PIPEC" run "$blobs" many -q -o 'killed/{stem}/{output}.{ext}' >said.out 2>said.err </dev/null &
    pid=$!
    i=0
    while [ $i -lt 3000 ] && [ -z "$(find killed -name '.*.pipec-*' 2>/dev/null)" ]; do
        i=$((i + 1))
    done
    kill -STOP $pid
    left=$(find killed -name '.*.pipec-*')
    kill -KILL $pid
    wait $pid
done
check test -n "$left"
expect 0 '' run "$blobs" many -q --resume -o 'killed/{stem}/{output}.{ext}'
check test -z "$(find killed -name '.*.pipec-*')"
check test "$(find killed -name 'labels.tif' | wc -l)" -eq 150
for folder in killed/*/; do
    check cmp "$folder/labels.tif" part/a_labels.tif
    check cmp "$folder/table.csv" part/a_table.csv
done
finish
