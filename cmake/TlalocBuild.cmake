# Compiler settings and the functions that turn a folder of sources into targets.
include(CheckLinkerFlag)
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# Comma-separated, as the compiler takes it: "address,undefined" or "thread".
set(TLALOC_SANITIZE "" CACHE STRING "Sanitizers to build with")
mark_as_advanced(TLALOC_SANITIZE)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# A static Tlaloc can then be linked into a plugin or a shared library.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Contracting a*b+c to one FMA rounds once instead of twice, so the interpreter's bits would depend on the compiler and
# on the CPU it compiles for. -ffast-math breaks the same promise.
add_compile_options(-ffp-contract=off)
# GCC warns of members that designated initializers leave to their defaults, which is what those are for.
add_compile_options(-Wall -Wextra -Wpedantic -Wno-missing-field-initializers)
# Clang reports libstdc++ 12 for using its own deprecated get_temporary_buffer in std::stable_sort.
add_compile_options("$<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>")
# What GCC 12 guesses from the flow of -O3 code is often wrong: it takes std::string's own copies for overlapping ones
# (GCC bug 105651) and an empty std::optional's content for read. The other builds have these warnings on.
add_compile_options("$<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-Wno-restrict;-Wno-maybe-uninitialized>")
if(TLALOC_WERROR)
  add_compile_options(-Werror)
endif()

if(TLALOC_SANITIZE)
  add_compile_options(-fsanitize=${TLALOC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TLALOC_SANITIZE})
endif()

