# report.sh: the page of a batch and its JSON: numbers against the tables, shards against one piece, an earlier report.
. "$(dirname "$0")/lib.sh"

printf 'input image[y, x]\nparam least = 120\nlabels = label(image > least)\noutput labels\noutput table = measure(labels, image, area, centroid, mean)\noutput level = mean(image)\n' >spots.pipe
mkdir -p plate
for well in A01 A02 B01 B02 C03; do
    cp "$SAMPLES/blobs.tif" "plate/${well}_1.tif"
done
echo broken >plate/H12_9.tif
run="$PIPEC run spots.pipe plate -q --device reference --columns {well}_{field} --report"

# ---- what the page says ---------------------------------------------------------------------
expect 1 '' $run -o out
check test "$(grep -c '<img width' out/report.html)" = 5 # five pictures, each with outlines
check test "$(grep -c '<img class="out"' out/report.html)" = 5
check grep -q '5 of 6 images are done, <b class="bad">1 failed</b>' out/report.html
check grep -q 'H12_9.tif</td><td class="t">reading</td><td class="t">cannot read' out/report.html
check grep -q 'title="C3"' out/report.html # the map of wells
check test "$(grep -c '<figure>' out/report.html)" = 2 # area and mean, not centroids
check test -z "$(grep -oE 'https?://' out/report.html)" # nothing from elsewhere
check test "$(head -c 15 out/report.html)" = '<!DOCTYPE html>'
rows=$(($(wc -l <out/A01_1_table.csv) - 1))
area=$(awk -F, 'NR > 1 { s += $2; n++ } END { printf "%.6f", s / n }' out/A01_1_table.csv)
check test "$(sed -n 's/.*"name": "A01_1.tif".*"count": \([0-9]*\).*/\1/p' out/report.json)" = "$rows"
check test "$(sed -n 's/.*"name": "A01_1.tif".*"area": \([0-9.]*\).*/\1/p' out/report.json | awk '{ printf "%.6f", $1 }')" = "$area"
level=$(sed -n 's/^A01_1.tif,A01,1,//p' out/values.csv)
check grep -q "\"name\": \"A01_1.tif\".*\"level\": $level[,}]" out/report.json
check grep -q '"name": "H12_9.tif", "state": "failed", "stage": "reading"' out/report.json

# Tables that are folders of zarr have the same measures.
sed '/^output table/s/$/ as zarr/' spots.pipe >folders.pipe
expect 0 '' "$PIPEC" run folders.pipe plate/A01_1.tif plate/A02_1.tif -q --device reference --columns '{well}_{field}' --report -o folders
for file in out folders; do
    sed -n 's/.*"name": "A01_1.tif".*\("count".*\)/\1/p' $file/report.json | tr -d '}],' >$file.measures
done
check cmp out.measures folders.measures

# ---- shards leave the same, but for the run itself --------------------------------------------
for i in 2 1 3; do
    expect 0 '' "$PIPEC" run spots.pipe plate -q --device reference --columns '{well}_{field}' --report --keep-going -o shards --shard $i/3
done
expect 0 '' "$PIPEC" merge shards
grep -v '^ "run"' shards/report.json >shards.json
grep -v '^ "run"' out/report.json >out.json
check cmp shards.json out.json
sed '/<h2>The run/,/<pre>/d' shards/report.html >shards.html
sed '/<h2>The run/,/<pre>/d' out/report.html >out.html
check cmp shards.html out.html

# ---- beside an earlier one --------------------------------------------------------------------
expect 1 '' $run -o again --report-against out/report.json
check grep -q '5 images are the same, 0 changed, 0 are new, 0 are gone; 0 that failed are done, 0 fail now' again/report.html
rm plate/H12_9.tif plate/C03_1.tif
cp "$SAMPLES/blobs.tif" plate/D04_1.tif
expect 0 '' $run -o less --report-against out/report.json --least 200
check grep -q '0 images are the same, 4 changed, 1 are new, 2 are gone' less/report.html
check grep -q 'Most changed: <a href="#i0">A01_1.tif' less/report.html
expect 2 "is not the report.json" $run -o none --report-against spots.pipe
expect 1 'no such file' $run -o none --report-against nothing.json
finish
