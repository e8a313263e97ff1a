# seeds.sh: what people come with from numpy, scipy, scikit-image and clEsperanto; the samples have the
# pipelines for blobs, nuclei and radio sources, this has what is left: convolution in full, statistics
# of a sky, and lengths that a file cannot tell.
. "$(dirname "$0")/lib.sh"

PIPES=$ROOT/tests/e2e/seeds
GOLDEN=$ROOT/tests/golden/seeds

expect 0 '' "$PIPEC" run "$PIPES/stars.pipe" -q -o .
check test "$("$COMPARE" extents stars_wide.tif)" = "2062 2062 1"
check "$COMPARE" points "$GOLDEN/stars_wide.points" stars_wide.tif
check "$COMPARE" points "$GOLDEN/stars_narrow.points" stars_narrow.tif
expect 0 '' "$PIPEC" run "$PIPES/line.pipe" -q -o .
check test "$("$COMPARE" extents line_wide.tif)" = "100004 1 1"
check "$COMPARE" points "$GOLDEN/line_wide.points" line_wide.tif
expect 0 '' "$PIPEC" run "$PIPES/sky.pipe" "$SAMPLES/sky.fits" -q -o sky
cut -d, -f2- sky/values.csv >sky.csv
check "$COMPARE" table "$GOLDEN/sky.csv" sky.csv

# The header of a FITS file goes on.
cat >copy.pipe <<'END'
input sky[y, x]
output half = sky / 2 as fits
END
expect 0 '' "$PIPEC" run copy.pipe "$SAMPLES/sky.fits" --device reference -q -o copy
check grep -aq 'HISTORY pipec samples' copy/sky_half.fits

# Lengths need a pixel size; a file without one is an error that says so.
cat >size.pipe <<'END'
input image[y, x]
output soft = gaussian(image, 0.5 um)
END
expect 1 'pixel size' "$PIPEC" run size.pipe "$SAMPLES/sky.fits" -q -o size
finish
