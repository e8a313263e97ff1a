# samples.sh: every sample gives what scipy and scikit-image give, and the same bytes from
# `pipec run` and from an executable.
. "$(dirname "$0")/lib.sh"

for name in $(samples); do
    image=$(image_of "$name")
    expect 0 '' "$PIPEC" run "$SAMPLES/$name.pipe" $image -q -o run/"$name"
    expect 0 '' "$PIPEC" build "$SAMPLES/$name.pipe" -o ./"$name"
    expect 0 '' ./"$name" $image -q -o built/"$name"
    check test -n "$(ls run/"$name")"
    check diff -r run/"$name" built/"$name"
done
expect 0 '' ./blobs "$SAMPLES/blobs.tif" --sigma 3 -q -o run/blobs_sigma3
expect 0 '' ./blobs "$SAMPLES/timelapse.tif" -q -o run/timelapse

for name in blobs blobs_sigma3; do
    check "$COMPARE" labels "$GOLDEN/$name.labels" run/$name/blobs_labels.tif
    check "$COMPARE" table "$GOLDEN/$name.csv" run/$name/blobs_table.csv
done
check "$COMPARE" labels "$GOLDEN/timelapse.labels" run/timelapse/timelapse_labels.tif
check "$COMPARE" table "$GOLDEN/timelapse.csv" run/timelapse/timelapse_table.csv
check "$COMPARE" labels "$GOLDEN/nuclei.labels" run/nuclei/nuclei_labels.tif
check "$COMPARE" labels "$GOLDEN/nuclei_overlay.labels" run/nuclei/nuclei_overlay.png
check "$COMPARE" table "$GOLDEN/nuclei.csv" run/nuclei/nuclei_table.csv
check "$COMPARE" labels "$GOLDEN/clip.labels" run/clip/sky_mask.tif
check "$COMPARE" labels "$GOLDEN/sources.labels" run/sources/sky_sources.tif
check "$COMPARE" table "$GOLDEN/sources.csv" run/sources/sky_table.csv
check "$COMPARE" points "$GOLDEN/convolve.points" run/convolve/blobs_smooth.tif
check "$COMPARE" points "$GOLDEN/harris.points" run/harris/blobs_corners.tif
check "$COMPARE" points "$GOLDEN/deconvolve.points" run/deconvolve/volume_estimate.tif
check "$COMPARE" labels "$GOLDEN/primes.labels" run/primes/primes_prime.tif
cut -d, -f2 run/primes/values.csv >count.csv
check "$COMPARE" table "$GOLDEN/primes.csv" count.csv

# The comparison itself can fail.
expect 1 'should be' "$COMPARE" labels "$GOLDEN/blobs.labels" run/blobs_sigma3/blobs_labels.tif
expect 1 'differs' "$COMPARE" table "$GOLDEN/blobs.csv" run/blobs_sigma3/blobs_table.csv
expect 1 'at z' "$COMPARE" points "$GOLDEN/harris.points" run/convolve/blobs_smooth.tif
expect 1 'pixel' "$COMPARE" same run/blobs/blobs_labels.tif run/blobs_sigma3/blobs_labels.tif
expect 1 'another' "$COMPARE" same run/blobs/blobs_labels.tif run/clip/sky_mask.tif

# Programs of C users: the two files, and C that compiles alone, whatever the files are called.
expect 0 '' "$PIPEC" build "$SAMPLES/blobs.pipe" --library -o lib/3-blobs
files lib 3-blobs.c 3-blobs.h
check cc -std=c11 -Werror -fsyntax-only -I"$ROOT" lib/3-blobs.c
check grep -q 'Program \*pipeline_3_blobs(void);' lib/3-blobs.h
finish
