# cookbook.sh: the recipes of docs/cookbook.md give what the page shows, and what scipy, scikit-image, astropy and photutils give
# (tests/golden/make_cookbook.py).  Ten recipes run on the device in turn, the others on the evaluator, whose bits are those of devices.
. "$(dirname "$0")/lib.sh"

# Each recipe begins with its name: # NAME.pipe
awk '/^# [a-z0-9_]*\.pipe$/ && fenced { file = $2; printf "" >file }
    { fenced = /^```pipe$/ }
    /^```$/ { file = "" }
    file != "" { print >file }' "$ROOT/docs/cookbook.md"
recipes=$(ls ./*.pipe | wc -l)
check test "$recipes" -ge 40
check test "$recipes" -eq "$(grep -c '^### ' "$ROOT/docs/cookbook.md")"
check grep -q "has $recipes more" "$ROOT/README.md"

# ---- what the page shows --------------------------------------------------------------------
ln -s "$SAMPLES" samples
compiled=
for recipe in percentiles rings colours focus nuclei_3d tracks drift hot_pixels mesh largest; do
    at=$((${at:--1} + 1))
    turn_has $at && compiled="$compiled $recipe"
done
cat >pipec <<END
#!/bin/sh
case "$compiled " in
*" \${2%.pipe} "*) exec "$PIPEC" "\$@" ;;
esac
exec "$PIPEC" "\$@" --device reference
END
chmod +x pipec
sessions "$ROOT/docs/cookbook.md"
check test "$number" -gt 60

for picture in split/blobs_picture=split projections/volume_depth=depth overlay/blobs_values=values; do
    check "$COMPARE" same "${picture%=*}.png" "$ROOT/docs/pictures/cookbook_${picture#*=}.png"
done

# Those for images that the repository does not have run on others.
while read -r name image options; do
    # shellcheck disable=SC2086
    expect 0 '' ./pipec run "$name.pipe" "samples/$image" -o "$name" -q $options
    says_nothing
done <<END
he nuclei.tif
brown nuclei.tif --limit 0.164
tissue nuclei.tif
vessels blobs.tif
rings blobs.tif
wound timelapse.tif
END

# Those with further inputs get some that are made.
cat >frames.pipe <<END
input v[z, y, x]
output light = v[z = 3] as fits
output bias = v
output dark = v + 5
output flat = 3 * v + x_of(v)
END
expect 0 '' ./pipec run frames.pipe samples/volume.tif -o frames -q
set -- --bias frames/volume_bias.tif --dark frames/volume_dark.tif --flat frames/volume_flat.tif
expect 0 '' ./pipec run ccd.pipe frames/volume_light.fits "$@" -o ccd -q --ratio 2
printf 'input v[y, x]\noutput flat = 100 + x_of(v)\noutput dark = 10 + 0 * v\n' >frames.pipe
expect 0 '' ./pipec run frames.pipe samples/blobs.tif -o frames -q
set -- --flat frames/blobs_flat.tif --dark frames/blobs_dark.tif
expect 0 '' ./pipec run illumination.pipe samples/blobs.tif "$@" -o illumination -q

# ---- what others compute --------------------------------------------------------------------
printf 'input v[y, x]\noutput row = mean_project(crop(v, x = 1, y = 1, width = 10, height = 1), y) as csv\n' >row.pipe
for golden in "$ROOT"/tests/golden/cookbook/*.csv; do
    name=$(basename "$golden")
    output=${name#*-}
    name=${name%%-*}
    if [ "$output" != "${output%.row.csv}" ]; then
        expect 0 '' ./pipec run row.pipe "$name"/*_"${output%.row.csv}".[ft]* -o "$name" -q
        output=${output%.row.csv}_row.csv
    fi
    for given in "$name"/*_"$output" "$name/$output"; do
        [ -e "$given" ] && break
    done
    check "$COMPARE" table "$golden" "$given"
done

finish
