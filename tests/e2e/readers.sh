# readers.sh: programs that read images for a run (docs/readers.md): pixels and metadata of a format of the test's own,
# batches, parts of files, and readers that die, hang, lie or talk nonsense.
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || exit 77
raw="python3 $ROOT/tests/data/raw_reader.py"
# A planes file of two channels and two z, 3 x 2 pixels of u16: pixel (c, z, y, x) is 1000 c + 100 z + 10 y + x.
python3 - <<'END'
import array, sys
pixels = array.array("H", [1000 * c + 100 * z + 10 * y + x for c in (0, 1) for z in (0, 1) for y in (0, 1) for x in (0, 1, 2)])
if sys.byteorder == "big":
    pixels.byteswap()
about = '{"axes": {"x": 3, "y": 2, "z": 2, "c": 2}, "type": "u16", "pixel_size": {"x": 0.5, "y": 0.5, "z": 2, "unit": "um"}'
about += ', "channels": ["DAPI", "GF\\u0007P"], "interval": 0, "images": 3}\n'
for name in ("a.raw", "b.RAW", "c d.raw"):
    open(name, "wb").write(about.encode() + pixels.tobytes())
open("d.raw", "w").write("nonsense\n")
open("tail.raw", "wb").write(about.encode() + pixels.tobytes()[:-1])
END
mkdir in && cp a.raw b.RAW in && cp "$SAMPLES/blobs.tif" in/c.tif
printf 'input image[c, z, y, x]\noutput total = sum(image)\noutput size = pixel_size(image)\n' >sums.pipe
printf 'input image[y, x]\noutput same = image\n' >same.pipe
printf 'input image[c, z, y, x]\noutput same = image\n' >all.pipe

# try READER TEXT: the run of one image fails with this text.
patience=40
try() {
    expect 1 "$2" timeout 60 "$PIPEC" run all.pipe "${3:-a.raw}" -o out --device reference --reader "$1" --reader-timeout $patience
}
# late READER: it is not waited for.
late() {
    patience=1
    try "$1" 'did not go on for 1 s; --reader-timeout gives it more'
    patience=40
}
nap="sleep 50.$$" # as no other test has it

# ---- what is read ------------------------------------------------------------------------------
expect 0 'more images' "$PIPEC" run all.pipe a.raw -o out --device reference --reader "$raw"
expect 0 '' "$PIPEC" run all.pipe 'c d.raw' -o again --device reference --reader ".raw,.xyz=$raw"
check cmp out/a_same.tif 'again/c d_same.tif'
check grep -q 'PhysicalSizeZ="2"' out/a_same.tif
python3 - <<'END' || fail 'the pixels are others'
import array
data = open("out/a_same.tif", "rb").read()
for plane in range(4):
    rows = [1000 * (plane // 2) + 100 * (plane % 2) + 10 * y + x for y in (0, 1) for x in (0, 1, 2)]
    assert array.array("H", rows).tobytes() in data, plane
END

# ---- a batch: files with the endings that are named, in folders too; one process for several images --------
printf 'echo "$$" >>%s/started; exec %s\n' "$PWD" "$raw" >counted.sh
expect 0 '' "$PIPEC" run same.pipe in -o batch --device reference --reader ".raw=sh $PWD/counted.sh" -j 1
check grep -q 'Name="GF?P"' batch/b_same.tif
check test "$(wc -l <started)" -le 2
check test -f batch/c_same.tif

# ---- folders, and parts with slashes in their names -------------------------------------------------
mkdir -p tree.n5/deep && touch tree.n5/deep/0
about='{"axes":{"x":3,"y":2},"type":"u16"}'
give="read a; echo \"\$a\" >asked; echo '$about'; read b; echo '{\"bytes\":12}'; printf 123456789012; read c"
for again in '' --resume; do
    expect 0 '' "$PIPEC" run same.pipe tree.n5 'tree.n5[s0/raw]' -o 'tree/{name}.tif' --device reference --reader ".n5=$give" $again
done
check grep -qF '{"open":"tree.n5","part":"s0/raw"}' asked
check cmp tree/tree.n5.tif 'tree/tree.n5[s0_raw].tif'

# ---- the reader's own sentences, and files that it does not know -----------------------------------
try "$raw" 'says: it is no .raw file' d.raw
expect 1 'neither a TIFF' "$PIPEC" run all.pipe a.raw --device reference --reader ".xyz=$raw"
expect 2 'endings of files and a program' "$PIPEC" run all.pipe a.raw --device reference --reader '.raw='
try "$raw" 'has 11 bytes for 2 rows, which have 12' tail.raw

# ---- readers that are no readers --------------------------------------------------------------------
try 'exit 3' 'ended before it answered'
try 'echo "no licence" >&2; exit 1' 'ended before it answered: no licence'
try 'nothing_of_this_name' 'ended before it answered'
late "$nap"
late "$nap & $nap"
try 'read a; echo hello; read b' "answers what is no object of JSON: 'hello'"
try 'read a; echo "[1, 2]"; read b' 'no object of JSON'
try "head -c 100000 /dev/zero | tr '\\0' x; $nap" 'a line of more than 65536 bytes'
try 'while echo "{}"; do :; done' 'no extent from 1 to 2147483647 for the axis x'
try 'read a; echo "{\"axes\":{\"x\":1e99,\"y\":2},\"type\":\"u8\"}"; read b' 'no extent from 1 to'
try 'read a; echo "{\"axes\":{\"x\":2,\"y\":-1},\"type\":\"u8\"}"; read b' 'no extent from 1 to'
try 'read a; echo "{\"axes\":{\"x\":2,\"y\":2,\"z\":70000,\"c\":70000},\"type\":\"u8\"}"; read b' 'more than 2147483647 planes'
try 'read a; echo "{\"axes\":{\"x\":2,\"y\":2},\"type\":\"u128\"}"; read b' 'no type of pixels that pipec has'
expect 4 'a.raw' "$PIPEC" run all.pipe a.raw --device reference \
    --reader 'read a; echo "{\"axes\":{\"x\":2147483647,\"y\":2147483647},\"type\":\"f64\"}"; read b'
printf 'input image[y, x]\noutput same = image\n' >all.pipe
try "read a; echo '$about'; read b; echo '{\"bytes\":12}'; printf 123456" 'ended in the midst of pixels'
late "read a; echo '$about'; read b; echo '{\"bytes\":12}'; printf 123456; $nap"
try "read a; echo '$about'; read b; echo '{\"bytes\":99999999999999}'; $nap" 'has 99999999999999 bytes for 2 rows'
try "read a; echo '$about'; read b; echo '{\"error\":\"the disk\\\\u001b[1m is gone\"}'; read c" 'says: the disk?[1m is gone'
expect 0 '' "$PIPEC" run same.pipe a.raw -o more --device reference --quiet \
    --reader "read a; echo '$about'; read b; echo '{\"bytes\":12}'; printf 123456789012; echo more; read c"
check test "$(ps -A -o args= | grep -cx "$nap")" -eq 0

# ---- pipec's own reader is not what lies in the current folder -----------------------------------------
mkdir pipec && touch pipec/__init__.py
printf 'open("run", "w")\ndef main(): pass\n' >pipec/reader.py
printf 'ZISRAWFILE' >cells.czi
expect 1 'cells.czi' "$PIPEC" run same.pipe cells.czi -o out --device reference
check test ! -e run
finish
