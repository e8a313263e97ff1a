# tables.sh: tables of lines and labels, and the options that say how pixels and rows are to be read.  Values are the
# evaluator's, whose bits are those of devices (compare them with --check).
. "$(dirname "$0")/lib.sh"

run() { expect 0 '' "$PIPEC" run "$@" -q --device reference; }

# ---- images along one axis ------------------------------------------------------------------
# numpy: np.bincount(tifffile.imread('blobs.tif').ravel(), minlength=256)[:3], and the mean of each plane of volume.tif
printf 'input image[y, x]\noutput counts = histogram(image, 256, 0, 256) as csv\n' >counts.pipe
run counts.pipe "$SAMPLES/blobs.tif" -o lines
check test "$(sed -n 1p lines/blobs_counts.csv)" = x,counts
check test "$(awk -F, 'NR > 1 { n += $2 } END { print n }' lines/blobs_counts.csv)" = $((256 * 254))
check test "$(sed -n 1p lines/counts.csv)" = image,x,counts
printf 'input v[z, y, x]\noutput level = mean_project(mean_project(v, x), y) as csv\n' >levels.pipe
run levels.pipe "$SAMPLES/volume.tif" -o lines
check test "$(sed -n 1p lines/volume_level.csv)" = z,level
printf 'input image[y, x]\noutput a = image as csv\n' >plane.pipe
expect 2 'as csv those along one axis' "$PIPEC" check plane.pipe

# ---- the size of pixels ---------------------------------------------------------------------
printf 'input image[y, x]\noutput area = sum(image > 100) * pixel_size(x) * pixel_size(y)\noutput wide = pixel_size(x) + 0 * mean(image)\noutput copy = image\n' >sized.pipe
run sized.pipe "$SAMPLES/blobs.tif" -o sized --pixel-size 1.5um
check grep -q ',1.5$' sized/values.csv
printf 'input image[y, x]\noutput wide = pixel_size(x) + 0 * mean(image)\noutput high = pixel_size(y) + 0 * mean(image)\n' >written.pipe
run written.pipe sized/blobs_copy.tif -o written # the file says it, too
check grep -q ',1.5,1.5$' written/values.csv
run written.pipe sized/blobs_copy.tif -o written --pixel-size 650nm,0.7um,2um
check grep -q ',0.65,0.7$' written/values.csv
for size in 1.5 0um 1um, 1um,2um,3um,4um 1parsec -1um nanum; do
    expect 2 'a length with its unit' "$PIPEC" run sized.pipe "$SAMPLES/blobs.tif" --pixel-size $size --device reference
done
# What was done with other sizes is not done.
run sized.pipe "$SAMPLES/blobs.tif" "$SAMPLES/timelapse.tif" -o both --pixel-size 2um
expect 2 'with other parameters' "$PIPEC" run sized.pipe "$SAMPLES/blobs.tif" "$SAMPLES/timelapse.tif" -o both --pixel-size 3um --resume --device reference

