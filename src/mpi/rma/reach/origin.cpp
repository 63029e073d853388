#include "mpi/rma/reach/origin.hpp"

#include <algorithm>
#include <new>
#include <span>

#include "launch/rank/rank.hpp"
#include "messaging/engine/blocked.hpp"
#include "messaging/p2p/p2p.hpp"
#include "mpi/rma/reach/regions.hpp"

namespace heddle::rma::reach {

namespace {

constexpr std::uint32_t max_at_target = 8;  // commands under way
constexpr std::size_t max_exchanges = 32;   // ... altogether, with some 40 KiB each
static_assert(first_answer_tag + max_exchanges <= first_question_tag);

const Datatype& bytes() { return *predefined_datatype(MPI_BYTE); }

boot::Wait wait_for(const Comm& comm, int target) {
  return engine::wait_on(comm, boot::Awaited::target_answer, target);
}

}  // namespace

struct Origin::Exchange {
  alignas(16) std::byte out[max_command];
  alignas(16) std::byte in[max_answer];
  int tag = 0;
  int target = 0;
  Request* send = nullptr;
  Request* answer = nullptr;
  Tracked* tracked = nullptr;
  Layout result{};  // the destination of the answer's data; its datatype is null if there are none
  std::size_t offset = 0;
  std::size_t bytes = 0;

