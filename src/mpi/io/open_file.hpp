// The object behind the handle of an open file.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/threads/mutex.hpp"
#include "mpi/io/device.hpp"
#include "mpi/io/hints.hpp"
#include "mpi/io/view.hpp"
#include "objects/object/file.hpp"

namespace heddle {
struct Request;
}

namespace heddle::io {

class Executor;
class SharedPointer;

struct OpenFile {
  OpenFile(int descriptor, const Info* info);
  ~OpenFile();

  Device device;
  std::unique_ptr<SharedPointer> shared;
  std::atomic<std::int64_t> pointer{0};  // the individual one, in etypes of the view
  std::atomic<bool> atomic_mode{false};
  std::atomic<std::uint32_t> collectives{0};  // that have begun: all members count alike
  std::atomic<std::uint32_t> unfinished{0};   // nonblocking operations
  threads::Mutex modifying;                   // an access that reads, changes and writes back, or one in atomic mode

  // For operations that begin now. A running one keeps its view.
  std::shared_ptr<const View> view() const {
    const std::lock_guard guard(mutex_);
    return view_;
  }
  Hints hints() const {
    const std::lock_guard guard(mutex_);
    return hints_;
  }
  void set_view(std::shared_ptr<const View> view) {
    const std::lock_guard guard(mutex_);
    view_.swap(view);
  }
  void set_hints(const Info* info) {
    const std::lock_guard guard(mutex_);
    hints_.set(info);
  }

  std::shared_ptr<Executor> executor();

  // The split collective operation that has begun and not ended. Guarded by `split_mutex`.
  threads::Mutex split_mutex;
  Request* split = nullptr;
  bool split_writes = false;

 private:
  mutable threads::Mutex mutex_;
  std::shared_ptr<const View> view_;
  Hints hints_;
  std::shared_ptr<Executor> executor_;
};

}  // namespace heddle::io
