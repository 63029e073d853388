// Post, start, complete and wait by message: a post is a message to each origin, which its start receives; a complete, once the
// operations are, is one to each target, which its wait receives.
#pragma once

#include <vector>

#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"
#include "objects/object/request.hpp"

namespace heddle::rma::reach {

class Exposure {
 public:
  explicit Exposure(Comm& comm) : comm_(comm) {}
  ~Exposure();
  Exposure(const Exposure&) = delete;
  Exposure& operator=(const Exposure&) = delete;

  // `told`: their starts wait for it.
  Error post(const std::vector<int>& origins, bool told);
  Error await_posts(const std::vector<int>& targets);
  Error complete(const std::vector<int>& targets);
  // Until all origins have completed; true if they have. After either, the exposure is over.
  Error wait();
  bool test();
  Error end();

 private:
  Comm& comm_;
  std::vector<Request*> messages_;  // of the open exposure
};

}  // namespace heddle::rma::reach
