# big.sh: images larger than the memory that is allowed, on the host and on the device: objects of
# known number, size and place are found whatever the file is like, and the results are those of
# a run in one piece.  By hand at any size, in a folder with enough room, for example
#
#     BIG_WIDTH=40000 BIG_HEIGHT=40000 BIG_HOST=1GiB BIG_DEVICE=512MiB ctest -R e2e_big -V
. "$(dirname "$0")/lib.sh"

width=${BIG_WIDTH:-3000}
height=${BIG_HEIGHT:-2000}
host=${BIG_HOST:-256KiB}
device=${BIG_DEVICE:-8MiB}

cat >objects.pipe <<'PIPE'
input image[y, x] : u8
labels = label(image > 100)
output labels
output table = measure(labels, image, area, centroid, max)
output count = max(labels)
PIPE
expect 0 '' "$PIPEC" build objects.pipe -o objects

# in_rows NAME: the objects of NAME.tif with little memory.
in_rows() {
    expect 0 '' ./objects "$1.tif" -q -o "$1" --host-memory "$host" --memory "$device"
    check "$CELLS" check "$1/$1_labels.tif" "$1/$1_table.csv" "$width" "$height"
    check test "$(sed 1d "$1/values.csv")" = "$1.tif,$("$CELLS" count "$width" "$height")"
    files "$1" "$1_labels.tif" "$1_table.csv" table.csv values.csv
}
for how in strips strip tiles; do
    check "$CELLS" make $how.tif "$width" "$height" $how
    in_rows $how
done

# In one piece, where that is possible.
if [ -z "${BIG_WIDTH:-}" ]; then
    expect 0 '' ./objects strips.tif -q -o whole
    check "$CELLS" check whole/strips_labels.tif whole/strips_table.csv "$width" "$height"
    check diff -r -x '.*' whole strips
fi

# In parts on the device, rows from the file or from memory: the pixels of a run in one piece.
cat >soft.pipe <<'PIPE'
input image[y, x]
soft = gaussian(image, 2.0)
output soft
output mask = soft > otsu(soft)
output total = sum(soft)
PIPE
expect 0 '' "$PIPEC" build soft.pipe -o soft
for size in '3000 2000' '1000 900'; do
    check "$CELLS" make cut.tif $size tiles
    expect 0 '' ./soft cut.tif -q -o soft1
    expect 0 '' ./soft cut.tif -q -o soft2 --memory 3MiB
    check diff -r -x '.*' soft1 soft2
done
# Read so often that the rows are lent.
cat >often.pipe <<'PIPE'
input image[y, x]
s = kappa_sigma(image, 2)
output mask = gaussian(image, 1) > s.median + s.std
PIPE
expect 0 '' "$PIPEC" build often.pipe -o often
check "$CELLS" make cut.tif 2700 1900 strips
expect 0 '' ./often cut.tif -q -o often1
expect 0 '' ./often cut.tif -q -o often2 --memory 3MiB
check diff -r -x '.*' often1 often2
expect 0 '' "$PIPEC" run soft.pipe "$SAMPLES/blobs.tif" -q --check --memory 1MiB -o checked
finish
