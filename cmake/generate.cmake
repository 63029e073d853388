# mpi.h and the binding, generated from the standard (api/).
#
#   heddle_mpi_h       link it to include <mpi.h> and "objects/binding/..."
#   HEDDLE_GENERATED   where the generated files are: include/, source/, and installed/, the mpi.h that declares C's side of
#                      Fortran, too (the library and its bindings are compiled with the header of the ABI alone)
include(${CMAKE_CURRENT_LIST_DIR}/python.cmake)

set(HEDDLE_API ${CMAKE_SOURCE_DIR}/api)
set(HEDDLE_GENERATED ${CMAKE_BINARY_DIR}/generated)
heddle_python_environment(venv ${HEDDLE_API}/requirements.txt HEDDLE_API_PYTHON)

# The binding has a source for each chapter of chapters.toml.
file(READ ${HEDDLE_API}/chapters.toml chapters)
string(REGEX MATCHALL "\n[a-z0-9_]+ = " chapters "${chapters}")
list(TRANSFORM chapters REPLACE "[ =\n]" "")
set(HEDDLE_CHAPTERS ${chapters})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${HEDDLE_API}/chapters.toml)
list(TRANSFORM chapters PREPEND ${HEDDLE_GENERATED}/source/ OUTPUT_VARIABLE HEDDLE_BINDING_SOURCES)
list(TRANSFORM HEDDLE_BINDING_SOURCES APPEND .cpp)

file(GLOB_RECURSE inputs CONFIGURE_DEPENDS ${HEDDLE_API}/*.py ${HEDDLE_API}/*.toml ${HEDDLE_API}/*.txt)
add_custom_command(
  OUTPUT ${HEDDLE_GENERATED}/stamp
  BYPRODUCTS
    ${HEDDLE_GENERATED}/include/mpi.h
    ${HEDDLE_GENERATED}/include/mpi-ext.h
    ${HEDDLE_GENERATED}/installed/mpi.h
    ${HEDDLE_GENERATED}/include/base/functions.hpp
    ${HEDDLE_GENERATED}/include/objects/binding/impl.hpp
    ${HEDDLE_GENERATED}/source/functions.cpp
    ${HEDDLE_BINDING_SOURCES}
  COMMAND ${HEDDLE_API_PYTHON} -B ${HEDDLE_API}/generate.py --include ${HEDDLE_GENERATED}/include
          --installed ${HEDDLE_GENERATED}/installed --source ${HEDDLE_GENERATED}/source
  COMMAND ${CMAKE_COMMAND} -E touch ${HEDDLE_GENERATED}/stamp
  DEPENDS ${inputs}
  COMMENT "Generating mpi.h and the binding"
  VERBATIM)
add_custom_target(heddle_generate ALL DEPENDS ${HEDDLE_GENERATED}/stamp)

add_library(heddle_mpi_h INTERFACE)
target_include_directories(heddle_mpi_h INTERFACE ${HEDDLE_GENERATED}/include)
add_dependencies(heddle_mpi_h heddle_generate)

# docs/coverage.md, which is part of the tree; tests/objects/binding checks that it is up to date.
add_custom_target(coverage_page
  COMMAND ${HEDDLE_API_PYTHON} -B ${HEDDLE_API}/generate.py --coverage ${CMAKE_SOURCE_DIR}/docs/coverage.md
  VERBATIM)
