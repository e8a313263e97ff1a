# limits.sh: under every memory limit a sample either gives the files of a run without one, byte for
# byte, or says what the least limit is; and with that limit it runs.
. "$(dirname "$0")/lib.sh"

# under LIMIT NAME: runs sample NAME; 0 when it fits.
under() {
    rm -rf out
    "$PIPEC" run "$SAMPLES/$2.pipe" $(image_of "$2") -q -o out --memory "$1" >said.out 2>said.err
}

for name in $(samples); do
    "$PIPEC" run "$SAMPLES/$name.pipe" $(image_of "$name") -q -o "whole/$name" >said.out 2>said.err ||
        fail "$name does not run: $(cat said.err)"
    checks=$((checks + 1))
    if under 64KiB "$name"; then
        check diff -r -x '.*' "whole/$name" out
        continue
    fi
    says 'the least that will do is --memory'
    least=$(sed -n 's/.*the least that will do is --memory \([0-9]*MiB\).*/\1/p' said.err | head -1)
    expect 0 '' "$PIPEC" run "$SAMPLES/$name.pipe" $(image_of "$name") -q -o out --memory "$least"
    check diff -r -x '.*' "whole/$name" out
    for limit in 128KiB 512KiB; do
        under $limit "$name" && check diff -r -x '.*' "whole/$name" out
    done
done
expect 4 'nothing runs in' "$PIPEC" run "$SAMPLES/harris.pipe" "$SAMPLES/blobs.tif" -q -o out --memory 100
finish
