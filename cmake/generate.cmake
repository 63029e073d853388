# mpi.h and the binding, generated from the standard (api/).
#
#   heddle_mpi_h     link it to include <mpi.h>; depends on the generation
include(${CMAKE_CURRENT_LIST_DIR}/python.cmake)

set(HEDDLE_API ${CMAKE_SOURCE_DIR}/api)
set(HEDDLE_GENERATED ${CMAKE_BINARY_DIR}/generated)
heddle_python_environment(venv ${HEDDLE_API}/requirements.txt HEDDLE_API_PYTHON)

file(GLOB_RECURSE heddle_api_inputs CONFIGURE_DEPENDS ${HEDDLE_API}/*.py ${HEDDLE_API}/*.toml ${HEDDLE_API}/*.txt)
add_custom_command(
  OUTPUT ${HEDDLE_GENERATED}/stamp
  BYPRODUCTS ${HEDDLE_GENERATED}/include/mpi.h
  COMMAND ${HEDDLE_API_PYTHON} -B ${HEDDLE_API}/generate.py header --out ${HEDDLE_GENERATED}/include
  COMMAND ${CMAKE_COMMAND} -E touch ${HEDDLE_GENERATED}/stamp
  DEPENDS ${heddle_api_inputs}
  COMMENT "Generating mpi.h and the binding"
  VERBATIM)
add_custom_target(heddle_generate ALL DEPENDS ${HEDDLE_GENERATED}/stamp)

add_library(heddle_mpi_h INTERFACE)
target_include_directories(heddle_mpi_h INTERFACE ${HEDDLE_GENERATED}/include)
add_dependencies(heddle_mpi_h heddle_generate)
