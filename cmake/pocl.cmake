# The libraries of built-in functions of the PoCL that is installed, without what no kernel calls, as a table for
# runtime/device/cl_pocl.c.  Of today's processors; others read the whole library.  Without such a PoCL the table is empty.
foreach(versions libpocl.so.2.10.0:libLLVM-15.so.1 libpocl.so.2.13.0:libLLVM-18.so.18.1) # PoCL 3.1, 6.0
  string(REPLACE ":" ";" versions ${versions})
  list(GET versions 0 driver)
  list(GET versions 1 llvm)
  file(GLOB driver /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/${driver})
  file(GLOB llvm /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/${llvm})
  if(driver AND llvm)
    set(pocl_driver ${driver})
    set(pocl_llvm ${llvm})
  endif()
endforeach()
file(GLOB pocl_libraries /usr/share/pocl/kernel-*-avx2.bc /usr/share/pocl/kernel-*-avx512.bc)
set(pocl_table ${CMAKE_BINARY_DIR}/pocl_libraries.c)
if(pocl_driver AND pocl_llvm AND pocl_libraries)
  add_executable(pocl_trim cmake/pocl_trim.c)
  set_source_files_properties(cmake/pocl_trim.c PROPERTIES COMPILE_OPTIONS "${WARNINGS}")
  target_link_libraries(pocl_trim lib_base PkgConfig::ZSTD ${pocl_llvm})
  set(builtins ${CMAKE_SOURCE_DIR}/runtime/device/builtins.cl)
  add_custom_command(OUTPUT ${pocl_table}
    COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 $<TARGET_FILE:pocl_trim> ${pocl_table} ${builtins} ${pocl_driver} ${pocl_libraries}
    DEPENDS pocl_trim ${builtins} VERBATIM)
else()
  file(WRITE ${pocl_table} "#include \"runtime/device/cl_pocl.h\"\n\nconst char POCL_DRIVER[] = \"\", POCL_DATA[] = \"\";\nconst PoclLibrary POCL_LIBRARIES[] = {{0}};\n")
endif()
target_sources(lib_runtime PRIVATE ${pocl_table})
set_source_files_properties(${pocl_table} PROPERTIES COMPILE_OPTIONS "-I${CMAKE_SOURCE_DIR}")
