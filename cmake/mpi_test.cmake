# Tests that are MPI programs: built once against the standard's mpi.h, run under our mpiexec for each number of ranks and
# each safety model, with ranks that are processes and ranks that are threads.
#
#   heddle_mpi_test(NAME name SOURCES file... RANKS n... [MODELS default|few|all [EXCEPT model...]] [ARGS arg...]
#                   [TIMEOUT seconds] [LABELS label...] [INCLUDES folder...] [LIBRARIES library...]
#                   [SETTINGS name=value...] [PROPERTIES name value...] [PROCESSES_ONLY] [ONE_NODE]
#                   [WAITS model...] [ONE_CORE])
#
# MODELS says under which models (models.cmake): `default` (also without it), the model that a user gets who chooses
# none; `few`, those that stand for all; `all`, for what tests the models themselves: the few with each number of ranks,
# every other preset with two, but for those after EXCEPT. The test's name is name/nN or name/model/nN. mpiexec ends a run
# a little before ctest would, since it can say which thread of which rank hangs in which call. TIMEOUT is for what may need
# longer than HEDDLE_TEST_LIMIT. SETTINGS of the environment and PROPERTIES are of all runs.
#
# Each also runs with the largest of RANKS as threads of one process (name/threads/nN), under the few models if it runs
# under several, and with two ranks a process (name/threads2/nN); but not with PROCESSES_ONLY, which is for what is about
# processes.
#
# ONE_NODE is for what is about memory that ranks share, also when the tests are run with HEDDLE_NODES (docs/guides/networks.md).
#
# ONE_CORE: all ranks on one core, so that there are more of them than cores whatever the machine.
#
# WAITS names models under which it also runs with each other policy of waiting (HEDDLE_WAIT), with the largest of RANKS
# (name/POLICY/model/nN). All runs are started by HEDDLE_TEST_UNDER, if that is set.
include(${CMAKE_CURRENT_LIST_DIR}/models.cmake)

