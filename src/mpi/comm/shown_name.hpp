// Names of communicators in the job's segment, so that mpiexec can tell on which one a thread waits
// (launch/boot/wait_record.hpp). Of those that find no room it tells a number.
#pragma once

#include "objects/object/comm.hpp"

namespace heddle {

// The name that it has now. With its mutex held, unless no other thread knows it yet.
void show_name(const Comm& comm);
void hide_name(const Comm& comm);

}  // namespace heddle
