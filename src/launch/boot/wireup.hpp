// The interface of a foreign launcher to the processes that it has started (pmi/, pmix/): their ranks, a store of short
// texts that all can read, a fence, and an end for all.
//
// A job needs little of it: rank 0 puts one text, and two fences (launched/). All other data go between the ranks
// themselves, so nothing depends on the capacity and speed of a launcher.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "launch/boot/process_set.hpp"

namespace heddle::boot {

class Wireup {
 public:
  Wireup() = default;
  virtual ~Wireup() = default;
  Wireup(const Wireup&) = delete;
  Wireup& operator=(const Wireup&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  int appnum() const { return appnum_; }
  int universe_size() const { return universe_size_; }  // 0: the launcher sets none

  // The text has printable characters without blanks and semicolons, at most `text_bytes`.
  virtual Result<void> put(const std::string& key, const std::string& text) = 0;
  // The text that `from` has put before a fence that both have gone through.
  virtual Result<std::string> get(int from, const std::string& key) = 0;
  // Returns when all processes of the job have called it. Waits at most `fence_limit`.
  virtual Result<void> fence() = 0;

  // This process sends nothing more and may end. Once.
  virtual void finalize() = 0;
  // Asks for the end of the whole job. It may return, since not every launcher can be asked, or before the launcher
  // acts.
  virtual void abort(int code, const char* text) = 0;
  // True if the launcher's exit code is then `code`. If not, all ranks end with it by themselves before the launcher is
  // asked.
  virtual bool keeps_abort_code() const { return true; }

  // The launcher's sets, with members by its numbers. None: it has none, or cannot be asked any more.
  virtual std::vector<ProcessSet> process_sets() { return {}; }

  // The same for all ranks of the job, and unique on a node at the time.
  virtual std::string job_name() const = 0;
  // The ranks of this one's node, itself too. Empty: unknown to the launcher. Before the first fence.
  virtual std::vector<int> local_ranks() = 0;

  static constexpr std::size_t text_bytes = 1000;
  static constexpr int answer_limit = 30;      // seconds for an answer
  static constexpr int fence_limit = 30 * 60;  // seconds: processes may do much before they initialize MPI

 protected:
  int rank_ = 0;
  int size_ = 1;
  int appnum_ = 0;
  int universe_size_ = 0;
};

}  // namespace heddle::boot
