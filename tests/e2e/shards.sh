# shards.sh: what shards leave is joined to what a run in one piece leaves; failures for good and those that may pass.
# PIPEC_TEST_SHARDINGS says how many random shardings are tried.
. "$(dirname "$0")/lib.sh"

cat >cells.pipe <<'PIPE'
input image[y, x]
param limit = 150
objects = label(image > limit)
output t = measure(objects, area, centroid)
output n = count(objects)
output level = mean(image)
PIPE
printf 'input image[y, x]\noutput small = crop(image, 20, 20, width = 60, height = 40)\n' >small.pipe
expect 0 '' "$PIPEC" run small.pipe "$SAMPLES/blobs.tif" "$SAMPLES/timelapse.tif" -q -o tiny --device reference
expect 0 '' "$PIPEC" build cells.pipe -o cells
mkdir -p plates/P1 plates/P2
for well in A01 A02 '=B02' C03; do
    cp tiny/blobs_small.tif "plates/P1/${well}_1.tif"
    cp tiny/blobs_small.tif "plates/P2/${well}_2.tif"
done
cp tiny/timelapse_small.tif plates/P2/A02_3.tif # frames that others have not
cp "$SAMPLES/blobs.tif" plates/P1/D04_1.tif
printf 'no image' >plates/P1/B09_1.tif
cells() {
    "$PIPEC" run cells.pipe plates/P1 plates/P2 -q --device reference --keep-going \
        --columns '{plate}/{well}_{field}' --summary well,plate "$@"
}

# ---- images that fail for good, and the rest ------------------------------------------------
expect 0 'B09_1.tif' cells -o whole
check test "$(sed -n 1p whole/failed.csv)" = image,stage,kind,reason
check test "$(wc -l <whole/failed.csv)" -eq 2
check grep -q '^B09_1.tif,reading,permanent,' whole/failed.csv
expect 1 '1 of 11 images failed' "$PIPEC" run cells.pipe plates/P1 plates/P2 -q --device reference -o failing
check test ! -e failing/failed.csv
expect 0 '' "$PIPEC" run cells.pipe plates/P2 -q --device reference -o well --keep-going
check test "$(cat well/failed.csv)" = image,stage,kind,reason

# ---- any shards, in any order ---------------------------------------------------------------
# joined FOLDER: what all shards of it make together is what one piece makes.
joined() {
    for file in t.csv values.csv failed.csv t_by_well_plate.csv values_by_well_plate.csv; do
        check cmp whole/$file "$1/$file"
    done
}
number=0
while [ $number -lt "${PIPEC_TEST_SHARDINGS:-10}" ]; do
    number=$((number + 1))
    shards=$(awk -v seed=$number 'BEGIN { srand(seed); print 1 + int(13 * rand()) }')
    order=$(awk -v seed=$number -v n="$shards" 'BEGIN { srand(seed); rand()
        for (i = 1; i <= n; i++) print rand(), i }' | sort | cut -d' ' -f2)
    for shard in $order; do
        cells -o parts --shard "$shard/$shards" 2>said.err || fail "shard $shard/$shards"
    done
    [ "$shards" -eq 1 ] || expect 0 '' "$PIPEC" merge parts
    joined parts
    expect 0 '' cells -o parts --resume --dry-run
    shows '1 image, ' # the one that has failed
    rm -rf parts
done

# ---- folders of their own, in another one ---------------------------------------------------
for shard in 2 3 1; do
    expect 0 '' cells -o "node$shard" --shard $shard/3
done
expect 0 '' ./cells --merge node1 node2 node3 -o joined
joined joined
expect 0 '' "$PIPEC" merge node3/ node1 node2 --output joined
joined joined
# Shards of another division that are not whole do no harm; two divisions that are do.
expect 0 '' cells -o node1 --shard 1/2
expect 0 '' "$PIPEC" merge node1 node2 node3 -o joined
joined joined
expect 0 '' cells -o node1 --shard 2/2
expect 2 'there are two batches of cells' "$PIPEC" merge node1 node2 node3 -o joined
rm node1/.cells.shard-?-of-2.list

# ---- what is missing, and what does not fit -------------------------------------------------
expect 1 'of the 3 shards of cells 2 are not done: 1, 3; run them, then merge' "$PIPEC" merge node2 -o joined
expect 1 'no shard has ended' "$PIPEC" merge tiny
expect 1 'no shard has ended' ./cells --merge tiny
expect 2 "cannot read 'nowhere/'" "$PIPEC" merge nowhere
expect 2 'which folder?' "$PIPEC" merge
expect 2 "'--columns' is not known here" "$PIPEC" merge node1 --columns
expect 2 'needs the folder' ./cells --merge
cp -r node1 twice
expect 2 'are of the same shard' "$PIPEC" merge node1 node2 node3 twice -o joined
expect 0 '' "$PIPEC" run cells.pipe plates/P1 plates/P2 -q --device reference --keep-going -o node2 --shard 2/3
expect 2 'with other options for tables' "$PIPEC" merge node1 node2 node3 -o joined
expect 0 '' cells -o node2 --shard 2/3 --resume
list=node3/.cells.shard-3-of-3.list
cp $list list
for cut in 0 10 200 400 -4; do
    head -c $cut list >$list
    expect 1 'run the shard again' "$PIPEC" merge node1 node2 node3 -o joined
done
sed 's/^done\t[^\t]*/done/' list >$list
expect 1 'run the shard again' "$PIPEC" merge node1 node2 node3 -o joined
for name in '..\/t.csv' '\/tmp\/t.csv' '.profile' 'a\/t.csv'; do
    sed "s/^table\tt.csv/table\t$name/" list >$list
    expect 1 'run the shard again' "$PIPEC" merge node1 node2 node3 -o joined
