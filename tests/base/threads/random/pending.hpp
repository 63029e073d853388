// The pending operations of a thread, and their completion by every family of wait and test.
#pragma once

#include <functional>
#include <vector>

#include "base/threads/random/where.hpp"

namespace random_program {

class Pending {
 public:
  using Done = std::function<void(const MPI_Status&)>;

  // `done` is called when the request is complete. A persistent one is freed then.
  void add(MPI_Request request, bool persistent, Done done);
  std::size_t size() const { return operations_.size(); }
  // Completes all, or a part, in a way that is drawn.
  void complete(test::Random& random, bool all);

 private:
  struct Operation {
    MPI_Request request;
    bool persistent;
    Done done;
  };
  using Operations = std::vector<Operation>;

  static void complete(Operations& some, test::Random& random);
  static void one_by_one(Operations& some, test::Random& random);
  static void any(Operations& some, bool blocking);
  static void several(Operations& some, bool blocking);
  static void together(Operations& some, bool blocking);
  static void finish(Operation& operation, MPI_Request& request, const MPI_Status& status);

  Operations operations_;
};

}  // namespace random_program
