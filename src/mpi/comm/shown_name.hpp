// Names of communicators in the job's segment, so that mpiexec can report the one on which a thread waits
// (launch/boot/wait_record.hpp). Communicators without room there have a number in the report.
#pragma once

#include "objects/object/comm.hpp"

namespace heddle {

// Its current name. With its mutex held, unless no other thread knows it yet.
void show_name(const Comm& comm);
void hide_name(const Comm& comm);

}  // namespace heddle