# ---- RA and Dec -----------------------------------------------------------------------------
# astropy: WCS(header).all_pix2world(x, y, 0) of (6, 1) and (1.5, 2.5), which of a crop are other pixels
# field WIDTH HEIGHT PIXEL PLACE STEPS: the header of a file with coordinates; 3, 4 and 5 are two or four numbers.
field() {
    for card in 'SIMPLE  =                    T' 'BITPIX  =                    8' 'NAXIS   =                    2' \
        "NAXIS1  =                    $1" "NAXIS2  =                    $2" "CTYPE1  = 'RA---TAN'" "CTYPE2  = 'DEC--TAN'" \
        "CRPIX1  = ${3% *}" "CRPIX2  = ${3#* }" "CRVAL1  = ${4% *}" "CRVAL2  = ${4#* }"; do
        printf '%-80s' "$card"
    done
    set -- $5
    for k in 1_1 1_2 2_1 2_2; do
        printf '%-80s' "CD$k   = $1"
        shift
    done
    printf '%-80s%1600s' END ''
}
{
    field 8 4 '2.5 3' '359.9 60' '-0.02 0.001 0.001 0.02'
    printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\7\0\0\7\7\0\0\0\0\0\0\7\7\0\0\0\0\0'
    head -c 2848 /dev/zero
} >field.fits
printf 'input image[y, x]\nl = label(image > 3)\nc = crop(image, 1, 0, width = 6)\noutput t = measure(l, centroid, sky = centroid, sort = dec)\noutput part = measure(label(c > 3), c, mass_center_x, mass_center_y, sky = mass_center)\n' >sky.pipe
run sky.pipe field.fits -o sky
check test "$(sed -n 1p sky/t.csv)" = image,label,centroid-0,centroid-1,ra,dec
awk -F, 'NR > 1 { printf "%s %s %.9f %.9f\n", $4, $3, $5, $6 }' sky/t.csv >positions
awk -F, 'NR > 1 { printf "%s %s %.9f %.9f\n", $3 + 1, $4, $5, $6 }' sky/part.csv >of_part
printf '6 1 359.718085850 59.984374912\n1.5 2.5 359.901000302 60.009999996\n' >wanted
check cmp positions wanted
check cmp of_part wanted
expect 1 "'image' has no RA and Dec: the file is not FITS" "$PIPEC" run sky.pipe "$SAMPLES/blobs.tif" -o sky --device reference
expect 1 'CTYPE1 and CTYPE2 are not of RA and DEC' "$PIPEC" run sky.pipe "$SAMPLES/sky.fits" -o sky --device reference
expect 2 'two columns' "$PIPEC" run sky.pipe field.fits -o no --columns '{ra}_{b}' --device reference
for call in 'area, sky = centroid' 'centroid, sky = centre' 'x = image, sky = xy'; do
    printf 'input image[y, x]\noutput t = measure(label(image > 3), %s)\n' "$call" >place.pipe
    expect 2 'no columns with a place' "$PIPEC" check place.pipe
done
printf 'input image[y, x]\nt = label(polar(image, width = 4, height = 4) > 3)\noutput t = measure(t, centroid, sky = centroid)\n' >turned.pipe
expect 2 'nothing says where `t` lies on the sky' "$PIPEC" check turned.pipe
printf 'input image[y, x]\noutput t = measure(label(image > 3), centroid, ra = image, sky = centroid)\n' >twice.pipe
expect 2 'ra' "$PIPEC" check twice.pipe

# reproject: reproject_interp((pixels, WCS(field)), WCS(target), shape_out=(7, 6), order=...), NaN as 0; the result has the
# target's header, and objects there the same RA and Dec but for what bilinear pixels move them.
{
    field 6 7 '4 4.25' '359.82 59.99' '0.001 -0.015 0.015 0.002'
    head -c 2880 /dev/zero
} >target.fits
printf 'input image[y, x]\ninput target[y, x]\nr = reproject(image, target)\nn = reproject(image, target, nearest, fill = 0)\nw = 1 + x_of(r) + 10 * y_of(r)\noutput none = sum(isnan(r))\noutput linear = sum(w * r)\noutput nearest = sum(w * n)\noutput moved = n as fits\noutput t = measure(label(n > 3), centroid, sky = centroid)\n' >onto.pipe
run onto.pipe field.fits --target target.fits -o onto
check test "$(awk -F, 'NR > 1 { printf "%d %.3f %d", $2, $3, $4 }' onto/values.csv)" = '7 847.335 735'
printf 'input image[y, x]\noutput again = measure(label(image > 3), centroid, sky = centroid)\n' >again.pipe
run again.pipe onto/field_moved.fits -o onto
check cmp onto/field_t.csv onto/field_moved_again.csv
expect 1 "'target' has no RA and Dec: the file is not FITS" "$PIPEC" run onto.pipe field.fits --target "$SAMPLES/blobs.tif" -o onto --device reference
printf 'input image[y, x]\ninput target[y, x]\noutput r = reproject(image, target)\n' >only.pipe
expect 1 "'target' has no RA and Dec: the file is not FITS" "$PIPEC" run only.pipe field.fits --target "$SAMPLES/blobs.tif" -o onto --device reference
expect 1 "'image' has no RA and Dec: the file is not FITS" "$PIPEC" run only.pipe "$SAMPLES/blobs.tif" --target field.fits -o onto --device reference
printf 'input image[y, x]\noutput r = reproject(crop(image, 1), image)\n' >cropped.pipe
expect 2 'nothing says where' "$PIPEC" check cropped.pipe

