#include "launch/boot/news.hpp"

namespace heddle::boot {

namespace {

// Contexts may be 0 (MPI_COMM_WORLD).
std::uint64_t key_of(std::uint64_t context) { return context + 1; }

}  // namespace

DecidedComm* find_decided(DecidedComms& all, std::uint64_t context) {
  const std::uint32_t used = all.used.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i)
    if (all.entries[i].key.load(std::memory_order_acquire) == key_of(context)) return &all.entries[i];
  return nullptr;
}

const Decision* find_decision(const DecidedComm& comm, std::uint32_t number) {
  const Decision& decision = comm.decisions[number % decisions_kept];
  return decision.number.load(std::memory_order_acquire) == number ? &decision : nullptr;
}

void News::take(const Frame& frame) {
  Fields fields(frame);
  if (frame.kind() == FrameKind::failed) {
    if (const int rank = fields.index(); rank >= 0 && rank < header_.capacity) add_failure(rank);
  } else if (comms_ != nullptr) {
    const std::uint64_t context = fields.long_number();
    if (frame.kind() == FrameKind::revoked) revoke(context);
    if (frame.kind() == FrameKind::decided) decide(fields, context);
    if (frame.kind() == FrameKind::forgotten) forget(context);
  }
  for (node::Doorbell* const bell : bells_) bell->ring();
}

void News::add_failure(int rank) {
  FailureLog& log = failure_log(&header_);
  FailureEntry* const entries = failure_entries(&header_);
  const std::uint32_t i = log.failures.load(std::memory_order_relaxed);
  entries[i].rank.store(rank, std::memory_order_relaxed);
  log.failures.store(i + 1, std::memory_order_release);
  entries[rank].position.store(i + 1, std::memory_order_release);  // a reader of its position finds it in the log
  trouble();
}

// For waiting threads, which poll this word alone.
void News::trouble() { failure_log(&header_).trouble.fetch_add(1, std::memory_order_seq_cst); }

// Made if there is none.
DecidedComm* News::entry_of(std::uint64_t context) {
  DecidedComms& all = *comms_;
  if (DecidedComm* const there = find_decided(all, context)) return there;
  const std::uint32_t used = all.used.load(std::memory_order_relaxed);
  std::uint32_t i = 0;
  while (i < used && all.entries[i].key.load(std::memory_order_relaxed) != 0) ++i;
  if (i == decided_comms) {
    all.overflow.store(1, std::memory_order_relaxed);
    trouble();
    return nullptr;
  }
  DecidedComm& entry = all.entries[i];
  entry.revoked.store(0, std::memory_order_relaxed);
  for (Decision& decision : entry.decisions) decision.number.store(0, std::memory_order_relaxed);
  entry.key.store(key_of(context), std::memory_order_release);
  if (i == used) all.used.store(used + 1, std::memory_order_release);
  return &entry;
}

void News::revoke(std::uint64_t context) {
  DecidedComm* const entry = entry_of(context);
  if (entry == nullptr) return;
  entry->revoked.store(1, std::memory_order_seq_cst);
  trouble();
}

void News::decide(Fields& fields, std::uint64_t context) {
  const std::uint32_t number = fields.number();
  DecidedComm* const entry = entry_of(context);
  if (entry == nullptr) return;
  Decision& decision = entry->decisions[number % decisions_kept];
  decision.verdict.store(static_cast<Verdict>(fields.number()), std::memory_order_relaxed);
  decision.flag.store(static_cast<std::int32_t>(fields.number()), std::memory_order_relaxed);
  decision.failures.store(fields.number(), std::memory_order_relaxed);
  decision.context.store(fields.long_number(), std::memory_order_relaxed);
  decision.number.store(number, std::memory_order_release);
}

void News::forget(std::uint64_t context) {
  DecidedComm* const entry = find_decided(*comms_, context);
  if (entry != nullptr) entry->key.store(0, std::memory_order_release);
}

}  // namespace heddle::boot
