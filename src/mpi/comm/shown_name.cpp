#include "mpi/comm/shown_name.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>

#include "base/threads/mutex.hpp"
#include "launch/boot/wait_record.hpp"
#include "launch/rank/rank.hpp"

namespace heddle {

namespace {

using boot::ContextName;

constinit threads::Mutex mutex;  // of the process; names change rarely

template <class F>
ContextName* find(const Comm& comm, F&& f) {
  boot::RankRecord& record = comm.owner->job->record();
  const auto found = std::find_if(std::begin(record.names), std::end(record.names), f);
  return found != std::end(record.names) ? found : nullptr;
}

}  // namespace

void show_name(const Comm& comm) {
  const std::lock_guard guard(mutex);
  ContextName* slot = find(comm, [&](const ContextName& one) { return one.is_of(comm.context); });
  if (slot == nullptr) slot = find(comm, [](const ContextName& one) { return one.is_free(); });
  if (slot == nullptr) return;
  if (comm.name.empty()) {
    slot->clear();
  } else {
    slot->set(comm.context, comm.name);
  }
}

void hide_name(const Comm& comm) {
  const std::lock_guard guard(mutex);
  if (ContextName* slot = find(comm, [&](const ContextName& one) { return one.is_of(comm.context); })) slot->clear();
}

}  // namespace heddle
