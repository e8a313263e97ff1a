# guarded.sh: kernels touch nothing beyond their buffers, in one piece and in parts.
#
#   GUARDED   the library (guarded.c)
. "$(dirname "$0")/../e2e/lib.sh"

# guarded NAME IMAGE LIMIT...: under each limit the same files as without.
guarded() {
    name=$1
    image=$2
    shift 2
    rm -rf whole
    check "$PIPEC" run "$name.pipe" "$image" -q -o whole --device cpu
    for limit in "$@"; do
        for end in '' GUARD_END=1; do
            rm -rf out
            check env $end LD_PRELOAD="$GUARDED" "$PIPEC" run "$name.pipe" "$image" -q -o out --device cpu --memory "$limit"
            check diff -r -x '.*' whole out
        done
    done
}

cat >folds.pipe <<'PIPE'
input image[z, y, x]
output once = -gaussian(image, 1)
output twice = gaussian(image, 2)
output before = image[dy = -2] - gaussian(image, 1)
output mask = image > 1300
PIPE
guarded folds "$SAMPLES/volume.tif" 100KiB 160KiB 1MiB 64MiB

cat >shifts.pipe <<'PIPE'
input image[y, x]
output a = gaussian(image, 3) - image[dy = 7, dx = -20]
output b = median_filter(image, 2) + max_filter(image, 9)
output c = std_filter(image, 4) > gaussian(image, 1)
output d = image[x = x_of(image) * 2, y = 200 - y_of(image), border = wrap] - sum(image[dy = j] for j in -30 .. 2)
output e = sobel(gaussian(image, 2)) * image
PIPE
guarded shifts "$SAMPLES/blobs.tif" 140KiB 300KiB 64MiB

for name in blobs nuclei harris; do
    cp "$SAMPLES/$name.pipe" .
    image=$SAMPLES/blobs.tif
    [ "$name" = nuclei ] && image=$SAMPLES/nuclei.tif
    guarded "$name" "$image" 400KiB 64MiB
done
finish
