# Every program and library that is added after this is compiled for the simulator, and loads it before libc.
add_subdirectory(src/simulator)
add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=thread> $<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan>)
include_directories(BEFORE src)
# Before the folders of every target, whose own come first among those of -I.
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:SHELL:-iquote ${CMAKE_CURRENT_SOURCE_DIR}/src/simulator/include>")
link_libraries(heddle_simulator)
add_link_options(-Wl,--no-as-needed)
