# zarr.sh: OME-Zarr in and out: the pixels of a TIFF run, in one piece and in parts; batches, plates, label images of an
# image; going on; what is refused.
. "$(dirname "$0")/lib.sh"

image=$SAMPLES/blobs.tif
expect 0 '' "$PIPEC" build "$SAMPLES/blobs.pipe" -o blobs
printf 'input image[y, x]\noutput same = image as zarr\n' >same.pipe
expect 0 '' "$PIPEC" run same.pipe "$image" -o in
check test -f in/blobs_same.ome.zarr/.zattrs
mv in/blobs_same.ome.zarr in/a.ome.zarr
expect 0 '' "$PIPEC" run same.pipe "$image" -o in --zarr 0.5 --compress none
mv in/blobs_same.ome.zarr in/b.zarr
cp "$image" in/c.tif

# ---- a folder of all three, as three files of TIFF -----------------------------------------
expect 0 '' ./blobs in -o tif
says '3/3 c.tif'
files tif a_labels.tif a_table.csv b_labels.tif b_table.csv c_labels.tif c_table.csv table.csv .blobs.journal
check cmp tif/a_table.csv tif/c_table.csv
expect 0 '' ./blobs in/c.tif -o pyramid --pyramid
check "$COMPARE" same pyramid/c_labels.tif tif/c_labels.tif
expect 0 '' ./blobs in/c.tif -o again --pyramid
check cmp pyramid/c_labels.tif again/c_labels.tif
expect 0 '' ./blobs in/c.tif -o zstd --compress zstd
check "$COMPARE" same zstd/c_labels.tif tif/c_labels.tif
expect 2 '--compress is one of labels|all|none|zstd, not' ./blobs in/c.tif --compress gzip
check cmp tif/b_labels.tif tif/a_labels.tif
check "$COMPARE" same tif/a_labels.tif tif/c_labels.tif
check test "$(cut -d, -f1 tif/table.csv | uniq | tr '\n' ' ')" = 'image a.ome.zarr b.zarr c.tif '

# ---- zarr to zarr, in parts; a name that ends in .zarr is enough ------------------------------
for version in 0.4 0.5; do
    expect 0 '' "$PIPEC" run same.pipe in/a.ome.zarr -o "same$version/" --zarr $version --memory 98688
    check "$COMPARE" same same$version/a_same.ome.zarr in/c.tif
done
printf 'input image[y, x]\nblurred = gaussian(image, 2)\noutput labels = label(blurred > otsu(blurred), connectivity = 8)\n' >only.pipe
expect 0 '' "$PIPEC" run only.pipe in/b.zarr -o seg.ome.zarr --memory 98688
check "$COMPARE" same seg.ome.zarr tif/c_labels.tif
expect 0 '' "$PIPEC" run only.pipe in/b.zarr -o seg.ome.zarr # replaced
check "$COMPARE" same seg.ome.zarr tif/c_labels.tif
check test "$(ls -A | grep -c pipec-)" -eq 0

# ---- label images of the image itself, which is no other image for them ------------------------
expect 0 '' "$PIPEC" run only.pipe in/a.ome.zarr in/b.zarr -o '{dir}/{name}/labels/{output}'
check "$COMPARE" same in/a.ome.zarr/labels/labels tif/c_labels.tif
check grep -q '"labels": \["labels"\]' in/b.zarr/labels/zarr.json
expect 0 '' "$PIPEC" run only.pipe in/a.ome.zarr in/b.zarr -o '{dir}/{name}/labels/{output}' --resume
check test ! -s said.err # all are done
printf 'input image[y, x]\ninput seg[y, x] : labels\noutput t = measure(seg, image, area)\n' >measure.pipe
expect 0 '' "$PIPEC" run measure.pipe in/a.ome.zarr --seg '{dir}/{name}/labels/labels' -o measured
check test "$(wc -l <measured/a_t.csv)" -eq "$(wc -l <tif/a_table.csv)"

# ---- tables as anndata has them: the numbers of the CSV ------------------------------------------
printf 'input image[y, x]\nlabels = label(image > otsu(image))\noutput labels as zarr\noutput cells = measure(labels, image, mean, area) as zarr\noutput t = measure(labels, image, mean, area)\n' >cells.pipe
for version in 0.4 0.5; do
    expect 0 '' "$PIPEC" run cells.pipe in/c.tif in/b.zarr -o cells$version/ --zarr $version
    od -An -v -t f8 -w16 cells$version/c_cells.zarr/X/0.0 | awk '{printf "%.12g,%.12g\n", $1, $2}' >x.txt
    od -An -v -t d8 -w8 cells$version/c_cells.zarr/obs/label/0 | awk '{print $1 + 0}' >label.txt
    sed 1d cells$version/c_t.csv | awk -F, '{printf "%.12g,%.12g\n", $2, $3}' >x.want
    sed 1d cells$version/c_t.csv | cut -d, -f1 >label.want
    check cmp x.txt x.want
    check cmp label.txt label.want
    od -An -v -t f8 -w16 cells$version/cells.zarr/X/0.0 | awk '{printf "%.12g,%.12g\n", $1, $2}' >x.txt # of all images
    sed 1d cells$version/t.csv | awk -F, '{printf "%.12g,%.12g\n", $3, $4}' >x.want
    check cmp x.txt x.want
    check grep -q c.tif cells$version/cells.zarr/obs/image/0
