#include "base/threads/per_thread.hpp"

#include <vector>

#include "base/threads/thread_ref.hpp"

namespace heddle::threads::detail {

namespace {

struct Entry {
  const Kind* kind;
  void* object;
};

// The objects in the slot of a thread.
struct Everything {
  std::vector<Entry> entries;
  ~Everything() {
    // The last made first; a destructor may ask for something, even anew.
    while (!entries.empty()) {
      const Entry last = entries.back();
      entries.pop_back();
      last.kind->destroy(last.object);
    }
  }
};

void drop(void* everything) { delete static_cast<Everything*>(everything); }

}  // namespace

void* own(const Kind& kind) {
  void*& slot = current().slot(drop);
  if (slot == nullptr) slot = new Everything;
  auto& entries = static_cast<Everything*>(slot)->entries;
  for (const Entry& entry : entries)
    if (entry.kind == &kind) return entry.object;
  entries.reserve(entries.size() + 1);  // what is made has a place; making it may ask for more
  void* const object = kind.make();
  entries.push_back({&kind, object});
  return object;
}

}  // namespace heddle::threads::detail
