// Runs a test body between processes: the body lies in shared memory, which every process maps at an address of its
// own.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <vector>

namespace heddle::test {

class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes) : bytes_(bytes), file_(memfd_create("heddle-sync-test", 0)) {
    if (file_ < 0 || ftruncate(file_, static_cast<off_t>(bytes)) != 0) std::abort();
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { close(file_); }

  // Every call maps it anew, and so at another address.
  void* map() const {
    void* const at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (at == MAP_FAILED) std::abort();
    return at;
  }

 private:
  std::size_t bytes_;
  int file_;
};

template <class Body>
void run_between_processes(unsigned processes, unsigned rounds) {
  const SharedMemory memory(sizeof(Body));
  auto* const body = new (memory.map()) Body(processes, rounds);
  std::vector<pid_t> children;
  for (unsigned id = 0; id != processes; ++id) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (unsigned i = 0; i != id; ++i) memory.map();  // so that each child gets an address of its own
      static_cast<Body*>(memory.map())->thread(id);
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "a process failed";
  }
  body->finish();
}

}  // namespace heddle::test
