# More images, params and results than the arguments of a kernel have room for: check accepts what runs, and every
# result is the reference's.
. "$ROOT/tests/e2e/lib.sh"
image=$SAMPLES/blobs.tif

# inputs N: their declarations; sets `given` to the options of a run.
inputs() {
    given=$image
    i=0
    while [ $i -lt "$1" ]; do
        echo "input i$i[y, x]"
        [ $i -eq 0 ] || given="$given --i$i $image"
        i=$((i + 1))
    done
}

# joined N TEXT BETWEEN: TEXT so many times, with its number for each @.
joined() {
    awk -v n="$1" -v text="$2" -v between="$3" 'BEGIN {
        for (k = 0; k < n; k++) { t = text; gsub("@", k, t); printf "%s%s", k ? between : "", t }
    }'
}

# same FILE: checked, and alike on the device and from the reference.
same() {
    expect 0 '' "$PIPEC" check "$1"
    expect 0 '' "$PIPEC" plan "$1"
    expect 0 '' "$PIPEC" run "$1" $given -o device
    expect 0 '' "$PIPEC" run "$1" $given -o reference --device reference
    check diff -r -x '.*' device reference
    rm -rf device reference
}

# Sums, choices and shifts of 90 images, one of whose kernels sums up, and a value computed on the fly; then in parts, in
# which the numbers change from part to part.
many_images() {
    inputs 90 >images.pipe
    {
        echo "output a = $(joined 90 'i@[dx = 1] * @' ' + ')"
        echo "output b = $(joined 90 '@ if i@ > @ else ' '')0"
        echo "output m = mean($(joined 90 'i@ * 0.5' ' + '))"
    } >>images.pipe
    same images.pipe
    expect 0 '' "$PIPEC" run images.pipe $given -o whole
    expect 0 '' "$PIPEC" run images.pipe $given -o parts --memory 8MiB
    check diff -r -x '.*' whole parts
}

# 150 params at pixels and in whole-image values.
many_params() {
    given=$image
    {
        echo 'input image[y, x]'
        joined 150 'param p@ = @.5 in 0 .. 1000
' ''
        echo "output a = $(joined 150 'image * p@' ' + ')"
        echo "output v = mean(image) + $(joined 150 'p@ * max(image)' ' + ')"
    } >params.pipe
    same params.pipe
    expect 0 '' "$PIPEC" run params.pipe "$image" -o device --p7 3
    expect 0 '' "$PIPEC" run params.pipe "$image" -o reference --device reference --p7 3
    check diff -r -x '.*' device reference
    rm -rf device reference
}

# A table of twelve images.
wide_table() {
    inputs 12 >table.pipe
    echo "output t = measure(label(i0 > 100), $(joined 12 'i@ * @' ', '), mean, max)" >>table.pipe
    same table.pipe
}

! turn_of 0 3 || many_images
! turn_of 1 3 || many_params
! turn_of 2 3 || wide_table

# What follows from an index cannot be stored in between.
inputs 70 >fold.pipe
echo "output a = sum($(joined 70 'i@[dx = k]' ' + ') for k in -1 .. 1)" >>fold.pipe
expect 2 P0429 "$PIPEC" check fold.pipe
finish
