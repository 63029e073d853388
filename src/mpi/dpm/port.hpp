// A port's name: "heddle:", the key of its job, and its context, in hexadecimal.
#pragma once

#include <string>

#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"

namespace heddle::dpm {

std::string port_name_of(const Rank& rank, Context port);
// MPI_ERR_PORT if it is no name of a port that is open in this job.
Error find_port(const Rank& rank, const char* port_name, Context& port);

}  // namespace heddle::dpm
