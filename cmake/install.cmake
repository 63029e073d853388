# What a prefix holds: the library, mpi.h, the launcher, the compiler wrappers, pkg-config and CMake packages. Nothing in
# it remembers the prefix, so an installed tree can be moved. `product` builds what is installed and nothing else.
include(CMakePackageConfigHelpers)
include(${CMAKE_CURRENT_LIST_DIR}/debug_info.cmake)

add_custom_target(product)
add_dependencies(product generated)

# ---- compiler wrappers ----------------------------------------------------------------------------------------------
file(RELATIVE_PATH UP /${CMAKE_INSTALL_BINDIR} /)
string(REGEX REPLACE "/$" "" UP "${UP}")
set(INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})
set(LIBDIR ${CMAKE_INSTALL_LIBDIR})
set(VERSION ${PROJECT_VERSION})

function(heddle_wrapper NAME LANGUAGE COMPILER OPTION PACKAGE VARIABLES)
  string(REGEX MATCH "^[^ ]+" HEDDLE_VARIABLE ${VARIABLES})
  if(LANGUAGE STREQUAL Fortran)
    file(READ ${PROJECT_SOURCE_DIR}/src/wrappers/fortran_part.in FORTRAN_PART)
    string(CONFIGURE "${FORTRAN_PART}" FORTRAN_PART @ONLY)
    set(FORTRAN_DEFAULTS "wide=  # not empty: INTEGER has 8 bytes\n")
    string(CONCAT FORTRAN_ARGUMENTS
      "    -i8) wide=yes; set -- \"$@\" -fdefault-integer-8; continue ;;\n"
      "    -fdefault-integer-8) wide=yes ;;\n"
      "    -J) value_next=yes ;;\n")
    set(FORTRAN_USAGE "\n  -i8                          INTEGER and LOGICAL have 8 bytes, as with -fdefault-integer-8")
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/src/wrappers/mpicc.in ${PROJECT_BINARY_DIR}/wrappers/${NAME} @ONLY)
  if(TARGET mpifort_abi OR NOT LANGUAGE STREQUAL Fortran)
    install(PROGRAMS ${PROJECT_BINARY_DIR}/wrappers/${NAME} DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endfunction()

heddle_wrapper(mpicc C cc cc gcc "HEDDLE_CC MPICC_CC MPICH_CC OMPI_CC I_MPI_CC")
foreach(name mpicxx mpic++)
  heddle_wrapper(${name} C++ c++ cxx g++ "HEDDLE_CXX MPICXX_CXX MPICH_CXX OMPI_CXX I_MPI_CXX")
endforeach()

foreach(name mpifort mpif90 mpif77)  # made without a Fortran compiler, too: the reference tells of their options
  heddle_wrapper(${name} Fortran gfortran fc gfortran "HEDDLE_FC MPIFORT_FC MPICH_FC OMPI_FC I_MPI_FC")
endforeach()

# ---- pkg-config -----------------------------------------------------------------------------------------------------
# `mpi-c` and `mpi-cxx` are the names that Debian's alternatives and autotools macros ask for.
file(RELATIVE_PATH PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" PC_UP "${PC_UP}")
set(PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
set(PC_LIBRARY mpi_abi)
foreach(name heddle mpi mpi-c mpi-cxx)
  set(NAME ${name})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/mpi.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# For build systems that know MPI only by the names of MPICH or Open MPI. Nothing finds the folder unless a user names it.
set(compat ${CMAKE_INSTALL_LIBDIR}/heddle/compat)
file(RELATIVE_PATH PC_UP /${compat} /)
string(REGEX REPLACE "/$" "" PC_UP "${PC_UP}")
set(PC_LIBDIR "\${pcfiledir}")  # some ask for this variable alone, and add -lmpi
set(PC_LIBRARY mpi)
foreach(name mpich ompi)
  set(NAME ${name})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/mpi.pc.in ${PROJECT_BINARY_DIR}/compat/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/compat/${name}.pc DESTINATION ${compat})
endforeach()
install(CODE "
  file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${compat}\")
  file(CREATE_LINK ../../libmpi_abi.so \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${compat}/libmpi.so\" SYMBOLIC)")

# ---- the library and its header (src/launch/mpiexec installs the launcher) ----------------------------------------------------
install(FILES ${HEDDLE_GENERATED}/installed/mpi.h ${HEDDLE_GENERATED}/include/mpi-ext.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
get_property(modules GLOBAL PROPERTY HEDDLE_PRODUCT_MODULES)
get_property(fortran_libraries GLOBAL PROPERTY HEDDLE_FORTRAN_LIBRARIES)
add_dependencies(product mpi_abi mpiexec ${modules} ${fortran_libraries})
install(TARGETS mpi_abi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/heddle)

heddle_strip_installed(mpi_abi ${CMAKE_INSTALL_LIBDIR})
foreach(target ${fortran_libraries})
  heddle_strip_installed(${target} ${CMAKE_INSTALL_LIBDIR})
endforeach()
heddle_strip_installed(mpiexec ${CMAKE_INSTALL_BINDIR})
set(beside_the_library heddle_topology ${modules})
if(TARGET heddle_host)
  list(APPEND beside_the_library heddle_host heddle_host_program)
endif()
foreach(target ${beside_the_library})
  heddle_strip_installed(${target} ${CMAKE_INSTALL_LIBDIR}/heddle)
endforeach()

# ---- CMake package --------------------------------------------------------------------------------------------------
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/heddle-config.cmake.in
  ${PROJECT_BINARY_DIR}/heddle-config.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/heddle
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heddle-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/heddle-config.cmake ${PROJECT_BINARY_DIR}/heddle-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)

# ---- the `heddle` command and the benchmark programs that it compiles ------------------------------------------------
install(PROGRAMS ${PROJECT_SOURCE_DIR}/tools/heddle DESTINATION ${CMAKE_INSTALL_BINDIR})
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/VERSION CONTENT "${PROJECT_VERSION}\n")
install(FILES ${PROJECT_BINARY_DIR}/VERSION DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/tools)
install(CODE "
  execute_process(COMMAND git -C \"${PROJECT_SOURCE_DIR}\" describe --always --dirty --abbrev=10 OUTPUT_VARIABLE commit ERROR_QUIET)
  if(commit)
    file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/heddle/tools/COMMIT\" \"\${commit}\")
  endif()")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/heddle_tool DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/tools
        FILES_MATCHING PATTERN "*.py" PATTERN "cluster/forwarder.cpp")
install(FILES ${PROJECT_SOURCE_DIR}/examples/demo.c DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/examples)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/ DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/bench
        FILES_MATCHING PATTERN "*.[ch]" PATTERN "threads/*.cpp" PATTERN sync EXCLUDE)
