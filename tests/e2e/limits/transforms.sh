# Transforms need an image whole: less memory than that is refused, and never exceeded.
printf 'input image[y, x]\nf = fft(gaussian(image, 1))\noutput a = f[c = 0] ** 2 + f[c = 1] ** 2\noutput b = fftconvolve(image, gaussian(image, 2))\n' >transform.pipe
expect 0 '' "$PIPEC" run transform.pipe "$SAMPLES/blobs.tif" -q -o whole/transform
expect 4 'the least that will do is --memory' "$PIPEC" run transform.pipe "$SAMPLES/blobs.tif" -q -o none --memory 64KiB
least_runs whole/transform transform.pipe "$SAMPLES/blobs.tif"