if(TLALOC_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TLALOC_FUZZ needs Clang: the fuzz targets link libFuzzer. Use the preset 'fuzz'.")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_custom_target(tlaloc_fuzz)
endif()

if(PROJECT_IS_TOP_LEVEL)
  find_program(TLALOC_CCACHE ccache)
  if(TLALOC_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${TLALOC_CCACHE}")
  endif()
  check_linker_flag(CXX -fuse-ld=mold TLALOC_HAVE_MOLD)
  if(TLALOC_HAVE_MOLD)
    add_link_options(-fuse-ld=mold)
  endif()
endif()

# tlaloc_folder(<name> [APART] [DEPENDS <folder>...] [LIBRARIES <target>...])
#
# Makes of tlaloc/<name>:
#   tlaloc_<name>         a static library of *.cc (an interface library when there are none),
#   tlaloc_<name>_test    one GoogleTest program of *_test.cc, run from the repository root,
#   tlaloc_<name>_bench   one Google Benchmark program of *_bench.cc, built by the target tlaloc_bench,
#   tlaloc_<name>_<x>_fuzz  a libFuzzer program for each x_fuzz.cc, with TLALOC_FUZZ only; the target tlaloc_fuzz is all.
# A program without sources is skipped. DEPENDS names folders, LIBRARIES other targets. What is APART is not part of
# tlaloc::tlaloc.
function(tlaloc_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "APART" "" "DEPENDS;LIBRARIES")
  set(dir "${PROJECT_SOURCE_DIR}/tlaloc/${name}")
  set_property(GLOBAL APPEND PROPERTY TLALOC_FOLDERS ${name})
  file(GLOB sources CONFIGURE_DEPENDS "${dir}/*.cc")
  foreach(kind test bench fuzz)
    set(${kind}_sources ${sources})
    list(FILTER ${kind}_sources INCLUDE REGEX "_${kind}\\.cc$")
  endforeach()
  list(FILTER sources EXCLUDE REGEX "_(test|bench|fuzz)\\.cc$")

  set(target tlaloc_${name})
  set(scope PUBLIC)
  if(sources)
    add_library(${target} STATIC ${sources})
    if(NOT arg_APART)
      set_property(GLOBAL APPEND PROPERTY TLALOC_COMPILED_FOLDERS ${target})
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} "${PROJECT_SOURCE_DIR}")
  list(TRANSFORM arg_DEPENDS PREPEND tlaloc_)
  target_link_libraries(${target} ${scope} ${arg_DEPENDS} ${arg_LIBRARIES})
  if(NOT arg_APART)
    set_property(GLOBAL APPEND PROPERTY TLALOC_LIBRARIES ${arg_LIBRARIES})
  endif()

  if(test_sources AND TLALOC_TESTS)
    add_executable(${target}_test ${test_sources})
    target_link_libraries(${target}_test PRIVATE ${target} GTest::gmock GTest::gtest_main)
    add_test(NAME ${target}_test COMMAND ${target}_test WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  endif()
  if(bench_sources)
    tlaloc_bench(${target}_bench ${bench_sources})
    if(TARGET ${target}_bench)
      target_link_libraries(${target}_bench PRIVATE ${target})
    endif()
  endif()
  if(TLALOC_FUZZ)
    foreach(source IN LISTS fuzz_sources)
      cmake_path(GET source STEM stem)
      add_executable(${target}_${stem} ${source})
      target_link_libraries(${target}_${stem} PRIVATE ${target})
      target_link_options(${target}_${stem} PRIVATE -fsanitize=fuzzer)
      add_dependencies(tlaloc_fuzz ${target}_${stem})
      # tools/fuzz runs what lies in this folder, on the seeds beside the source.
      set_target_properties(${target}_${stem} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
    endforeach()
  endif()
endfunction()

# tlaloc_find_llvm(): the target tlaloc_llvm and TLALOC_LLVM_VERSION, where LLVM 19 and its headers are.
function(tlaloc_find_llvm)
  find_program(TLALOC_LLVM_CONFIG llvm-config-19)
  mark_as_advanced(TLALOC_LLVM_CONFIG)
  if(NOT TLALOC_LLVM_CONFIG)
    message(STATUS "LLVM 19 was not found (Debian: llvm-19-dev): without code generation")
    return()
  endif()
  foreach(what version includedir libdir)
    execute_process(COMMAND "${TLALOC_LLVM_CONFIG}" --${what} OUTPUT_VARIABLE ${what} OUTPUT_STRIP_TRAILING_WHITESPACE
                    COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  find_library(TLALOC_LLVM_LIBRARY LLVM-19 HINTS "${libdir}" REQUIRED)
  find_path(TLALOC_LLVM_INCLUDE llvm-c/Core.h PATHS "${includedir}" NO_DEFAULT_PATH REQUIRED)
  mark_as_advanced(TLALOC_LLVM_LIBRARY TLALOC_LLVM_INCLUDE)
  add_library(tlaloc_llvm INTERFACE)
  target_link_libraries(tlaloc_llvm INTERFACE "${TLALOC_LLVM_LIBRARY}")
  target_include_directories(tlaloc_llvm SYSTEM INTERFACE "${TLALOC_LLVM_INCLUDE}")
  set(TLALOC_LLVM_VERSION "${version}" PARENT_SCOPE)
endfunction()

# tlaloc_loaded_library(<folder> FROM <loader>)
#
# Makes libtlaloc_<folder>.so of a folder that stands APART, for the folder <loader> to load at run time: programs that
# use <loader> look for it where it is built.
function(tlaloc_loaded_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FROM" "")
  set(target tlaloc_${name}_library)
  add_library(${target} MODULE $<TARGET_OBJECTS:tlaloc_${name}>)
  target_link_libraries(${target} PRIVATE $<TARGET_PROPERTY:tlaloc_${name},LINK_LIBRARIES>)
  # It shows its entry only, though it brings folders of its own.
  set_target_properties(tlaloc_${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_options(${target} PRIVATE "LINKER:--exclude-libs,ALL")
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME tlaloc_${name}
                        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  add_dependencies(tlaloc_${arg_FROM} ${target})
  target_link_options(tlaloc_${arg_FROM} INTERFACE "LINKER:-rpath,${PROJECT_BINARY_DIR}")
  set_property(GLOBAL APPEND PROPERTY TLALOC_LOADED_LIBRARIES ${target})
endfunction()

# tlaloc_fingerprint(<folder> <variable>): a hash of what the folder's library is made of.
function(tlaloc_fingerprint name variable)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tlaloc/${name}/*.cc"
                                      "${PROJECT_SOURCE_DIR}/tlaloc/${name}/*.h")
  list(FILTER sources EXCLUDE REGEX "(_test|_bench|_fuzz|/testing)\\.(cc|h)$")
  set(hashes "")
  foreach(source IN LISTS sources)
    file(SHA256 "${source}" hash)
    string(APPEND hashes "${hash}")
  endforeach()
  set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
  string(SHA256 hash "${hashes}")
  set(${variable} "${hash}" PARENT_SCOPE)
endfunction()

# tlaloc_bench(<target> <source>...): a Google Benchmark program, outside the default build.
function(tlaloc_bench target)
  if(NOT benchmark_FOUND)
    return()
  endif()
  add_executable(${target} EXCLUDE_FROM_ALL ${ARGN})
  target_link_libraries(${target} PRIVATE benchmark::benchmark_main)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/benchmarks")
  if(NOT TARGET tlaloc_bench)
    add_custom_target(tlaloc_bench)
  endif()
  add_dependencies(tlaloc_bench ${target})
endfunction()

# The one library that users link, tlaloc::tlaloc, from the objects of all folders; with its install rules.
function(tlaloc_library)
  get_property(folders GLOBAL PROPERTY TLALOC_COMPILED_FOLDERS)
  get_property(libraries GLOBAL PROPERTY TLALOC_LIBRARIES)
  list(REMOVE_DUPLICATES libraries)
  if(NOT folders)
    return()
  endif()
  # What tells a user's line from the library's own.
  get_property(names GLOBAL PROPERTY TLALOC_FOLDERS)
  list(JOIN names "/" names)
  set_property(SOURCE "${PROJECT_SOURCE_DIR}/tlaloc/lang/place.cc" APPEND PROPERTY
               COMPILE_DEFINITIONS "TLALOC_FOLDERS=\"/${names}/\"")
  list(TRANSFORM folders REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  add_library(tlaloc ${objects})
  add_library(tlaloc::tlaloc ALIAS tlaloc)
  set_target_properties(tlaloc PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION 0)
  target_compile_features(tlaloc PUBLIC cxx_std_20)
  target_include_directories(tlaloc PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
                                           "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_link_libraries(tlaloc PUBLIC ${libraries})
  get_property(loaded GLOBAL PROPERTY TLALOC_LOADED_LIBRARIES)
  if(loaded)
    add_dependencies(tlaloc ${loaded})
    # tlaloc-config.cmake has the same for the installed package.
    target_link_options(tlaloc INTERFACE "$<BUILD_INTERFACE:LINKER:-rpath,${PROJECT_BINARY_DIR}>")
    install(TARGETS ${loaded} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  endif()

  set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tlaloc")
  install(TARGETS tlaloc EXPORT tlaloc-targets)
  install(EXPORT tlaloc-targets NAMESPACE tlaloc:: DESTINATION "${package_dir}")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/tlaloc" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
          FILES_MATCHING PATTERN "*.h" PATTERN "testdata" EXCLUDE)
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/tlaloc-config-version.cmake" COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_SOURCE_DIR}/cmake/tlaloc-config.cmake"
                "${PROJECT_BINARY_DIR}/tlaloc-config-version.cmake" DESTINATION "${package_dir}")
endfunction()
