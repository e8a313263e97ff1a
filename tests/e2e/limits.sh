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

# What some of them read: 21 MiB.
cat >large.pipe <<'PIPE'
input image[y, x]
output sky = scale(f32(image), 9)
PIPE
expect 0 '' "$PIPEC" run large.pipe "$SAMPLES/blobs.tif" -q -o large

# A file of limits/ for each kind of pipeline, in turn.
number=0
for kind in "$ROOT"/tests/e2e/limits/*.sh; do
    number=$((number + 1))
    turn_has $number || continue
    # shellcheck disable=SC1090
    . "$kind"
done

expect 4 'the least that will do is --memory' "$PIPEC" run "$SAMPLES/harris.pipe" "$SAMPLES/blobs.tif" -q -o out --memory 100
finish
