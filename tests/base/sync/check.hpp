// The kinds that the checker knows; each enrolls its algorithms in a file of its own.
#pragma once

namespace heddle::test {

void enroll_locks();
void enroll_combining();
void enroll_queues();
void enroll_waiting();
void enroll_accesses();
void enroll_survival();

}  // namespace heddle::test
