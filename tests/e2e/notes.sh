# notes.sh: what is said of images that do not fail: parts of files that are not read, projections of one plane,
# places outside of the image.  Notes change neither outputs nor exit codes.
. "$(dirname "$0")/lib.sh"

IMAGES=$ROOT/tests/data/images

# notes N: so many lines of the last command are notes, and each has its line to itself.  Runs share folders here, and what they
# say of each other's tables is tables.sh's.
notes() {
    checks=$((checks + 1))
    sed -i '/^note: .* are gone; for one table/d' said.err
    got=$(grep -c '^note: ' said.err)
    [ "$got" -eq "$1" ] && [ "$(grep -c 'note: ' said.err)" -eq "$got" ] ||
        { fail "$got notes instead of $1:"; cat said.err; }
}

printf 'input image[y, x]\noutput m = max(image)\n' >flat.pipe
expect 0 '' "$PIPEC" build flat.pipe -o flat

# ---- parts of files ---------------------------------------------------------------------
expect 0 'note: unread_pages.tif: 3 more pages are not read; reading ends at the first of another size or type' \
    ./flat "$IMAGES/unread_pages.tif" -o out
notes 1
expect 0 'note: unread_loop.tif: 1 more page is not read; ' ./flat "$IMAGES/unread_loop.tif" -o out
notes 1
expect 0 'note: unread_series.ome.tif: 2 more images are not read; of an OME-TIFF or OME-Zarr the first one is' \
    ./flat "$IMAGES/unread_series.ome.tif" -o out
notes 1
expect 0 'note: unread_unlisted.tif: 3 more pages are not read; the OME-XML of the file does not list all' \
    ./flat "$IMAGES/unread_unlisted.tif" -o out
notes 1
expect 0 'note: ome_stopped.tif: 3 more pages are not read; the acquisition ended before its last time point' \
    ./flat "$IMAGES/ome_stopped.tif" -o out
notes 1
expect 0 'note: ome_part.tif: 16 planes in other files are not read; ' ./flat "$IMAGES/ome_part.tif" -o out
notes 1
expect 0 '' ./flat "$IMAGES/pyramid.tif" "$IMAGES/unread_marked.tif" "$IMAGES/subifd.tif" -o out
notes 0
# What pixels are taken for.
expect 0 'note: white_bool.tif: its pixels are single bits' \
    ./flat "$IMAGES/white_bool.tif" "$IMAGES/imagej_signed.tif" "$IMAGES/tags_of_display.tif" "$IMAGES/ome_cut.tif" -o out
notes 6
says 'note: imagej_signed.tif: its values are calibrated'
says 'note: tags_of_display.tif: it is to be shown turned'
says 'note: ome_cut.tif: its OME-XML is damaged; '
# Names of channels stay where each is one of the output.
printf 'input image[y, x, c]\noutput m = max(image)\n' >channels.pipe
expect 0 'note: ome_names.tif: its channels have names, ' "$PIPEC" run channels.pipe "$IMAGES/ome_names.tif" -o out
notes 1
printf 'input image[y, x]\noutput same = image\n' >same.pipe
expect 0 '' "$PIPEC" run same.pipe "$IMAGES/ome_names.tif" -o out
notes 0
check grep -aq 'SamplesPerPixel="1" Name="DAPI"' out/ome_names_same.tif
# The numbers of a palette's colours, which count from 0 to 15 here; of a gray one the grays.
printf 'input a[y, x] : labels\ninput m[y, x] : mask\noutput n = max(number(a))\noutput t = sum(number(m))\n' >numbers.pipe
expect 0 'note: palette_4.tif: it has a palette; ' "$PIPEC" run numbers.pipe "$IMAGES/palette_4.tif" --m "$IMAGES/palette.png" -o numbers \
    --device reference
notes 2
expect 0 '' "$PIPEC" run numbers.pipe "$IMAGES/palette_gray.tif" --m "$IMAGES/palette_gray.png" -o numbers --device reference
notes 0
check grep -q '75,32' numbers/values.csv
# Several kinds at once, by several threads, before anything is done, and not at all.
expect 0 '' ./flat "$IMAGES/unread_pages.tif" "$IMAGES/unread_series.ome.tif" "$IMAGES/pyramid.tif" -o out --jobs 3
notes 2
expect 0 'note: unread_pages.tif: 3 more pages' ./flat "$IMAGES/unread_pages.tif" -o none --dry-run
notes 1
check test ! -e none
expect 0 '' ./flat "$IMAGES/unread_pages.tif" -o out --quiet
check test ! -s said.err
expect 0 '' ./flat "$IMAGES/unread_pages.tif" -o out --quiet --dry-run
check test ! -s said.err
# One that fails is no reason to be silent about the others.
echo nothing >broken.tif
expect 1 'note: unread_pages.tif: ' ./flat broken.tif "$IMAGES/unread_pages.tif" -o out
notes 1

# ---- many files -------------------------------------------------------------------------
mkdir many
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    cp "$IMAGES/unread_pages.tif" many/$i.tif
done
cp "$IMAGES/unread_series.ome.tif" many/other.tif
expect 0 'note: and 9 more images: more pages are not read; reading ends at the first of another size or type' \
    ./flat many -o many_out --jobs 4
notes 5
says 'note: other.tif: 2 more images'
expect 0 '' ./flat many -o many_quiet -q
check diff -r -x '.*' many_out many_quiet
# What an earlier run has finished is not opened again.
expect 0 '' ./flat many -o many_out --resume
notes 0