function(heddle_mpi_test)
  cmake_parse_arguments(T "PROCESSES_ONLY;ONE_NODE;ONE_CORE" "NAME;MODELS;TIMEOUT"
                        "SOURCES;RANKS;EXCEPT;ARGS;LABELS;INCLUDES;LIBRARIES;SETTINGS;PROPERTIES;WAITS" ${ARGN})
  if(T_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "heddle_mpi_test: nothing is given for ${T_KEYWORDS_MISSING_VALUES} of ${T_NAME}")
  endif()
  if(NOT T_TIMEOUT OR T_TIMEOUT LESS HEDDLE_TEST_LIMIT)
    set(T_TIMEOUT ${HEDDLE_TEST_LIMIT})
  endif()
  set(under ${HEDDLE_TEST_UNDER})
  if(T_ONE_CORE)
    list(PREPEND under ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/mpi/one_core.py)
  endif()
  string(MAKE_C_IDENTIFIER mpi_test_${T_NAME} target)
  add_executable(${target} ${T_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${T_INCLUDES})
  target_link_libraries(${target} PRIVATE heddle_mpi_h $<TARGET_FILE:mpi_abi> ${T_LIBRARIES} Threads::Threads)
  target_link_options(${target} PRIVATE -Wl,-rpath,${PROJECT_BINARY_DIR}/lib)
  get_property(modules GLOBAL PROPERTY HEDDLE_PRODUCT_MODULES)
  add_dependencies(${target} mpi_abi mpiexec ${modules})

  heddle_note_program(${target})

  if(NOT T_MODELS OR T_MODELS STREQUAL default)
    set(models default)
  elseif(T_MODELS STREQUAL few OR T_MODELS STREQUAL all)
    set(models ${HEDDLE_FEW_PRESETS})
  else()
    message(FATAL_ERROR "heddle_mpi_test: MODELS is default, few or all, not ${T_MODELS}")
  endif()
  heddle_add_runs("${models}" "${T_RANKS}")
  list(GET T_RANKS -1 most)
  if(TARGET heddle_host AND NOT T_PROCESSES_ONLY AND most GREATER 1)
    heddle_add_runs("${models}" ${most} threads)
    if(most GREATER 2)
      heddle_add_runs(default ${most} threads:2)
    endif()
  endif()
  foreach(policy busy passive)
    heddle_add_runs("${T_WAITS}" ${most} processes ${policy})
  endforeach()
  if(T_MODELS STREQUAL all)
    set(others ${HEDDLE_PRESETS})
    list(REMOVE_ITEM others ${HEDDLE_FEW_PRESETS} ${T_EXCEPT})
    heddle_add_runs("${others}" 2)
  endif()
endfunction()

# Notes heddle_mpi_test's program for runs on nodes that are real (tests/cluster/body.py), a line of a table. What is about memory
# that ranks share does not apply there, nor what is about the network for tests or shall end in another way than well.
macro(heddle_note_program target)
  if(NOT T_ONE_NODE AND NOT T_ONE_CORE AND NOT "${T_SETTINGS}" MATCHES "HEDDLE_LLN=loopback" AND NOT "${T_PROPERTIES}" MATCHES "PASS_REGULAR_EXPRESSION|WILL_FAIL")
    list(JOIN T_SETTINGS " " settings)
    list(JOIN T_ARGS " " arguments)
    list(JOIN T_RANKS " " ranks)
    list(JOIN T_EXCEPT " " except)
    set(kinds "processes threads")
    if(T_PROCESSES_ONLY)
      set(kinds processes)
    endif()
    set_property(GLOBAL APPEND_STRING PROPERTY HEDDLE_MPI_PROGRAMS
      "${T_NAME}\t$<TARGET_FILE:${target}>\t${ranks}\t${T_MODELS}\t${except}\t${T_TIMEOUT}\t${settings}\t${arguments}\t${kinds}\n")
  endif()
endmacro()

# The runs of heddle_mpi_test's program under each of `models` with each number of `ranks`. More arguments: what the option
# --ranks of mpiexec says, if not processes; and a policy of waiting, if not the default.
macro(heddle_add_runs models ranks)
  math(EXPR limit "${T_TIMEOUT} - 5")
  set(more ${ARGN} processes)
  list(GET more 0 kind)
  string(REPLACE ":" "" kind_name ${kind})
  list(REMOVE_ITEM more ${kind} processes)
  foreach(model ${models})
    foreach(n ${ranks})
      set(parts ${T_NAME} ${more} ${model} ${kind_name} n${n})
      list(REMOVE_ITEM parts default processes)
      list(JOIN parts / name)
      set(environment ${T_SETTINGS})
      if(T_ONE_NODE)
        list(APPEND environment HEDDLE_NODES=1)
      endif()
      if(NOT model STREQUAL default)
        list(APPEND environment HEDDLE_MODEL=${model})
      endif()
      if(more)
        list(APPEND environment HEDDLE_WAIT=${more})
      endif()
      add_test(NAME ${name}
        COMMAND ${under} $<TARGET_FILE:mpiexec> --timeout ${limit} --ranks ${kind} -n ${n}
                $<TARGET_FILE:${target}> ${T_ARGS})
      set_tests_properties(${name} PROPERTIES TIMEOUT ${T_TIMEOUT} ENVIRONMENT "${environment}" LABELS "mpi;${T_LABELS}"
                           ${T_PROPERTIES})
      if(model MATCHES flux)
        set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "${HEDDLE_NO_FLUX_HERE}")
      endif()
    endforeach()
  endforeach()
endmacro()

# heddle_endings_test(NAME VARIABLE): ends.cpp of this folder is a program whose job test_ends.py starts and sees end, which finds it by
# that environment variable. On one node.
function(heddle_endings_test name variable)
  string(REPLACE . _ target ${name})
  add_executable(${target} ends.cpp)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${target} PRIVATE mpi_abi heddle_mpi_h)
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/test_ends.py)
  set_tests_properties(${name} PROPERTIES TIMEOUT ${HEDDLE_TEST_LIMIT} ENVIRONMENT
    "HEDDLE_NODES=1;MPIEXEC=$<TARGET_FILE:mpiexec>;BOOT_RANK=$<TARGET_FILE:mpiexec_rank>;BOOT_MPI_PROGRAM=$<TARGET_FILE:mpiexec_endings>;${variable}=$<TARGET_FILE:${target}>")
  if(TARGET heddle_host)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT BOOT_HOST=1)
  endif()
endfunction()
