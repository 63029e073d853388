# Makes a Python environment that holds what a requirements file pins by hash, unless it is there already: then nothing
# is run and no network is needed. Included by python.cmake; as a script it makes one:
#   cmake -D PYTHON=... -D HOME=build/.name -D REQUIREMENTS=... -P environment.cmake
function(heddle_make_environment base_python home requirements)
  file(SHA256 ${requirements} wanted)
  get_filename_component(parent ${home} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(LOCK ${home}.lock GUARD FUNCTION)
  set(have "")
  if(EXISTS ${home}/requirements.sha256 AND EXISTS ${home}/bin/python)
    file(READ ${home}/requirements.sha256 have)
  endif()
  if(have STREQUAL wanted)
    return()
  endif()
  message(STATUS "Making the Python environment ${home}")
  execute_process(COMMAND ${base_python} -m venv --clear ${home} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "python3 -m venv failed; on Debian it needs the package python3-venv")
  endif()
  execute_process(
    COMMAND ${home}/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps
            -r ${requirements}
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "pip could not install ${requirements}")
  endif()
  file(WRITE ${home}/requirements.sha256 ${wanted})
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  heddle_make_environment(${PYTHON} ${HOME} ${REQUIREMENTS})
endif()
