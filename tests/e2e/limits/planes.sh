# Operators whose every pixel may depend on all others.
cat >whole_2d.pipe <<'PIPE'
input image[y, x]
mask = image > 100
smooth = gaussian(distance(mask), 1.5)
peaks = local_maxima(smooth)
nuclei = watershed(-smooth, label(peaks), mask)
output nuclei
output smooth
output grown = expand_labels(nuclei, 6)
output far = voronoi(nuclei)
output filled = fill_holes(mask)
output hulls = hull(nuclei)
output lines = watershed(gaussian(image, 1), label(peaks), line = true)
output median = median_filter(image, box(9))
output inner = clear_border(nuclei)
output table = measure(nuclei, image, area, centroid, mean)
PIPE
in_parts whole_2d blobs 254x256:u8 120KiB 220KiB
