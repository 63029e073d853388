# Takes the debug information out of the installed programs and libraries, which are ten times smaller without it. It is not
# lost: each names the file that has it (.gnu_debuglink), and debuggers look for that in the folder .debug beside it, where
#
#   cmake --install build/release --prefix PREFIX --component debug
#
# puts it. Sanitizers name lines of the source themselves, so their builds keep it.
set(HEDDLE_DEBUG_FILES ${PROJECT_BINARY_DIR}/debug)

# heddle_strip_installed(TARGET DESTINATION): of a target that was installed into a folder below the prefix.
function(heddle_strip_installed target destination)
  if(HEDDLE_SANITIZE OR NOT CMAKE_OBJCOPY OR NOT CMAKE_STRIP)
    return()
  endif()
  set(split "
    set(built \"$<TARGET_FILE:${target}>\")
    set(name \"$<TARGET_FILE_NAME:${target}>\")
    set(apart \"${HEDDLE_DEBUG_FILES}/\${name}.debug\")
    set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${destination}\")
    if(NOT EXISTS \"\${apart}\" OR \"\${built}\" IS_NEWER_THAN \"\${apart}\")
      file(MAKE_DIRECTORY \"${HEDDLE_DEBUG_FILES}\")
      execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --only-keep-debug \"\${built}\" \"\${apart}\" COMMAND_ERROR_IS_FATAL ANY)
    endif()")
  install(CODE "${split}
    execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-unneeded --remove-section=.comment \"\${folder}/\${name}\"
      COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND \"${CMAKE_OBJCOPY}\" \"--add-gnu-debuglink=\${apart}\" \"\${folder}/\${name}\"
      COMMAND_ERROR_IS_FATAL ANY)")
  install(CODE "${split}
    file(INSTALL \"\${apart}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${destination}/.debug\")"
    COMPONENT debug EXCLUDE_FROM_ALL)
endfunction()
