# Windows around such places, too: the sharp edges of a cubic warp, and a median as wide as a param says.
cat >windows.pipe <<'PIPE'
input sky[y, x]: f32
param r = 1 in 1 .. 3
fn weight(t) = 1.5 * t * t * t - 2.5 * t * t + 1 if t < 1 else -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2
dim = sky / 2
y = y_of(sky) + sky / 3
x = x_of(sky) - sky / 3
y0 = floor(y)
x0 = floor(x)
output warped = sum(weight(abs(y - y0 - j)) * weight(abs(x - x0 - i)) * dim[y = y0 + j, x = x0 + i, border = mirror] for j in -1 .. 2, i in -1 .. 2)
output middle = median(dim[y = y + j, x = x + i, border = nearest] for j in -r .. r, i in -r .. r)
PIPE
expect 0 '' "$PIPEC" run windows.pipe "$SAMPLES/blobs.tif" -q -o whole/windows
rm -rf out
expect 0 '' "$PIPEC" run windows.pipe "$SAMPLES/blobs.tif" -q -o out --memory 400KiB
check diff -r -x '.*' whole/windows out
