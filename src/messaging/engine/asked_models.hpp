// Safety models that sessions and communicators request with the info key heddle_model, in addition to the model of their ranks.
//
// All members of a communicator must find its messages on the same VNIs. So the job numbers the requested models in a table that every
// rank sees, and the number is part of the communicator's context. A model in the table has VNIs of its own, behind those of the ranks.
// It sets the number of VNIs, their lock and submission, and the strategy of their outboxes. It does not set how threads wait: a thread
// may wait for requests of several models, so that is the rank's choice.
#pragma once

#include <string>
#include <string_view>

#include "base/safety/model.hpp"
#include "launch/boot/job.hpp"
#include "objects/object/error.hpp"

namespace heddle {
struct Rank;
}

namespace heddle::engine {

// In one job. Their words in the table follow the word of the ranks' own model (launch/boot/world.hpp).
inline constexpr int most_asked_models = 7;
inline constexpr int model_of_ranks = 0;

struct AskedModel {
  int first;  // of its VNIs
  int vnis;
  safety::Lock lock;
  safety::Submission submission;
  int strategy;  // by number (messaging/message/outbox/strategy.hpp)

  static constexpr int of_rank = 255;  // the request names no strategy
  bool asks_for_the_same(const AskedModel& other) const {
    return vnis == other.vnis && lock == other.lock && submission == other.submission && strategy == other.strategy;
  }
  bool carries(int vni) const { return vni >= first && vni < first + vnis; }
  std::string text() const;  // as heddle_model spells it
};

// Returns the number, from 1 on, of the model that a value of heddle_model names. MPI_ERR_INFO_VALUE: there is no such model, or the
// table or the range of VNIs is full.
Error ask_for_model(Rank& rank, std::string_view value, int& number);

// The model that this VNI belongs to.
AskedModel asked_model_of(const Rank& rank, int vni);

// The VNIs of a communicator's model; number 0 is the rank's own model.
struct VniRange {
  int first;
  int vnis;
};
VniRange vnis_of_model(const Rank& rank, int number);

}  // namespace heddle::engine
