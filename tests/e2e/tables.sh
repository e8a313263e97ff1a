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

finish
