#include "mpi/rma/reach/exposure.hpp"

#include <algorithm>

#include "messaging/p2p/p2p.hpp"
#include "mpi/rma/reach/wire.hpp"
#include "objects/datatype/datatype.hpp"

namespace heddle::rma::reach {

namespace {

const Datatype& bytes() { return *predefined_datatype(MPI_BYTE); }

}  // namespace

Exposure::~Exposure() = default;

Error Exposure::post(const std::vector<int>& origins, bool told) {
  messages_.reserve(2 * origins.size());
  for (const int origin : origins)
    messages_.push_back(&p2p::irecv(comm_, Plane::window, nullptr, 0, bytes(), origin, complete_tag));
  if (!told) return success;
  for (const int origin : origins)
    messages_.push_back(&p2p::isend(comm_, Plane::window, nullptr, 0, bytes(), origin, post_tag));
  return success;
}

Error Exposure::await_posts(const std::vector<int>& targets) {
  Error first = success;
  for (const int target : targets)
    if (Error e = p2p::recv(comm_, Plane::window, nullptr, 0, bytes(), target, post_tag); e && !first) first = e;
  return first;
}

Error Exposure::complete(const std::vector<int>& targets) {
  Error first = success;
  for (const int target : targets)
    if (Error e = p2p::send(comm_, Plane::window, nullptr, 0, bytes(), target, complete_tag); e && !first) first = e;
  return first;
}

Error Exposure::wait() {
  if (!messages_.empty()) (void)p2p::wait_all(messages_.data(), messages_.size());
  return end();
}

bool Exposure::test() {
  return std::ranges::all_of(messages_, [](Request* message) { return p2p::test(*message); });
}

Error Exposure::end() {
  Error first = success;
  for (Request* const message : messages_) {
    if (message->error != MPI_SUCCESS && !first) first = Error(message->error);
    p2p::give_back(*message);
  }
  messages_.clear();
  return first;
}

}  // namespace heddle::rma::reach