# ---- columns that names tell, and rows for groups -------------------------------------------
# pandas: t.groupby('well').area.agg(['count', 'mean', 'median']) of t.csv
mkdir -p plates/P1
for name in A01_1 A01_2 '=B02_1'; do
    cp "$SAMPLES/blobs.tif" "plates/P1/$name.tif"
done
printf 'input image[y, x]\nparam limit = 150\nobjects = label(image > limit)\noutput t = measure(objects, area)\noutput n = count(objects)\n' >cells.pipe
run cells.pipe plates/P1 -o grouped --columns '{plate}/{well}_{field}' --summary well
check grep -q '^A01_1.tif,P1,A01,1,1,' grouped/t.csv
check grep -q "^'=B02_1.tif,P1,'=B02,1,1," grouped/t.csv
check test "$(sed -n 1p grouped/t_by_well.csv)" = well,count,area_mean,area_median
check test "$(sed -n 1p grouped/values_by_well.csv)" = well,count,n_mean,n_median
n=$(awk -F, '$1 == "A01_1.tif" { n++ } END { print n }' grouped/t.csv)
check grep -q "^A01,$((2 * n))," grouped/t_by_well.csv
check grep -q "^'=B02,$n," grouped/t_by_well.csv
mean=$(awk -F, '$1 == "A01_1.tif" { n++; sum += $6 } END { printf "%.6f", sum / n }' grouped/t.csv)
median=$(awk -F, '$1 == "A01_1.tif" { print $6 }' grouped/t.csv | sort -n |
    awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }')
check test "$(awk -F, '$1 == "A01" { printf "%.6f,%g", $3, $4 }' grouped/t_by_well.csv)" = "$mean,$median"
run cells.pipe plates/P1 -o both-columns --columns '{well}_{field}' --summary well,field
check test "$(sed -n 1p both-columns/t_by_well_field.csv)" = well,field,count,area_mean,area_median
printf 'input image[y, x]\noutput copy = image\n' >copy.pipe
for columns in '{well}{field}' '{}' plain '{a' '{a}_{a}' '{image}_{b}' '{n}_{b}' '{area}_{b}' '{a b}_{c}' '{well}-{field}' '{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}/{j}/{k}/{l}/{m}/{o}/{p}/{q}_{r}'; do
    expect 2 '--columns' "$PIPEC" run cells.pipe plates/P1 -o refused --columns "$columns" --device reference
    check test ! -e refused
done
printf 'input image[y, x]\nobjects = label(image > 150)\noutput t = measure(objects, bright = image)\noutput p = near_pairs(objects, distance = 9)\noutput s = histogram(image, 4) as csv\n' >more.pipe
for columns in '{bright}_{b}' '{neighbour}_{b}' '{x}_{b}' '{s}_{b}'; do
    expect 2 'the tables would have two columns' "$PIPEC" run more.pipe plates/P1 -o refused --columns "$columns" --device reference
done
expect 2 "there is no column 'plate'" "$PIPEC" run cells.pipe plates/P1 --columns '{well}_{field}' --summary plate
expect 2 "no table of all images" "$PIPEC" run copy.pipe plates/P1/A01_1.tif --columns "{well}_{field}"

