/*
 * pipe_samples: the pipelines of the language's tour, for the tests of scanner, parser and
 * formatter.
 */
#ifndef TESTS_UNIT_PIPE_SAMPLES_H
#define TESTS_UNIT_PIPE_SAMPLES_H

typedef struct PipeSample {
    const char *name;
    const char *text;
} PipeSample;

static const PipeSample pipe_samples[] = {
    {"blobs.pipe", "# blobs.pipe: count bright blobs\n"
                   "input image[y, x]                         # any pixel type; stored as the file has"
                   " it, read as f32\n"
                   "\n"
                   "param sigma = 2.0 in 0.1 .. 50   \"blur radius in pixels\"\n"
                   "\n"
                   "blurred = gaussian(image, sigma)\n"
                   "mask    = blurred > otsu(blurred)         # otsu() is one value for the whole"
                   " image\n"
                   "labels  = label(mask, connectivity = 8)\n"
                   "\n"
                   "output labels\n"
                   "output table = measure(labels, image, area, centroid, mean, max)\n"},
    {"nuclei.pipe", "# nuclei.pipe: one channel of an RGB image\n"
                    "input image[y, x, c]\n"
                    "green   = image[c = 1]\n"
                    "blurred = gaussian(green, sigma = 5)\n"
                    "mask    = erode(blurred > otsu(blurred), disk(2))\n"
                    "labels  = label(mask)\n"
                    "output labels\n"
                    "output overlay = label2rgb(labels)\n"
                    "output table   = measure(labels, green, mean, area, solidity)\n"},
    {"sources.pipe", "# sources.pipe: radio sources in a sky image\n"
                     "input sky[y, x]\n"
                     "param kappa = 3.0\n"
                     "background = kappa_sigma(sky, kappa)      # .mean .median .std .max .count of what"
                     " survives the clipping\n"
                     "sources    = label(sky > 5 * background.std, connectivity = 4)\n"
                     "output sources\n"
                     "output table = measure(sources, sky, center_of_mass, sum)\n"},
    {"convolve.pipe", "# convolve.pipe: a kernel given by a formula\n"
                      "input image[y, x]\n"
                      "fn bell(t) = exp(-t * t / 2)\n"
                      "output smooth = sum(bell(i * 2 / 7) * bell(j * 2 / 7) * image[dy = j, dx = i] for j"
                      " in -7 .. 7, i in -7 .. 7)\n"},
    {"harris.pipe", "# harris.pipe: stencils written out; d-prefixed indices are offsets from the"
                    " current pixel\n"
                    "input image[y, x]\n"
                    "gx = image[dx = 1] - image[dx = -1]\n"
                    "gy = image[dy = 1] - image[dy = -1]\n"
                    "fn box3(v) = sum(v[dy = j, dx = i] for j in -1 .. 1, i in -1 .. 1) / 9\n"
                    "xx = box3(gx * gx)\n"
                    "yy = box3(gy * gy)\n"
                    "xy = box3(gx * gy)\n"
                    "output corners = xx * yy - xy * xy - 0.04 * (xx + yy) ** 2\n"},
    {"primes.pipe", "# primes.pipe: a scalar function with control flow; no input file\n"
                    "n = ramp(x = 10000)                       # 0, 1, 2 ... as an i32 image [x]\n"
                    "fn is_prime(v : i32) : bool {\n"
                    "  if v < 2 { return false }\n"
                    "  for d in 2 .. v / 2 { if v % d == 0 { return false } }\n"
                    "  return true\n"
                    "}\n"
                    "output prime = is_prime(n)\n"
                    "output count = sum(prime)                 # whole-image values: one row an image in"
                    " values.csv\n"},
    {"clip.pipe", "# clip.pipe: what kappa_sigma() means, written in the language itself\n"
                  "input sky[y, x]\n"
                  "lo = -inf\n"
                  "hi = inf\n"
                  "repeat until count(sky where sky > lo and sky < hi) is stable, at most 100 {\n"
                  "  kept = sky where sky > lo and sky < hi\n"
                  "  m = median(kept)\n"
                  "  s = std(kept)\n"
                  "  lo = m - 3 * s\n"
                  "  hi = m + 3 * s\n"
                  "}\n"
                  "output mask = sky > 5 * s\n"},
    {"deconvolve.pipe", "# deconvolve.pipe: a fixed number of rounds over an image (Richardson-Lucy)\n"
                        "input image[z, y, x]\n"
                        "param sigma = 2.0\n"
                        "estimate = image\n"
                        "repeat 20 {\n"
                        "  estimate = estimate * gaussian(image / max(gaussian(estimate, sigma), 1e-6),"
                        " sigma)\n"
                        "}\n"
                        "output estimate\n"},
};

enum { PIPE_SAMPLES = sizeof pipe_samples / sizeof *pipe_samples };

#endif
