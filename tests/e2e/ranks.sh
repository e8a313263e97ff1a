# ranks.sh: what the processes of mpirun make together is what one makes, also where one of them is killed and the run goes
# on.  PIPEC_TEST_KILLS says how many are killed, each at a random moment.
. "$(dirname "$0")/lib.sh"
command -v mpirun >mpirun.path || { echo 'there is no mpirun: apt install libopenmpi-dev openmpi-bin, and build again'; exit 77; }
[ -e "$(dirname "$PIPEC")/libpipec-mpi.so" ] || { echo 'pipec was built without MPI'; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

cat >cells.pipe <<'PIPE'
input image[y, x]
objects = label(image > 150)
output objects
output t = measure(objects, area, centroid)
output level = mean(image)
PIPE
printf 'input image[y, x]\noutput small = crop(image, 20, 20, width = 60, height = 40)\n' >small.pipe
expect 0 '' "$PIPEC" run small.pipe "$SAMPLES/blobs.tif" -q -o tiny --device reference
mkdir plate
for well in A01 A02 A03 B01 B02 B03 C01; do cp tiny/blobs_small.tif "plate/$well.tif"; done

# ranks N FOLDER OPTION...: the plate by N processes, whose numbers are in files rank.K.
ranks() {
    n=$1 folder=$2
    shift 2
    # shellcheck disable=SC2016 # mpirun's variable
    timeout 60 mpirun --oversubscribe -n "$n" sh -c 'echo $$ >rank.$OMPI_COMM_WORLD_RANK; exec "$@"' rank "$PIPEC" run cells.pipe plate \
        --device reference -o "$folder" "$@"
}

# same FOLDER: it has the files that one process makes, byte for byte.
same() {
    for file in whole/*; do
        check cmp "$file" "$1/${file#whole/}"
    done
}

expect 0 '' "$PIPEC" run cells.pipe plate -q --device reference -o whole
for n in 2 4 9; do
    expect 0 '' ranks $n "by$n"
    same "by$n"
done
expect 0 '' ranks 4 by4 --resume
same by4
printf 'no image' >plate/D09.tif
expect 1 'D09.tif' ranks 2 failing
rm plate/D09.tif
expect 2 'no such file' mpirun --oversubscribe -n 2 "$PIPEC" run cells.pipe nowhere -o none --device reference
check test ! -e none

# ---- one is killed ---------------------------------------------------------------------------
number=0
while [ $number -lt "${PIPEC_TEST_KILLS:-1}" ]; do
    number=$((number + 1))
    rm -rf killed rank.*
    ranks 3 killed >said.out 2>said.err &
    pid=$!
    # Open MPI 4.1 may hang where a process is killed before all have begun.
    while ! ls killed/.cells.shard-1-of-3.journal killed/.cells.shard-2-of-3.journal killed/.cells.shard-3-of-3.journal; do
        sleep 0.02
    done >begun.out 2>&1
    sleep "$(awk -v seed=$number 'BEGIN { srand(seed); print rand() * 0.2 }')"
    kill -9 "$(cat rank.$((number % 3)))" 2>kill.err
    if ! wait $pid; then # else it was done
        says 'exited on signal 9'
        for file in $( (cd killed && find . -name '*_objects.tif') 2>find.err); do
            check cmp "whole/$file" "killed/$file"
        done
    fi
    expect 0 '' ranks 3 killed --resume
    same killed
done
finish
