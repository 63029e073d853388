// A host: a process whose threads are ranks. mpiexec starts it in the place of the program (launch/boot/host_plan.hpp).
//
// It is a library, so that its thread-local variables do not lie where the program's must: the executable (main.cpp) has
// none but the room for those.
#pragma once

extern "C" int heddle_host_main(unsigned long tls_bytes, unsigned long tls_alignment);
