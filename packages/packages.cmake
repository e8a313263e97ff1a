# What is installed, and the packages that `cpack` makes of it: README.md beside this file.
install(TARGETS pipec RUNTIME DESTINATION bin COMPONENT pipec)
install(TARGETS libpipec LIBRARY DESTINATION lib COMPONENT libpipec0 NAMELINK_COMPONENT libpipec-dev)
install(FILES library/pipec.h DESTINATION include COMPONENT libpipec-dev)
# What programs that `pipec build` makes are compiled and linked with.
install(TARGETS lib_runtime lib_base ARCHIVE DESTINATION lib/pipec COMPONENT pipec)
install(DIRECTORY base program runtime DESTINATION include/pipec COMPONENT pipec FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
# Links between the pages and to the samples hold where these lie.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE DESTINATION share/doc/pipec COMPONENT pipec)
install(FILES bench/README.md DESTINATION share/doc/pipec/bench COMPONENT pipec)
install(FILES python/README.md DESTINATION share/doc/pipec/python COMPONENT pipec)
install(DIRECTORY docs samples DESTINATION share/doc/pipec COMPONENT pipec PATTERN make EXCLUDE PATTERN ".gitignore" EXCLUDE)
install(DIRECTORY python/pipec DESTINATION share/pipec/python COMPONENT pipec FILES_MATCHING PATTERN "*.py" PATTERN "*.yaml"
        PATTERN napari EXCLUDE PATTERN __pycache__ EXCLUDE)
install(DIRECTORY editors/vim/ DESTINATION share/vim/vimfiles COMPONENT pipec)
install(FILES ${CMAKE_BINARY_DIR}/pipec.1.gz DESTINATION share/man/man1 COMPONENT pipec)
add_custom_command(OUTPUT pipec.1.gz COMMAND sh -c "$<TARGET_FILE:pipec> help --man | gzip -9n >pipec.1.gz" DEPENDS pipec VERBATIM)
add_custom_target(man ALL DEPENDS pipec.1.gz)

set(CPACK_COMPONENTS_ALL pipec libpipec0 libpipec-dev)
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_PACKAGE_CONTACT "the pipec authors <maintainers@pipec.invalid>")
set(CPACK_STRIP_FILES ON)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/packages/generator.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(WHAT "A pipeline is a short text that describes an image analysis as formulas.
It becomes few fused OpenCL kernels. Every device gives the same result,
to the last bit. Images larger than memory run in parts.")
set(FITS "libcfitsio10 | libcfitsio10t64") # loaded when a FITS file is met

set(CPACK_DEBIAN_PIPEC_PACKAGE_NAME pipec)
set(CPACK_DEBIAN_PIPEC_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PIPEC_DESCRIPTION "compiler for image-analysis pipelines on GPUs and CPUs\n${WHAT}")
set(CPACK_DEBIAN_PIPEC_PACKAGE_DEPENDS "${FITS}")
set(CPACK_DEBIAN_PIPEC_PACKAGE_RECOMMENDS "gcc, pocl-opencl-icd | opencl-icd")
set(CPACK_DEBIAN_PIPEC_PACKAGE_SUGGESTS "graphviz, python3, python3-h5py, libpipec0")
set(CPACK_DEBIAN_LIBPIPEC0_PACKAGE_NAME libpipec0)
set(CPACK_DEBIAN_LIBPIPEC0_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBPIPEC0_DESCRIPTION "image-analysis pipelines on GPUs and CPUs, as a library\n${WHAT}")
set(CPACK_DEBIAN_LIBPIPEC0_PACKAGE_DEPENDS "${FITS}")
set(CPACK_DEBIAN_LIBPIPEC0_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
file(WRITE ${CMAKE_BINARY_DIR}/shlibs "libpipec 0 libpipec0 (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_LIBPIPEC0_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/shlibs ${CMAKE_SOURCE_DIR}/packages/debian/triggers)
set(CPACK_DEBIAN_LIBPIPEC-DEV_PACKAGE_NAME libpipec-dev)
set(CPACK_DEBIAN_LIBPIPEC-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBPIPEC-DEV_DESCRIPTION "image-analysis pipelines on GPUs and CPUs, to program with\n${WHAT}")
set(CPACK_DEBIAN_LIBPIPEC-DEV_PACKAGE_DEPENDS "libpipec0 (= ${PROJECT_VERSION}-1)")

# Debian wants a copyright and a changelog in each package.  What lintian says of packages for Debian's own archive is left out.
file(READ LICENSE license)
file(WRITE ${CMAKE_BINARY_DIR}/copyright "${license}")
configure_file(packages/debian/changelog.in changelog)
foreach(package ${CPACK_COMPONENTS_ALL})
  install(FILES ${CMAKE_BINARY_DIR}/copyright ${CMAKE_BINARY_DIR}/changelog.Debian.gz DESTINATION share/doc/${package}
          COMPONENT ${package})
  file(WRITE ${CMAKE_BINARY_DIR}/lintian/${package} "${package}: initial-upload-closes-no-bugs *\n")
  install(FILES ${CMAKE_BINARY_DIR}/lintian/${package} DESTINATION share/lintian/overrides COMPONENT ${package})
endforeach()
file(APPEND ${CMAKE_BINARY_DIR}/lintian/pipec "pipec: wrong-name-for-upstream-changelog *\n") # pages link to it
file(APPEND ${CMAKE_BINARY_DIR}/lintian/libpipec0 "libpipec0: maintscript-calls-ldconfig *\n") # by cpack
add_custom_command(OUTPUT changelog.Debian.gz COMMAND sh -c "gzip -9nc changelog >changelog.Debian.gz" DEPENDS changelog VERBATIM)
add_custom_target(changelog_packed ALL DEPENDS changelog.Debian.gz)
add_custom_target(programs DEPENDS pipec libpipec lib_runtime lib_base man changelog_packed) # all that is installed
include(CPack)
