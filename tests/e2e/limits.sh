# limits.sh: under every memory limit a sample either gives the files of a run without one, byte for
# byte, or says what the least limit is; with that limit it runs, and with a byte less it does not.
. "$(dirname "$0")/lib.sh"

# under LIMIT NAME: runs sample NAME; 0 when it fits.
under() {
    rm -rf out
    "$PIPEC" run "$SAMPLES/$2.pipe" $(image_of "$2") -q -o out --memory "$1" >said.out 2>said.err
}

# least_runs WHOLE FILE IMAGE...: the run that was refused has named the least limit; with it the files are those in WHOLE, and with
# a byte less there are none.
least_runs() {
    whole=$1
    shift
    says 'the least that will do is --memory'
    least=$(sed -n 's/.*the least that will do is --memory \([0-9]*\).*/\1/p' said.err | head -1)
    expect 4 "the least that will do is --memory $least " "$PIPEC" run "$@" -q -o none --memory $((least - 1))
    rm -rf out
    expect 0 '' "$PIPEC" run "$@" -q -o out --memory "$least"
    check diff -r -x '.*' "$whole" out
}

number=0
for name in $(samples); do
    number=$((number + 1))
    turn_has $number || continue
    "$PIPEC" run "$SAMPLES/$name.pipe" $(image_of "$name") -q -o "whole/$name" >said.out 2>said.err ||
        fail "$name does not run: $(cat said.err)"
    checks=$((checks + 1))
    if under 64KiB "$name"; then
        check diff -r -x '.*' "whole/$name" out
        continue
    fi
    least_runs "whole/$name" "$SAMPLES/$name.pipe" $(image_of "$name")
    for limit in 128KiB 512KiB; do
        under $limit "$name" && check diff -r -x '.*' "whole/$name" out
    done
done

# Transforms need an image whole: less memory than that is refused, and never exceeded.
printf 'input image[y, x]\nf = fft(gaussian(image, 1))\noutput a = f[c = 0] ** 2 + f[c = 1] ** 2\noutput b = fftconvolve(image, gaussian(image, 2))\n' >transform.pipe
expect 0 '' "$PIPEC" run transform.pipe "$SAMPLES/blobs.tif" -q -o whole/transform
expect 4 'the least that will do is --memory' "$PIPEC" run transform.pipe "$SAMPLES/blobs.tif" -q -o none --memory 64KiB
least_runs whole/transform transform.pipe "$SAMPLES/blobs.tif"

# in_parts NAME IMAGE PIXELS LIMIT...: NAME.pipe with these limits; no step has its image in one piece.
in_parts() {
    name=$1
    image=$SAMPLES/$2.tif
    shape=$3
    shift 3
    expect 0 '' "$PIPEC" run "$name.pipe" "$image" -q -o "whole/$name"
    for limit; do
        expect 0 '' "$PIPEC" plan "$name.pipe" --shape "$shape" --memory "$limit"
        shows 'and runs in parts'
        check test "$(grep -cE '^ +[0-9]+ +in one piece' said.out)" = 0
        rm -rf out
        expect 0 '' "$PIPEC" run "$name.pipe" "$image" -q -o out --memory "$limit"
        check diff -r -x '.*' "whole/$name" out
    done
}

# Operators whose every pixel may depend on all others.
cat >whole_2d.pipe <<'PIPE'
input image[y, x]
mask = image > 100
smooth = gaussian(distance(mask), 1.5)
peaks = local_maxima(smooth)
nuclei = watershed(-smooth, label(peaks), mask)
output nuclei
output smooth
output grown = expand_labels(nuclei, 6)
output far = voronoi(nuclei)
output filled = fill_holes(mask)
output hulls = hull(nuclei)
output lines = watershed(gaussian(image, 1), label(peaks), line = true)
output median = median_filter(image, box(9))
output inner = clear_border(nuclei)
output table = measure(nuclei, image, area, centroid, mean)
PIPE
in_parts whole_2d blobs 254x256:u8 120KiB 220KiB

cat >raised.pipe <<'PIPE'
input image[y, x]
output top = h_maxima(gaussian(image, 1), 5)
PIPE
in_parts raised blobs 254x256:u8 160KiB 380KiB

cat >whole_3d.pipe <<'PIPE'
input image[z, y, x]
mask = image > 1500
smooth = gaussian(distance(mask, spacing = [2, 1, 1]), 1)
nuclei = watershed(-smooth, label(local_maxima(smooth)), mask)
output nuclei
output grown = expand_labels(nuclei, 4, spacing = [2, 1, 1])
output filled = fill_holes(mask)
output top = h_maxima(image, 300)
output hulls = hull(nuclei)
output lower = percentile_filter(image, 30, box(5))
PIPE
in_parts whole_3d volume 16x64x64:u16 140KiB 500KiB

# An image that every round of a loop loads, from where it lies in pinned memory: two pieces of it, 21 MiB.
cat >large.pipe <<'PIPE'
input image[y, x]
output sky = scale(f32(image), 9)
PIPE
cat >clipped.pipe <<'PIPE'
input sky[y, x]
background = kappa_sigma(sky, 2)
output count = background.count
output median = background.median
output bright = sky > background.median + background.std
PIPE
expect 0 '' "$PIPEC" run large.pipe "$SAMPLES/blobs.tif" -q -o large
expect 0 '' "$PIPEC" run clipped.pipe large/blobs_sky.tif -q -o whole/clipped
for limit in 6MiB 12MiB; do
    rm -rf out
    expect 0 '' "$PIPEC" run clipped.pipe large/blobs_sky.tif -q -o out --memory $limit --host-memory 200MiB
    check diff -r -x '.*' whole/clipped out
done

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

# Not where such a window may have thousands of pixels: the image is named that has to be there for that.
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

# It does on a GPU, too, whose driver takes some of it.
expect 4 'the least that will do is --memory' "$PIPEC" plan "$SAMPLES/sources.pipe" --shape 16384x16384:f32 --memory 2MiB
least=$(sed -n 's/.*the least that will do is --memory \([0-9]*\).*/\1/p' said.err | head -1)
expect 4 "the least that will do is --memory $least " "$PIPEC" plan "$SAMPLES/sources.pipe" --shape 16384x16384:f32 \
    --memory $((least - 1))
expect 0 '' "$PIPEC" plan "$SAMPLES/sources.pipe" --shape 16384x16384:f32 --memory "$least"
shows 'and runs in parts'
for limit in 64 512; do # 4 MiB, and 2 for the tables of 1 GiB of pinned memory
    expect 0 '' "$PIPEC" plan "$SAMPLES/sources.pipe" --shape 16384x16384:f32 --memory ${limit}MiB
    shows 'and runs in parts'
    peak=$(sed -n 's/^peak \([0-9]*\)\..*/\1/p' said.out)
    check test "$peak" -lt $((limit - 6))
done

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

expect 4 'the least that will do is --memory' "$PIPEC" run "$SAMPLES/harris.pipe" "$SAMPLES/blobs.tif" -q -o out --memory 100
finish
