# The least that is named does, also where memory for sorting follows from the limit.
cat >ranks.pipe <<'PIPE'
input image[z, y, x]
output middle = median_filter(image, box(2), border = wrap)
PIPE
expect 0 '' "$PIPEC" run ranks.pipe "$SAMPLES/volume.tif" -q -o whole/ranks
expect 4 'the least that will do is --memory' "$PIPEC" run ranks.pipe "$SAMPLES/volume.tif" -q -o none --memory 100
least=$(sed -n 's/.*the least that will do is --memory \([0-9]*\).*/\1/p' said.err | head -1)
rm -rf out
expect 0 '' "$PIPEC" run ranks.pipe "$SAMPLES/volume.tif" -q -o out --memory "$least"
check diff -r -x '.*' whole/ranks out
