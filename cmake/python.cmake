# Python environments inside the build tree, each made once and shared by all presets.
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
include(${CMAKE_CURRENT_LIST_DIR}/environment.cmake)

# heddle_python_environment(NAME REQUIREMENTS OUT): the environment build/.NAME, made now; OUT is its interpreter.
function(heddle_python_environment name requirements out)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${requirements})
  heddle_make_environment(${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/build/.${name} ${requirements})
  set(${out} ${CMAKE_SOURCE_DIR}/build/.${name}/bin/python PARENT_SCOPE)
endfunction()

# heddle_python_fixture(NAME REQUIREMENTS): the same as a test that tests with FIXTURES_REQUIRED NAME wait for, for what
# only they need.
function(heddle_python_fixture name requirements)
  add_test(NAME ${name}.install
    COMMAND ${CMAKE_COMMAND} -D PYTHON=${Python3_EXECUTABLE} -D HOME=${CMAKE_SOURCE_DIR}/build/.${name}
            -D REQUIREMENTS=${requirements} -P ${CMAKE_SOURCE_DIR}/cmake/environment.cmake)
  set_tests_properties(${name}.install PROPERTIES FIXTURES_SETUP ${name})
endfunction()
