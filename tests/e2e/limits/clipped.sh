# An image that every round of a loop loads, from where it lies in pinned memory: two pieces of it, 21 MiB.
cat >clipped.pipe <<'PIPE'
input sky[y, x]
background = kappa_sigma(sky, 2)
output count = background.count
output median = background.median
output bright = sky > background.median + background.std
PIPE
expect 0 '' "$PIPEC" run clipped.pipe large/blobs_sky.tif -q -o whole/clipped
for limit in 6MiB 12MiB; do
    rm -rf out
    expect 0 '' "$PIPEC" run clipped.pipe large/blobs_sky.tif -q -o out --memory $limit --host-memory 200MiB
    check diff -r -x '.*' whole/clipped out
done