  Command& command() { return *reinterpret_cast<Command*>(out); }
  std::span<Strided> regions() { return {reinterpret_cast<Strided*>(out + sizeof(Command)), max_regions}; }
};

Origin::Origin(Comm& comm)
    : comm_(comm),
      under_way_(new std::atomic<std::uint32_t>[static_cast<std::size_t>(comm.size)]()),
      errors_(new std::atomic<int>[static_cast<std::size_t>(comm.size)]()) {
  exchanges_.reserve(max_exchanges);
  free_.reserve(max_exchanges);
  sent_.reserve(max_exchanges);
  // One always exists, so that a waiting thread gets it.
  exchanges_.push_back(std::make_unique<Exchange>());
  exchanges_.back()->tag = first_answer_tag;
  free_.push_back(exchanges_.back().get());
}

Origin::~Origin() = default;

// ---- Commands under way

// Null: the maximum is in use, or there is no memory for more now.
Origin::Exchange* Origin::try_take(int target) {
  std::lock_guard guard(mutex_);
  if (under_way_[target].load(std::memory_order_relaxed) >= max_at_target) return nullptr;
  if (free_.empty()) {
    if (exchanges_.size() == max_exchanges) return nullptr;
    std::unique_ptr<Exchange> made(new (std::nothrow) Exchange);
    if (!made) return nullptr;
    made->tag = first_answer_tag + static_cast<int>(exchanges_.size());
    free_.push_back(made.get());
    exchanges_.push_back(std::move(made));
  }
  Exchange* const exchange = free_.back();
  free_.pop_back();
  under_way_[target].fetch_add(1, std::memory_order_relaxed);
  exchange->target = target;
  return exchange;
}

Origin::Exchange& Origin::take(int target) {
  Exchange* taken = try_take(target);
  if (taken == nullptr)
    p2p::wait_until(*comm_.owner, wait_for(comm_, target),
                    [&] { return taken != nullptr || (taken = try_take(target)) != nullptr; });
  return *taken;
}

void Origin::give_back(Exchange& exchange) {
  std::lock_guard guard(mutex_);
  free_.push_back(&exchange);
  under_way_[exchange.target].fetch_sub(1, std::memory_order_release);
}

void Origin::send(Exchange& exchange, std::size_t size) {
  exchange.command().answer_tag = static_cast<std::uint32_t>(exchange.tag);
  exchange.answer = &p2p::irecv(comm_, Plane::window, exchange.in, max_answer, bytes(), exchange.target, exchange.tag);
  try {
    exchange.send = &p2p::isend(comm_, Plane::window, exchange.out, static_cast<MPI_Count>(size), bytes(),
                                exchange.target, command_tag);
  } catch (const std::bad_alloc&) {
    (void)p2p::cancel(*exchange.answer);
    p2p::give_back(*exchange.answer);
    throw;
  }
  std::lock_guard guard(mutex_);
  sent_.push_back(&exchange);
}

// ---- Operations

void Origin::start(int target, const Operation& operation, Tracked* tracked) {
  for (std::size_t offset = 0; offset < operation.bytes;) {
    Exchange& exchange = take(target);
    Command& command = exchange.command();
    command = operation.command;
    const std::size_t most = std::min(operation.bytes - offset, max_bytes);
    const std::size_t n = describe(operation.target, offset, most, operation.unit, exchange.regions(), command.regions);
    command.bytes = static_cast<std::uint32_t>(n);
    std::byte* const at = exchange.out + operand_offset(command.regions);
    std::size_t operand_bytes = 0;
    for (const Layout* operand : {operation.operand, operation.operand2}) {
      if (operand == nullptr) continue;
      pack(*operand->type, operand->at, operand->count, offset, at + operand_bytes, n);
      operand_bytes += n;
    }
    exchange.result = operation.result != nullptr ? *operation.result : Layout{};
    if (exchange.result.type != nullptr) retain(*exchange.result.type);
    exchange.offset = offset;
    exchange.bytes = n;
    exchange.tracked = tracked;
    if (tracked != nullptr) tracked->commands.fetch_add(1, std::memory_order_relaxed);
    try {
      send(exchange, operand_offset(command.regions) + operand_bytes);
    } catch (const std::bad_alloc&) {
      if (exchange.result.type != nullptr) release(*exchange.result.type);
      if (tracked != nullptr) tracked->commands.fetch_sub(1, std::memory_order_relaxed);
      give_back(exchange);
      throw;
    }
    offset += n;
  }
}

void Origin::end(Tracked& tracked) {
  Request* const request = tracked.request;
  if (tracked.commands.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (request != nullptr) p2p::complete(*request);
}

void Origin::wait(int target, const Tracked& tracked) {
  p2p::wait_until(*comm_.owner, wait_for(comm_, target),
                  [&] { return tracked.commands.load(std::memory_order_acquire) == 0; });
}

// ---- Answers

Origin::Exchange* Origin::take_answered() {
  std::lock_guard guard(mutex_);
  const auto is_done = [](const Request& request) { return request.done.load(std::memory_order_acquire) != 0; };
  const auto found =
      std::ranges::find_if(sent_, [&](Exchange* sent) { return is_done(*sent->answer) && is_done(*sent->send); });
  if (found == sent_.end()) return nullptr;
  Exchange* const answered = *found;
  *found = sent_.back();
  sent_.pop_back();
  return answered;
}

void Origin::finish(Exchange& exchange) {
  int error = exchange.answer->error;
  if (error == MPI_SUCCESS) error = exchange.send->error;
  if (error == MPI_SUCCESS) error = reinterpret_cast<const Answer*>(exchange.in)->error;
  const Layout& result = exchange.result;
  if (result.type != nullptr) {
    if (error == MPI_SUCCESS)
      unpack(*result.type, result.at, result.count, exchange.offset, exchange.in + sizeof(Answer), exchange.bytes);
    release(*result.type);
  }
  p2p::give_back(*exchange.answer);
  p2p::give_back(*exchange.send);
  int none = MPI_SUCCESS;
  std::atomic<int>& told = exchange.tracked != nullptr ? exchange.tracked->error : errors_[exchange.target];
  if (error != MPI_SUCCESS) told.compare_exchange_strong(none, error, std::memory_order_relaxed);
  if (exchange.tracked != nullptr) end(*exchange.tracked);
  give_back(exchange);
}

bool Origin::poll() {
  bool any = false;
  while (Exchange* const exchange = take_answered()) {
    finish(*exchange);
    any = true;
  }
  return any;
}

// ---- Completion

Error Origin::failure(int target) {
  if (errors_[target].load(std::memory_order_relaxed) == MPI_SUCCESS) return success;
  return fail(errors_[target].exchange(MPI_SUCCESS, std::memory_order_relaxed),
              "an operation that was started before has failed at target rank %d", target);
}

Error Origin::flush(int target) {
  p2p::wait_until(*comm_.owner, wait_for(comm_, target),
                  [&] { return under_way_[target].load(std::memory_order_acquire) == 0; });
  return failure(target);
}

Error Origin::flush_all() {
  Error first = success;
  for (int target = 0; target < comm_.size; ++target)
    if (Error e = flush(target); e && !first) first = e;
  return first;
}

}  // namespace heddle::rma::reach
