# posture.sh: how pipec and what it builds are compiled and linked; JSON of names that are not UTF-8.
. "$(dirname "$0")/lib.sh"
printf 'input image[y, x]\noutput blurred = gaussian(image, 2)\noutput t = measure(label(image > 99), area)\n' >first.pipe
expect 0 '' "$PIPEC" build first.pipe -o first

# hardened FILE: as readelf and the symbols tell it.
hardened() {
    readelf -hldW "$1" >elf || { fail "readelf $1"; return; }
    readelf -sW --dyn-syms "$1" >symbols
    check grep -q 'Type:.*DYN' elf                     # position-independent
    check grep -q 'GNU_RELRO' elf
    check grep -q 'BIND_NOW\|Flags:.*NOW' elf
    check grep -q 'GNU_STACK.*RW ' elf
    check test "$(grep -c 'GNU_STACK.*RWE' elf)" -eq 0
    check test "$(grep -c ' LOAD .*RWE' elf)" -eq 0
    if ! grep -q __asan_init symbols; then
        check grep -q '__stack_chk_fail' symbols
        check grep -q '__snprintf_chk\|__memcpy_chk\|__fprintf_chk' symbols
    fi
}
if command -v readelf >/dev/null; then
    hardened "$PIPEC"
    hardened ./first
fi

# JSON is UTF-8, whatever files are called.
odd=$(printf 'odd\351.pipe')
printf 'output x = nothing_known\n' >"$odd"
expect 2 '' "$PIPEC" check "$odd" --json
shows '"file": "odd\\xE9.pipe"'
check iconv -f UTF-8 -t UTF-8 said.out
if command -v python3 >/dev/null; then
    check python3 -m json.tool said.out
fi
cp first.pipe "$odd"
expect 0 '' "$PIPEC" run "$odd" --describe=json
shows '"name": "odd\\xE9"'
check iconv -f UTF-8 -t UTF-8 said.out

# A formula in a file's name stays text in tables.
mkdir plate
cp "$SAMPLES/blobs.tif" 'plate/=1+2.tif'
cp "$SAMPLES/blobs.tif" 'plate/b.tif'
expect 0 '' "$PIPEC" run first.pipe plate -q -o out --device reference
check test "$(sed 1d out/t.csv | cut -d, -f1 | uniq | tr '\n' ' ')" = "'=1+2.tif b.tif "

# Names of files do not steer a terminal, nor write lines of their own.
mkdir steered
cp "$SAMPLES/blobs.tif" "steered/$(printf 'a\033[31m\nnote: forged.tif')"
printf 'junk' >"steered/$(printf 'b\033[2J.tif')"
expect 1 'b?[2J.tif' "$PIPEC" run first.pipe steered -o out --device reference
check test "$(tr -d '\n[:print:]' <said.err | wc -c)" -eq 0
check test "$(grep -c '^note: forged' said.err)" -eq 0

# What is written in place is no link that leads elsewhere, and no pipe.
printf 'as it was\n' >elsewhere
for link in .first.journal .pipec.lock; do
    mkdir linked
    ln -s ../elsewhere "linked/$link"
    status=0
    "$PIPEC" run first.pipe plate -q -o linked --device reference 2>said.err || status=$?
    check test "$(cat elsewhere)" = 'as it was'
    rm -r linked
done
mkdir linked
ln -s ../elsewhere linked/.first.journal
expect 5 'is a link, or no plain file' "$PIPEC" run first.pipe plate -q -o linked --device reference
rm linked/.first.journal
mkfifo linked/.first.journal
expect 5 'is a link, or no plain file' "$PIPEC" run first.pipe plate -q -o linked --device reference

# Kernels of a folder that others can write to are not used.
printf 'input image[y, x]\noutput more = image + 1\n' >more.pipe
mkdir -m 0777 shared
chmod 0777 shared
expect 0 'compiled each time: the folder' env POCL_CACHE_DIR="$PWD/shared" "$PIPEC" run more.pipe plate/b.tif -o out --device cpu
check test -z "$(ls shared)"
finish
