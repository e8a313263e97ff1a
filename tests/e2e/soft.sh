# soft.sh: the same bytes where doubles are computed in whole numbers: on a device that has them and is told so, and on
# Mesa's rusticl, which has none, where it is installed.
. "$(dirname "$0")/lib.sh"

# run_in FOLDER SAMPLE...: what each sample gives goes to a folder of its own there.
run_in() {
    folder=$1
    shift
    for sample; do
        expect 0 '' "$PIPEC" run "$SAMPLES/$sample.pipe" $(image_of "$sample") -q $device -o "$folder/$sample"
        check diff -r native/"$sample" "$folder/$sample"
    done
}

device=
run_in native blobs harris nuclei sources
export PIPEC_SOFT_DOUBLE=1
expect 0 '' "$PIPEC" devices
shows 'doubles in whole numbers'
run_in soft blobs nuclei sources
unset PIPEC_SOFT_DOUBLE

export RUSTICL_ENABLE=llvmpipe
device='--device rusticl'
"$PIPEC" devices >devices.txt 2>&1
if grep -q llvmpipe devices.txt; then
    if "$PIPEC" run "$SAMPLES/primes.pipe" -q $device -o tried 2>tried.err; then
        run_in rusticl blobs harris nuclei sources
    else
        # Mesa 22.3 loses turns of long loops.
        check grep -q 'its driver ends loops before they are done' tried.err
        export PIPEC_ANY_DEVICE=1
        run_in rusticl blobs harris sources
    fi
fi
finish