# A second input is one file for all images, and a folder is one image.
printf 'input image[y, x]\ninput more[z, y, x]\noutput m = max(image + more[z = 0])\n' >two.pipe
expect 0 "note: $IMAGES/unread_pages.tif: 3 more pages" \
    "$PIPEC" run two.pipe "$IMAGES/type_u8.tif" "$IMAGES/type_f32.tif" --more "$IMAGES/unread_pages.tif" -o two
notes 1
mkdir stack
printf 'input image[z, y, x]\noutput m = max(image)\n' >deep.pipe
"$PIPEC" run flat.pipe "$IMAGES/type_u8.tif" -q -o two # so that the folder of outputs is there
cp "$IMAGES/unread_loop.tif" stack/a.tif
cp "$IMAGES/unread_cut.tif" stack/b.tif
expect 0 'note: stack: 2 more pages are not read' "$PIPEC" run deep.pipe --stack stack -o two
notes 1

# ---- projections of one plane -----------------------------------------------------------
mkdir frames
for name in a b; do
    cp "$IMAGES/type_u8.tif" frames/$name.tif
done
printf 'input image[z, y, x]\noutput p = max_project(image)\noutput s = std_project(image)\n' >project.pipe
stack='goes along z, where there is one plane; with --stack the files of a folder are planes of one image'
expect 0 "note: a.tif: max_project $stack" "$PIPEC" run project.pipe frames -o project
says "note: b.tif: std_project $stack"
notes 4
expect 0 '' "$PIPEC" run project.pipe --stack frames -o project
notes 0
expect 0 '' "$PIPEC" run project.pipe "$IMAGES/stack.tif" -o project
notes 0
# A folder of one file is what the user asked for.
rm frames/b.tif
expect 0 '' "$PIPEC" run project.pipe --stack frames -o project
notes 0
expect 0 'with --time-as-z time points are planes' "$PIPEC" run project.pipe "$IMAGES/imagej_t.tif" -o project
notes 2
expect 0 '' "$PIPEC" run project.pipe "$IMAGES/imagej_t.tif" --time-as-z -o project
notes 0

# ---- places outside ---------------------------------------------------------------------
cat >places.pipe <<'PIPE'
input image[z, y, x]
param plane = 1 in 0 .. 100
output one = image[z = plane]
output safe = image[z = 5] if depth(image) > 5 else image[z = 0]
output edge = image[z = 70, border = nearest]
PIPE
expect 0 '' "$PIPEC" build places.pipe -o places
expect 0 '' ./places "$IMAGES/stack.tif" -o places_out
notes 0
expect 0 '' ./places "$IMAGES/stack.tif" -o places_out --plane 2
notes 0
expect 0 'note: stack.tif: image[z = 50] is outside of the image, whose planes are 0 .. 2' \
    ./places "$IMAGES/stack.tif" -o places_out --plane 50
notes 1
cp places_out/stack_one.tif want.tif
expect 0 '' ./places "$IMAGES/stack.tif" -o places_out --plane 2 -q
check "$COMPARE" same want.tif places_out/stack_one.tif
# The printed graph, and the evaluator.
"$PIPEC" show places.pipe --ir >places.ir
expect 0 'note: stack.tif: image[z = 3] is outside' "$PIPEC" run places.ir "$IMAGES/stack.tif" -o places_out --plane 3
expect 0 'note: stack.tif: image[z = 3] is outside' \
    "$PIPEC" run places.pipe "$IMAGES/stack.tif" -o places_out --plane 3 --device reference
printf 'input image[y, x]\nhalf = downscale(image, 2)\noutput m = max(half[x = 5] + half[y = 12345678])\n' >half.pipe
expect 0 'note: type_u8.tif: half[x = 5] is outside of the image, whose columns are 0 .. ' \
    "$PIPEC" run half.pipe "$IMAGES/type_u8.tif" -o places_out
says 'half[y = 12345678] is outside of the image, whose rows are 0 .. '
notes 2
printf 'input image[y, x]\nparam n = 4\noutput c = crop(image, 1, 2, width = n)\n' >part.pipe
expect 0 '' "$PIPEC" build part.pipe -o part
expect 0 '' ./part "$IMAGES/type_u8.tif" -o part_out
notes 0
expect 0 'note: type_u8.tif: crop goes to x = 1234, outside of the image, whose columns are 0 .. ' \
    ./part "$IMAGES/type_u8.tif" -o part_out --n 1234
says '; the nearest one is repeated there'
notes 1

# ---- pixels that are not square ---------------------------------------------------------
printf 'input image[y, x]\noutput t = measure(label(image > 9), perimeter, perimeter_crofton, spacing = [pixel_size(y), pixel_size(x)])\n' >sides.pipe
sides='note: type_u8.tif: pixels are not square, so perimeter and circularity are empty; perimeter_crofton measures borders of any pixels'
expect 0 "$sides" "$PIPEC" run sides.pipe "$IMAGES/type_u8.tif" -o sides_out --pixel-size 1um,2um --device reference
notes 1
check test "$(grep -c '^[0-9]*,,[0-9]' sides_out/type_u8_t.csv)" -gt 0
expect 0 '' "$PIPEC" run sides.pipe "$IMAGES/type_u8.tif" -o sides_out --pixel-size 2um --device reference
notes 0
check test "$(grep -c ',,' sides_out/type_u8_t.csv)" -eq 0
finish
