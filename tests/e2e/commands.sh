# commands.sh: fmt, check, show, explain, plan, ops, devices and help say something sensible for
# every sample.
. "$(dirname "$0")/lib.sh"

# ---- fmt and check ----------------------------------------------------------------------
expect 0 '' "$PIPEC" fmt --check "$SAMPLES"/*.pipe "$ROOT"/frontend/ops/prelude/*.pipe
printf 'input image[y,x]\noutput   a=image*2 # twice\n' >loose.pipe
cp loose.pipe kept.pipe
expect 1 'pipec fmt' "$PIPEC" fmt --check loose.pipe
check cmp loose.pipe kept.pipe
expect 0 '' "$PIPEC" fmt loose.pipe
expect 0 '' "$PIPEC" fmt --check loose.pipe
check grep -q '^output a = image \* 2  *# twice$' loose.pipe
printf 'input image[y, x\n' >broken.pipe
cp broken.pipe kept.pipe
expect 2 'error[P' "$PIPEC" fmt broken.pipe
check cmp broken.pipe kept.pipe

json() {
    cp said.out said.json
    ! command -v python3 >/dev/null || check python3 -m json.tool said.json
}
printf 'input image[y, x]\noutput a = gausian("\\t\\"", imge)\n' >bad.pipe
expect 2 '' "$PIPEC" check --json bad.pipe
shows '"code": "P0501"'
json
expect 0 '' "$PIPEC" check --json "$SAMPLES/blobs.pipe"
json
# What is shared again and again is looked at once.
for start in image 'mean(image)' p 'x_of(image)' 'label_sum(cells, image)[cells]'; do
    printf 'input image[y, x]\nparam p = 2.5\ncells = label(image * p > 3)\na0 = %s\n' "$start" >shared.pipe
    for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29; do
        printf 'a%d = a%d * a%d + a%d if a%d > 3 else 1\n' $((i + 1)) $i $i $i $i >>shared.pipe
    done
    printf 'output cells\noutput b = image * a30\noutput c = image[x = a30 + x_of(image)]\n' >>shared.pipe
    expect 0 '' "$PIPEC" check shared.pipe
done

# ---- the evaluator's tables are the device's: sorted, and where areas are no whole numbers --
printf 'input image[y, x]\nobjects = label(image > 150)\noutput t = measure(objects, area, area_bbox, spacing = 0.3, sort = area, order = descending)\n' >sized.pipe
expect 0 '' "$PIPEC" run sized.pipe "$SAMPLES/blobs.tif" -q --check -o sized-device
expect 0 '' "$PIPEC" run sized.pipe "$SAMPLES/blobs.tif" -q -o sized-reference --device reference
check cmp sized-device/t.csv sized-reference/t.csv
check grep -q '[.]' sized-reference/blobs_t.csv

# ---- a NaN is the same one in all files, whoever made it ---------------------------------
printf 'input image[y, x]\noutput a = nan if image > 100 else image\noutput b = 1 / (image - image) * 0\noutput c = a as fits\n' >none.pipe
expect 0 '' "$PIPEC" run none.pipe "$SAMPLES/blobs.tif" -q -o none-device
expect 0 '' "$PIPEC" run none.pipe "$SAMPLES/blobs.tif" -q -o none-reference --device reference
for name in a.tif b.tif c.fits; do
    check cmp none-device/blobs_$name none-reference/blobs_$name
done

# ---- images of other extents are refused, whoever computes and whatever they are read from ----
printf 'input image[y, x]\nnarrow = crop(image, width = 10)\noutput a = image + narrow\n' >narrow.pipe
printf 'input image[y, x]\nlong = x_of(canvas(image, width = width(image) + height(image) - 200))\noutput a = image + long\n' >long.pipe
printf 'input image[y, x]\nhalf = canvas(image, width = width(image) // 2)\nsame = image[x = x_of(half) * 2 // 2]\noutput a = same + crop(image, width = 128)\n' >half.pipe
printf 'input image[y, x]\ninput flat[y, x]\noutput a = image - flat\n' >other.pipe
for device in cpu reference; do
    expect 1 'line 3: the width' "$PIPEC" run narrow.pipe "$SAMPLES/blobs.tif" -q -o other --device $device
    says "of 'image' is 256, and that of an image it is used with 10: these do not fit"
    expect 1 'do not fit' "$PIPEC" run long.pipe "$SAMPLES/blobs.tif" -q -o other --device $device
    expect 0 '' "$PIPEC" run half.pipe "$SAMPLES/blobs.tif" -q -o half --device $device
    expect 1 'do not fit' "$PIPEC" run other.pipe "$SAMPLES/blobs.tif" -q -o other --device $device --flat half/blobs_a.tif
done
# Also inside of a comprehension, and where nothing of an image is left but what is read at places; what an index chooses
# is a number, whichever factor it is.
printf 'input image[y, x]\ninput t[y, x]\noutput a = sum(image[x = x_of(image) + i] * t[x = x_of(t) + i] for i in 0 .. 2)\n' >inside.pipe
printf 'input image[y, x]\ninput t[y, x]\noutput a = t[x = 1, y = 0] * image[x = x_of(image) + 1, y = y_of(image)]\n' >places.pipe
printf 'input image[y, x]\ninput t[y, x]\na = sum(image[dx = i] * t[x = i, y = 0] for i in 0 .. 2)\noutput n = sum(a == sum(t[x = i, y = 0] * image[dx = i] for i in 0 .. 2))\n' >chosen.pipe
for name in inside places; do
    expect 1 'which are used together, are ' "$PIPEC" run $name.pipe "$SAMPLES/blobs.tif" -q -o other --device reference --t half/blobs_a.tif
    check grep -qE '256 and 128|128 and 256' said.err
done
expect 0 '' "$PIPEC" run chosen.pipe "$SAMPLES/blobs.tif" -q -o chosen --device reference --t half/blobs_a.tif
check grep -q ',65024$' chosen/values.csv

# ---- extents of no pixels ------------------------------------------------------------------
printf 'input image[y, x]\nparam w = 3 in 0 .. 10\nparam f = 1.0 in 0 .. 1\noutput a = scale(crop(image, 5, 5, width = w), f + 1e-9)\n' >nothing.pipe
expect 1 "line 4: 'width' of 'crop' is 0, it must be at least 1" "$PIPEC" run nothing.pipe "$SAMPLES/blobs.tif" -q -o nothing --device reference --w 0
expect 1 'an image would be 0 pixels long along its x axis' "$PIPEC" run nothing.pipe "$SAMPLES/blobs.tif" -q -o nothing --device reference --f 0

# ---- pixels that were only moved or chosen keep the type of their file, each file its own -----
printf 'input image[y, x]\noutput u8 = image\noutput u16 = u16(image)\noutput f32 = f32(image)\n' >types.pipe
printf 'input image[y, x]\noutput a = flip(image) if image > 100 else 0\n' >kept.pipe
expect 0 '' "$PIPEC" run types.pipe "$SAMPLES/blobs.tif" -q -o types
expect 0 '' "$PIPEC" build kept.pipe -o kept
shows "kept: an executable"
expect 0 '' ./kept types -q -o kept-device
expect 0 '' "$PIPEC" run kept.pipe types -q -o kept-reference --device reference
expect 0 '' "$PIPEC" run kept.pipe kept-device --dry-run -o none
for type in u8 u16 f32; do
    shows "blobs_${type}_a.tif  256 x 254, $type"
    check cmp kept-device/blobs_${type}_a.tif kept-reference/blobs_${type}_a.tif
done
expect 0 '' ./kept --describe
shows '{stem}_a.tif, pixels as in the file of image'

# ---- pixels that the asked type does not hold are refused, and white is that of the type -----
printf 'input image[y, x]\noutput a = image / 2\n' >halves.pipe
printf 'input image[y, x] : u16\noutput a = image / white(image)\n' >bytes.pipe
expect 0 '' "$PIPEC" run halves.pipe "$SAMPLES/blobs.tif" -q -o halves
for device in cpu reference; do
    expect 1 'which is no u16' "$PIPEC" run bytes.pipe halves/blobs_a.tif -q -o bytes --device $device
    expect 0 '' "$PIPEC" run bytes.pipe "$SAMPLES/blobs.tif" -q -o bytes-$device --device $device
done
check cmp bytes-cpu/blobs_a.tif bytes-reference/blobs_a.tif

# ---- the evaluator takes any number of inputs, and goes on with them -------------------------
{
    printf 'input i%s[y, x]\n' $(seq 70)
    echo "output a = 0$(printf ' + i%s' $(seq 70))"
} >many.pipe
for said in blobs.tif ''; do
    expect 0 "$said" "$PIPEC" run many.pipe "$SAMPLES/blobs.tif" --resume -o many --device reference \
        $(printf -- "--i%s $SAMPLES/blobs.tif " $(seq 2 70))
done
check test ! -s said.err -a -s many/blobs_a.tif

# ---- every stage of every sample --------------------------------------------------------
for name in $(samples); do
    file=$SAMPLES/$name.pipe
    expect 0 '' "$PIPEC" check "$file"
    check test ! -s said.err -a ! -s said.out
    expect 0 '' "$PIPEC" show "$file" --ast
    shows 'output'
    expect 0 '' "$PIPEC" show "$file" --ir
    shows 'output'
    expect 0 '' "$PIPEC" show "$file" --passes
    for pass in $("$PIPEC" help passes | cut -d' ' -f1); do
        shows "# after $pass"
    done
    expect 0 '' "$PIPEC" show "$file" --graph
    shows 'digraph'
    ! command -v dot >/dev/null || check dot -Tsvg said.out
    expect 0 '' "$PIPEC" show "$file" --kernels
    shows 'kernel void'
    shows "$file:"
    expect 0 '' "$PIPEC" show "$file" --c
    shows 'Program program'
    expect 0 '' "$PIPEC" explain "$file"
    shows 'step'
    [ "$name" = primes ] && continue
    shape=2000x3000:u16
    [ "$name" != nuclei ] || shape=2000x3000x3:u8
    [ "$name" != deconvolve ] || shape=100x200x300:u16
    expect 0 '' "$PIPEC" plan "$file" --shape $shape --memory 8GiB
    shows 'peak'
done

# The same input compiled twice gives the same bytes.
for view in --ir --graph --kernels --c; do
    "$PIPEC" show "$SAMPLES/nuclei.pipe" $view >once
    (cd / && "$PIPEC" show "$SAMPLES/nuclei.pipe" $view) >twice
    check cmp once twice
done

# ---- a printed graph is as good as the pipeline --------------------------------------------
"$PIPEC" show "$SAMPLES/blobs.pipe" --ir >blobs.ir
"$PIPEC" show "$SAMPLES/blobs.pipe" --kernels >kernels.cl
expect 0 '' "$PIPEC" show blobs.ir --ir
check cmp said.out blobs.ir
expect 0 '' "$PIPEC" show blobs.ir --kernels
check cmp said.out kernels.cl
expect 0 '' "$PIPEC" explain blobs.ir
expect 2 'is a graph' "$PIPEC" show blobs.ir --ast
sed 's/otsu_reduce = reduce/otsu_reduce = reduced/' blobs.ir > broken.ir
expect 2 'there is no such operation' "$PIPEC" run broken.ir "$SAMPLES/blobs.tif"
says 'broken.ir:20:22: '
expect 0 '' "$PIPEC" run blobs.ir "$SAMPLES/blobs.tif" -o from_graph
expect 0 '' "$PIPEC" run "$SAMPLES/blobs.pipe" "$SAMPLES/blobs.tif" -o from_text
check cmp from_graph/blobs_table.csv from_text/blobs_table.csv

expect 0 '' "$PIPEC" help p0403
shows 'P0403, error: there is no axis ... in ...'
expect 0 '' "$PIPEC" ops measure
shows 'solidity'
expect 0 '' "$PIPEC" ops threshold_otsu
shows 'written here: image > otsu(image)'

# ---- the manual, and what is installed -------------------------------------------------------
expect 0 '' "$PIPEC" help --man
for command in check run try build fmt ops help devices plan explain tune show; do
    shows ".B $command "
done
shows '.B \-o, \-\-output'
! command -v groff >/dev/null || check test -z "$(groff -man -Tascii -ww said.out 2>&1 >/dev/null)"
expect 0 '' cmake --install "$(dirname "$PIPEC")" --prefix "$WORK/installed"
for file in share/man/man1/pipec.1.gz share/doc/pipec/README.md share/doc/pipec/docs/operators.md \
    share/doc/pipec/samples/blobs.pipe include/pipec.h; do
    check test -s "installed/$file"
done
expect 0 '' installed/bin/pipec build installed/share/doc/pipec/samples/blobs.pipe -o installed_blobs
check ./installed_blobs --version

# ---- plan -------------------------------------------------------------------------------
OCL_ICD_VENDORS=$WORK expect 0 '' "$PIPEC" plan "$SAMPLES/blobs.pipe" --shape 20000x30000:u16 --memory 8GiB
shows 'fits into 8GiB'
# Primitives count pixels in 32 bits, so that such an image is cut, though it would fit.
expect 0 '' "$PIPEC" plan "$SAMPLES/blobs.pipe" --shape 70000x70000:u16 --memory 1000GiB
shows ', in parts, on any device'
expect 0 '' "$PIPEC" plan "$SAMPLES/blobs.pipe"
shows 'peak'
expect 2 'shape' "$PIPEC" plan "$SAMPLES/blobs.pipe" --shape large
expect 0 '' "$PIPEC" plan "$SAMPLES/blobs.pipe" --device '#0'
shows ' MiB at most, in one piece, on '
expect 3 '' "$PIPEC" plan "$SAMPLES/blobs.pipe" --device nothing_like_it

# ---- tables in the order of a column ----------------------------------------------------------
cat >sorted.pipe <<'END'
input image[y, x]
objects = label(image > otsu(image))
output by_label = measure(objects, image, area, centroid, sum)
output by_sum = measure(objects, image, area, centroid, sum, sort = sum, order = descending)
output by_area = measure(objects, image, area, sort = area)
END
expect 0 '' "$PIPEC" run sorted.pipe "$SAMPLES/blobs.tif" -o sorted
sed 1d sorted/blobs_by_label.csv | LC_ALL=C sort -s -t, -k5,5gr >want
sed 1d sorted/blobs_by_sum.csv >got
check cmp want got
sed 1d sorted/blobs_by_label.csv | LC_ALL=C sort -s -t, -k2,2g | cut -d, -f1,2 >want
sed 1d sorted/blobs_by_area.csv >got
check cmp want got
expect 0 '' "$PIPEC" build sorted.pipe -o sorted_program
expect 0 '' ./sorted_program "$SAMPLES/blobs.tif" -o built
check cmp sorted/blobs_by_sum.csv built/blobs_by_sum.csv

# ---- columns with names of the user's -----------------------------------------------------------
cat >named.pipe <<'END'
input image[y, x]
mask = image > otsu(image)
objects = label(mask)
bright = image * 2
output plain = measure(objects, image, bright, mean, area, max)
output named = measure(objects, dim = image, bright = bright, mean, area, max)
output columns = measure(objects, area, dim = image, inside = mask, twice = bright, n = label_count(objects), sort = twice)
END
expect 0 '' "$PIPEC" run named.pipe "$SAMPLES/blobs.tif" -q --check -o named
check test "$(head -n 1 named/blobs_named.csv)" = label,mean-dim,mean-bright,area,max-dim,max-bright
check test "$(head -n 1 named/blobs_columns.csv)" = label,area,dim,inside,twice,n
sed 1d named/blobs_plain.csv >want
sed 1d named/blobs_named.csv >got
check cmp want got
sed 1d named/blobs_plain.csv | awk -F, '{ print $1 "," $4 "," $2 ",1," $3 "," $4 }' | LC_ALL=C sort -s -t, -k5,5g >want
sed 1d named/blobs_columns.csv >got
check cmp want got

# ---- operators, devices, help -----------------------------------------------------------
expect 0 '' "$PIPEC" ops
sed -n 's/^  \([a-z0-9_]*\) .*/\1/p' said.out >names
check test "$(wc -l <names)" -ge 40
for name in $(cat names); do
    expect 0 '' "$PIPEC" ops "$name"
    shows 'example:'
