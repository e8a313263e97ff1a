" Vim syntax of .pipe files; editors/make_grammars.py writes it.
if exists('b:current_syntax')
  finish
endif
syn keyword pipeStatement fn input output param
syn keyword pipeControl as at else for if in is most
syn keyword pipeControl repeat return stable until where while
syn keyword pipeLogic and not or xor
syn keyword pipeConstant false true
syn keyword pipeOperator abs acos affine all any aperture_flux aperture_sum argmax_project
syn keyword pipeOperator as_labels asin asinh atan atan2 background_mesh ball bilateral
syn keyword pipeOperator blob_dog blob_doh blob_log bottomhat boundaries box box_statistics butterworth
syn keyword pipeOperator c_of canny canvas cbrt ceil centroids chan_vese channels
syn keyword pipeOperator clahe classify clear_border clip closing closing_labels colocalization colormap
syn keyword pipeOperator colours combine_labels concatenate constant convolve corner_foerstner corner_harris corner_kitchen_rosenfeld
syn keyword pipeOperator correlate cos cosh cosmic_rays count crop deblend deconvolve
syn keyword pipeOperator delta_e denoise_nl_means denoise_tv denoise_tv_bregman depth deskew detect_maxima detect_minima
syn keyword pipeOperator diamond difference_of_gaussians dilate dilate_labels dimensions disk distance divide_by_gaussian_background
syn keyword pipeOperator downscale drift edge_distance ellipse enclosing_circle entropy equalize_hist erode
syn keyword pipeOperator erode_connected_labels erode_labels eroded_otsu exp exp2 expand_labels extension_ratio f32
syn keyword pipeOperator f64 farid fft fftconvolve fill_holes filter_by_size flip flood
syn keyword pipeOperator floor flux_radius frangi gabor gauss_otsu gaussian gaussian_derivative geodesic_distance
syn keyword pipeOperator gradient_magnitude granularity graycomatrix graycoprops grid_distance h_maxima haralick has_axis
syn keyword pipeOperator hed2rgb height hessian_eigenvalue histogram hough_circle hough_line hsv2rgb hull
syn keyword pipeOperator hypot hysteresis i16 i32 ifft inpaint isfinite isnan
syn keyword pipeOperator isodata kappa_sigma keep_labels kron kuwahara lab2rgb label label2rgb
syn keyword pipeOperator label_count label_equal label_max label_min label_planes label_spots label_sum laplace
syn keyword pipeOperator laplacian_of_gaussian li local_binary_pattern local_maxima local_minima log log10 log1p
syn keyword pipeOperator log2 luv2rgb make_isotropic manders mask_labels masked_voronoi match_histograms match_template
syn keyword pipeOperator matching_kernel max max_filter max_project maximum_extension mean mean_extension mean_filter
syn keyword pipeOperator mean_project measure medial_axis median median_filter median_project meijering merge
syn keyword pipeOperator min min_filter min_project minimum_threshold mode_filter morphological_gradient multi_otsu nan_to_num
syn keyword pipeOperator near_pairs nearest_outside neighbour_count neighbour_distance neighbour_value niblack normalize number
syn keyword pipeOperator object_crops opening opening_labels otsu outline overlap_coefficient overlap_shift overlapping_pairs
syn keyword pipeOperator pad paste peak_local_max pearson percentile percentile_filter pick pixel_size
syn keyword pipeOperator placed points polar polygon power_spectrum prewitt property radial_distribution
syn keyword pipeOperator ramp random_walker reconstruct relabel remap remove_large_objects remove_small_holes remove_small_objects
syn keyword pipeOperator reproject resize rgb2gray rgb2hed rgb2hsv rgb2lab rgb2luv rgb2xyz
syn keyword pipeOperator rgb2ycbcr rgb2yuv richardson_lucy roberts roll rolling_ball rotate round
syn keyword pipeOperator sato sauvola scale scharr separate_stains shape_index shift_of sigma_clip
syn keyword pipeOperator sign sin sinh skeleton_branches skeletonize sky_map slic sobel
syn keyword pipeOperator split_objects sqrt stabilize star_height star_shape std std_filter std_project
syn keyword pipeOperator stitch structural_similarity structure_tensor_eigenvalue subtract_gaussian_background sum sum_filter sum_project tan
syn keyword pipeOperator tanh thin tophat touching_pairs track track_by_overlap translate transpose
syn keyword pipeOperator triangle trunc u16 u32 u8 unsharp var variance_filter
syn keyword pipeOperator voronoi voronoi_otsu watershed white width wiener x_of xyz2rgb
syn keyword pipeOperator y_of yen z_of zernike zoom
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
