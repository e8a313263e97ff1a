#!/usr/bin/env python3
"""Writes operators.txt: small pipelines and what numpy, scipy and scikit-image give for them.

Run it in this folder with numpy, scipy and scikit-image 0.19 or newer.  cases.py says what a case is.
These run on a device too; make_sweeps.py has what is only evaluated: many images, borders and types.
"""
import numpy as np
from scipy import ndimage as ndi
from scipy import signal
from skimage import color, exposure, feature, filters, measure, morphology, registration, restoration, segmentation, transform
from skimage.exposure import _adapthist

import cases as files

planar, solid = files.Image('plain', 'u8', 13, 17), files.Image('plain', 'u8', 5, 7, 9)
flat, deep = planar.array.astype(np.float32), solid.array.astype(np.float32)
mask2, mask3 = flat > 70, deep > 70
four = ndi.generate_binary_structure(2, 1)
eight = ndi.generate_binary_structure(2, 2)
six = ndi.generate_binary_structure(3, 1)
labels2 = ndi.label(mask2, eight)[0]
cases = []


def case(name, source, pipe, want, tolerance=1e-5):
    image = source if isinstance(source, files.Image) else files.Image('plain', 'u8', *source.shape)
    cases.append((name, image, pipe, want, tolerance))


def renumber(labels):
    return segmentation.relabel_sequential(labels)[0]


F, D = flat.astype(float), deep.astype(float)
M = 'mask = image > 70\n'
L = M + 'labels = label(mask)\n'

# Blurs and other weighted sums.
case('gaussian', flat, 'output a = gaussian(image, 1.2)', ndi.gaussian_filter(F, 1.2, mode='nearest'))
case('gaussian_axes', flat, 'output a = gaussian(image, [0, 2], border = reflect)',
     ndi.gaussian_filter(F, [0, 2], mode='reflect'))
case('gaussian_3d', deep, 'output a = gaussian(image, [0.5, 1, 1.5], border = mirror)',
     ndi.gaussian_filter(D, [0.5, 1, 1.5], mode='mirror'))
case('gaussian_wrap', flat, 'output a = gaussian(image, 0.7, border = wrap)',
     ndi.gaussian_filter(F, 0.7, mode='wrap'))
case('gaussian_constant', flat, 'output a = gaussian(image, 1, border = constant(100))',
     ndi.gaussian_filter(F, 1, mode='constant', cval=100))
case('difference_of_gaussians', flat, 'output a = difference_of_gaussians(image, 1)',
     filters.difference_of_gaussians(F, 1), 1e-4)
case('scales', flat, 'output a = max(s * s * -laplacian_of_gaussian(image, s) for s in 1 .. 3)',
     np.max([s * s * -ndi.gaussian_laplace(F, s, mode='nearest') for s in range(1, 4)], 0), 1e-4)
case('opened_by_size', flat, 'output a = sum(image - dilate(erode(image, disk(i)), disk(i)) for i in 1 .. 2)',
     sum(F - ndi.grey_opening(F, footprint=morphology.disk(i), mode='nearest') for i in range(1, 3)))
case('mean_filter', flat, 'output a = mean_filter(image, 1)', ndi.uniform_filter(F, 3, mode='nearest'))
case('mean_filter_3d', deep, 'output a = mean_filter(image, [0, 1, 2], border = reflect)',
     ndi.uniform_filter(D, [1, 3, 5], mode='reflect'))
case('mean_filter_disk', flat, 'output a = mean_filter(image, disk(2))',
     ndi.correlate(F, morphology.disk(2) / 13, mode='nearest'))
case('sum_filter_constant', flat, 'output a = sum_filter(image, 1, border = constant(7))',
     ndi.correlate(F, np.ones((3, 3)), mode='constant', cval=7))
case('sobel', flat, 'output a = sobel(image)', filters.sobel(F))
case('sobel_3d', deep, 'output a = sobel(image)', filters.sobel(D))
case('prewitt', flat, 'output a = prewitt(image)', filters.prewitt(F))
case('scharr', flat, 'output a = scharr(image)', filters.scharr(F))
case('laplace', flat, 'output a = laplace(image)', ndi.laplace(F))
case('laplace_3d', deep, 'output a = laplace(image)', ndi.laplace(D))
case('gaussian_derivative', flat, 'output a = gaussian_derivative(image, 1.5, [2, 0])',
     ndi.gaussian_filter(F, 1.5, (2, 0), mode='nearest'), 1e-4)
case('gaussian_derivative_3d', deep, 'output a = gaussian_derivative(image, 1, [0, 1, 1], border = wrap)',
     ndi.gaussian_filter(D, 1, (0, 1, 1), mode='wrap'), 1e-3)
case('gradient_magnitude', flat, 'output a = gradient_magnitude(image, 1, border = reflect)',
     ndi.gaussian_gradient_magnitude(F, 1), 1e-4)
