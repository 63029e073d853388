// Allocations that fail when a test says so: operator new of the whole program.
#pragma once

namespace heddle::message::simulator {

// The next allocation but n fails, once; below 0: none does.
void fail_allocation(int n);
// True if it has.
bool allocation_has_failed();

// The number of allocations of this thread that have not been freed.
long allocations();

// While one is there none fails: of what is not the library's.
class Spared {
 public:
  Spared();
  ~Spared();
  Spared(const Spared&) = delete;
  Spared& operator=(const Spared&) = delete;

 private:
  const int before_;
};

}  // namespace heddle::message::simulator
