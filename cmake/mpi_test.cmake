# Tests that are MPI programs: built once against the standard's mpi.h, run under our mpiexec for each number of ranks and
# each safety model.
#
#   heddle_mpi_test(NAME name SOURCES file... RANKS n... [MODELS default|few|all] [ARGS arg...] [TIMEOUT seconds]
#                   [LABELS label...])
#
# MODELS says under which models (models.cmake): `default` (also without it), the model that a user gets who chooses
# none; `few`, those that stand for all; `all`, for what tests the models themselves: the few with each number of ranks,
# every other preset with two. The test's name is name/nN or name/model/nN. mpiexec ends a run a little before ctest
# would, since it can say which thread of which rank hangs in which call. TIMEOUT is for what may need longer than
# HEDDLE_TEST_LIMIT.
include(${CMAKE_CURRENT_LIST_DIR}/models.cmake)

function(heddle_mpi_test)
  cmake_parse_arguments(T "" "NAME;MODELS;TIMEOUT" "SOURCES;RANKS;ARGS;LABELS" ${ARGN})
  if(T_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "heddle_mpi_test: nothing is given for ${T_KEYWORDS_MISSING_VALUES} of ${T_NAME}")
  endif()
  if(NOT T_TIMEOUT OR T_TIMEOUT LESS HEDDLE_TEST_LIMIT)
    set(T_TIMEOUT ${HEDDLE_TEST_LIMIT})
  endif()
  string(REPLACE "." "_" target mpi_test_${T_NAME})
  add_executable(${target} ${T_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${target} PRIVATE heddle_mpi_h $<TARGET_FILE:mpi_abi> Threads::Threads)
  target_link_options(${target} PRIVATE -Wl,-rpath,${PROJECT_BINARY_DIR}/lib)
  add_dependencies(${target} mpi_abi mpiexec)

  if(NOT T_MODELS OR T_MODELS STREQUAL default)
    heddle_add_runs(default "${T_RANKS}")
  elseif(T_MODELS STREQUAL few OR T_MODELS STREQUAL all)
    heddle_add_runs("${HEDDLE_FEW_PRESETS}" "${T_RANKS}")
  else()
    message(FATAL_ERROR "heddle_mpi_test: MODELS is default, few or all, not ${T_MODELS}")
  endif()
  if(T_MODELS STREQUAL all)
    set(others ${HEDDLE_PRESETS})
    list(REMOVE_ITEM others ${HEDDLE_FEW_PRESETS})
    heddle_add_runs("${others}" 2)
  endif()
endfunction()

# The runs of heddle_mpi_test's program under each of `models` with each number of `ranks`.
macro(heddle_add_runs models ranks)
  math(EXPR limit "${T_TIMEOUT} - 5")
  foreach(model ${models})
    foreach(n ${ranks})
      if(model STREQUAL default)
        set(name ${T_NAME}/n${n})
        set(environment)
      else()
        set(name ${T_NAME}/${model}/n${n})
        set(environment HEDDLE_MODEL=${model})
      endif()
      add_test(NAME ${name} COMMAND mpiexec --timeout ${limit} -n ${n} $<TARGET_FILE:${target}> ${T_ARGS})
      set_tests_properties(${name} PROPERTIES TIMEOUT ${T_TIMEOUT} ENVIRONMENT "${environment}" LABELS "mpi;${T_LABELS}")
    endforeach()
  endforeach()
endmacro()
