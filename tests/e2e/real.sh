# real.sh: real images that other programs wrote, where they lie beside the sources; labels, tables and
# pictures as scipy and scikit-image give them (tests/golden/make_real_golden.py, which says what they are).
. "$(dirname "$0")/lib.sh"

IMAGES=$ROOT/../shared/data
PIPES=$ROOT/tests/e2e/real
GOLDEN=$ROOT/tests/golden/real
if [ ! -f "$IMAGES/blobs.tif" ]; then
    echo "skipped: there are no images in ../shared/data"
    exit 77
fi

# All by the evaluator, which compiles no kernels; the cells also on a device, byte for byte.
for name in blobs nuclei-3-channels head-stack cells-labels; do
    expect 0 '' "$PIPEC" run "$PIPES/${name%%-*}.pipe" "$IMAGES/$name.tif" --device reference -q -o .
done
expect 0 '' "$PIPEC" run "$PIPES/cells.pipe" "$IMAGES/cells-labels.tif" -q -o device
for file in device/cells*; do
    check cmp "$file" "${file#device/}"
done

# same KIND GOLDEN FILE: the comparison of compare.c
same() {
    check "$COMPARE" "$1" "$GOLDEN/$2.$1" "$3"
}
table() {
    check "$COMPARE" table "$GOLDEN/$1.csv" "$2"
}

for output in labels split spots cleared grown large peaks edges; do
    same labels blobs_$output blobs_$output.tif
done
same points blobs_background blobs_background.tif
table blobs_table blobs_table.csv
cut -d, -f2- values.csv >numbers.csv
table blobs_values numbers.csv
for channel in red green blue; do
    same labels nuclei_$channel nuclei-3-channels_${channel}_labels.tif
done
table nuclei_table nuclei-3-channels_table.csv
for output in labels filled opened middle split highest; do
    same labels head_$output head-stack_$output.tif
done
same points head_depth head-stack_depth.tif
same points head_side head-stack_side.tif
table head_table head-stack_table.csv
for output in grown centres inside edges small; do
    same labels cells_$output cells-labels_$output.tif
done
same labels cells_picture cells-labels_picture.png
table cells_table cells-labels_table.csv
finish
