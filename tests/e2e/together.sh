# together.sh: one image on several devices gives the bytes of one device: labels, tables, pictures, volumes, loops, and files
# of which each device writes a part.
. "$(dirname "$0")/lib.sh"
export POCL_DEVICES='pthread pthread pthread'
"$PIPEC" devices >devices.out 2>&1
grep -q '^#2' devices.out || { echo 'PoCL has no three devices here'; exit 77; }

# together PIPELINE IMAGE MEMORY: parts for three devices; with two of them, too, where there is time.
together() {
    expect 0 '' "$PIPEC" run "$1" "$2" -q -o alone --device '#0'
    for devices in ${PIPEC_TEST_DEVICES:-#0,#1,#2}; do
        expect 0 "$4" "$PIPEC" run "$1" "$2" -o shared --memory "$3" --device "$devices"
        check diff -r -x '.pipec*' -x '*journal*' alone shared
        rm -rf shared
    done
    rm -rf alone
}

together "$SAMPLES/blobs.pipe" "$SAMPLES/blobs.tif" 300000 ''
together "$SAMPLES/nuclei.pipe" "$SAMPLES/nuclei.tif" 400000 "is not shared out: each device does all of it"
cat >spots.pipe <<'PIPE'
input image[z, y, x]
objects = label(image > mean(image), connectivity = 26)
output objects
output t = measure(objects, image, area, centroid, mean, min)
output count = count(objects)
output smooth = gaussian(image, 1)
PIPE
cat >parts.pipe <<'PIPE'
input image[y, x]
smooth = gaussian(image, 2)
objects = label(smooth > 100)
output objects as zarr(chunk = 16)
output mask = smooth > 60
output smooth as zarr(chunk = 32, version = 0.5)
output bright = smooth * 2
output t = measure(objects, image, area)
PIPE
together parts.pipe "$SAMPLES/blobs.tif" 250000 ''
together spots.pipe "$SAMPLES/volume.tif" 400000 ''
# Levels of detail with odd widths, of which owners have halves of bands.
cat >wide.pipe <<'PIPE'
input image[y, x]
output wide = u8(crop(scale(image, 4), x = 1, y = 1, width = 1002, height = 115))
PIPE
expect 0 '' "$PIPEC" run wide.pipe "$SAMPLES/blobs.tif" -q -o wide --device '#0'
printf 'input image[y, x]\noutput moved = image[dx = 1, dy = 1] as zarr(chunk = 16)\n' >moved.pipe
together moved.pipe wide/blobs_wide.tif 40000 ''
finish
