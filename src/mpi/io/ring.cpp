#include "mpi/io/ring.hpp"

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>

#include "base/threads/library_thread.hpp"

namespace heddle::io {

namespace {

constexpr int max_attempts = 10'000;
constexpr std::size_t max_pieces = 1024;  // of one request (IOV_MAX)

int setup(unsigned entries, io_uring_params& parameters) {
  return static_cast<int>(syscall(SYS_io_uring_setup, entries, &parameters));
}

int enter(int descriptor, unsigned submit, unsigned wait_for) {
  return static_cast<int>(syscall(SYS_io_uring_enter, descriptor, submit, wait_for,
                                  wait_for != 0 ? IORING_ENTER_GETEVENTS : 0, nullptr, 0));
}

// The kernel moves data of its page cache within the call that submits it. For so many bytes and more, which take it
// longer than waking a thread of its own, it is told to use that thread, so that the program computes meanwhile.
constexpr std::size_t min_background_bytes = 256 << 10;

// Words that the kernel writes and reads concurrently.
std::uint32_t load(std::uint32_t* cell) { return std::atomic_ref(*cell).load(std::memory_order_acquire); }
void store(std::uint32_t* cell, std::uint32_t value) { std::atomic_ref(*cell).store(value, std::memory_order_release); }

}  // namespace

std::unique_ptr<Ring> Ring::make() {
  io_uring_params parameters{};
  const int descriptor = setup(entries, parameters);
  if (descriptor < 0) return nullptr;
  std::unique_ptr<Ring> ring(new Ring(descriptor));
  if (!ring->map(parameters)) return nullptr;
  try {
    ring->thread_ = threads::make_library_thread([r = ring.get()] { r->work(); });
  } catch (const std::system_error&) {
    return nullptr;
  }
  return ring;
}

Ring::~Ring() {
  if (thread_.joinable()) {
    bool told = false;
    while (!told) {
      const std::lock_guard guard(mutex_);
      told = push(nullptr);  // the thread ends when it sees this
      if (!told) std::this_thread::yield();
    }
    thread_.join();
  }
  if (requests_ != nullptr) munmap(requests_, requests_bytes_);
  if (rings_ != nullptr) munmap(rings_, rings_bytes_);
  close(descriptor_);
}

bool Ring::map(const io_uring_params& p) {
  if (!(p.features & IORING_FEAT_SINGLE_MMAP) || !(p.features & IORING_FEAT_NODROP)) return false;
  const auto map_part = [this](std::size_t bytes, off_t which) {
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor_, which);
    return at == MAP_FAILED ? nullptr : at;
  };
  rings_bytes_ = std::max(p.sq_off.array + p.sq_entries * sizeof(std::uint32_t),
                          p.cq_off.cqes + p.cq_entries * sizeof(io_uring_cqe));
  requests_bytes_ = p.sq_entries * sizeof(io_uring_sqe);
  rings_ = static_cast<std::byte*>(map_part(rings_bytes_, IORING_OFF_SQ_RING));
  requests_ = static_cast<io_uring_sqe*>(map_part(requests_bytes_, IORING_OFF_SQES));
  if (rings_ == nullptr || requests_ == nullptr) return false;
  const auto cell = [this](std::uint32_t offset) { return reinterpret_cast<std::uint32_t*>(rings_ + offset); };
  submit_tail_ = cell(p.sq_off.tail);
  submit_slots_ = cell(p.sq_off.array);
  submit_mask_ = *cell(p.sq_off.ring_mask);
  end_head_ = cell(p.cq_off.head);
  end_tail_ = cell(p.cq_off.tail);
  end_mask_ = *cell(p.cq_off.ring_mask);
  ends_ = reinterpret_cast<io_uring_cqe*>(rings_ + p.cq_off.cqes);
  return true;
}

bool Ring::submit(Transfer& transfer) {
  transfer.next = transfer.pieces.data();
  transfer.left = transfer.pieces.size();
  const std::lock_guard guard(mutex_);
  if (running_ == entries - 1 || !push(&transfer)) return false;  // one is left for the end
  ++running_;
  return true;
}

// With the mutex held. The kernel reads the queue only within the call, so a request that it refuses can be taken back.
bool Ring::push(Transfer* transfer) {
  const std::uint32_t tail = load(submit_tail_);
  io_uring_sqe& request = requests_[tail & submit_mask_];
  request = {};
  request.opcode = IORING_OP_NOP;
  if (transfer != nullptr) {
    request.opcode = transfer->write ? IORING_OP_WRITEV : IORING_OP_READV;
    request.fd = transfer->descriptor;
    request.addr = reinterpret_cast<std::uintptr_t>(transfer->next);
    request.len = static_cast<std::uint32_t>(std::min(transfer->left, max_pieces));
    request.off = static_cast<std::uint64_t>(transfer->offset) + transfer->moved.bytes;
    request.user_data = reinterpret_cast<std::uintptr_t>(transfer);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < request.len; ++i) bytes += transfer->next[i].iov_len;
    if (bytes >= min_background_bytes) request.flags = IOSQE_ASYNC;
  }
  submit_slots_[tail & submit_mask_] = tail & submit_mask_;
  store(submit_tail_, tail + 1);
  int taken = 0;
  do {
    taken = enter(descriptor_, 1, 0);
  } while (taken < 0 && errno == EINTR);
  if (taken == 1) return true;
  store(submit_tail_, tail);
  return false;
}

// True if it continues: it has been interrupted, or a part of it has been moved.
bool Ring::go_on(Transfer& transfer, int result) {
  if (result > 0) {
    transfer.moved.bytes += static_cast<std::size_t>(result);
    consume(transfer.next, transfer.left, static_cast<std::size_t>(result));
  } else if (result == 0) {
    if (transfer.write) transfer.moved.error_number = EIO;
    return false;
  } else if (result != -EINTR && result != -EAGAIN) {
    transfer.moved.error_number = -result;
    return false;
  }
  if (transfer.left == 0) return false;
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    {
      const std::lock_guard guard(mutex_);
      if (push(&transfer)) return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the kernel is short of memory
  }
  transfer.moved.error_number = ENOMEM;
  return false;
}

void Ring::work() {
  for (;;) {
    const std::uint32_t head = load(end_head_);
    if (head == load(end_tail_)) {
      (void)enter(descriptor_, 0, 1);
      continue;
    }
    const io_uring_cqe end = ends_[head & end_mask_];
    store(end_head_, head + 1);
    if (end.user_data == 0) return;
    // Acquires the submitter's write. That order goes through the kernel, which the thread sanitizer does not see; here
    // it does.
    (void)load(submit_tail_);
    Transfer& transfer = *reinterpret_cast<Transfer*>(static_cast<std::uintptr_t>(end.user_data));
    if (go_on(transfer, end.res)) continue;
    {
      const std::lock_guard guard(mutex_);
      --running_;
    }
    transfer.end();
  }
}

}  // namespace heddle::io
