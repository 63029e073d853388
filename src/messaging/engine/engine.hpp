// The engine of a rank: its VNIs, and how its threads wait. The safety model (base/safety/model.hpp) composes it at start-up. Waiting
// belongs to the engine and not to a VNI, since a thread may wait for requests of several VNIs.
#pragma once

#include <sched.h>

#include <cstddef>
#include <functional>
#include <memory>

#include "base/progress/setting.hpp"
#include "base/safety/model.hpp"
#include "launch/boot/wait_record.hpp"
#include "messaging/engine/vni.hpp"
#include "network/function_ref.hpp"
#include "network/watch.hpp"
#include "objects/object/request.hpp"

namespace heddle {
struct Rank;
}

namespace heddle::engine {

class Engine : public lln::Watch::Attendant {
 public:
  explicit Engine(safety::Model model) : model_(std::move(model)) {}
  virtual ~Engine() = default;

  const safety::Model& model() const { return model_; }
  // VNIs of requested models (messaging/engine/asked_models.hpp) have the indices after the engine's own.
  virtual Vni& vni(int index) = 0;
  int vnis() const { return model_.vnis; }
  // MPI_THREAD_MULTIPLE, except for the composition without any lock, which is the baseline of measurements.
  int thread_level() const { return safety::is_safe(model_) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED; }

  // Blocks until all of the requests (or one, if `any`) are done. Null entries do not count.
  virtual void wait(Request* const* requests, std::size_t n, bool any) = 0;
  // Blocks until a condition over memory holds, and makes progress meanwhile. A thread that makes the condition true then calls notify()
  // with this rank; or it stores with a VNI lock held, and rings the doorbell. `wait` describes the condition in reports.
  virtual void wait_until(bool (*holds)(const void*), const void* what, const boot::Wait& wait) = 0;
  virtual void notify(int world_rank) = 0;

  // One attempt to progress everything, the VNI of `request` first. The request is not done before. True: it is done now.
  virtual bool test(const Request& request) = 0;
  // The same without a request to wait for. True: something moved. `needed`: a request whose VNI is polled first, or null.
  virtual bool progress(const Request* needed) = 0;
  // One attempt on the VNI of a request alone, for a thread that calls progress() too, now and then. False: threads of this model do not
  // poll.
  virtual bool poll_for(const Request& request) = 0;
  // The caller's attempt has not completed what it tests for. A thread that tests repeatedly is a waiting thread too.
  virtual void tested_in_vain(bool moved) = 0;
  // For calls that wait for nothing and yet must make progress. Takes no lock if there is nothing to do, and never waits for a lock.
  virtual void poll_once() = 0;

  // Applies `verdicts` to the operations of every VNI after a failure, or after a communicator was revoked
  // (messaging/message/failures.cpp). False: the caller has to call it again.
  virtual bool sweep(const message::Verdicts& verdicts) = 0;
  // The VNI of communicators that were revoked.
  virtual Vni& revoked_vni() = 0;

  // From this call to end_help(), progress threads work on those of `cores` that would idle (base/progress/idle_cores.hpp), with deferred
  // submission if the setting requests it. Not for a model without any lock. Throws std::system_error if these threads cannot be started.
  virtual void begin_help(const cpu_set_t& cores, const progress::Setting& setting) = 0;
  virtual void end_help() = 0;

  // Blocks until no message waits for room at a rank for which `concerns` holds, unless that rank has finished. After it this rank may
  // stop polling.
  virtual void send_deferred(lln::FunctionRef<bool(int)> concerns) = 0;
  // Blocks until all messages to other nodes have left; after that no thread needs to poll. False: no message has moved for `flush_limit`
  // seconds; `peer` is the destination of one of them, or -1.
  virtual bool flush(int& peer) = 0;
  static constexpr int flush_limit = 10;

  // Between these calls other ranks depend on this rank's progress, also while the program computes. A thread of the library blocks on
  // the rank's doorbell and makes progress whenever it rings. Calls nest. Not for a model without any lock, where only the program makes
  // progress. Throws std::system_error if the thread cannot be started.
  virtual void begin_serving() = 0;
  virtual void end_serving() = 0;

 protected:
  // Starts a thread of the library without which the rank can still run. False: the system has no thread left. Then a line on standard
  // error says what happens `without` it.
  static bool start_or_report(const char* without, std::function<void()> body);

 private:
  safety::Model model_;
};

// Creates the engine of a rank with the model that HEDDLE_MODEL names. Null: there is no such model; error_detail() has a sentence about
// it.
std::unique_ptr<Engine> make_engine(Rank& rank);

}  // namespace heddle::engine
