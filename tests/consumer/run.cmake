# Installs the build in TLALOC_BINARY_DIR to a fresh prefix, then configures, builds and runs project/ against it.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
set(flags "")
if(SANITIZE)
  set(flags "-fsanitize=${SANITIZE}")
endif()
run("${CMAKE_COMMAND}" --install "${TLALOC_BINARY_DIR}" --prefix "${WORK_DIR}/prefix")
run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/project" -B "${WORK_DIR}/build" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix" "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}"
    "-DCMAKE_CXX_FLAGS=${flags}")
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/build")
foreach(lines 0 1)
  run("${WORK_DIR}/build/places${lines}")
endforeach()
if(CODEGEN)
  run("${CMAKE_COMMAND}" -E env --unset=TLALOC_CODEGEN_LIBRARY TLALOC_CACHE=off "${WORK_DIR}/build/compile")
endif()
# Getting started shows this program and what it prints.
set(source "${CMAKE_CURRENT_LIST_DIR}/../..")
run(python3 "${source}/tests/docs/check_snippets.py" "${WORK_DIR}/build/consumer"
    "${CMAKE_CURRENT_LIST_DIR}/project/main.cc" "${source}/docs/getting-started.md")
