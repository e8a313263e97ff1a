# Windows that may have thousands of pixels are not: the image is named that has to be there for that.
cat >folded.pipe <<'PIPE'
input sky[y, x]: f32
dim = sky / 2
output out = sum(dim[y = y_of(sky) + i * sky, border = mirror] for i in 0 .. 1024 where i < 3)
PIPE
expect 0 '' "$PIPEC" run folded.pipe "$SAMPLES/blobs.tif" -q -o whole/folded
expect 4 "'out' (line 3) may read any row of 'dim', so that" "$PIPEC" run folded.pipe \
    "$SAMPLES/blobs.tif" -q -o none --memory 128KiB
least=$(sed -n 's/.*the least that will do is --memory \([0-9]*\).*/\1/p' said.err | head -1)
rm -rf out
expect 0 '' "$PIPEC" run folded.pipe "$SAMPLES/blobs.tif" -q -o out --memory "$least"
check diff -r -x '.*' whole/folded out