# ---- functions of one's own in files of their own -------------------------------------------
mkdir -p lib/deep
printf 'include "lib/mine.pipe"\ninput image[y, x]\noutput a = twice(image) + offset + bump(image)\n' >main.pipe
printf 'include "deep/more.pipe"\ninclude "../lib/deep/more.pipe"\noffset = 2.5\nparam gain = 2 in 1 .. 5\nfn twice(v) = v * gain\nfn other(v) = v\n' >lib/mine.pipe
printf 'fn bump(v) = gaussian(v, 1)\n' >lib/deep/more.pipe
printf 'param gain = 2 in 1 .. 5\ninput image[y, x]\noutput a = image * gain + 2.5 + gaussian(image, 1)\n' >alone.pipe
run main.pipe "$SAMPLES/blobs.tif" -o included --gain 3
run alone.pipe "$SAMPLES/blobs.tif" -o alone --gain 3
check "$COMPARE" same included/blobs_a.tif alone/blobs_a.tif
check test ! -s said.err
expect 0 '' "$PIPEC" fmt --check main.pipe lib/mine.pipe
expect 0 '' "$PIPEC" run main.pipe --version
cp said.out before
printf 'fn bump(v) = gaussian(v, 2)\n' >lib/deep/more.pipe
expect 0 '' "$PIPEC" run main.pipe --version
check sh -c '! cmp -s said.out before' # the hash is that of all files
printf 'fn bump(v) = gausian(v, 2)\n' >lib/deep/more.pipe
expect 2 'lib/deep/more.pipe:1:14' "$PIPEC" check main.pipe
printf 'include "mine.pipe"\n' >lib/deep/more.pipe
expect 2 'No such file' "$PIPEC" check main.pipe
printf 'include "../mine.pipe"\n' >lib/deep/more.pipe
expect 2 'it would include itself' "$PIPEC" check main.pipe
mkfifo pipe.pipe
printf 'fn a(v) = v\0' >zero.pipe
printf 'output a = 3\n' >output.pipe
i=0
while [ $i -lt 20 ]; do
    printf 'include "deep%d.pipe"\n' $((i + 1)) >deep$i.pipe
    i=$((i + 1))
done
printf 'fn deepest(v) = v\n' >deep20.pipe
printf 'a secret\n' >secret
ln -s secret link.pipe
for name in /dev/zero /dev/stdin lib pipe.pipe zero.pipe output.pipe deep0.pipe nowhere.pipe '' secret link.pipe bad.pipe; do
    printf 'include "%s"\ninput image[y, x]\noutput a = image * 2\n' "$name" >bad.pipe
    expect 2 'error[P' "$PIPEC" check bad.pipe
    check test "$(grep -c 'a secret' said.err)" -eq 0
done

