# Maxima that rise by some height.
cat >raised.pipe <<'PIPE'
input image[y, x]
output top = h_maxima(gaussian(image, 1), 5)
PIPE
in_parts raised blobs 254x256:u8 160KiB 380KiB