done
sed 's,P2/,../,; s/\(\t\)\([^\t]*_t.csv\)/\1..\/\2/' list >$list
expect 1 'run the shard again' "$PIPEC" merge node1 node2 node3 -o joined
sed '/^done/d' list >$list
expect 1 'is damaged' "$PIPEC" merge node1 node2 node3 -o joined
cp list $list
joined joined # as it was
# A shard that has begun again has not ended.
rm node3/*_t.csv
expect 3 '' cells -o node3 --shard 3/3 --resume --device 'no such device'
expect 1 'of the 3 shards of cells 1 is not done: 3; run it, then merge' "$PIPEC" merge node1 node2 node3 -o joined

# ---- what a run needs, and workflows for clusters -------------------------------------------
# within BYTES COMMAND...: the command in a cgroup with so much memory, where one may be made, and else with so much address
# space; an allocator that takes much of that beforehand is left out.
within() {
    bytes=$1
    shift
    for at in /sys/fs/cgroup /sys/fs/cgroup/memory; do
        group=$at/pipec-test-$$
        mkdir "$group" 2>group.err || continue
        if echo "$bytes" >"$group/memory.max" || echo "$bytes" >"$group/memory.limit_in_bytes"; then
            # shellcheck disable=SC2016 # of the shell inside
            sh -c 'echo $$ >"$0/cgroup.procs" && exec env -u LD_PRELOAD "$@"' "$group" "$@"
            got=$?
            rmdir "$group"
            return $got
        fi 2>group.err
        rmdir "$group"
    done
    (ulimit -v $((bytes / 1024)) && exec env -u LD_PRELOAD "$@")
}

printf 'input movie[z, y, x]\noutput t = track(label(movie > 9), distance = 5).labels\n' >tracks.pipe
expect 0 '' ./cells --resources --shape 2048x2048:u16
shows 'device memory'
expect 0 '' ./cells plates/P2 plates/P1 --resources=json --jobs 2
cp said.out needs.json
shows '"images": 10, '
shows '"in_parts": false, '
shows '"threads": 5, '
device=$(sed 's/.*"device_bytes": \([0-9]*\).*/\1/' needs.json)
two=$(sed 's/.*"device_bytes_of_two": \([0-9]*\).*/\1/' needs.json)
check test "$two" -gt "$device" -a "$two" -le $((2 * device)) # of images of a batch, as GPUs have them
# A job that asks for what is told stays within it.
host=$("$PIPEC" run "$SAMPLES/nuclei.pipe" "$SAMPLES/nuclei.tif" --resources=json | sed 's/.*"host_bytes": \([0-9]*\).*/\1/')
expect 0 '' "$PIPEC" run "$SAMPLES/nuclei.pipe" "$SAMPLES/nuclei.tif" -q -o free --device cpu
if within "$host" "$PIPEC" --version >said.out 2>said.err; then # sanitizers take more address space than there is memory
    expect 0 '' within "$host" "$PIPEC" run "$SAMPLES/nuclei.pipe" "$SAMPLES/nuclei.tif" -q -o bounded --device cpu
    check diff -r -x '.*' free bounded
    within $((host / 20)) "$PIPEC" run "$SAMPLES/nuclei.pipe" "$SAMPLES/nuclei.tif" -q -o less --device cpu >said.out 2>&1 &&
        fail 'nothing has bounded the memory'
fi
expect 0 '' ./cells plates/P1 plates/P2 --resources=json --memory $((device / 4))
shows "\"device_bytes_of_two\": $((device / 4)), "
shows "\"device_bytes\": $((device / 4)), "
shows '"in_parts": true, '
expect 0 '' "$PIPEC" run tracks.pipe --resources=json --shape 10x100x100:u8
shows '"track_bytes": 186000, ' # 1000 objects of 100 pixels
expect 2 'not of both' ./cells plates/P1 --resources --shape 4x4
expect 2 'does not fit input image[y, x]' ./cells --resources --shape 4x4x4:u8
expect 2 '--resources=json' ./cells plates/P1 --resources=xml
expect 4 'the least that will do' ./cells --resources --shape 400x400 --memory 1000
expect 1 'B09_1.tif' ./cells plates/P1/B09_1.tif --resources
expect 0 '' ./cells plates/P1 plates/P2 -o 'queue d' --limit 151 --columns '{plate}/{well}_{field}' --summary well \
    --device cpu --shard 1/3 --compress none --zarr 0.5 --sbatch
shows '#SBATCH --array=1-3'
shows "'--limit=151'"
shows "'--compress=none'"
shows "'--zarr=0.5'"
check bash -n said.out
expect 0 '' ./cells plates/P1 plates/P2 -o 'queue d' --limit 151 --columns '{plate}/{well}_{field}' --summary well \
    --device cpu --shard 1/3 --snakefile
shows 'SHARDS = 3'
shows '        "queue d/failed.csv"'
cp said.out Snakefile
if command -v snakemake >snakemake.path; then
    expect 0 '' ./cells plates/P1 plates/P2 -q --keep-going -o at-once --limit 151 --columns '{plate}/{well}_{field}' \
        --summary well
    expect 0 '' snakemake --cores 2 --quiet all
    for file in t.csv values.csv failed.csv t_by_well.csv values_by_well.csv; do
        check cmp at-once/$file "queue d/$file"
    done
fi
finish
