# kernels.sh: no kernel, generated or written by hand, makes a compiler complain.  Samples, in turn, and
# a pipeline with all primitives are run with --dump-kernels; what is dumped is the whole text.  The
# device's compiler says nothing, and clang, where there is one, has nothing to say either.  And which kernels
# there are follows from the parameters.
. "$(dirname "$0")/lib.sh"

cat >primitives.pipe <<'END'
input image[y, x]
smooth = gaussian(image, 2)
bright = smooth > otsu(smooth)
labels = label(bright)
far = distance(bright)
peaks = local_maxima(far)
basins = watershed(-far, label(peaks), bright)
output cells = remove_small_objects(basins, 20)
output zones = expand_labels(labels, 5)
output filled = reconstruct(image - 20, image)
output hulls = hull(labels)
output level = percentile(image, 90) + otsu(image) + std(smooth)
output flat = label(image // 16 > 3, connectivity = 8)
output table = measure(cells, image, area, mean, std, median, centroid, solidity, perimeter, eccentricity)
END

# complaints FILE: what clang says about a kernel.  The libraries in front are whole: a function
# of them that a kernel does not call is no mistake.
complaints() {
    clang -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -Wall -Wno-unused-function \
        -fsyntax-only "$1" 2>&1
}

# quiet NAME COMMAND...: succeeds, says nothing, and clang, which sees the files in turn, has no complaints.
number=0
quiet() {
    name=$1
    shift
    expect 0 '' "$@" -q -o out --dump-kernels "$name"
    says_nothing
    for file in "$name"/*.cl; do
        check test -s "$file"
        number=$((number + 1))
        if turn_has $number && command -v clang >/dev/null; then
            check test -z "$(complaints "$file")"
        fi
    done
}

sample=0
for name in $(samples); do
    sample=$((sample + 1))
    turn_of $((sample % 4)) 4 || continue
    # shellcheck disable=SC2046
    quiet "$name" "$PIPEC" run "$SAMPLES/$name.pipe" $(image_of "$name")
done
quiet primitives "$PIPEC" run primitives.pipe "$SAMPLES/blobs.tif"

# legible FILE: lines fit, macros are explained once, no macro is empty; all of it with the library in front is one text that
# compiles.
legible() {
    expect 0 '' "$PIPEC" show --kernels "$1"
    check test -z "$(awk 'length > 120' said.out)"
    check test -z "$(grep -E '^#define [A-Za-z0-9_]+ *$' said.out)"
    check test -z "$(sed -n 's,^ *// \([A-Z][A-Z0-9_]*\):.*,\1,p' said.out | sort | uniq -d)"
    check test -z "$(grep -oE '(UP[24]\([0-9]|\b[0-9]+ [-+] [0-9]+\b|[0-9]e\+|0x[0-9a-f.]+p).*' said.out)"
    expect 0 '' "$PIPEC" show --kernels=all "$1"
    cp said.out whole.cl
    ! command -v clang >/dev/null || check test -z "$(complaints whole.cl)"
}

cat >legible.pipe <<'END'
input image[y, x]
param p = 3 in 1 .. 9
fn f(v) {
  while v > p { v = v / 2 - 1 }
  return v + 100 + 1e-6
}
a = f(image)
output b = gaussian(a, p) + f(image * 2)
output m = median_filter(f(image), 1) + median_filter(image, 3)
output t = measure(label(f(a) > 3), image, mean)
output g = max(image[dx = i] for i in -40 .. 40)
output h = sum(image[dy = i] * i for i in -70 .. 70)
output q = rotate(image, 30)
output r = image[dx = -2, border = constant(-1e8)] * 0.1
END
number=0
for name in $(samples); do
    number=$((number + 1))
    ! turn_has $number || legible "$SAMPLES/$name.pipe"
done
legible primitives.pipe
legible legible.pipe

# What was dumped can be loaded: the same files; changed, it is what runs.
echo 'input image[y, x]
output cells = expand_labels(label(gaussian(image, 2) > 100), 5)' >few.pipe
quiet few "$PIPEC" run few.pipe "$SAMPLES/blobs.tif"
expect 0 '' "$PIPEC" run few.pipe "$SAMPLES/blobs.tif" -q -o loaded --load-kernels few
check cmp loaded/blobs_cells.tif out/blobs_cells.tif
for file in few/cells-*.cl; do
    echo 'broken' >"$file"
done
expect 3 "could not compile kernel 'cells-" env XDG_CACHE_HOME="$PWD/own" "$PIPEC" run few.pipe "$SAMPLES/blobs.tif" -q -o loaded \
    --load few
check test -z "$(find own -name 'pocl-*')" # they may call what no kernel of ours does

# run plans for the parameters that it is given, an executable has several plans; whichever it is, the bits are the same.
cat >blur.pipe <<'END'
input image[y, x]
param sigma = 1.5
param border = 3 in 1 .. 9
output blurred = gaussian(image, sigma) + border
END
expect 0 '' "$PIPEC" build blur.pipe -o blur
expect 0 '' "$PIPEC" explain blur.pipe --plan-for=H200
shows 'step 1  streaming kernel: blurred'
shows 'fused     gaussian_x of blurred: computed in registers, row by row'
shows 'an executable has other steps for sigma from 7.8'
expect 0 '' "$PIPEC" explain blur.pipe --sigma=14 --plan-for=H200
shows 'kernel for a long window: gaussian_x of blurred'
quiet planned "$PIPEC" run blur.pipe "$SAMPLES/blobs.tif" --sigma 14
check test -n "$(grep -l 'LONG_TILE(float, tile0)' planned/*.cl)"
mv out/blobs_blurred.tif planned.tif
quiet built ./blur "$SAMPLES/blobs.tif" --sigma 14
check test -n "$(grep -l 'LONG_TILE(float, tile0)' built/*.cl)"
check cmp planned.tif out/blobs_blurred.tif
quiet narrow ./blur "$SAMPLES/blobs.tif" --sigma 6
check test -z "$(grep -l 'LONG_TILE(float, tile0)' narrow/*.cl)"
expect 0 '' ./blur "$SAMPLES/blobs.tif" --sigma 14 -q -o out --profile
shows 'planned for sigma from 7.8'
expect 0 '' ./blur "$SAMPLES/blobs.tif" -q -o out --profile
shows 'planned for the defaults of all parameters'
expect 0 '' "$PIPEC" run blur.pipe "$SAMPLES/blobs.tif" --sigma 14 -q -o out --profile
shows 'planned for these parameters'
# Several parameters make boxes, of which there are not more than a few.
cat >boxes.pipe <<'END'
input image[y, x]
param a = 1
param b = 2.5 in 0.5 .. 30
param n = 3 in 1 .. 100
output d = gaussian(image, a) - gaussian(image, b)
output m = max_filter(image, n)
output k = d - mean(d)
END
expect 0 '' "$PIPEC" build boxes.pipe -o boxes --library
check test "$(grep -c 'planned_for = "' boxes.c)" -le 31
check grep -q 'planned_for = "a from 3 below 8, b from 7.878, n from 32"' boxes.c
expect 0 '' "$PIPEC" explain boxes.pipe --plan-for=H200
shows 'an executable has other steps for a from 2, from 3, from 8'
echo 'param e = 3 in 1 .. 100' >>boxes.pipe
echo 'output i = min_filter(image, e)' >>boxes.pipe
expect 0 '' "$PIPEC" build boxes.pipe -o boxes --library
check test "$(grep -c 'planned_for = "' boxes.c)" -le 31
check grep -q 'planned_for = ".*, n from 32, e from 32"' boxes.c
expect 0 '' "$PIPEC" explain boxes.pipe --plan-for=H200
shows 'an executable has other steps for a from 8'
shows 'an executable has other steps for n from 32'

# Pixels of whole numbers are converted when they are loaded, not at each of a fold's steps; unless they are wanted
# as whole numbers, too.
for sigma in 2 14; do
    cat >typed.pipe <<END
input image[y, x] : u8
output blurred = gaussian(image, $sigma)
output levels = image // 16
END
    sed '$d' typed.pipe >alone.pipe
    expect 0 '' "$PIPEC" show alone.pipe --kernels
    check test -n "$(grep -E '(TILE_(ROWS|RISES)\(image__r0, uchar, |LONG_TILE\()float' said.out)"
    check test -z "$(grep -E '\(float\)(image__r0|LONG_NEAR)' said.out)"
    quiet "typed$sigma" "$PIPEC" run typed.pipe "$SAMPLES/blobs.tif"
    mv out/blobs_blurred.tif typed.tif
    quiet "alone$sigma" "$PIPEC" run alone.pipe "$SAMPLES/blobs.tif"
    check "$COMPARE" same typed.tif out/blobs_blurred.tif
done

# A fold that is used several times is computed once: both ranks in the middle are.
cat >middle.pipe <<'END'
input image[z, y, x]
output middle = median_project(image)
END
expect 0 '' "$PIPEC" show middle.pipe --kernels
check test "$(grep -c 'PX_RANK(' said.out)" = 2

# clang does find what is wrong.
if command -v clang >/dev/null; then
    echo 'kernel void a(global int *b) { const int unused = 1; b[0] = 2; }' >wrong.cl
    check test -n "$(complaints wrong.cl)"
fi

finish
