#!/bin/sh
# devices.sh: every sample on every OpenCL device that is installed, and the same bytes from all of them.
#
#   usage: tests/devices.sh [FOLDER]     of the build; build/ if not said
#
# Mesa's rusticl is asked for the CPU twice, with and without double precision.  Oclgrind, which checks each access of
# memory and takes a thousand times as long, has a small part of their images.  Prints a table, with a line for each sample and a
# column for each device; the exit code is 1 where one gives other files than the first.  "-": the sample does not run there; "~": pipec
# refuses the device, since it does not compute as IEEE 754 says, and did what the sample does nevertheless.
set -u
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
pipec=$(cd "${1:-$root/build}" && pwd)/pipec || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
wrong=0

# image_of SAMPLE: see tests/e2e/lib.sh.
image_of() {
    case $1 in
    primes) ;;
    nuclei) echo "$root/samples/nuclei.tif" ;;
    sources | clip) echo "$root/samples/sky.fits" ;;
    deconvolve) echo "$root/samples/volume.tif" ;;
    *) echo "$root/samples/blobs.tif" ;;
    esac
}

# small FILE: a part of it, as a file of its own.
small() {
    axes='y, x' from='x = 40, y = 30' size='width = 48, height = 40'
    case $1 in
    *nuclei*) axes='c, y, x' ;;
    *volume*) axes='z, y, x' from="$from, z = 2" size='width = 16, height = 12, depth = 6' ;;
    esac
    printf 'input image[%s]\noutput small = crop(image, %s, %s)\n' "$axes" "$from" "$size" >small.pipe
    "$pipec" run small.pipe "$1" -q -o "$work/small" >small.log 2>&1 || cat small.log >&2
}

# digest SAMPLE IMAGE COMMAND...: of all files that the sample gives; behind a "~" where pipec refuses the device for its bits, and
# gives them when told to; "-" where it fails, which is told.
digest() {
    sample=$1 image=$2 mark=
    shift 2
    rm -rf out
    # shellcheck disable=SC2086
    set -- "$@" run "$root/samples/$sample.pipe" $image -o out --device "$device"
    if ! "$@" >said 2>&1 && grep -q PIPEC_ANY_DEVICE said; then
        mark='~'
        PIPEC_ANY_DEVICE=1 "$@" >said 2>&1
    fi
    files=$(find out -type f ! -path 'out/.pipec*' 2>find.err | sort)
    if [ -n "$files" ]; then
        echo "$mark$(echo "$files" | xargs sha256sum | sha256sum | cut -c1-12)"
    else
        echo "  not $sample: $(grep -v '^\[SubCFG\]' said | tail -2 | head -1 | cut -c1-160)" >&2
        echo -
    fi
}

# column IMAGES COMMAND...: what each sample gives on $device, of whole or of small images, beside what there is in table.IMAGES.
column() {
    images=$1
    shift
    for file in "$root"/samples/*.pipe; do
        sample=$(basename "$file" .pipe)
        image=$(image_of "$sample")
        [ "$images" = whole ] || image=${image:+small/$(basename "${image%.*}")_small.tif}
        digest "$sample" "$image" "$@"
    done >column
    [ -s "table.$images" ] || ls "$root/samples" | sed -n 's/\.pipe$//p' >"table.$images"
    paste "table.$images" column >next
    mv next "table.$images"
}

# show IMAGES: the table, with a word in place of each digest that is the first device's.
show() {
    echo "samples of $1 images:"
    awk '{ printf "  %-12s %s", $1, $2
           for (i = 3; i <= NF; i++) {
               printf "  %-13s", $i == $2 ? "same" : $i == "~" $2 ? "~same" : $i
               wrong = wrong || ($i !~ "^[-~]" && $i != $2)
           }
           print "" }
         $2 == "-" { wrong = 1 }
         END { exit wrong }' "table.$1" || wrong=1
}

# devices: their numbers and names.
devices() {
    "$pipec" devices | sed -n 's/^\(#[0-9]*\)  */\1 /p'
}

export RUSTICL_ENABLE=llvmpipe
devices >first
export RUSTICL_FEATURES=fp64
devices >both
while read -r device name; do
    echo "whole images: $name"
    column whole "$pipec"
done <both
unset RUSTICL_FEATURES
# Those of rusticl again, which have no double precision now.
grep llvmpipe first >again
while read -r device name; do
    echo "whole images: $name, without double precision"
    column whole "$pipec"
done <again
show whole

if command -v oclgrind >/dev/null; then
    for image in blobs.tif nuclei.tif sky.fits volume.tif; do
        small "$root/samples/$image"
    done
    device='#0'
    column small "$pipec"
    echo "small images: Oclgrind"
    # Without -Drestrict= it meets what its compiler makes of that word, and does not know it.
    device=oclgrind
    export XDG_CACHE_HOME="$work"
    column small oclgrind --local-mem-size 65536 --build-options -Drestrict= "$pipec"
    show small
fi
exit $wrong
