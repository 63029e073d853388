# Tests that are MPI programs: built once against the standard's mpi.h, run under our mpiexec for each number of ranks and
# each safety model.
#
#   heddle_mpi_test(NAME name SOURCES file... RANKS n... [MODELS model...] [ARGS arg...] [TIMEOUT seconds])
#
# Without MODELS the default model alone is run. The test's name is name/nN or name/model/nN. mpiexec ends a run a
# little before ctest would, since it can say which rank hangs in which call.
function(heddle_mpi_test)
  cmake_parse_arguments(T "" "NAME;TIMEOUT" "SOURCES;RANKS;MODELS;ARGS" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 60)
  endif()
  string(REPLACE "." "_" target mpi_test_${T_NAME})
  add_executable(${target} ${T_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${target} PRIVATE heddle_mpi_h $<TARGET_FILE:mpi_abi> Threads::Threads)
  target_link_options(${target} PRIVATE -Wl,-rpath,${PROJECT_BINARY_DIR}/lib)
  add_dependencies(${target} mpi_abi mpiexec)
  if(NOT T_MODELS)
    set(T_MODELS default)
  endif()
  math(EXPR limit "${T_TIMEOUT} - 5")
  foreach(model ${T_MODELS})
    foreach(ranks ${T_RANKS})
      if(model STREQUAL default)
        set(name ${T_NAME}/n${ranks})
        set(environment)
      else()
        set(name ${T_NAME}/${model}/n${ranks})
        set(environment HEDDLE_MODEL=${model})
      endif()
      add_test(NAME ${name} COMMAND mpiexec --timeout ${limit} -n ${ranks} $<TARGET_FILE:${target}> ${T_ARGS})
      set_tests_properties(${name} PROPERTIES TIMEOUT ${T_TIMEOUT} ENVIRONMENT "${environment}" LABELS mpi)
    endforeach()
  endforeach()
endfunction()

# The safety models of src/p2p/presets.cpp.
set(HEDDLE_MODELS futex global mtx)
