# tune.sh: plans by measurement: no bit changes, runs take what was found, and what somebody else wrote there harms nobody.
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME="$PWD/cache"
cat >two.pipe <<'EOF'
input image[y, x]
d = image - gaussian(image, 2)
output result = d / max(sqrt(gaussian(d * d, 2)), 1)
output count = label(d > 5)
EOF
plan() { find cache -name 'plan-*'; }

expect 0 '' "$PIPEC" run two.pipe "$SAMPLES/blobs.tif" -q -o before
expect 0 '' "$PIPEC" tune two.pipe "$SAMPLES/blobs.tif" --device cpu --seconds 4
shows 'by the rules'
shows 'Runs on this device take this plan from now on.'
check test "$(plan | wc -l)" = 1
expect 0 '' "$PIPEC" run two.pipe "$SAMPLES/blobs.tif" -q -o after
check cmp before/blobs_result.tif after/blobs_result.tif
check cmp before/blobs_count.tif after/blobs_count.tif

# Another plan: the image d is stored.  It is taken, and the bits are the same.
number=$("$PIPEC" show two.pipe --ir | sed -n 's/^%\([0-9]*\) d = .*/\1/p')
check test -n "$number"
echo "inline $number 0 0 d" >"$(plan)"
expect 0 '' "$PIPEC" run two.pipe "$SAMPLES/blobs.tif" -o stored --profile
shows 'd__result'
check cmp before/blobs_result.tif stored/blobs_result.tif
printf 'inline\nwhat is this 1 2 3\ninline -5 0 0\nshare 99999 7 1\n\377\n' >"$(plan)"
expect 0 '' "$PIPEC" run two.pipe "$SAMPLES/blobs.tif" -q -o odd
check cmp before/blobs_result.tif odd/blobs_result.tif

expect 0 '' "$PIPEC" tune two.pipe --shape 200x300:u8 --device cpu --seconds 0.1
shows '--seconds gives more'
expect 2 'does not fit input' "$PIPEC" tune two.pipe --shape 3x200x300:u8 --device cpu
expect 2 'takes a number above 0' "$PIPEC" tune two.pipe --seconds no
expect 2 'which pipeline?' "$PIPEC" tune --device cpu
expect 3 '' "$PIPEC" tune two.pipe --device 'no such device'
finish
