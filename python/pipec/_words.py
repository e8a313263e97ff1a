"""The words of the language; editors/make_grammars.py writes this file."""

STATEMENT = (
    "fn", "input", "output", "param",
)
CONTROL = (
    "as", "at", "else", "for", "if",
    "in", "is", "most", "repeat", "return",
    "stable", "until", "where", "while",
)
LOGIC = (
    "and", "not", "or", "xor",
)
CONSTANT = (
    "false", "true",
)
UNIT = (
    "um2", "um3", "mm", "nm", "px",
    "um",
)
OPERATOR = (
    "abs", "acos", "affine", "all", "any",
    "aperture_sum", "argmax_project", "as_labels", "asin", "asinh",
    "atan", "atan2", "ball", "bilateral", "bottomhat",
    "boundaries", "box", "c_of", "canny", "canvas",
    "cbrt", "ceil", "centroids", "channels", "clahe",
    "clear_border", "clip", "closing", "closing_labels", "colormap",
    "colours", "combine_labels", "concatenate", "constant", "convolve",
    "corner_foerstner", "corner_harris", "corner_kitchen_rosenfeld", "correlate", "cos",
    "cosh", "count", "crop", "deconvolve", "denoise_tv",
    "depth", "deskew", "detect_maxima", "detect_minima", "diamond",
    "difference_of_gaussians", "dilate", "dilate_labels", "dimensions", "disk",
    "distance", "divide_by_gaussian_background", "downscale", "drift", "entropy",
    "erode", "erode_connected_labels", "erode_labels", "eroded_otsu", "exp",
    "exp2", "expand_labels", "extension_ratio", "f32", "f64",
    "farid", "fft", "fftconvolve", "fill_holes", "filter_by_size",
    "flip", "flood", "floor", "frangi", "gabor",
    "gauss_otsu", "gaussian", "gaussian_derivative", "gradient_magnitude", "grid_distance",
    "h_maxima", "has_axis", "height", "hessian_eigenvalue", "histogram",
    "hsv2rgb", "hull", "hypot", "hysteresis", "i16",
    "i32", "ifft", "isfinite", "isnan", "isodata",
    "kappa_sigma", "keep_labels", "kuwahara", "lab2rgb", "label",
    "label2rgb", "label_count", "label_equal", "label_max", "label_min",
    "label_spots", "label_sum", "laplace", "laplacian_of_gaussian", "li",
    "local_binary_pattern", "local_maxima", "local_minima", "log", "log10",
    "log1p", "log2", "make_isotropic", "manders", "mask_labels",
    "masked_voronoi", "match_histograms", "match_template", "max", "max_filter",
    "max_project", "maximum_extension", "mean", "mean_extension", "mean_filter",
    "mean_project", "measure", "median", "median_filter", "median_project",
    "meijering", "merge", "min", "min_filter", "min_project",
    "minimum_threshold", "mode_filter", "morphological_gradient", "multi_otsu", "nan_to_num",
    "near_pairs", "neighbour_count", "neighbour_distance", "neighbour_value", "niblack",
    "normalize", "number", "opening", "opening_labels", "otsu",
    "outline", "overlap_coefficient", "overlapping_pairs", "pad", "paste",
    "peak_local_max", "pearson", "percentile", "percentile_filter", "pick",
    "pixel_size", "placed", "points", "polar", "power_spectrum",
    "prewitt", "property", "ramp", "reconstruct", "relabel",
    "remap", "remove_large_objects", "remove_small_holes", "remove_small_objects", "resize",
    "rgb2gray", "rgb2hed", "rgb2hsv", "rgb2lab", "rgb2xyz",
    "rgb2ycbcr", "rgb2yuv", "richardson_lucy", "roberts", "roll",
    "rolling_ball", "rotate", "round", "sato", "sauvola",
    "scale", "scharr", "separate_stains", "shape_index", "shift_of",
    "sigma_clip", "sign", "sin", "sinh", "skeletonize",
    "sobel", "split_objects", "sqrt", "stabilize", "std",
    "std_filter", "std_project", "structure_tensor_eigenvalue", "subtract_gaussian_background", "sum",
    "sum_filter", "sum_project", "tan", "tanh", "thin",
    "tophat", "touching_pairs", "translate", "transpose", "triangle",
    "trunc", "u16", "u32", "u8", "unsharp",
    "var", "variance_filter", "voronoi", "voronoi_otsu", "watershed",
    "white", "width", "wiener", "x_of", "y_of",
    "yen", "z_of", "zoom",
)
PROPERTY = (
    "area", "area_bbox", "area_convex", "area_filled", "axis_major_length",
    "axis_minor_length", "bbox", "centroid", "centroid_local", "centroid_weighted",
    "centroid_weighted_local", "centroid_x", "centroid_y", "centroid_z", "circularity",
    "eccentricity", "equivalent_diameter_area", "euler_number", "extent", "feret_diameter_max",
    "inertia_tensor", "inertia_tensor_eigvals", "intensity_max", "intensity_mean", "intensity_median",
    "intensity_min", "intensity_percentile_90", "intensity_std", "intensity_sum", "label",
    "mass_center_x", "mass_center_y", "mass_center_z", "moments", "moments_central",
    "moments_hu", "moments_normalized", "moments_weighted", "moments_weighted_central", "moments_weighted_hu",
    "moments_weighted_normalized", "num_pixels", "orientation", "perimeter", "perimeter_crofton",
    "solidity",
)
