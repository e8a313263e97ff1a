# together.sh: one image on several devices gives the bytes of one device: labels, tables, pictures, volumes, loops.
. "$(dirname "$0")/lib.sh"
export POCL_DEVICES='pthread pthread pthread'
"$PIPEC" devices >devices.out 2>&1
grep -q '^#2' devices.out || { echo 'PoCL has no three devices here'; exit 77; }

# together PIPELINE IMAGE MEMORY: parts for three devices; with two of them, too, where there is time.
together() {
    expect 0 '' "$PIPEC" run "$1" "$2" -q -o alone --device '#0'
    for devices in ${PIPEC_TEST_DEVICES:-#0,#1,#2}; do
        expect 0 "$4" "$PIPEC" run "$1" "$2" -o shared --memory "$3" --device "$devices"
        for file in alone/*; do
            check cmp "$file" "shared/${file#alone/}"
        done
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
together spots.pipe "$SAMPLES/volume.tif" 400000 ''
finish
