# batch.sh: many files: folders, merged tables, resume, shards, dry runs, parameters, second inputs,
# names of outputs.
. "$(dirname "$0")/lib.sh"

image=$SAMPLES/blobs.tif
expect 0 '' "$PIPEC" build "$SAMPLES/blobs.pipe" -o blobs
mkdir plate
for name in a b c d e; do
    cp "$image" plate/$name.tif
done
five='a_labels.tif a_table.csv b_labels.tif b_table.csv c_labels.tif c_table.csv
    d_labels.tif d_table.csv e_labels.tif e_table.csv'

# ---- what would be done -----------------------------------------------------------------
expect 0 '' ./blobs plate -o out --dry-run
shows 'out/e_table.csv'
shows '5 images'
check test ! -e out
expect 0 '' ./blobs --describe
shows '--sigma'
shows 'blur radius'
expect 0 '' ./blobs --describe=json
shows '"option": "sigma"'
cp said.out said.json
if command -v python3 >/dev/null; then
    check python3 -m json.tool said.json
fi
expect 0 '' ./blobs --help
shows '--memory'
expect 0 '' ./blobs --version
shows 'pipec'

# ---- a folder, several files, the merged table ------------------------------------------
expect 0 '' ./blobs plate -o out
says '5/5'
files out $five table.csv .blobs.journal
check test "$(head -1 out/table.csv | cut -d, -f1,2)" = image,label
check test "$(wc -l <out/table.csv)" -eq 301
check test "$(cut -d, -f1 out/table.csv | uniq | tr '\n' ' ')" = 'image a.tif b.tif c.tif d.tif e.tif '
for name in a b c d e; do
    grep "^$name.tif," out/table.csv | cut -d, -f2- >rows
    sed 1d out/${name}_table.csv >own
    check cmp rows own
