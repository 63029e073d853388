# `check_headers`: every header under src/ and include/ compiles alone. For each there is a generated source with that
# one include.
set(sources)
foreach(folder src include)
  file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR}/${folder} CONFIGURE_DEPENDS
       ${PROJECT_SOURCE_DIR}/${folder}/*.hpp ${PROJECT_SOURCE_DIR}/${folder}/*.h)
  get_property(left_out GLOBAL PROPERTY HEDDLE_HEADERS_LEFT_OUT)
  list(REMOVE_ITEM headers "" ${left_out})
  foreach(header ${headers})
    string(MAKE_C_IDENTIFIER ${header} name)
    set(source ${PROJECT_BINARY_DIR}/headers/${folder}_${name}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"@header@\"\n" @ONLY)
    list(APPEND sources ${source})
  endforeach()
endforeach()

if(sources)
  add_library(check_headers OBJECT EXCLUDE_FROM_ALL ${sources})
  target_include_directories(check_headers PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
    ${HEDDLE_GENERATED}/fortran ${HEDDLE_GENERATED}/fortran-compiler)
  target_compile_options(check_headers PRIVATE -O0 -g0)
  target_link_libraries(check_headers PRIVATE heddle_mpi_h)
  add_dependencies(check_headers generated)
else()
  add_custom_target(check_headers)
endif()
