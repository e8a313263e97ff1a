# soft.sh: the same bytes where doubles are computed in whole numbers: on a device that has them and is told so, and on
# Mesa's rusticl, which has none, where it is installed.
. "$(dirname "$0")/lib.sh"

# Of the samples one is chosen each time.
chosen=
number=0
for sample in blobs harris nuclei sources; do
    ! turn_of $number 4 || chosen="$chosen $sample"
    number=$((number + 1))
done

# run_in FOLDER SAMPLE...: what each of these that is chosen gives goes to a folder of its own there.
run_in() {
    folder=$1
    shift
    for sample; do
        case "$chosen " in *" $sample "*) ;; *) continue ;; esac
        expect 0 '' "$PIPEC" run "$SAMPLES/$sample.pipe" $(image_of "$sample") -q $device -o "$folder/$sample"
        check diff -r native/"$sample" "$folder/$sample"
    done
}

cat >values.pipe <<'END'
input image[y, x]
smooth = gaussian(image, 2)
bright = smooth > otsu(smooth)
labels = label(bright)
far = distance(bright)
cells = watershed(-far, label(local_maxima(far)), bright)
output hulls = hull(labels)
output level = percentile(image, 90) + std(smooth) + exp(mean(image) / 100) ** 0.3
output table = measure(cells, image, area, centroid, mean, std, median, solidity, perimeter, perimeter_crofton,
                       eccentricity, orientation, moments_hu, moments_weighted_normalized, feret_diameter_max)
END

device=
run_in native blobs harris nuclei sources
expect 0 '' "$PIPEC" run values.pipe "$SAMPLES/blobs.tif" -q -o native/values
export PIPEC_SOFT_DOUBLE=1
expect 0 '' "$PIPEC" devices
shows 'doubles in whole numbers'
run_in soft blobs harris nuclei sources
expect 0 '' "$PIPEC" run values.pipe "$SAMPLES/blobs.tif" -q -o soft/values
check diff -r native/values soft/values
# Images of f64 are slow there, and only they.
expect 0 '' "$PIPEC" run values.pipe "$SAMPLES/blobs.tif" -o soft/values
check test -z "$(grep note: said.err)"
echo 'input image[y, x] : f64
output o = image ** 0.5 + 0.1' >pixels.pipe
expect 0 'images of f64 are computed in whole numbers' "$PIPEC" run pixels.pipe "$SAMPLES/blobs.tif" -o soft/pixels
unset PIPEC_SOFT_DOUBLE
expect 0 '' "$PIPEC" run pixels.pipe "$SAMPLES/blobs.tif" -o native/pixels
check diff -r native/pixels soft/pixels

export RUSTICL_ENABLE=llvmpipe
device='--device rusticl'
"$PIPEC" devices >devices.txt 2>&1
if grep -q llvmpipe devices.txt; then
    if "$PIPEC" run "$SAMPLES/primes.pipe" -q $device -o tried 2>tried.err; then
        run_in rusticl blobs harris nuclei sources
    else
        # Mesa 22.3 loses turns of long loops.
        check grep -q 'its driver ends loops before they are done' tried.err
        export PIPEC_ANY_DEVICE=1
        run_in rusticl blobs harris sources
    fi
fi
finish
