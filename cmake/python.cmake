# Python environments inside the build tree, each made once and shared by all presets.
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)

# heddle_python_environment(NAME REQUIREMENTS OUT): a virtual environment build/.NAME that holds what the requirements
# file pins (by hash); sets OUT to its interpreter. When the file has not changed nothing is run, so that a
# configured tree needs no network.
function(heddle_python_environment name requirements out)
  set(home ${CMAKE_SOURCE_DIR}/build/.${name})
  set(python ${home}/bin/python)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${requirements})
  file(SHA256 ${requirements} wanted)
  file(LOCK ${home}.lock GUARD FUNCTION)
  set(have "")
  if(EXISTS ${home}/requirements.sha256 AND EXISTS ${python})
    file(READ ${home}/requirements.sha256 have)
  endif()
  if(NOT have STREQUAL wanted)
    message(STATUS "Making the Python environment build/.${name}")
    execute_process(COMMAND ${Python3_EXECUTABLE} -m venv --clear ${home} RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "python3 -m venv failed; on Debian it needs the package python3-venv")
    endif()
    execute_process(
      COMMAND ${python} -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps
              -r ${requirements}
      RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "pip could not install ${requirements}")
    endif()
    file(WRITE ${home}/requirements.sha256 ${wanted})
  endif()
  set(${out} ${python} PARENT_SCOPE)
endfunction()