done
expect 0 '' "$PIPEC" ops gaussian --source
check test -s said.out
expect 0 '' "$PIPEC" ops threshold_otsu
shows 'otsu('
expect 0 '' "$PIPEC" devices
shows '#0'

# ---- what a plan is made for ------------------------------------------------------------
PLAIN=$WORK/plain.pipe
printf 'input image[y, x] : f32\na = sqrt(image) * 2 + sqrt(image + 1)\noutput b = a[dx = 1] - a[dx = -1]\n' >"$PLAIN"
expect 0 '' "$PIPEC" explain --plan-for=H200 "$PLAIN"
shows 'planned for H200 (from the table)'
shows 'a: computed for each read in b'
shows 'line 3    output b = a[dx = 1] - a[dx = -1]'
shows '8 bytes, 11 operations a pixel: '
XDG_CACHE_HOME=$WORK/figures expect 2 'devices --probe' "$PIPEC" explain --plan-for=pthread "$PLAIN"
mkdir -p "$WORK/figures/pipec"
printf 'no figures\n1000 1000 1000 5 slow sums\n' >"$WORK/figures/pipec/devices"
XDG_CACHE_HOME=$WORK/figures expect 0 '' "$PIPEC" explain --plan-for='slow sums' "$PLAIN"
shows 'planned for slow sums (measured)'
shows 'a copy moves 1000 GB/s'
shows 'a: computed in registers, row by row'
XDG_CACHE_HOME=$WORK/figures expect 0 '' "$PIPEC" devices --probe
shows 'measured: a copy moves'
shows 'a launch takes'
check grep -q 'slow sums' "$WORK/figures/pipec/devices"
check test "$(wc -l <"$WORK/figures/pipec/devices")" -ge 2

