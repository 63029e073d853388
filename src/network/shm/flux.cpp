#include "network/shm/flux.hpp"

#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/platform/thread_end.hpp"

namespace heddle::lln::shm {

// Threads that still own fluxes share it, for they may end after the endpoint. No user-level thread is suspended while
// it holds the mutex.
struct FluxPool {
  explicit FluxPool(int ranks) : left(static_cast<std::size_t>(ranks)) {}

  std::mutex mutex;
  std::vector<std::vector<Flux*>> left;  // by peer
};

namespace {

// A kernel thread's fluxes of one endpoint. A user-level thread uses those of the kernel thread that runs it: sending
// does not suspend it, and stamps keep its order when it moves.
struct Owned {
  std::shared_ptr<FluxPool> pool;
  std::vector<Flux*> to;  // by peer; null: none yet
};

struct OwnFluxes {
  const FluxPool* recent = nullptr;
  Flux** to = nullptr;  // of `recent`
  std::vector<Owned> all;
};

[[gnu::tls_model("initial-exec")]] constinit thread_local OwnFluxes* fluxes_of_thread = nullptr;

// Leaves it to another thread. Without memory for that, the flux stays unused.
void leave(std::vector<Flux*>& left, Flux& flux) noexcept {
  try {
    left.push_back(&flux);
  } catch (const std::bad_alloc&) {
  }
}

void at_thread_end(void* fluxes) {
  const std::unique_ptr<OwnFluxes> mine(static_cast<OwnFluxes*>(fluxes));
  fluxes_of_thread = nullptr;
  for (Owned& owned : mine->all) {
    const std::lock_guard lock(owned.pool->mutex);
    for (std::size_t peer = 0; peer < owned.to.size(); ++peer)
      if (owned.to[peer] != nullptr) leave(owned.pool->left[peer], *owned.to[peer]);
  }
}

// The thread's fluxes of a pool become its recent ones.
[[gnu::cold, gnu::noinline]] OwnFluxes& recall(const std::shared_ptr<FluxPool>& pool) {
  if (fluxes_of_thread == nullptr) {
    auto made = std::make_unique<OwnFluxes>();
    platform::leave_at_thread_end<at_thread_end>(made.get());
    fluxes_of_thread = made.release();
  }
  OwnFluxes& mine = *fluxes_of_thread;
  std::erase_if(mine.all, [](const Owned& owned) { return owned.pool.use_count() == 1; });  // their endpoint is gone
  auto owned = mine.all.begin();
  while (owned != mine.all.end() && owned->pool != pool) ++owned;
  if (owned == mine.all.end()) owned = mine.all.insert(owned, {pool, std::vector<Flux*>(pool->left.size(), nullptr)});
  mine.recent = pool.get();
  mine.to = owned->to.data();
  return mine;
}

}  // namespace

Fluxes::Fluxes(node::Node& node, Box* boxes)
    : heap_(node.heap()),
      place_(node.place()),
      boxes_(boxes),
      rank_(place_.rank),
      pool_(std::make_shared<FluxPool>(place_.ranks)),
      sources_(new std::unique_ptr<Source>[static_cast<std::size_t>(place_.ranks)]),
      source_by_rank_(new Source* [static_cast<std::size_t>(place_.ranks)] {}) {}

Fluxes::~Fluxes() {
  for (int i = 0; i < source_count_.load(std::memory_order_relaxed); ++i) {
    End* end = sources_[i]->ends.load(std::memory_order_relaxed);
    while (end != nullptr) delete std::exchange(end, end->next);
  }
}

Flux* Fluxes::own(int peer) {
  OwnFluxes* mine = fluxes_of_thread;
  if (mine == nullptr || mine->recent != pool_.get()) [[unlikely]]
    mine = &recall(pool_);
  Flux*& flux = mine->to[peer];
  if (flux == nullptr) [[unlikely]]
    flux = make(peer);
  return flux;
}

Flux* Fluxes::make(int peer) {
  if (!place_.is_local(peer)) return nullptr;
  {
    const std::lock_guard lock(pool_->mutex);
    std::vector<Flux*>& left = pool_->left[static_cast<std::size_t>(peer)];
    if (!left.empty()) {
      Flux* const flux = left.back();
      left.pop_back();
      return flux;
    }
  }
  const Offset offset = heap_.allocate(sizeof(Flux));
  if (offset == nowhere) return nullptr;
  Flux* const flux = new (heap_.at<Flux>(offset)) Flux(rank_);
  boxes_[peer].fluxes.push(offset, [flux](Offset older) { flux->next = older; });
  return flux;
}

void Fluxes::admit_new() {
  const Offset newest = boxes_[rank_].fluxes.newest();
  const Offset known = known_.load(std::memory_order_relaxed);
  // All are made before the first of them is joined: a later call retries after a lack of memory.
  std::vector<std::unique_ptr<End>> made;
  for (Offset at = newest; at != known; at = heap_.at<Flux>(at)->next) {
    heap_.join(at);
    Flux* const flux = heap_.at<Flux>(at);
    (void)source_of(flux->sender);
    made.push_back(std::make_unique<End>(flux));
  }
  for (std::unique_ptr<End>& end : made) {
    Source& source = source_of(end->flux->sender);
    end->next = source.ends.load(std::memory_order_relaxed);
    source.ends.store(end.release(), std::memory_order_release);
  }
  known_.store(newest, std::memory_order_relaxed);
}

Fluxes::Source& Fluxes::source_of(int rank) {
  if (source_by_rank_[rank] == nullptr) {
    const int n = source_count_.load(std::memory_order_relaxed);
    sources_[n] = std::make_unique<Source>();
    source_by_rank_[rank] = sources_[n].get();
    source_count_.store(n + 1, std::memory_order_release);
  }
  return *source_by_rank_[rank];
}

bool Fluxes::arrived() const {
  if (any_new()) return true;
  const int n = source_count_.load(std::memory_order_acquire);
  for (int i = 0; i < n; ++i)
    for (const End* end = sources_[i]->ends.load(std::memory_order_acquire); end != nullptr; end = end->next)
      if (end->flux->boxes.any()) return true;
  return false;
}

std::uint32_t Fluxes::taken() const {
  std::uint32_t taken = 0;
  const int n = source_count_.load(std::memory_order_acquire);
  for (int i = 0; i < n; ++i) taken += sources_[i]->taken.load(std::memory_order_relaxed);
  return taken;
}

}  // namespace heddle::lln::shm