done
expect 0 '' ./blobs -q plate/*.tif --jobs 1 -o listed
says_nothing
check diff -r -x '.*' out listed

# ---- several devices, and several users of one ---------------------------------------------
cp "$SAMPLES/timelapse.tif" plate/t.tif
expect 0 '' ./blobs plate -q -o frames --device '#0'
for device in '#0,#0' '#0,#0,cpu' all; do
    expect 0 '' ./blobs plate -q -o several --device "$device"
    check diff -r -x '.*' frames several
    rm -r several
done
# Row by row, and in parts: one frame of a file after the other.
for limit in '--host-memory 20000' '--memory 400000'; do
    expect 0 '' ./blobs plate -q -o several --device '#0,#0,#0' $limit
    check diff -r -x '.*' frames several
    rm -r several
done
expect 3 "no device matches '#99'" ./blobs plate -o several --device '#0,#99'
expect 2 'names no device' ./blobs plate -o several --device ,
check test ! -e several
expect 0 '' "$PIPEC" run "$SAMPLES/blobs.pipe" plate/a.tif -q -o frames --device '#0,#0'
rm plate/t.tif

# ---- resume -----------------------------------------------------------------------------
stamp() {
    stat -c '%n|%y|%i' "$1"/[a-e]_* | sort
}
stamp out >before
expect 0 '' ./blobs plate -o out --resume
stamp out >after
check cmp before after
expect 0 '' ./blobs plate -o out --dry-run --resume
shows '0 images, at most 0.0 MiB on the device; 5 done before'
rm out/b_labels.tif
touch -d '2020-01-01' plate/c.tif # the same content
cp plate/d.tif whole.tif
printf X | dd of=plate/d.tif bs=1 seek=20000 conv=notrunc 2>dd.err
touch -r whole.tif plate/d.tif # another one, with the same size and time
cp out/.blobs.journal journal
expect 0 '' ./blobs plate -o out --dry-run --resume
shows '2 images'
shows '3 done before'
check test "$(grep -c '^[a-e].tif' said.out)" -eq 2 -a "$(grep -c '^[bd].tif' said.out)" -eq 2
check cmp journal out/.blobs.journal
expect 2 'without --resume' ./blobs plate -o out --dry-run --resume --sigma 3
expect 0 '' ./blobs plate -o nowhere --dry-run --resume
shows '5 images'
check test ! -e nowhere
expect 0 'note: d.tif: done again, for an input is not what it was' ./blobs plate -o out --resume
says 'note: b.tif: done again, for an output is not what was written'
stamp out >after
cp whole.tif plate/d.tif
expect 0 '' ./blobs ./plate/../plate -q -o "$PWD/out//" --resume
check diff -r -x '.*' out listed
check test "$(diff before after | grep '^>' | sed 's,^> ,,' | cut -d'|' -f1 | tr '\n' ' ')" = \
    'out/b_labels.tif out/b_table.csv out/d_labels.tif out/d_table.csv '
# What was cut off is no result, whoever did it; nor is what has other bytes, with the size and the time that it had.
for name in a_labels.tif b_table.csv; do
    head -c 100 listed/$name >out/$name
done
: >out/d_labels.tif
cp -p out/e_labels.tif whole.tif
printf X | dd of=out/e_labels.tif bs=1 seek=200 conv=notrunc 2>dd.err
touch -r whole.tif out/e_labels.tif
expect 0 '5/5' ./blobs plate -o out --resume
check test "$(grep -c '/5 ' said.err)" -eq 4
check diff -r -x '.*' out listed
# Other parameters: nothing is mixed with what is there.
expect 2 'without --resume' ./blobs plate -o out --resume --sigma 3
check diff -r -x '.*' out listed
expect 0 '' ./blobs plate -q -o out --sigma 3
check "$COMPARE" labels "$GOLDEN/blobs_sigma3.labels" out/c_labels.tif
rm plate/e.tif
expect 0 '' ./blobs plate -q -o out --resume --sigma 3
check test "$(cut -d, -f1 out/table.csv | uniq | tr '\n' ' ')" = 'image a.tif b.tif c.tif d.tif '
cp plate/a.tif plate/e.tif

# Files of these names that another pipeline has written are no results of this one.
printf 'input image[y, x]\noutput smooth = image + 2\n' >two.pipe
printf 'input image[y, x]\noutput smooth = image + 5\n' >five.pipe
expect 0 '' "$PIPEC" run two.pipe plate -q -o twos --device reference
expect 0 '' "$PIPEC" run two.pipe plate -q -o mixed --device reference
expect 0 '' "$PIPEC" run five.pipe plate -q -o mixed --device reference
check test "$(cmp twos/a_smooth.tif mixed/a_smooth.tif >cmp.out && echo same)" != same
expect 0 'note: a.tif: done again' "$PIPEC" run two.pipe plate -o mixed --device reference --resume
check diff -r -x '.*' twos mixed
# A folder that was moved is what it was.
mv mixed moved
expect 0 '' "$PIPEC" run two.pipe plate -o moved --device reference --resume
check test "$(grep -c '/5 ' said.err)" -eq 0

# ---- two at once ------------------------------------------------------------------------
# A run that is stopped has its folder as long as it lives; what is killed has none.
printf 'input image[y, x]\noutput smooth = median_filter(image, 40)\n' >long.pipe
"$PIPEC" run long.pipe plate -q -o held --device reference 2>first.err &
first=$!
tries=0
while [ ! -e held/.pipec.lock ] && [ $tries -lt 20000 ]; do
    sleep 0.01
    tries=$((tries + 1))
done
kill -STOP $first
expect 2 "another run, process $first, is writing to the folder './held/'" "$PIPEC" run two.pipe plate -q -o ./held \
    --device reference
expect 2 'choose another folder with -o' "$PIPEC" run two.pipe plate/a.tif -q -o held --device reference
kill -KILL $first
wait $first 2>wait.err
check test -e held/.pipec.lock
expect 0 '' "$PIPEC" run two.pipe plate -q -o held --device reference
check test ! -e held/.pipec.lock

# ---- shards -----------------------------------------------------------------------------
expect 0 '' ./blobs plate -o shards --shard 1/2
check test "$(ls shards/*_labels.tif | wc -l)" -lt 5
expect 0 '' ./blobs plate -o shards --shard 2/2
for name in a b c d e; do
    check cmp shards/${name}_labels.tif listed/${name}_labels.tif
    check cmp shards/${name}_table.csv listed/${name}_table.csv
done
check test "$(cut -d, -f1 shards/table*.csv | grep -c '^[a-e].tif')" -eq 300

# ---- names ------------------------------------------------------------------------------
expect 0 '' ./blobs plate/a.tif -q -o 'named/{stem}/{output}.{ext}'
files named a/labels.tif a/table.csv table.csv
mkdir other
cp "$image" other/a.tif
expect 2 '{index}' ./blobs plate/a.tif other/a.tif -o clash
check test ! -e clash
expect 0 '' ./blobs -q plate/a.tif other/a.tif -o 'both/{index}_{stem}_{output}.{ext}'
check test "$(ls both/*_labels.tif | wc -l)" -eq 2
# One file has the name that it is given, and there is no other.
printf 'input image[y, x]\noutput m = mean(image)\n' >mean.pipe
printf 'input image[y, x]\noutput t = measure(label(image > 99), area)\n' >areas.pipe
expect 0 '' "$PIPEC" run mean.pipe plate -q -o one/means.csv
expect 0 '' "$PIPEC" run areas.pipe plate/a.tif -q -o one/areas.csv
files one .mean.journal means.csv areas.csv
check test "$(cut -d, -f1 one/means.csv | tr '\n' ' ')" = 'image a.tif b.tif c.tif d.tif e.tif '
expect 2 "'one/means.tif' is no name for the output 'm'" "$PIPEC" run mean.pipe plate -q -o one/means.tif
# With one image more the numbers of others are other ones.
mkdir some
cp plate/b.tif some
expect 0 '' ./blobs some -q -o 'numbered/{index}_{output}.{ext}' --resume
expect 0 '' ./blobs some -q -o 'numbered/{index}_{output}.{ext}' --resume
cp plate/a.tif some
expect 0 '2/2' ./blobs some -o 'numbered/{index}_{output}.{ext}' --resume
check cmp numbered/0_labels.tif listed/a_labels.tif
check cmp numbered/1_labels.tif listed/b_labels.tif

# Outputs beside the inputs are no images of the next run, and none replaces an input, however its path is spelled.
mkdir beside
cp plate/a.tif plate/b.tif beside
ln -s beside way
for folder in "$PWD/beside" beside/../beside beside//. way; do
    expect 0 '' ./blobs beside -q -o "$folder/"
    expect 0 '' ./blobs "$folder" -q -o beside
    files beside .blobs.journal a.tif a_labels.tif a_table.csv b.tif b_labels.tif b_table.csv table.csv
    check test "$(cut -d, -f1 beside/table.csv | uniq | tr '\n' ' ')" = 'image a.tif b.tif '
    expect 2 'would replace an input' ./blobs beside/a.tif -o "$folder/{stem}.tif"
done
cp "$SAMPLES/sky.fits" other
expect 2 'would replace an input' ./blobs 'other/sky.fits[0]' -o 'other/{stem}.fits'

# ---- frames, parameters, second inputs, values ------------------------------------------
expect 0 '' ./blobs "$SAMPLES/timelapse.tif" -q -o time
check test "$(head -1 time/timelapse_table.csv | cut -d, -f1,2)" = frame,label
check test "$(head -1 time/table.csv | cut -d, -f1-3)" = image,frame,label
check "$COMPARE" labels "$GOLDEN/timelapse.labels" time/timelapse_labels.tif

# A parameter gives what the file gives with that default.
sed 's/sigma = 2.0/sigma = 3.0/' "$SAMPLES/blobs.pipe" >blobs3.pipe
expect 0 '' "$PIPEC" run blobs3.pipe "$image" -q -o default
expect 0 '' ./blobs "$image" --sigma=3 -q -o option
check "$COMPARE" same default/blobs_labels.tif option/blobs_labels.tif
check cmp default/blobs_table.csv option/blobs_table.csv

cat >flat.pipe <<'PIPE'
input image[y, x]
input flat[y, x]
output same = image - flat
output worst = max(abs(image - flat))
PIPE
expect 2 '--flat' "$PIPEC" run flat.pipe "$image" -o flat
expect 2 'nowhere/a.tif' "$PIPEC" run flat.pipe plate/a.tif --flat 'nowhere/{stem}.tif' -o flat
expect 0 '' "$PIPEC" run flat.pipe plate -q --flat "$image" -o flat
check test "$(sed 1d flat/values.csv | cut -d, -f2 | sort -u)" = 0
check test "$(wc -l <flat/values.csv)" -eq 6
expect 0 '' "$PIPEC" run flat.pipe plate -q --flat 'plate/{stem}.tif' -o template
check diff -r -x '.*' flat template
expect 0 '' "$PIPEC" run flat.pipe "$SAMPLES/sky.fits[0]" -q --flat '{dir}/{name}[0]' -o of-a-part
check test "$(sed 1d of-a-part/values.csv | cut -d, -f2)" = 0
expect 1 'timelapse.tif' "$PIPEC" run flat.pipe plate/a.tif --flat "$SAMPLES/timelapse.tif" -o flat2
check test -z "$(find flat2 -name '*.tif' 2>/dev/null)"

# ---- folders that are one image, time points as planes ------------------------------------
cat >combine.pipe <<'PIPE'
input stack[z, y, x]
output middle = median_project(stack)
output planes = max(z_of(stack))
PIPE
expect 0 '' "$PIPEC" run combine.pipe --stack plate/ -q -o stacked
check test "$(sed 1d stacked/values.csv)" = plate,4
cat >against.pipe <<'PIPE'
input image[y, x]
input stack[z, y, x] : u8
output worst = max(abs(image - median_project(stack)))
PIPE
expect 0 '' "$PIPEC" run against.pipe plate -q --input-stack plate -o against
check test "$(sed 1d against/values.csv | cut -d, -f2 | sort -u)" = 0
expect 2 'one more plane' "$PIPEC" run combine.pipe --stack plate -o "$PWD/plate"
expect 2 'one more plane' "$PIPEC" run flat.pipe plate/a.tif --flat plate -o plate/
files plate a.tif b.tif c.tif d.tif e.tif
expect 2 'takes folders' "$PIPEC" run combine.pipe --stack plate/a.tif -o stacked
# A file of the folder that has changed is another image.
expect 0 '' "$PIPEC" run combine.pipe --stack plate -q -o stacked --resume
cp plate/c.tif whole.tif
printf X | dd of=plate/c.tif bs=1 seek=20000 conv=notrunc 2>dd.err
touch -r whole.tif plate/c.tif
before=$(stat -c %i stacked/plate_middle.tif)
expect 0 '' "$PIPEC" run combine.pipe --stack plate -q -o stacked --resume
check test "$(stat -c %i stacked/plate_middle.tif)" != "$before"
cp whole.tif plate/c.tif
frames=$(($(sed 1d time/timelapse_table.csv | cut -d, -f1 | sort -n | tail -1)))
expect 0 '' "$PIPEC" run combine.pipe "$SAMPLES/timelapse.tif" --time-as-z -q -o movie
check test "$(sed 1d movie/values.csv)" = "timelapse.tif,$frames"
finish
