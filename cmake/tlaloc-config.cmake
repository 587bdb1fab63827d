include(CMakeFindDependencyMacro)
find_dependency(fmt 9)
find_dependency(hwy 1.0)
include("${CMAKE_CURRENT_LIST_DIR}/tlaloc-targets.cmake")
# Where programs look for the libraries that Tlaloc loads at run time.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH tlaloc_libdir)
cmake_path(GET tlaloc_libdir PARENT_PATH tlaloc_libdir)
set_property(TARGET tlaloc::tlaloc APPEND PROPERTY INTERFACE_LINK_OPTIONS "LINKER:-rpath,${tlaloc_libdir}")
unset(tlaloc_libdir)
