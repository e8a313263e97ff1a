# Texts that are deep, long or without an end: each works, or ends with a message of its own, on a small stack too.
. "$ROOT/tests/e2e/lib.sh"
ulimit -s 1024

# one FILE LINE...: a pipeline; in a line, {N|TEXT} is the text so many times, with its number for @ and lines for ~.
one() {
    file=$1
    shift
    printf '%s\n' 'input image[y, x]' "$@" | awk '{
        while (match($0, /\{[0-9]+\|[^}]*\}/)) {
            split(substr($0, RSTART + 1, RLENGTH - 2), part, "|")
            rest = substr($0, RSTART + RLENGTH)
            printf "%s", substr($0, 1, RSTART - 1)
            gsub(/~/, "\n", part[2])
            cut = index(part[2], "@")
            for (k = 0; k < part[1] + 0; k++)
                if (cut) printf "%s%d%s", substr(part[2], 1, cut - 1), k, substr(part[2], cut + 1)
                else printf "%s", part[2]
            $0 = rest
        }
        print
    }' >"$file"
}

# ends CODE SAYS FILE LINE...: check and show agree about the pipeline.
ends() {
    ends_code=$1 ends_text=$2
    shift 2
    one "$@"
    expect "$ends_code" "$ends_text" "$PIPEC" check "$1"
    expect "$ends_code" "$ends_text" "$PIPEC" show --ir "$1"
}

ends 2 P0603 default.pipe 'fn f(v, w = f(v)) = w' 'output a = f(image)'
ends 2 P0603 default_of_one_pixel.pipe 'fn g(v, w = g(1)) = w' \
    'fn f(v : f32) {' 'while v > 3 { v = g(v) }' 'return v' '}' 'output a = f(image)'
ends 0 '' default_once.pipe 'fn f(v, w = f(image, 1)) = v + w' 'output a = f(image)'
ends 2 P0321 kernel.pipe 'output a = convolve(image, [[{2100|1, }1], [{2100|1, }1]])'
ends 2 P0321 list.pipe 'output a = convolve(image, [[{99999|1, }1]])'
one calls.pipe
awk 'BEGIN {
    print "fn f_0(v) = v"
    for (k = 1; k < 600; k++) printf "fn f_%d(v) = f_%d(v) + 1\n", k, k - 1
    print "output a = f_599(image)" }' >>calls.pipe
expect 2 P0126 "$PIPEC" check calls.pipe
for pair in '(:)' '[:]' 'abs(:)' '- :' 'not :' 'image[dx = :]' 'sum(: for i in 0 .. 1)'; do
    ends 2 P0126 brackets.pipe "output a = {20000|${pair%%:*}}image{20000|${pair#*:}}"
done
ends 2 P0126 chain.pipe 'output a = image{100000| + image}'
ends 2 P0126 choices.pipe 'output a = {10000|@ if image > 1 else }0'
ends 2 P0126 brackets_of_clang.pipe 'fn f(v : f32) {' 'while v > 1000 { v = v{900| + v}' '}' 'return v' '}' \
    'output a = f(image)'
ends 2 P0625 numbers.pipe 'param p = 1.5' 'fn f(v) {' 'q = p' 'for k in 1 .. 4000 { q = q + p / k }' \
    'return v * q' '}' 'output a = f(image)'
# Mistakes by the ten thousand, which are compared with all names there are.
ends 2 P0201 mistakes.pipe 'output a = image {20000|~output o@ = zz + 1}'
ends 2 P0508 arguments.pipe 'output a = max({20000|image, }image)'
ends 2 P0611 variables.pipe 'fn f(v : f32) {' '{10000|~a@ = v + 1}' 'while v > 1000 { v = v - 1 }' 'return v' '}' 'output a = f(image)'
# Windows that are counted pixel by pixel, and numbers that no int holds.
ends 2 P0322 window.pipe 'output a = median_filter(image, 100000)'
ends 0 '' window_of_param.pipe 'param r = 4' 'output a = median_filter(image, r)'
expect 1 'the number of pixels in a window' "$PIPEC" run window_of_param.pipe "$SAMPLES/blobs.tif" --r 30000 -o out
ends 0 '' h_maxima.pipe 'output a = h_maxima(image, 20)'
# What no image makes right: no kernel holds such weights, no image has such an extent or halo.
refused() {
    refused_text=$1
    shift
    one "$@"
    expect 2 "line 2: $refused_text" "$PIPEC" check "$1"
    expect 2 "line 2: $refused_text" "$PIPEC" plan "$1" --shape 20x20:u8
    expect 2 "line 2: $refused_text" "$PIPEC" build "$1" -o program
}
refused 'a table of 16008001 weights is too large' disk.pipe 'output a = max_filter(image, disk(2000))'
refused "an image's extent is 1e+10" ramp.pipe 'output a = ramp(x = 10000000000)'
refused 'a halo is 1e+10' binary.pipe 'output a = local_binary_pattern(image, radius = 10000000000)'
one radius.pipe 'param r = 4' 'output a = max_filter(image, disk(r))'
expect 0 '' "$PIPEC" check radius.pipe
expect 1 'line 3: a table of 16008001 weights is too large' "$PIPEC" run radius.pipe "$SAMPLES/blobs.tif" --r 2000 -o out
ends 2 P0427 offset.pipe 'output a = image[dy = 4e9]'
# What may be left out is left out by none.
ends 0 '' none.pipe 'labels = label(image > 3)' 'output a = points(labels, property(labels, centroid_x), y = none)' \
    'output b = histogram(image, low = none)'
# What is deep is stored in between, and no bit changes.
ends 0 '' deep.pipe 'fn f(v) {' 'for k in 1 .. 1500 { v = v * 0.5 + k }' 'return v' '}' 'output a = f(image)'
expect 0 '' "$PIPEC" run deep.pipe "$SAMPLES/blobs.tif" -o device
expect 0 '' "$PIPEC" run deep.pipe "$SAMPLES/blobs.tif" -o reference --device reference
check cmp device/blobs_a.tif reference/blobs_a.tif

# What is no text.
mkfifo pipe
expect 2 'it is a device' "$PIPEC" check /dev/zero
expect 2 'a pipe that nobody has written to' "$PIPEC" check pipe
expect 2 'it is a folder' "$PIPEC" check .
endless() {
    yes | "$PIPEC" check /dev/stdin
}
expect 2 'it is larger than any text of its kind' endless
finish
