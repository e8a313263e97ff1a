# The least that is named does on a GPU, too, whose driver takes some of it.
expect 4 'the least that will do is --memory' "$PIPEC" plan "$SAMPLES/sources.pipe" --shape 16384x16384:f32 --memory 2MiB
least=$(sed -n 's/.*the least that will do is --memory \([0-9]*\).*/\1/p' said.err | head -1)
expect 4 "the least that will do is --memory $least " "$PIPEC" plan "$SAMPLES/sources.pipe" --shape 16384x16384:f32 \
    --memory $((least - 1))
expect 0 '' "$PIPEC" plan "$SAMPLES/sources.pipe" --shape 16384x16384:f32 --memory "$least"
shows 'and runs in parts'
for limit in 64 512; do # 4 MiB, and 2 for the tables of 1 GiB of pinned memory
    expect 0 '' "$PIPEC" plan "$SAMPLES/sources.pipe" --shape 16384x16384:f32 --memory ${limit}MiB
    shows 'and runs in parts'
    peak=$(sed -n 's/^peak \([0-9]*\)\..*/\1/p' said.out)
    check test "$peak" -lt $((limit - 6))
done
