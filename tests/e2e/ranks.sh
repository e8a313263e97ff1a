# ranks.sh: what the processes of mpirun make together is what one makes, also where one of them is killed and the run goes
# on.  FULL=1 kills fifty, each at a random moment, and tries more numbers of processes.
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

# start N COMMAND...: N processes, whose numbers are in files rank.K.
start() {
    n=$1
    shift
    # shellcheck disable=SC2016 # mpirun's variable
    timeout 120 mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n "$n" \
        sh -c 'echo $$ >rank.$OMPI_COMM_WORLD_RANK; exec "$@"' rank "$@"
}

# ranks N FOLDER OPTION...: the plate by N processes.
ranks() {
    n=$1 folder=$2
    shift 2
    start "$n" "$PIPEC" run cells.pipe plate --device reference -o "$folder" "$@"
}

# image N FOLDER OPTION...: one image of several frames by N processes.
image() {
    n=$1 folder=$2
    shift 2
    start "$n" "$PIPEC" run one.pipe "$SAMPLES/timelapse.tif" -o "$folder" "$@"
}

# same WHOLE FOLDER: it has the files that one process makes, byte for byte.
same() {
    for file in $(cd "$1" && find . -type f ! -name '.*'); do
        check cmp "$1/$file" "$2/$file"
    done
}

# die FOLDER FILE COMMAND...: three processes write to a folder; behind the moment when the file is there, and some more,
# one of them is killed.  What is in the folder then is whole.
die() {
    folder=$1 file=$2
    shift 2
    rm -rf "$folder" rank.*
    "$@" >said.out 2>said.err &
    pid=$!
    # Open MPI 4.1 may hang where a process is killed before all have begun.
    while ! ls "$file" && kill -0 $pid; do sleep 0.02; done >begun.out 2>&1
    sleep "$(awk -v seed=$number 'BEGIN { srand(seed); print rand() * 0.3 }')"
    kill -9 "$(cat rank.$((number % 3)))" 2>kill.err
    if ! wait $pid; then # else it was done
        says 'exited on signal 9'
    fi
}

expect 0 '' "$PIPEC" run cells.pipe plate -q --device reference -o whole
for n in 2 9; do
    expect 0 '' ranks $n "by$n"
    same whole "by$n"
done
expect 0 '' ranks 2 by2 --resume
same whole by2
# What two have done three find done, and one.
cp -r by2 by3
expect 0 '' ranks 3 by3 --resume
check test "$(grep -c tif said.err)" = 0
same whole by3
expect 0 '' "$PIPEC" run cells.pipe plate --device reference -o by2 --resume
check test "$(grep -c tif said.err)" = 0
same whole by2
printf 'no image' >plate/D09.tif
expect 1 'D09.tif' ranks 2 failing
rm plate/D09.tif
expect 2 'no such file' mpirun --oversubscribe -n 2 "$PIPEC" run cells.pipe nowhere -o none --device reference
check test ! -e none

# ---- one image -------------------------------------------------------------------------------
cat >one.pipe <<'PIPE'
input image[y, x]
smooth = gaussian(image, 2)
objects = label(smooth > otsu(smooth))
output objects as zarr
output smooth
output t = measure(objects, image, area, centroid, mean, min)
PIPE
expect 0 '' "$PIPEC" run one.pipe "$SAMPLES/timelapse.tif" -q -o one
[ -n "${FULL:-}" ] && kills=50 shared_by='2 3 4 7' || kills=1 shared_by=3
for n in $shared_by; do
    expect 0 '' image $n "one$n"
    same one "one$n"
done
expect 3 'no device' start 2 "$PIPEC" run one.pipe "$SAMPLES/timelapse.tif" -o none --device nothing

cat >parts.pipe <<'PIPE'
input image[y, x]
smooth = gaussian(image, 2)
objects = label(smooth > 100)
output objects
output smooth as zarr(chunk = 16)
PIPE
expect 0 '' "$PIPEC" run parts.pipe "$SAMPLES/blobs.tif" -q -o parts
expect 0 '' start 3 "$PIPEC" run parts.pipe "$SAMPLES/blobs.tif" -o parts3 --memory 250000
check diff -r -x '.*' parts parts3

# ---- one process is killed -------------------------------------------------------------------
number=0
while [ $number -lt $kills ]; do
    number=$((number + 1))
    die killed killed/.cells.shard-3-of-3.journal ranks 3 killed
    for file in $(cd killed && find . -name '*_objects.tif'); do
        check cmp "whole/$file" "killed/$file"
    done
    expect 0 '' ranks 3 killed --resume
    same whole killed
    die shared shared image 3 shared
    check test ! -e shared/timelapse_t.csv -o -e shared/timelapse_smooth.tif
    expect 0 '' image 3 shared --resume
    same one shared
done
finish
