# same_bits.sh: no way of compiling or running changes a bit of any output: fusion off, single
# passes off, another number of threads, other groupings.
. "$(dirname "$0")/lib.sh"

all_passes=$("$PIPEC" help passes | cut -d' ' -f1)

# without NAME: all passes but that one.
without() {
    echo "$all_passes" | grep -vx "$1" | paste -sd, -
}

# The outputs in two folders, by byte.
same_outputs() {
    check test "$(ls "$1")" = "$(ls "$2")"
    for path in "$1"/*; do
        check cmp "$path" "$2/${path##*/}"
    done
}

# variant SAMPLE FOLDER OPTIONS...: one sample, compiled in another way.
variant() {
    of=$1
    folder=$2/$1
    shift 2
    expect 0 '' "$PIPEC" run "$@" "$SAMPLES/$of.pipe" $(image_of "$of") -q -o "$folder"
    same_outputs all/"$of" "$folder"
}

number=0
for sample in $(samples); do
    number=$((number + 1))
    expect 0 '' "$PIPEC" run "$SAMPLES/$sample.pipe" $(image_of "$sample") -q -o all/"$sample"
    ! turn_of $((number % 4)) 4 || variant "$sample" none --fuse=none
    ! turn_of $(((number + 2) % 4)) 4 || variant "$sample" pointwise --fuse=pointwise
done
check test "$(echo "$all_passes" | wc -l)" -ge 4
number=0
for pass in $all_passes; do
    for sample in blobs clip harris nuclei; do
        number=$((number + 1))
        if turn_has $number; then
            variant $sample "without-$pass" --passes="$(without "$pass")" --verify
        fi
    done
done
variant blobs nopass --passes= --fuse=none

POCL_MAX_PTHREAD_COUNT=1
export POCL_MAX_PTHREAD_COUNT
for sample in blobs sources; do
    variant $sample single
    expect 0 '' "$PIPEC" run "$SAMPLES/$sample.pipe" $(image_of $sample) -q --jobs 1 -o jobs/$sample
    same_outputs all/$sample jobs/$sample
done
finish
