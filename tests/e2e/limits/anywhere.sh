# What nothing bounds may be read anywhere: in rounds, each with a slab of the image.  An executable has the program
# for that, too.
cat >anywhere.pipe <<'PIPE'
input sky[y, x]: f32
dim = sky / 2
output out = dim[y = y_of(sky) + sky, x = x_of(sky) - sky, border = mirror] - dim[y = sky, border = nearest]
output whole = mean(out)
PIPE
expect 0 '' "$PIPEC" run anywhere.pipe large/blobs_sky.tif -q -o whole/anywhere
expect 0 '' "$PIPEC" build anywhere.pipe -o anywhere
rm -rf out
expect 0 '' "$PIPEC" run anywhere.pipe large/blobs_sky.tif -q -o out --memory 2MiB
check diff -r -x '.*' whole/anywhere out
rm -rf out
expect 0 '' ./anywhere large/blobs_sky.tif -q -o out --memory 1800KiB
check diff -r -x '.*' whole/anywhere out
