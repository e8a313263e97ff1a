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
syn keyword pipeOperator asin asinh atan atan2 background_mesh ball bilateral blob_dog
syn keyword pipeOperator blob_log bottomhat boundaries box box_statistics c_of canny canvas
syn keyword pipeOperator cbrt ceil centroids channels clahe clear_border clip closing
syn keyword pipeOperator closing_labels colormap colours combine_labels concatenate constant convolve corner_foerstner
syn keyword pipeOperator corner_harris corner_kitchen_rosenfeld correlate cos cosh cosmic_rays count crop
syn keyword pipeOperator deconvolve denoise_tv depth deskew detect_maxima detect_minima diamond difference_of_gaussians
syn keyword pipeOperator dilate dilate_labels dimensions disk distance divide_by_gaussian_background downscale drift
syn keyword pipeOperator entropy erode erode_connected_labels erode_labels eroded_otsu exp exp2 expand_labels
syn keyword pipeOperator extension_ratio f32 f64 farid fft fftconvolve fill_holes filter_by_size
syn keyword pipeOperator flip flood floor frangi gabor gauss_otsu gaussian gaussian_derivative
syn keyword pipeOperator gradient_magnitude grid_distance h_maxima has_axis height hessian_eigenvalue histogram hsv2rgb
syn keyword pipeOperator hull hypot hysteresis i16 i32 ifft isfinite isnan
syn keyword pipeOperator isodata kappa_sigma keep_labels kuwahara lab2rgb label label2rgb label_count
syn keyword pipeOperator label_equal label_max label_min label_planes label_spots label_sum laplace laplacian_of_gaussian
syn keyword pipeOperator li local_binary_pattern local_maxima local_minima log log10 log1p log2
syn keyword pipeOperator make_isotropic manders mask_labels masked_voronoi match_histograms match_template matching_kernel max
syn keyword pipeOperator max_filter max_project maximum_extension mean mean_extension mean_filter mean_project measure
syn keyword pipeOperator median median_filter median_project meijering merge min min_filter min_project
syn keyword pipeOperator minimum_threshold mode_filter morphological_gradient multi_otsu nan_to_num near_pairs neighbour_count neighbour_distance
syn keyword pipeOperator neighbour_value niblack normalize number opening opening_labels otsu outline
syn keyword pipeOperator overlap_coefficient overlapping_pairs pad paste peak_local_max pearson percentile percentile_filter
syn keyword pipeOperator pick pixel_size placed points polar power_spectrum prewitt property
syn keyword pipeOperator ramp reconstruct relabel remap remove_large_objects remove_small_holes remove_small_objects resize
syn keyword pipeOperator rgb2gray rgb2hed rgb2hsv rgb2lab rgb2xyz rgb2ycbcr rgb2yuv richardson_lucy
syn keyword pipeOperator roberts roll rolling_ball rotate round sato sauvola scale
syn keyword pipeOperator scharr separate_stains shape_index shift_of sigma_clip sign sin sinh
syn keyword pipeOperator skeletonize sobel split_objects sqrt stabilize star_height star_shape std
syn keyword pipeOperator std_filter std_project structure_tensor_eigenvalue subtract_gaussian_background sum sum_filter sum_project tan
syn keyword pipeOperator tanh thin tophat touching_pairs track track_by_overlap translate transpose
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