curved = feature.hessian_matrix_eigvals(feature.hessian_matrix(F, 1.5, mode='reflect', order='rc'))
case('hessian_eigenvalue', flat, 'output a = hessian_eigenvalue(image, 1.5, least)', curved[1], 1e-3)
curved = feature.hessian_matrix_eigvals(feature.hessian_matrix(D, 1, mode='reflect', order='rc'))
case('hessian_eigenvalue_3d', deep, 'output a = hessian_eigenvalue(image, 1, middle)', curved[1], 1e-3)
case('sato', flat, 'output a = max(sato(image, 1), sato(image, 2))', filters.sato(F, [1, 2], black_ridges=False, mode='reflect'), 1e-3)
case('mode_filter', flat, 'output a = mode_filter(floor(image / 40), 1, border = reflect)',
     np.array([[np.bincount(np.pad(F // 40, 1, mode='symmetric').astype(int)[j:j + 3, i:i + 3].ravel()).argmax()
                for i in range(17)] for j in range(13)]), 0)
case('unsharp', flat, 'output a = unsharp(image, 1, 2)',
     F + 2 * (F - ndi.gaussian_filter(F, 1, mode='reflect')), 1e-4)
case('convolve', flat, 'output a = convolve(image, [[1, 2, 3], [4, 5, 6], [7, 8, 9]])',
     signal.convolve2d(F, [[1, 2, 3], [4, 5, 6], [7, 8, 9]], mode='same'))
case('convolve_full', flat, 'output a = convolve(image, [[1, 2, 3], [4, 5, 6], [7, 8, 9]], mode = full)',
     signal.convolve2d(F, [[1, 2, 3], [4, 5, 6], [7, 8, 9]]))
case('convolve_even', flat, 'output a = convolve(image, [[1, 2], [3, 5]], border = mirror)',
     ndi.convolve(F, [[1, 2], [3, 5]], mode='mirror'))
case('convolve_full_even', deep, 'output a = convolve(image, [[1, 2, 3, 5]], mode = full)',
     signal.convolve(D, [[[1, 2, 3, 5]]], method='direct'))
k = np.array([[np.exp(-i - 2 * j) for i in range(-2, 3)] for j in range(-2, 3)])
case('convolve_function', flat, 'fn k(i, j) = exp(-i - 2 * j)\noutput a = convolve(image, k, radius = 2)',
     signal.convolve2d(F, k, mode='same'), 1e-4)
case('correlate', flat, 'output a = correlate(image, [[1, 2, 3], [4, 5, 6], [7, 8, 9]], border = wrap)',
     ndi.correlate(F, [[1, 2, 3], [4, 5, 6], [7, 8, 9]], mode='wrap'))
case('correlate_3d', deep, 'output a = correlate(image, [[[0, 0, 0], [0, 1, 0], [0, 0, 0]], '
     '[[0, 1, 0], [1, -7, 2], [0, 1, 0]], [[0, 0, 0], [0, 1, 0], [0, 0, 0]]])',
     ndi.correlate(D, [[[0, 0, 0], [0, 1, 0], [0, 0, 0]], [[0, 1, 0], [1, -7, 2], [0, 1, 0]],
                       [[0, 0, 0], [0, 1, 0], [0, 0, 0]]], mode='nearest'))



def bilateral(v, spread, sigma, mode):
    """By its definition: scikit-image up to 0.26 shifts the weights by a pixel."""
    sigma = np.broadcast_to(sigma, v.ndim)
    r = [max(2, int(np.ceil(3 * s))) for s in sigma]
    wide, top, weights = np.pad(v, [(k, k) for k in r], mode), 0, 0
    for at in np.ndindex(*(2 * k + 1 for k in r)):
        u = wide[tuple(slice(a, a + n) for a, n in zip(at, v.shape))]
        w = np.exp(-((np.subtract(at, r) / sigma) ** 2).sum() / 2 - (u - v) ** 2 / (2 * spread ** 2))
        top, weights = top + w * u, weights + w
    return top / weights


def kuwahara(v, r, mode):
    r = np.broadcast_to(r, v.ndim)
    wide, out = np.pad(v, [(k, k) for k in r], mode), np.empty(v.shape)
    for at in np.ndindex(*v.shape):
        parts = [wide[tuple(slice(a + s * k, a + s * k + k + 1) for a, s, k in zip(at, side, r))]
                 for side in np.ndindex(*(2,) * v.ndim)]
        out[at] = min(parts, key=lambda p: round(p.var(), 9)).mean()
    return out


deeper = files.Image('plain', 'u16', 13, 17)
case('bilateral', flat, 'output a = bilateral(image, 40, 0.8)', bilateral(F, 40, 0.8, 'edge'), 1e-4)
case('bilateral_3d', deep, 'output a = bilateral(image, 25.5, [0.5, 1, 0.75], border = reflect)',
     bilateral(D, 25.5, [0.5, 1, 0.75], 'symmetric'), 1e-4)
case('kuwahara', flat, 'output a = kuwahara(image / 3)', kuwahara(F / 3, 2, 'edge'), 1e-4)
case('kuwahara_3d', deep, 'output a = kuwahara(image, [1, 0, 2], mirror)', kuwahara(D, [1, 0, 2], 'reflect'), 1e-4)
case('canny', flat, 'output a = canny(image, 1.5, 40, 90)', feature.canny(F, 1.5, 40, 90), 0)
case('canny_type', deeper, 'output a = canny(image)', feature.canny(deeper.array), 0)
case('match_template', flat, 't = crop(image, 3, 6, width = 5, height = 4)\noutput a = match_template(image, t)',
     feature.match_template(F, F[6:10, 3:8]), 1e-4)
case('match_template_padded', deep, 't = crop(image, 3, 2, 1, width = 4, height = 2, depth = 3)\n'
     'output a = match_template(image, t * 2 - 1, pad_input = true)', feature.match_template(D, D[1:4, 2:4, 3:7], True), 1e-4)
case('match_template_flat', files.Image('even', 'u8', 5, 6), 'output a = match_template(image, crop(image, width = 2, height = 2))',
     np.zeros((4, 5)), 0)



def clahe(v, *how):
    """Each plane by itself, with greys from the smallest to the largest value of all."""
    grey = np.round((v - v.min()) / (v.max() - v.min()) * 16383).astype(np.uint16)
    mixed = np.array([_adapthist._clahe(p, *how) for p in grey]).astype(float)
    return (mixed - mixed.min()) / (mixed.max() - mixed.min())


assert np.abs(clahe(F[None], (4, 5), 0.1, 64)[0] - exposure.equalize_adapthist(planar.array, (4, 5), 0.1, 64)).max() < 1e-6
case('clahe', solid, 'output a = clahe(image, [1, 2, 3], 0.2, 64)', clahe(D, (2, 3), 0.2, 64), 1e-6)

for name, source, v, how in (('denoise_tv', flat, F, (20, 0.01, 30)), ('denoise_tv_3d', deep, D, (10.5, 1e-4, 4))):
    case(name, source, f'output a = denoise_tv(image, {how[0]}, {how[1]}, {how[2]})',
         restoration.denoise_tv_chambolle(v, how[0], eps=how[1], max_num_iter=how[2]))
bent = feature.structure_tensor_eigenvalues(feature.structure_tensor(F, 1.2, mode='reflect', order='rc'))
case('structure_tensor_eigenvalue', flat, 'output a = structure_tensor_eigenvalue(image, 1.2, least)', bent[1], 1e-3)
bent = feature.structure_tensor_eigenvalues(feature.structure_tensor(D, 0.7, mode='nearest', order='rc'))
case('structure_tensor_eigenvalue_3d', deep, 'output a = structure_tensor_eigenvalue(image, 0.7, middle, nearest)', bent[1], 1e-3)
case('gabor', flat, 'output a = gabor(image, 0.3, 0.7)', filters.gabor(F, 0.3, 0.7)[0], 1e-4)
case('gabor_imaginary', flat, 'output a = gabor(image, 0.25, 2, imaginary, mirror)', filters.gabor(F, 0.25, 2, mode='mirror')[1], 1e-4)
case('gabor_planes', solid, 'output a = gabor(image, 0.4, part = magnitude)',
     [np.hypot(*filters.gabor(p, 0.4)) for p in D], 1e-4)

# Ranks and shapes.
case('median_filter', flat, 'output a = median_filter(image, 1)', ndi.median_filter(F, 3, mode='nearest'), 0)
case('median_filter_disk', flat, 'output a = median_filter(image, disk(2), border = reflect)',
     ndi.median_filter(F, footprint=morphology.disk(2), mode='reflect'), 0)
case('median_filter_3d', deep, 'output a = median_filter(image, ball(1))',
     ndi.median_filter(D, footprint=morphology.ball(1), mode='nearest'), 0)
holes = files.Image('special', 'f32', 9, 11)
case('median_large', flat, 'output a = median_filter(image, 5, border = reflect)',
     ndi.median_filter(F, 11, mode='reflect'), 0)
case('median_large_literal', flat, 'output a = median_filter(image / 3 - 20, [[%s], [%s], [%s]])' % (
     ', '.join('1' * 41), ', '.join('0' * 20 + '1' * 21), ', '.join('1' * 21 + '0' * 20)), ndi.median_filter(
     (flat / 3 - 20).astype(np.float32), footprint=[[1] * 41, [0] * 20 + [1] * 21, [1] * 21 + [0] * 20], mode='nearest'))
case('percentile_large', deep, 'param r = 3\noutput a = percentile_filter(i32(image) - 100, 30, ball(r), border = constant(-50))',
     ndi.percentile_filter(D - 100, 30, footprint=morphology.ball(3), mode='constant', cval=-50), 0)
case('percentile_large_special', holes, 'output a = percentile_filter(image, 70, disk(5), border = wrap)',
     np.sort([np.pad(holes.float, 5, mode='wrap')[j:j + 9, i:i + 11] for j, i in np.argwhere(morphology.disk(5))], 0)[
         int(81 * 0.7)], 0)
case('percentile_filter', flat, 'output a = percentile_filter(image, 20, box(1))',
     ndi.percentile_filter(F, 20, 3, mode='nearest'), 0)
H = np.pad(holes.float, 1, mode='edge')
H = np.sort([H[j:j + 9, i:i + 11] for j in range(3) for i in range(3)], 0)
case('median_filter_special', holes, 'output a = median_filter(image, 1)', H[4], 0)
case('percentile_filter_special', holes, 'output a = percentile_filter(image, 80, 1)', H[7], 0)
case('min_filter', flat, 'output a = min_filter(image, 2)', ndi.minimum_filter(F, 5, mode='nearest'), 0)
case('max_filter_diamond', flat, 'output a = max_filter(image, diamond(2), border = mirror)',
     ndi.maximum_filter(F, footprint=morphology.diamond(2), mode='mirror'), 0)
case('max_filter_rows', flat, 'output a = max_filter(image, [[1, 0, 0], [0, 1, 1], [0, 0, 0]])',
     ndi.maximum_filter(F, footprint=[[1, 0, 0], [0, 1, 1], [0, 0, 0]], mode='nearest'), 0)
case('variance_filter', flat, 'output a = variance_filter(image, 1)',
     ndi.generic_filter(F, np.var, 3, mode='nearest'), 1e-4)
case('erode', flat, M + 'output a = erode(mask, disk(2))', morphology.binary_erosion(mask2, morphology.disk(2)), 0)
case('dilate', flat, M + 'output a = dilate(mask)', morphology.binary_dilation(mask2), 0)
case('dilate_literal', flat, M + 'output a = dilate(mask, [[1, 1, 0], [0, 1, 0], [0, 0, 0]])',
     ndi.binary_dilation(mask2, [[1, 1, 0], [0, 1, 0], [0, 0, 0]]), 0)
case('erode_constant', flat, M + 'output a = erode(mask, disk(2), border = constant(0))',
     ndi.binary_erosion(mask2, morphology.disk(2)), 0)
case('opening', flat, M + 'output a = opening(mask, 1)', morphology.binary_opening(mask2, np.ones((3, 3))), 0)
case('closing_3d', deep, M + 'output a = closing(mask, ball(1))',
     morphology.binary_closing(mask3, morphology.ball(1)), 0)
case('tophat', flat, 'output a = tophat(image, disk(2))',
     F - ndi.grey_opening(F, footprint=morphology.disk(2), mode='nearest'), 0)
case('bottomhat', flat, 'output a = bottomhat(image, 1)',
     ndi.grey_closing(F, (3, 3), mode='nearest') - F, 0)
case('fill_holes', flat, 'mask = image > 50 and image < 130\noutput a = fill_holes(mask)',
     ndi.binary_fill_holes((F > 50) & (F < 130)), 0)
case('fill_holes_3d', deep, 'mask = image > 60\noutput a = fill_holes(mask)', ndi.binary_fill_holes(D > 60), 0)
case('distance', flat, M + 'output a = distance(mask)', ndi.distance_transform_edt(mask2))
case('distance_spacing', deep, M + 'output a = distance(mask, [3, 1, 2])',
     ndi.distance_transform_edt(mask3, sampling=[3, 1, 2]))
case('hysteresis', flat, 'output a = hysteresis(image, 60, 110)',
     filters.apply_hysteresis_threshold(F, 60, 110), 0)
case('local_maxima', flat, 'output a = local_maxima(image)', morphology.local_maxima(F), 0)
case('local_maxima_3d', deep, 'output a = local_maxima(image, 6)', morphology.local_maxima(D, connectivity=1), 0)
n = ndi.maximum_filter(F, footprint=[[1, 1, 1], [1, 0, 1], [1, 1, 1]], mode='constant', cval=-np.inf)
case('detect_maxima', flat, 'output a = detect_maxima(image)', F > n, 0)
n = ndi.minimum_filter(F, footprint=[[1, 1, 1], [1, 0, 1], [1, 1, 1]], mode='constant', cval=np.inf)
case('detect_minima', flat, 'output a = detect_minima(image)', F < n, 0)
case('reconstruct', flat, 'output a = reconstruct(image - 20, image)',
     morphology.reconstruction(F - 20, F, footprint=np.ones((3, 3))), 0)
case('reconstruct_erosion', flat, 'output a = reconstruct(image + 20, image, method = erosion)',
     morphology.reconstruction(F + 20, F, method='erosion', footprint=np.ones((3, 3))), 0)
case('h_maxima', flat, 'output a = h_maxima(image, 20)',
     F - morphology.reconstruction(F - 20, F, footprint=np.ones((3, 3))) >= 20, 0)
third = flat / np.float32(3)
case('h_maxima_fraction', flat, 'output a = h_maxima(image / 3, 0.3)', morphology.h_maxima(third, 0.3), 0)
case('h_maxima_whole_fraction', flat, 'output a = h_maxima(image, 20.3)', morphology.h_maxima(F, 20.3), 0)
case('h_maxima_of_less', flat, 'output a = h_maxima(image, 300)', morphology.h_maxima(F, 300), 0)
case('skeletonize', flat, 'output a = skeletonize(image > 70)', morphology.skeletonize(mask2), 0)
case('skeletonize_round', flat, 'output a = skeletonize(dilate(image > 230, disk(2)))',
     morphology.skeletonize(ndi.binary_dilation(flat > 230, morphology.disk(2))), 0)
case('rolling_ball', flat, 'output a = rolling_ball(image, 3.5)', restoration.rolling_ball(flat, radius=3.5))
case('rolling_ball_3d', deep, 'output a = rolling_ball(image, 2)', restoration.rolling_ball(deep, radius=2))

# Whole-image values.
S = 'n = ramp(x = 1)\noutput a = f32(n) + '
case('sum', flat, S + 'sum(image)', [F.sum()])
case('mean_where', flat, S + 'mean(image where image > 70)', [F[F > 70].mean()])
case('var', flat, S + 'var(image)', [F.var()])
case('std_where', flat, S + 'std(image where image < 70)', [F[F < 70].std()])
case('median', flat, S + 'median(image)', [np.median(F)])
case('percentile', flat, S + 'percentile(image where image > 20, 37.5)', [np.percentile(F[F > 20], 37.5)])
case('min', flat, S + 'min(image where image > 20)', [F[F > 20].min()])
case('max', deep, S + 'max(image)', [D.max()])
case('count_mask', flat, S + 'count(image > 70)', [np.count_nonzero(F > 70)])
case('count_labels', flat, S + 'count(label(image > 90, 4))', [ndi.label(F > 90, four)[1]])
case('count_selection', flat, S + 'count(image where image > 70)', [np.count_nonzero(F > 70)])
case('otsu_integers', flat, S + 'otsu(i32(image))', [filters.threshold_otsu(flat.astype(np.uint8))])
case('otsu_floats', flat, S + 'otsu(image / 3)', [filters.threshold_otsu((flat / 3).astype(np.float32))])
case('yen', flat, S + 'yen(image / 3)', [filters.threshold_yen((flat / 3).astype(np.float32))])
case('triangle', flat, S + 'triangle(image / 3)', [filters.threshold_triangle((flat / 3).astype(np.float32))])
case('isodata', flat, S + 'isodata(image / 3)', [filters.threshold_isodata((flat / 3).astype(np.float32))])
case('li', flat, S + 'li(image / 3)', [filters.threshold_li(F / 3, tolerance=1e-9)], 1e-4)
case('li_integers', flat, S + 'li(image)', [filters.threshold_li(flat.astype(np.uint8))])
case('histogram', flat, 'output a = histogram(image where image > 20, 9)', np.histogram(F[F > 20], 9)[0], 0)
case('niblack', flat, 'output a = niblack(image, 2, 0.3)', filters.threshold_niblack(F, 5, 0.3), 1e-4)
case('sauvola', flat, 'output a = sauvola(image, 2)', filters.threshold_sauvola(F, 5, 0.2, 127.5), 1e-4)


def kappa_sigma(v, kappa):
    kept = v.ravel()
    while True:
        middle, spread = np.median(kept), kept.std()
        inside = kept[(kept > middle - kappa * spread) & (kept < middle + kappa * spread)]
        if inside.size == kept.size:
            return kept
        kept = inside


spiked = F.copy()
kept = kappa_sigma(np.where(F > 110, F * 20, F), 2)
K = 'spiked = image * 20 if image > 110 else image\ns = kappa_sigma(spiked, 2)\n'
case('kappa_sigma_mean', flat, K + S + 's.mean', [kept.mean()])
case('kappa_sigma_std', flat, K + S + 's.std', [kept.std()])
case('kappa_sigma_count', flat, K + S + 's.count', [kept.size])
lo, hi = np.percentile(F, 5), np.percentile(F, 90)
case('normalize', flat, 'output a = normalize(image, 5, 90)', np.clip((F - lo) / (hi - lo), 0, 1))

# Labels.
case('label', flat, M + 'output a = label(mask)', labels2, 0)
case('label_four', flat, M + 'output a = label(mask, connectivity = 4)', ndi.label(mask2, four)[0], 0)
case('label_six', deep, M + 'output a = label(mask, connectivity = 6)', ndi.label(mask3, six)[0], 0)
case('label_eighteen', deep, 'output a = label(image > 110, connectivity = 18)',
     ndi.label(D > 110, ndi.generate_binary_structure(3, 2))[0], 0)
cores = ndi.label(F > 110, eight)[0]
each = [0] + [np.percentile(F[cores == k], 99.5) for k in range(1, cores.max() + 1)]
case('percentile_of_each', flat, 'cores = label(image > 110)\noutput a = property(cores, image, percentile_99_5)[cores]',
     np.array(each)[cores])
each = [0] + [4 * np.pi * r.area / r.perimeter ** 2 if r.perimeter > 0 else 0 for r in measure.regionprops(cores)]
case('circularity_of_each', flat, 'cores = label(image > 110)\nc = property(cores, circularity)\n'
     'output a = (c if c < inf else 0)[cores] if cores > 0 else 0', np.array(each)[cores])
cells = segmentation.expand_labels(cores, 2)
ring, each = np.where((cores == 0) & (F > 40), cells, 0), np.arange(cores.max() + 1)
ratio = np.nan_to_num(ndi.mean(F, cores, each) / ndi.mean(F, ring, each), nan=-1)
case('ring_by_the_same_numbers', flat, 'cores = label(image > 110)\ncells = expand_labels(cores, 2)\n'
     'ring = mask_labels(cells, not cores > 0 and image > 40, renumber = false)\n'
     'ratio = property(cores, image, mean) / property(ring, image, mean)\n'
     'output a = (-1 if isnan(ratio) else ratio)[cells] if cells > 0 else 0', np.where(cells > 0, ratio[cells], 0))
planes = np.zeros((3, 3, 3)), np.zeros((3, 3, 3))
planes[0][1], planes[1][1] = four, eight
case('label_planes', deep, M + 'output a = label(mask, connectivity = 4)', ndi.label(mask3, planes[0])[0], 0)
case('label_planes_corners', deep, M + 'output a = label(mask, connectivity = 8)', ndi.label(mask3, planes[1])[0], 0)
case('label_equal', flat, 'output a = label_equal(floor(image / 40), connectivity = 4)',
     measure.label(np.floor(F / 40).astype(int), background=0, connectivity=1), 0)
sizes = np.bincount(labels2.ravel())
ids = np.arange(labels2.max() + 1)
sums = ndi.sum_labels(F, labels2, ids)
case('label_sum', flat, L + 'output a = label_sum(labels, image)[labels] if labels > 0 else 0',
     np.where(labels2 > 0, sums[labels2], 0))
case('label_count', flat, L + 'output a = label_count(labels)[labels] if labels > 0 else 0',
     np.where(labels2 > 0, sizes[labels2], 0), 0)
case('property', flat, L + 'output a = property(labels, image, mean)[labels] if labels > 0 else 0',
     np.where(labels2 > 0, (sums / np.maximum(sizes, 1))[labels2], 0))
small = ndi.label(F > 100, eight)[0]
bins = np.bincount(small.ravel())
B = 'labels = label(image > 100)\n'
case('remove_small_objects', flat, B + 'output a = remove_small_objects(labels, 3)',
     renumber(np.where(bins[small] >= 3, small, 0)), 0)
case('remove_large_objects', flat, B + 'output a = remove_large_objects(labels, 3)',
     renumber(np.where(bins[small] <= 3, small, 0)), 0)
case('filter_by_size', flat, B + 'output a = filter_by_size(labels, 2, 4)',
     renumber(np.where((bins[small] >= 2) & (bins[small] <= 4), small, 0)), 0)
case('remove_small_mask', flat, 'output a = remove_small_objects(image > 100, 3)',
     morphology.remove_small_objects(F > 100, 3), 0)
case('clear_border', flat, B + 'output a = clear_border(labels)', renumber(segmentation.clear_border(small)), 0)
case('clear_border_buffer', flat, B + 'output a = clear_border(labels, 1)',
     renumber(segmentation.clear_border(small, buffer_size=1)), 0)
case('keep_labels', flat, B + 'output a = keep_labels(labels, labels % 2 == 0)'.replace(
    'labels % 2', 'number(labels) % 2'), renumber(np.where(small % 2 == 0, small, 0)), 0)
case('mask_labels', flat, B + 'output a = mask_labels(labels, image > 110)',
     renumber(np.where(F > 110, small, 0)), 0)
case('as_labels', flat, 'output a = as_labels(floor(image / 40) * 3)', renumber((F // 40).astype(int) * 3), 0)
away = [np.hypot(*(np.argwhere(small == k) - np.argwhere(small == k).mean(0)).T).max() for k in range(1, small.max() + 1)]
case('maximum_extension', flat, B + 'output a = maximum_extension(labels)', np.r_[0, away][small])
case('expand_labels', flat, B + 'output a = expand_labels(labels, 2)', segmentation.expand_labels(small, 2), 0)
case('boundaries', flat, L + 'output a = boundaries(labels)', segmentation.find_boundaries(labels2), 0)
case('boundaries_inner', flat, L + 'output a = boundaries(labels, inner)',
     segmentation.find_boundaries(labels2, mode='inner'), 0)
markers = ndi.label(F < 40, eight)[0]
case('watershed', flat, 'markers = label(image < 40)\noutput a = watershed(image, markers)',
     files.watershed(F, markers), 0)
case('watershed_mask', flat, M + 'markers = label(image > 100)\noutput a = watershed(-image, markers, mask, 8)',
     files.watershed(-F, ndi.label(F > 100, eight)[0], mask=mask2, connectivity=2), 0)
case('watershed_line', flat, 'markers = label(image < 40)\noutput a = watershed(image, markers, line = true)',
     files.watershed(F, markers, watershed_line=True), 0)
case('hull', flat, 'labels = label(image > 95)\noutput a = hull(labels)',
     morphology.convex_hull_object(F > 95, connectivity=2), 0)

# Projections.
for axis, name in enumerate('zyx'):
    case('max_project_' + name, deep, f'output a = max_project(image, {name})', D.max(axis), 0)
    case('mean_project_' + name, deep, f'output a = mean_project(image, {name})', D.mean(axis))
    case('std_project_' + name, deep, f'output a = std_project(image, {name})', D.std(axis))
    case('argmax_project_' + name, deep, f'output a = argmax_project(image, {name})', D.argmax(axis), 0)
case('min_project_y', flat, 'output a = min_project(image, y)', F.min(0), 0)
case('sum_project_x', flat, 'output a = sum_project(image, x)', F.sum(1))
for axis, name in enumerate('zyx'):
    w = np.ma.masked_array(D.astype(float), D <= 70)
    for fold, want in ('mean', w.mean(axis)), ('std', w.std(axis)), ('median', np.ma.median(w, axis)):
        case(f'{fold}_project_of_kept_{name}', deep, f'output a = {fold}_project(image where image > 70, {name})', want.filled(np.nan))
    for _ in range(5):
        w = np.ma.masked_where(abs(w - np.ma.median(w, axis, keepdims=True)) > 1.2 * w.std(axis, keepdims=True), w)
    case('sigma_clip_' + name, deep, f'output a = sigma_clip(image where image > 70, 1.2, {name})', ~np.ma.getmaskarray(w), 0)
case('median_project', deep, 'output a = median_project(image)', np.sort(D, 0)[2], 0)

# Geometry.
case('crop', flat, 'output a = crop(image, 3, 2, width = 5, height = 4)', F[2:6, 3:8], 0)
case('crop_3d', deep, 'output a = crop(image, z = 1, depth = 2)', D[1:3], 0)
case('pad', flat, 'output a = pad(image, 2, constant(9))', np.pad(F, 2, constant_values=9), 0)
case('pad_reflect', deep, 'output a = pad(image, [1, 2, 3], reflect)',
     np.pad(D, ((1, 1), (2, 2), (3, 3)), mode='symmetric'), 0)
case('pad_mirror', flat, 'output a = pad(image, 3, mirror)', np.pad(F, 3, mode='reflect'), 0)
case('pad_wrap', flat, 'output a = pad(image, 3, wrap)', np.pad(F, 3, mode='wrap'), 0)
case('flip_x', flat, 'output a = flip(image)', F[:, ::-1], 0)
case('flip_z', deep, 'output a = flip(image, z)', D[::-1], 0)
case('transpose', flat, 'output a = transpose(image)', F.T, 0)
case('transpose_3d', deep, 'output a = transpose(image, x, z)', np.swapaxes(D, 0, 2), 0)
case('concatenate', deep, 'output a = concatenate(image, image * 2, y)', np.concatenate((D, D * 2), 1), 0)
case('roll', flat, 'output a = roll(image, 3, -2)', np.roll(F, (-2, 3), (0, 1)), 0)
case('translate', flat, 'output a = translate(image, 1.25, -0.5)',
     ndi.shift(np.pad(F, 9), (-0.5, 1.25), order=1, mode='constant')[9:-9, 9:-9], 1e-4)
case('translate_3d', deep, 'output a = translate(image, 0.5, 0.25, 0.75, border = nearest)',
     ndi.shift(D, (0.75, 0.25, 0.5), order=1, mode='nearest'), 1e-4)
case('translate_fill', flat, 'output a = translate(image, 1.25, -0.5, fill = 7)',
     ndi.shift(F, (-0.5, 1.25), order=1, mode='constant', cval=7), 1e-4)
case('affine_fill', deep, 'output a = affine(image, [[0.9, 0.2, 0, -0.7], [0, 1.1, 0, 0.3], [0, 0, 1, 0.25]], interpolation = nearest, fill = 3)',
     ndi.affine_transform(D, [[1, 0, 0], [0, 1.1, 0], [0, 0.2, 0.9]], (0.25, 0.3, -0.7), order=0, mode='constant', cval=3), 0)
case('rotate', flat, 'output a = rotate(image, 30)',
     transform.rotate(np.pad(F, 12), 30, order=1, preserve_range=True)[12:-12, 12:-12], 1e-3)
case('resize', flat, 'output a = resize(image, 23, 9)',
     transform.resize(F, (9, 23), order=1, mode='edge', anti_aliasing=False, preserve_range=True), 1e-4)
case('scale', flat, 'output a = scale(image, 2)',
     transform.rescale(F, 2, order=1, mode='edge', anti_aliasing=False, preserve_range=True), 1e-4)
even = files.pixels(12, 16)
case('downscale', even, 'output a = downscale(image, [3, 2])',
     transform.downscale_local_mean(even.astype(float), (3, 2)))
case('affine', flat, 'output a = affine(image, [[1, 0.25, 0.5], [0.125, 1, -1]], border = nearest)',
     ndi.affine_transform(F, [[1, 0.125], [0.25, 1]], (-1, 0.5), order=1, mode='nearest'), 1e-4)
case('affine_3d', deep, 'output a = affine(image, [[1, 0.25, 0, 0.5], [0, 1, 0.5, -1], [0.125, 0, 1, 0]])',
     ndi.affine_transform(D, [[1, 0, 0.125], [0.5, 1, 0], [0, 0.25, 1]], (0, -1, 0.5), order=1, mode='grid-constant'), 1e-4)
case('affine_extents', flat, 'output a = affine(image, [[1, 0.25, 0.5], [0.125, 1, -1]], border = mirror, width = 20, height = 10)',
     ndi.affine_transform(F, [[1, 0.125], [0.25, 1]], (-1, 0.5), order=1, mode='mirror', output_shape=(10, 20)), 1e-4)
case('zoom', flat, 'output a = zoom(image, [1.3, 1.6])', ndi.zoom(F, [1.3, 1.6]), 1e-4)
case('remap', flat, 'output a = remap(image, x_of(image) + image / 64)',
     ndi.map_coordinates(F, np.indices(F.shape) + [np.zeros(F.shape), F / 64], order=1, mode='grid-constant'), 1e-4)
case('rotate_space', deep, 'output a = rotate(image, 30, fill = 2, axis = y, reshape = true)',
     ndi.rotate(D, 30, (0, 2), order=1, mode='constant', cval=2), 1e-4)
case('polar', flat, 'output a = polar(image, height = 24)', transform.warp_polar(F, output_shape=(24, 11), preserve_range=True), 1e-4)
case('deskew', deep, 'output a = deskew(image, 30, 2)', ndi.affine_transform(
    D, [[-3 ** 0.5 / 2, 0.5, 0], [2, 0, 0], [0, 0, 1]], order=1, mode='grid-constant', output_shape=(4, 15, 9)), 1e-4)
case('deskew_sheared', deep, 'output a = deskew(image, 60, 2, sheared)', ndi.affine_transform(
    D, [[1, 0, 0], [-1, 1, 0], [0, 0, 1]], order=1, mode='grid-constant', output_shape=(5, 11, 9)), 1e-4)

# Fourier transforms and registration.
def parts(f):
    return np.stack((f.real, f.imag))


F7 = np.tile(F[:2], 27)[:, :448]
case('fft', flat, 'output a = fft(image)', parts(np.fft.fft2(F)), 2e-7 * np.abs(np.fft.fft2(F)).max())
case('fft_3d', deep, 'output a = fft(image, image * image)', parts(np.fft.fftn(D + 1j * D * D)), 1)
case('fft_xy', deep, 'output a = fft(image, along = xy)', parts(np.fft.fft2(D)), 2e-3)
case('fft_passes', flat, 'c = canvas(image, width = 448, height = 2)\noutput a = fft(image[x = x_of(c) % 17, y = y_of(c)])',
     parts(np.fft.fft2(F7)), 2e-7 * F7.sum())
for n in (20160, 1031):  # three passes; a chirp of several
    row = np.tile(F[0], n // 17 + 1)[None, :n]
    case(f'fft_{n}', flat, f'c = canvas(image, width = {n}, height = 1)\noutput a = crop(fft(image[x = x_of(c) % 17, y = 0]), width = 16)',
         parts(np.fft.fft2(row))[..., :16], 2e-7 * row.sum())
case('ifft', deep, 'output a = ifft(concatenate(image, image * image, c))', parts(np.fft.ifftn(D + 1j * D * D)), 1e-3)
K = 'p = crop(image, 3, 2, width = 5, height = 4)\nq = p / sum(p)\n'
psf = F[2:6, 3:8] / F[2:6, 3:8].sum()
case('fftconvolve', flat, K + 'output a = fftconvolve(image, q)', signal.fftconvolve(F, psf, mode='same'), 1e-4)
case('fftconvolve_3d', deep, 'k = crop(image, width = 3, height = 3, depth = 3)\noutput a = fftconvolve(image, k / sum(k), reflect)',
     ndi.convolve(D, D[:3, :3, :3] / D[:3, :3, :3].sum(), mode='reflect'), 1e-4)
case('deconvolve', flat, K + 'output a = deconvolve(image / 255, q, 3)', restoration.richardson_lucy(F / 255, psf, 3, clip=False), 1e-5)
case('wiener', flat, K + 'output a = wiener(image, q, 0.1)', restoration.wiener(F, psf, 0.1, clip=False), 1e-3)
P2 = 'c = canvas(image, width = 3, height = 1)\n'
P3 = 'output a = s.x if x_of(c) == 0 else s.y if x_of(c) == 1 else s.z'
moved = ndi.shift(F, (-1.375, 2.625), order=1, mode='grid-wrap')
case('shift_of', flat, P2 + 's = shift_of(image, translate(image, 2.625, -1.375, border = wrap), 10)\n' + P3,
     [[*registration.phase_cross_correlation(F, moved, upsample_factor=10)[0][::-1], 0]], 1e-6)
case('shift_of_plain', flat, P2 + 's = shift_of(image, translate(image, 2.625, -1.375, border = wrap), 4, plain)\n' + P3,
     [[*registration.phase_cross_correlation(F, moved, upsample_factor=4, normalization=None)[0][::-1], 0]], 1e-6)
moved = ndi.shift(D, (1, -1.375, 2.625), order=1, mode='grid-wrap')
case('shift_of_3d', deep, 'c = canvas(image, width = 3, height = 1, depth = 1)\ns = shift_of(image, '
     'translate(image, 2.625, -1.375, 1, border = wrap), 20)\n' + P3,
     [[registration.phase_cross_correlation(D, moved, upsample_factor=20)[0][::-1]]], 1e-6)
waves = [ndi.shift(D[0], (k * 0.75, -k * 1.25), order=1, mode='grid-wrap') for k in range(3)]
found = np.array([registration.phase_cross_correlation(waves[0], w, upsample_factor=4)[0] for w in waves])
steps = np.array([registration.phase_cross_correlation(v, w, upsample_factor=4)[0] for v, w in zip(waves[:1] + waves, waves)])
MOVIE = ('c = canvas(image, depth = 3)\nv = remap(c + image[z = 0], x_of(c) + z_of(c) * 1.25, y_of(c) - z_of(c) * 0.75, border = wrap)\n')
for against, want in (('first', found), ('previous', np.cumsum(steps, 0))):
    case('drift_' + against, deep, MOVIE + f'd = drift(v, 4, {against})\nw = canvas(v, width = 2)\noutput a = w + (d.x if x_of(w) == 0 else d.y)',
         np.repeat(want[:, None, ::-1], 7, 1), 1e-5)


# Colour.
palette = np.array([[255, 0, 0], [0, 0, 255], [255, 255, 0], [255, 0, 255], [0, 128, 0], [75, 0, 130],
                    [255, 140, 0], [0, 255, 255], [255, 192, 203], [154, 205, 50]])
picture = np.where((small > 0)[..., None], palette[(small - 1) % 10], 0)
assert np.abs(color.label2rgb(small, bg_label=0) * 255 - picture).max() < 1
case('label2rgb', flat, B + 'output a = label2rgb(labels)', np.moveaxis(picture, -1, 0), 0)


def lit(v):
    low, high = np.percentile(v, [1, 99.8])
    return 255 * np.clip((v - low) / (high - low), 0, 1)


def rim(v, r):
    """Pixels of an object with another label, or none, within a disk."""
    under = dict(footprint=morphology.disk(r), mode='nearest')
    return (v > 0) & (ndi.maximum_filter(v, **under) != ndi.minimum_filter(v, **under))


def numbered(picture, v):
    """Numbers of 5 pixels at the centroids, each pixel that of the nearest one, with a seam of a pixel."""
    font = ['111101101101111', '010110010010111', '111001111100111', '111001111001111', '101101111001001',
            '111100111001111', '111100111101111', '111001001001001', '111101111101111', '111101111001111']
    at = np.array(ndi.center_of_mass(v > 0, v, range(1, v.max() + 1)))
    seeds = np.zeros(v.shape, int)
    seeds[tuple(np.floor(at).astype(int).T)] = range(1, v.max() + 1)
    near = seeds[tuple(ndi.distance_transform_edt(seeds == 0, return_distances=False, return_indices=True))]
    text = np.zeros(v.shape, bool)
    for k, (y, x) in enumerate(at, 1):
        wide = 4 * len(str(k)) - 1
        y, x = [int(np.clip(c - n / 2, 1, max(size - 1 - n, 1))) for c, n, size in zip((y, x), (5, wide), v.shape)]
        for i, digit in enumerate(str(k)):
            cells = np.array(list(font[int(digit)])).reshape(5, 3) == '1'
            part = np.s_[y:y + 5, x + 4 * i:x + 4 * i + 3]
            text[part] |= cells & (near[part] == k)
    seam = ndi.binary_dilation(text, np.ones((3, 3)))
    return np.where(text[..., None], 255, np.where(seam[..., None], 0, picture))


BYTES = 4e-3  # of 1: rounded to the byte beside
grey = lit(F)[..., None]
parts = ndi.label(F > 60, eight)[0]
P = 'parts = label(image > 60)\n'
painted = np.where((parts > 0)[..., None], palette[(parts - 1) % 10], 0)
case('label2rgb_over', flat, P + 'output a = f32(label2rgb(parts, image / 7, 0.4)) / 255',
     np.moveaxis(0.4 * painted + 0.6 * grey, -1, 0) / 255, BYTES)
case('outline', flat, P + 'output a = f32(outline(parts, image, [10, 200, 30], 2, numbers = 5)) / 255',
     np.moveaxis(numbered(np.where(rim(parts, 2)[..., None], [10, 200, 30], grey), parts), -1, 0) / 255, BYTES)
case('outline_of_colours', flat, P + 'output a = f32(outline(parts, outline(parts, i32(image) - 90, labels, 2), black)) / 255',
     np.moveaxis(np.where(rim(parts, 1)[..., None], 0, np.where(rim(parts, 2)[..., None], painted, grey)), -1, 0) / 255, BYTES)
case('merge', flat, M + 'output a = f32(merge(image, sqrt(image), grey = image > 100, yellow = mask and image < 80, magenta = -image)) / 255',
     np.clip([lit(F) + 255 * (F > 100) + 255 * (mask2 & (F < 80)) + lit(-F), lit(np.sqrt(F)) + 255 * (F > 100) + 255 * (mask2 & (F < 80)),
              255 * (F > 100) + lit(-F)], 0, 255) / 255, BYTES)
case('concatenate_channels', flat, 'both = concatenate(image, image / 2, c)\noutput a = concatenate(both, both[c = 1] - 1, axis = c)',
     [F, F / 2, F / 2 - 1], 0)
case('colormap', flat, 'output a = colormap(image, yellow, 0, 255)', np.array([F, F, 0 * F]), 0)
put = F.copy()
put[2:, 3:] = F[:-2, :-3] / 2
case('paste', flat, 'output a = paste(image, image / 2, 3, 2)', put)
mixed = np.stack([F, 255 - F, np.roll(F, -1, 1)], -1)
mixed[F % 5 == 0] = 90
case('rgb2hsv', flat, 'c = c_of(canvas(image, channels = 3))\nnext = roll(image, -1)\n'
     'output a = rgb2hsv(90 if image % 5 == 0 else image if c == 0 else 255 - image if c == 1 else next)',
     np.moveaxis(color.rgb2hsv(mixed / 255), -1, 0), 1e-6)
case('rgb2gray', flat, B + 'output a = rgb2gray(label2rgb(labels))', color.rgb2gray(picture / 255) * 255, 1e-4)

# The language itself.
case('floor_division', flat, 'n = i32(image) - 100\noutput a = n // 7 * 1000 + n % 7',
     (F - 100) // 7 * 1000 + (F - 100) % 7, 0)
case('powers', flat, 'output a = (image / 16) ** 3 + (image + 1) ** -1', (F / 16) ** 3 + 1 / (F + 1))
case('chosen', flat, 'output a = image if image > 70 and not image > 100 else -1',
     np.where((F > 70) & (F <= 100), F, -1), 0)
case('channel_broadcast', flat, 'rgb = label2rgb(label(image > 100))\noutput a = max(rgb, image)',
     np.maximum(np.moveaxis(picture, -1, 0), F), 0)
case('broadcast_plane', deep, 'output a = image - max_project(image)', D - D.max(0), 0)


def primes(v):
    return np.array([n >= 2 and all(n % d for d in range(2, n // 2 + 1)) for n in v.astype(int).ravel()]).reshape(v.shape)


PRIME = '''fn is_prime(v : i32) : bool {
  if v < 2 { return false }
  for d in 2 .. v / 2 { if v % d == 0 { return false } }
  return true
}
'''
case('primes', flat, PRIME + 'output a = is_prime(i32(image))', primes(F), 0)


def collatz(v):
    out = []
    for n in v.astype(int).ravel():
        k = 0
        while n > 1:
            n, k = (n // 2 if n % 2 == 0 else 3 * n + 1), k + 1
        out.append(k)
    return np.array(out).reshape(v.shape)


case('collatz', flat, '''fn half(n) = n // 2
fn collatz(v : i32) {
  n = v
  steps = 0
  while n > 1 {
    if n % 2 == 0 { n = half(n) } else { n = 3 * n + 1 }
    steps = steps + 1
  }
  return steps
}
output a = collatz(i32(image))''', collatz(F), 0)
E = F.astype(np.float32)
for _ in range(3):
    E = E * ndi.gaussian_filter(F / np.maximum(ndi.gaussian_filter(E, 1, mode='nearest'), 1e-6), 1, mode='nearest')
case('richardson_lucy', flat, 'output a = richardson_lucy(image, 1, 3)', E, 1e-4)
case('rounds', flat, 'param n = 4\na = image\nb = 1\nrepeat n {\n  a = a / 2 + b\n  b = b * 3\n}\noutput a',
     (((F / 2 + 1) / 2 + 3) / 2 + 9) / 2 + 27)
case('nested_rounds', flat,
     'a = image\nrepeat 2 {\n  b = a\n  repeat 3 { b = b + 1 }\n  a = a + b\n}\noutput a', 4 * F + 9)

# NaN and infinity; scikit-image is asked about ranks where its order of NaN is none.
H = holes.float
below, above = files.ranks('lowest', H)[0], files.ranks('highest', H)[0]
case('local_maxima_special', holes, 'output a = local_maxima(image)', morphology.local_maxima(below) & ~np.isnan(H), 0)
case('watershed_special', holes, 'output a = watershed(image, label(image < 0.5), not image > 9)',
     files.watershed(above, ndi.label(H < 0.5, eight)[0], mask=~(H > 9)), 0)
for method, nan_is, seed in (('dilation', 'lowest', -2), ('erosion', 'highest', 2)):
    low, high, values = files.ranks(nan_is, H + seed, H)
    rebuilt = values[morphology.reconstruction(low, high, method, np.ones((3, 3))).astype(int)]
    case(f'reconstruct_{method}_special', holes, f'output a = reconstruct(image + {seed}, image, method = {method})', rebuilt)
steps = np.floor(H / 8)
case('label_equal_special', holes, 'output a = label_equal(floor(image / 8))', measure.label(
    np.where(np.isnan(steps) | (steps == 0), 0, files.ranks('highest', steps)[0] + 1), background=0), 0)
case('mode_filter_special', holes, 'output a = mode_filter(image, [[1, 1, 0]])',
     np.where(np.isnan(H), np.c_[H[:, :1], H[:, :-1]], np.fmin(H, np.c_[H[:, :1], H[:, :-1]])), 0)
curved = feature.hessian_matrix_eigvals(feature.hessian_matrix(-H, 0, mode='reflect', order='rc'))
case('sato_special', holes, 'output a = sato(image, 0.1)', 0.01 * np.maximum(curved[0], 0), 1e-4)
case('colormap_special', holes, 'output a = colormap(image, green, -5, 12.5)', np.stack(
    [0 * below, np.rint(np.nan_to_num(np.clip((H + 5) / 17.5, 0, 1) * 255)), 0 * below]), 0)

files.write('operators.txt', cases)
