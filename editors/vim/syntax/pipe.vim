" Vim syntax of .pipe files; editors/make_grammars.py writes it.
if exists('b:current_syntax')
  finish
endif
syn keyword pipeStatement fn input output param
syn keyword pipeControl as at else for if in is most
syn keyword pipeControl repeat return stable until where while
syn keyword pipeLogic and not or xor
syn keyword pipeConstant false true
syn keyword pipeOperator abs acos affine all any aperture_sum argmax_project as_labels
syn keyword pipeOperator asin asinh atan atan2 ball bilateral blob_dog blob_log
syn keyword pipeOperator bottomhat boundaries box c_of canny canvas cbrt ceil
syn keyword pipeOperator centroids channels clahe clear_border clip closing closing_labels colormap
syn keyword pipeOperator colours combine_labels concatenate constant convolve corner_foerstner corner_harris corner_kitchen_rosenfeld
syn keyword pipeOperator correlate cos cosh count crop deconvolve denoise_tv depth
syn keyword pipeOperator deskew detect_maxima detect_minima diamond difference_of_gaussians dilate dilate_labels dimensions
syn keyword pipeOperator disk distance divide_by_gaussian_background downscale drift entropy erode erode_connected_labels
syn keyword pipeOperator erode_labels eroded_otsu exp exp2 expand_labels extension_ratio f32 f64
syn keyword pipeOperator farid fft fftconvolve fill_holes filter_by_size flip flood floor
syn keyword pipeOperator frangi gabor gauss_otsu gaussian gaussian_derivative gradient_magnitude grid_distance h_maxima
syn keyword pipeOperator has_axis height hessian_eigenvalue histogram hsv2rgb hull hypot hysteresis
syn keyword pipeOperator i16 i32 ifft isfinite isnan isodata kappa_sigma keep_labels
syn keyword pipeOperator kuwahara lab2rgb label label2rgb label_count label_equal label_max label_min
syn keyword pipeOperator label_spots label_sum laplace laplacian_of_gaussian li local_binary_pattern local_maxima local_minima
syn keyword pipeOperator log log10 log1p log2 make_isotropic manders mask_labels masked_voronoi
syn keyword pipeOperator match_histograms match_template max max_filter max_project maximum_extension mean mean_extension
syn keyword pipeOperator mean_filter mean_project measure median median_filter median_project meijering merge
syn keyword pipeOperator min min_filter min_project minimum_threshold mode_filter morphological_gradient multi_otsu nan_to_num
syn keyword pipeOperator near_pairs neighbour_count neighbour_distance neighbour_value niblack normalize number opening
syn keyword pipeOperator opening_labels otsu outline overlap_coefficient overlapping_pairs pad paste peak_local_max
syn keyword pipeOperator pearson percentile percentile_filter pick pixel_size placed points polar
syn keyword pipeOperator power_spectrum prewitt property ramp reconstruct relabel remap remove_large_objects
syn keyword pipeOperator remove_small_holes remove_small_objects resize rgb2gray rgb2hed rgb2hsv rgb2lab rgb2xyz
syn keyword pipeOperator rgb2ycbcr rgb2yuv richardson_lucy roberts roll rolling_ball rotate round
syn keyword pipeOperator sato sauvola scale scharr separate_stains shape_index shift_of sigma_clip
syn keyword pipeOperator sign sin sinh skeletonize sobel split_objects sqrt stabilize
syn keyword pipeOperator star_height std std_filter std_project structure_tensor_eigenvalue subtract_gaussian_background sum sum_filter
syn keyword pipeOperator sum_project tan tanh thin tophat touching_pairs translate transpose
syn keyword pipeOperator triangle trunc u16 u32 u8 unsharp var variance_filter
syn keyword pipeOperator voronoi voronoi_otsu watershed white width wiener x_of y_of
syn keyword pipeOperator yen z_of zoom
syn match pipeNumber /\v<(0[xX]\x+|\d+(\.\.@!\d*)?([eE][+-]?\d+)?)( ?(um2|um3|mm|nm|px|um)>)?/
syn match pipeProperty /\v\w@<=\.(area|area_bbox|area_convex|area_filled|axis_major_length|axis_minor_length|bbox|centroid|centroid_local|centroid_weighted|centroid_weighted_local|centroid_x|centroid_y|centroid_z|circularity|eccentricity|equivalent_diameter_area|euler_number|extent|feret_diameter_max|inertia_tensor|inertia_tensor_eigvals|intensity_max|intensity_mean|intensity_median|intensity_min|intensity_percentile_90|intensity_std|intensity_sum|label|mass_center_x|mass_center_y|mass_center_z|moments|moments_central|moments_hu|moments_normalized|moments_weighted|moments_weighted_central|moments_weighted_hu|moments_weighted_normalized|num_pixels|orientation|perimeter|perimeter_crofton|solidity)>/hs=s+1
syn region pipeString start=/"/ skip=/\\./ end=/"/ oneline
syn match pipeComment /#.*/ contains=@Spell
hi def link pipeStatement Statement
hi def link pipeControl Conditional
hi def link pipeLogic Operator
hi def link pipeConstant Boolean
hi def link pipeOperator Function
hi def link pipeNumber Number
hi def link pipeProperty Identifier
hi def link pipeString String
hi def link pipeComment Comment
let b:current_syntax = 'pipe'
