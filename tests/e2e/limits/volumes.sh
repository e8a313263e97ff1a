# The same of volumes.
cat >whole_3d.pipe <<'PIPE'
input image[z, y, x]
mask = image > 1500
smooth = gaussian(distance(mask, spacing = [2, 1, 1]), 1)
nuclei = watershed(-smooth, label(local_maxima(smooth)), mask)
output nuclei
output grown = expand_labels(nuclei, 4, spacing = [2, 1, 1])
output filled = fill_holes(mask)
output top = h_maxima(image, 300)
output hulls = hull(nuclei)
output lower = percentile_filter(image, 30, box(5))
PIPE
in_parts whole_3d volume 16x64x64:u16 140KiB 500KiB