done
for shard in 2 1; do
    expect 0 '' "$PIPEC" run cells.pipe in/c.tif in/b.zarr -o parts/ --zarr 0.5 --shard $shard/2
done
expect 0 '' "$PIPEC" merge parts
check diff -r cells0.5/cells.zarr parts/cells.zarr
rm parts/c_cells.zarr/X/0.0
expect 5 'c_cells.zarr'"' is no table that was written by pipec" "$PIPEC" merge parts
check diff -r cells0.5/cells.zarr parts/cells.zarr
check grep -q "\"shape\": \[$(wc -l <label.want), 2\]" cells0.4/c_cells.zarr/X/.zarray
rm cells0.4/c_cells.zarr/X/0.0
expect 0 'c.tif: done again, for an output is not what was written' "$PIPEC" run cells.pipe in/c.tif in/b.zarr -o cells0.4/ --resume
check test -f cells0.4/c_cells.zarr/X/0.0
printf 'input image[y, x]\nlabels = label(image > otsu(image))\noutput labels\noutput cells = measure(labels, image, mean) as zarr\n' >inside.pipe
expect 0 '' "$PIPEC" run inside.pipe in/b.zarr -o '{dir}/{name}/labels/{output}'
check grep -q '"cells"' in/b.zarr/tables/zarr.json
check grep -q '"path": "../labels/labels"' in/b.zarr/tables/cells/zarr.json

# ---- going on ----------------------------------------------------------------------------------
expect 0 '' "$PIPEC" run same.pipe in/a.ome.zarr in/b.zarr -o again
rm again/a_same.ome.zarr/0/0/0
expect 0 'a.ome.zarr: done again, for an output is not what was written' "$PIPEC" run same.pipe in/a.ome.zarr in/b.zarr -o again --resume
says '2/2 a.ome.zarr'

# ---- plates ----------------------------------------------------------------------------------
mkdir plate.zarr
printf '{"zarr_format": 2}' >plate.zarr/.zgroup
printf '{"plate": {"wells": [{"path": "A/1"}, {"path": "B/2"}]}}' >plate.zarr/.zattrs
for well in A/1 B/2; do
    mkdir -p plate.zarr/$well
    printf '{"well": {"images": [{"path": "0"}]}}' >plate.zarr/$well/.zattrs
    cp -r in/a.ome.zarr plate.zarr/$well/0
done
expect 0 '' ./blobs plate.zarr -o wells --columns '{plate}_{row}_{column}_{field}'
files wells plate_A_1_0_labels.tif plate_A_1_0_table.csv plate_B_2_0_labels.tif plate_B_2_0_table.csv table.csv .blobs.journal
check test "$(head -1 wells/table.csv | cut -d, -f1-6)" = image,plate,row,column,field,label
check test "$(sed -n 2p wells/table.csv | cut -d, -f1-6)" = plate.zarr/A/1/0,plate,A,1,0,1
expect 0 '' "$PIPEC" run only.pipe plate.zarr -o '{dir}/{name}/labels/{output}'
check "$COMPARE" same plate.zarr/B/2/0/labels/labels tif/c_labels.tif
check grep -q '"labels": \["labels"\]' plate.zarr/B/2/0/labels/.zattrs
expect 0 '' "$PIPEC" run same.pipe plate.zarr -o 'copy/{name}' # a plate again
check "$COMPARE" same copy/plate.zarr/B/2/0 in/c.tif
expect 0 '' ./blobs copy/plate.zarr -o wells2
check cmp wells2/plate_B_2_0_table.csv wells/plate_B_2_0_table.csv

# ---- what is refused --------------------------------------------------------------------------
expect 2 "is no name for the output 'table'" ./blobs in/a.ome.zarr -o '{stem}_{output}.zarr'
expect 2 'would replace' "$PIPEC" run same.pipe in/a.ome.zarr -o in/a.ome.zarr
mkdir notes.zarr
expect 2 'which is a folder of OME-Zarr' "$PIPEC" run same.pipe "$image" -o notes.tif
expect 2 '--zarr is one of 0.4|0.5, not' "$PIPEC" run same.pipe "$image" --zarr 3
printf '{"zarr_format": 2}' >notes.zarr/.zgroup
expect 1 'without an image' ./blobs notes.zarr -o out
finish