# ---- names of files and folders are no part of any program -------------------------------
mkdir -p "$WORK/p*"
cp "$PLAIN" "$WORK/p*//"'a"b.pipe'
expect 0 '' "$PIPEC" build "$WORK/p*//"'a"b.pipe' -o "$WORK/odd"
expect 0 '' "$PIPEC" build "$WORK/p*//"'a"b.pipe' --library -o "$WORK/"'a"b'
check cc -std=c11 -Wall -Wextra -Werror -I "$ROOT" -c "$WORK/"'a"b.c' -o "$WORK/odd.o"
check grep -q '^const Program \*pipeline_a_b(void);' "$WORK/"'a"b.h'

# ---- kernels that go into an executable ------------------------------------------------
expect 2 'go together' "$PIPEC" build "$PLAIN" -o "$WORK/plain" --for '#0'
expect 2 'does not fit input' "$PIPEC" build "$PLAIN" -o "$WORK/plain" --for '#0' --shape 7
expect 3 'no device matches' "$PIPEC" build "$PLAIN" -o "$WORK/plain" --for abacus --shape 64x64:f32
expect 0 '' "$PIPEC" build "$PLAIN" -o "$WORK/plain" --library --for '#0' --shape 64x64:f32 --shape 64x64:u8
check grep -q '[.]n_binaries = 1,' "$WORK/plain.c"
# Files whose names are none in C.
expect 0 '' "$PIPEC" build "$PLAIN" -o "$WORK/2-plain" --library
check "${CC:-cc}" -std=c11 -fsyntax-only -I"$ROOT" "$WORK/2-plain.c"
check grep -q '^const Program \*pipeline_2_plain(void);' "$WORK/2-plain.h"
expect 0 '' "$PIPEC" build "$PLAIN" -o "$WORK/plain" --for '#0' --shape 64x64:u8
expect 0 '' "$WORK/plain" --version

expect 0 '' "$PIPEC" help
for command in build run check fmt show explain plan devices ops help; do
    shows "pipec $command"
    cp said.out all
    expect 0 '' "$PIPEC" help $command
    shows "pipec $command"
    cp all said.out
done
expect 0 '' "$PIPEC" run --help
shows '--resume'
shows 'exit codes'
expect 0 '' "$PIPEC" --version
shows 'pipec '

# Numbers in a picture stand upright where it is shown: the first row of FITS is below.
echo 'input image[y, x]
output small = crop(image, width = 20, height = 7)' >small.pipe
sed 's/$/ as fits/;1s/ as fits//' small.pipe >fits.pipe
echo 'input image[y, x]
output picture = label2rgb(label(x_of(image) > 3 and x_of(image) < 12), numbers = 5) as png' >numbers.pipe
for kind in small fits; do
    expect 0 '' "$PIPEC" run "$kind.pipe" "$SAMPLES/blobs.tif" --device reference -o cut
    expect 0 '' "$PIPEC" run numbers.pipe "cut/blobs_small.$([ $kind = fits ] && echo fits || echo tif)" --device reference -o "$kind"
done
check "$COMPARE" same small/blobs_small_picture.png fits/blobs_small_picture.png
finish