# ---- trained forests ------------------------------------------------------------------------
printf 'forest 1 features 1 classes 0 7 trees 1\nsplit 0 99.5\nleaf 1 0\nleaf 0 1\n' >lib/bright.forest
printf 'input image[y, x]\noutput a = classify(image, forest = "lib/bright.forest")\n' >forest.pipe
printf 'input image[y, x]\noutput a = i32(7 if image > 99.5 else 0)\n' >plain.pipe
run forest.pipe "$SAMPLES/blobs.tif" -o forest
run plain.pipe "$SAMPLES/blobs.tif" -o plain
check "$COMPARE" same forest/blobs_a.tif plain/blobs_a.tif
expect 0 '' "$PIPEC" run forest.pipe --version
cp said.out before
sed -i 's/99.5/98/' lib/bright.forest
expect 0 '' "$PIPEC" run forest.pipe --version
check sh -c '! cmp -s said.out before' # the forest is part of the program
bad() { # what the file holds, what is said of it
    printf "$1" >lib/bright.forest
    expect 2 "$2" "$PIPEC" check forest.pipe
    check grep -q 'error\[P0540\]' said.err
}
bad '' 'line 1: this is neither a forest'
bad 'a secret\n' 'line 1: this is neither a forest'
check test "$(grep -c 'a secret' said.err)" -eq 0
bad 'forest 2 features' 'line 1: the version behind `forest` must be a whole number from 1 to 1'
bad 'forest 1 features 61 classes 0 1 trees 1' 'the number of features must be a whole number from 1 to 60'
bad 'forest 1 features 1 classes trees 1' 'there are no classes'
bad 'forest 1 features 1 classes 0 1 trees 1e9' 'the number of trees must be a whole number from 1 to 10000'
bad 'forest 1 features 1 classes 0 1 trees 1\nsplit 1 3' 'line 2: a feature must be a whole number from 0 to 0'
bad 'forest 1 features 1 classes 0 1 trees 1\nsplit 0 nan' 'line 2: expected a number'
bad 'forest 1 features 1 classes 0 1 trees 1\nsplit 0 3\nleaf 1 0\n' 'line 4: expected `split` or `leaf`'
bad 'forest 1 features 1 classes 0 1 trees 1\nleaf 1 -2\n' 'line 2: weights are from 0'
bad 'forest 1 features 1 classes 0 1 trees 1\nleaf 1 0\nleaf 1 0\n' 'line 3: there is something behind the last tree'
{
    printf 'forest 1 features 1 classes 0 1 trees 1\n'
    yes 'split 0 1' | head -n 2000
} >lib/bright.forest
expect 2 'line 1002: a tree is more than 1000 splits deep' "$PIPEC" check forest.pipe
APOC='/*\nOpenCL RandomForestClassifier\nnum_classes = 2\nnum_features = 1\nnum_trees = 1\n'
bad "$APOC" 'the comment in front has no end'
bad "$APOC*/\\n__kernel void predict (" 'expected a sum for each class'
APOC="$APOC*/\\n float s0=0;\\n float s1=0;\\n"
bad "${APOC}if(i0<3.5){\\n} else {" 'line 10: a side of a split is empty'
bad "${APOC}if(i0<3.5){\\n s0+=1.0;\\n s1+=1.0;\\n if(i0<3){" 'line 12: expected `}`'
bad "${APOC}if(i0<3.5){\\n s2+=1.0;" 'line 10: a class must be a whole number from 0 to 1'
bad "$APOC float max_s" 'fewer trees than the head says'
bad "${APOC}s0+=1;s0+=1; float max_s" 'more trees than the head says'
rm lib/bright.forest
expect 2 'there is no such file' "$PIPEC" check forest.pipe
ln -s /dev/zero lib/bright.forest
expect 2 'it is a device, not a file' "$PIPEC" check forest.pipe

# ---- params that are words ------------------------------------------------------------------
printf 'input image[y, x]\nparam method = otsu in [otsu, li] "which threshold"\nparam twice = false\noutput t = (otsu(image) if method == otsu else li(image)) * (2 if twice else 1)\n' >words.pipe
printf 'input image[y, x]\noutput a = otsu(image)\noutput b = li(image)\noutput c = 2 * li(image)\n' >plain.pipe
run plain.pipe "$SAMPLES/blobs.tif" -o words
value() { tail -n 1 "$1" | cut -d, -f"$2"; }
a=$(value words/values.csv 2) b=$(value words/values.csv 3) c=$(value words/values.csv 4)
run words.pipe "$SAMPLES/blobs.tif" -o words
check test "$(value words/values.csv 2)" = "$a"
run words.pipe "$SAMPLES/blobs.tif" -o words --method li
check test "$(value words/values.csv 2)" = "$b"
run words.pipe "$SAMPLES/blobs.tif" -o words --method li --twice true
check test "$(value words/values.csv 2)" = "$c"
expect 2 "--method is one of otsu|li, not 'yen'" "$PIPEC" run words.pipe "$SAMPLES/blobs.tif" --method yen
expect 0 '' "$PIPEC" run words.pipe --help
shows 'which threshold, otsu|li (default: otsu)'
"$PIPEC" show words.pipe --ir >words.ir # a printed graph has them, too
run words.ir "$SAMPLES/blobs.tif" -o words --method li
check test "$(value words/values.csv 2)" = "$b"

