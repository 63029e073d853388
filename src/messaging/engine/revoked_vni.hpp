// The VNI of a revoked communicator: every operation that starts there completes at once with MPIX_ERR_REVOKED. Revoking replaces the
// communicator's VNI by this one, so the path of a message has no check for it.
#pragma once

#include <mpi-ext.h>

#include "messaging/engine/vni.hpp"
#include "messaging/engine/wait_set.hpp"

namespace heddle::engine {

class RevokedVni final : public Vni {
 public:
  // `real` is a VNI of the rank; it does everything except starting operations.
  explicit RevokedVni(Vni& real) : Vni(real.index()), real_(real) {}

  bool try_send(const message::SendArgs&) override { return false; }
  void start_send(Request& request) override { end(request); }
  bool try_isend(const message::SendArgs&) override { return false; }
  void start_isend(Request& request) override { end(request); }
  void start_recv(Request& request) override { end(request); }
  message::Unexpected* probe(std::uint64_t, int, int, bool, Probed&) override { return nullptr; }
  // A matched probe finds no message here: a message that it found before the revocation names its own VNI.
  void start_matched_recv(Request& request, message::Unexpected&) override { end(request); }

  void begin_probing() override { real_.begin_probing(); }
  void end_probing() override { real_.end_probing(); }
  bool try_stamped(const message::SendArgs&, std::uint64_t) override { return false; }
  bool unpost(Request&) override { return false; }
  bool take_all(std::uint64_t, bool, lln::FunctionRef<void(message::Unexpected&)>) override { return true; }
  void finish_submissions() override {}
  void put_back(message::Unexpected& message) override { real_.put_back(message); }
  bool is_in_use() const override { return false; }
  bool cancel(Request& request) override { return real_.cancel(request); }
  // A persistent request may be newer than the revocation: threads that wait for it expect it at a real VNI.
  Error complete(Request& request) override {
    request.vni = &real_;
    return real_.complete(request);
  }
  bool disown(Request& request) override { return real_.disown(request); }
  bool sweep(const message::Verdicts&) override { return true; }
  bool resolve(Request& receive, bool at_its_end) override { return real_.resolve(receive, at_its_end); }
  instruments::Counters& counters() override { return real_.counters(); }
  message::VniState& state() override { return real_.state(); }
  bool something_to_do() const override { return false; }
  bool something_begun() const override { return false; }
  bool any_unsent() const override { return false; }
  bool any_waiting() const override { return false; }
  std::uint32_t departures() const override { return 0; }
  std::uint32_t taken() const override { return 0; }
  progress::PollResult poll(const PollMode&) override { return {}; }
  void expect(WaitSet&, Waiter*, boot::Wait&) override {}
  void forget(WaitSet&) override {}
  void prepare_to_sleep() override {}
  void flush() override {}
  int slow_peer() override { return -1; }
  bool is_anything_unsent(lln::FunctionRef<bool(int)>) override { return false; }

 private:
  void end(Request& request) {
    request.error = MPIX_ERR_REVOKED;
    if (request.receives) request.receive.age = 0;
    (void)RevokedVni::complete(request);
  }

  Vni& real_;
};

}  // namespace heddle::engine
