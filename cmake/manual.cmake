# Manual pages and completion, generated from the tables that the programs read; and docs/reference.md and the
# tables of docs/design, which are part of the tree and up to date by a test (tests/manual).
set(HEDDLE_SHARE ${PROJECT_BINARY_DIR}/share)
file(GLOB_RECURSE manual_inputs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/manual/*.py ${PROJECT_SOURCE_DIR}/tools/heddle_tool/*.py)
set(HEDDLE_MANUAL ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/manual/generate.py $<TARGET_FILE:heddle_describe>
    ${PROJECT_BINARY_DIR}/wrappers)
set(without_fortran "")
if(NOT TARGET mpifort_abi)
  set(without_fortran --without-fortran)
endif()
add_custom_command(
  OUTPUT ${HEDDLE_SHARE}/stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${HEDDLE_SHARE}
  COMMAND ${HEDDLE_MANUAL} --share ${HEDDLE_SHARE} ${without_fortran}
  COMMAND ${CMAKE_COMMAND} -E touch ${HEDDLE_SHARE}/stamp
  DEPENDS ${manual_inputs} heddle_describe ${PROJECT_BINARY_DIR}/wrappers/mpicc ${PROJECT_BINARY_DIR}/wrappers/mpifort
  COMMENT "Generating manual pages and completion"
  VERBATIM)
add_custom_target(manual ALL DEPENDS ${HEDDLE_SHARE}/stamp)
add_dependencies(product manual)
foreach(folder man bash-completion zsh fish)
  install(DIRECTORY ${HEDDLE_SHARE}/${folder} DESTINATION ${CMAKE_INSTALL_DATADIR})
endforeach()

add_custom_target(reference_page
  COMMAND ${HEDDLE_MANUAL} --reference ${PROJECT_SOURCE_DIR}/docs/reference.md
  COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/manual/design_tables.py $<TARGET_FILE:heddle_describe_messages>
  DEPENDS ${manual_inputs} heddle_describe heddle_describe_messages
  VERBATIM)