# ---- words of params in place of an operator's ------------------------------------------------
printf 'input image[y, x]\nparam edge = nearest in [nearest, wrap]\noutput level = max(gaussian(image, 3, border = edge)[x = 0, y = 0])\n' >edge.pipe
for edge in nearest wrap; do
    printf 'input image[y, x]\noutput level = max(gaussian(image, 3, border = %s)[x = 0, y = 0])\n' $edge >$edge.pipe
    run edge.pipe "$SAMPLES/blobs.tif" -o edge --edge $edge
    run $edge.pipe "$SAMPLES/blobs.tif" -o $edge
    check cmp edge/values.csv $edge/values.csv
done
check test "$(cat nearest/values.csv)" != "$(cat wrap/values.csv)"
printf 'input image[y, x]\nparam ties = heap in [heap, quick]\noutput a = split_objects(image > 100, ties = ties)\n' >ties.pipe
expect 2 'it is heap or raster' "$PIPEC" check ties.pipe

# ---- a second run into a folder ---------------------------------------------------------------
printf 'input image[y, x]\noutput level = mean(image)\n' >level.pipe
mkdir -p week1 week2
cp "$SAMPLES/blobs.tif" week1/a.tif
cp "$SAMPLES/blobs.tif" week1/b.tif
cp "$SAMPLES/blobs.tif" 'week2/c,d.tif'
run level.pipe week1 -o weeks
expect 0 '' "$PIPEC" run level.pipe week2 -o weeks --device reference
check test "$(grep -c '^note: values.csv: rows of 2 other images (a.tif, ...) are gone; for one table give all' said.err)" = 1
run level.pipe week1 week2 -o weeks --resume
check test "$(wc -l <weeks/values.csv)" = 4
expect 0 '' "$PIPEC" run level.pipe week2 week1 -o weeks --device reference
check test "$(grep -c 'are gone' said.err)" = 0

# ---- CellProfiler's tables ------------------------------------------------------------------
# What cp-measure gives (tests/golden/make_cellprofiler.py), to 1e-3.  Functions that nobody calls may name properties, too.
cat >profile.pipe <<END
include "$SAMPLES/include/cellprofiler.pipe"
input image[c, y, x]
first = crop(image[c = 1], x = 30, y = 40, width = 62, height = 56)
second = crop(image[c = 2], x = 30, y = 40, width = 62, height = 56)
all = label(first > 60, connectivity = 8)
cells = keep_labels(all, property(all, area) >= 100)
output shape = shape_table(cells)
output moments = moment_table(cells)
output scaled = scaled_moment_table(cells)
output light = intensity_table(cells, first)
output rings = radial_table(cells, first)
output texture = texture_table(cells, first)
output texture_down = texture_table_down(cells, first)
output grains = granularity_table(cells, first)
output together = correlation_table(cells, first, second)
END
run profile.pipe "$SAMPLES/nuclei.tif" -o profile
awk -F, 'function size(v) { return v < 0 ? -v : v }
    FNR == NR { names[$1]; for (i = 2; i <= NF; i++) { want[$1, i - 1] = $i; if (size($i) > most[$1]) most[$1] = size($i) } next }
    FNR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
    { for (i = 1; i <= NF; i++) if (name[i] in names) {
        seen[name[i]]++
        w = want[name[i], FNR - 1]
        if (size($i - w) > 1e-3 * size(w) + 1e-6 * most[name[i]] + 1e-6) print name[i], $i, "for", w } }
    END { for (k in names) if (seen[k] < 3) print k, "is missing" }' "$ROOT/tests/golden/cellprofiler.csv" profile/nuclei_*.csv >wrong
check test ! -s wrong || cat wrong
expect 0 '' "$PIPEC" fmt --check "$SAMPLES/include/cellprofiler.pipe"

finish
