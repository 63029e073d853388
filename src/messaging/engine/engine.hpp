// The engine of a rank: its VNIs and how its threads wait, composed at start-up as the safety model says
// (base/safety/model.hpp). Waiting belongs here and not to a VNI, since a thread may wait for requests of several.
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
  // Those of models that were asked for (messaging/engine/asked_models.hpp) are behind the engine's own.
  virtual Vni& vni(int index) = 0;
  int vnis() const { return model_.vnis; }
  // MPI_THREAD_MULTIPLE, but for the composition without any lock that the others are measured against.
  int thread_level() const { return safety::is_safe(model_) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED; }

  // Blocks until all of them (or one, if `any`) are done. Null entries do not count.
  virtual void wait(Request* const* requests, std::size_t n, bool any) = 0;
  // Blocks until a condition over memory holds, progressing meanwhile. Whoever makes it true calls notify of this rank
  // after its store, or does it under the protection of a VNI and rings. `wait` says what that is, for people.
  virtual void wait_until(bool (*holds)(const void*), const void* what, const boot::Wait& wait) = 0;
  virtual void notify(int world_rank) = 0;

  // Of a request that is not done: one attempt to move what can move, at its VNI first, and whether it is done then.
  virtual bool test(const Request& request) = 0;
  // One attempt for what no one request stands for; whether anything moved. `needed`: a request whose VNI is polled first.
  virtual bool progress(const Request* needed) = 0;
  // The caller's attempt has not brought what it looks for. A thread that tests again and again is a waiting thread too.
  virtual void tested_in_vain(bool moved) = 0;
  // For calls that need nothing and progress all the same: takes no lock if nothing is to be done, and never waits for one.
  virtual void poll_once() = 0;

  // What is under way after a failure, or when a communicator was revoked, on every VNI (messaging/message/failures.cpp). False: to be done again.
  virtual bool sweep(const message::Verdicts& verdicts) = 0;
  // For communicators that were revoked.
  virtual Vni& revoked_vni() = 0;

  // Progress on cores that would idle (base/progress/idle_cores.hpp), on those of `cores`, and deferred submission if the setting
  // asks for it, from here on, and no longer. Not for a model without any lock. Throws std::system_error if there can be no
  // such threads.
  virtual void begin_help(const cpu_set_t& cores, const progress::Setting& setting) = 0;
  virtual void end_help() = 0;

  // Blocks until nothing that has been begun waits for room at a rank for which `concerns` holds, unless that has finished: this rank may
  // poll no longer.
  virtual void send_deferred(lln::FunctionRef<bool(int)> concerns) = 0;
  // To other nodes: nobody may poll any longer when this returns. Sends what has been begun. False: for `flush_limit` seconds
  // nothing of it has moved; `peer` is a rank that it is for, or -1.
  virtual bool flush(int& peer) = 0;
  static constexpr int flush_limit = 10;

  // Between the two somebody else's progress depends on this rank's, also while the program computes: a thread of the library
  // sleeps on the rank's doorbell and makes progress whenever it rings. They nest. Not for a model without any lock, whose
  // progress is the program's. Throws std::system_error if there can be no such thread.
  virtual void begin_serving() = 0;
  virtual void end_serving() = 0;

 protected:
  // A thread of the library's own that the rank can do without. False, and a line on standard error that says what happens without it:
  // the system gives us none.
  static bool start_or_report(const char* without, std::function<void()> body);

 private:
  safety::Model model_;
};

// The engine of a rank under the model that HEDDLE_MODEL names. Null, with a sentence in error_detail(), if there is no
// such model.
std::unique_ptr<Engine> make_engine(Rank& rank);

}  // namespace heddle::engine
