// The safety models that sessions and communicators ask for with the info key heddle_model, beside the one of their ranks.
//
// All members of a communicator must find its messages on the same VNIs, so the models that were asked for are numbered for the
// job, in a table that every rank sees, and the number is part of the communicator's context. A model in the table has VNIs
// of its own, behind those of the ranks. How threads wait is the rank's, since a thread may wait for requests of several models:
// what is asked for is how many VNIs there are, what protects them, and the strategy of their outboxes.
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

// In one job. Their words are those behind the one that the ranks agree on for themselves (launch/boot/world.hpp).
inline constexpr int most_asked_models = 7;
inline constexpr int model_of_ranks = 0;

struct AskedModel {
  int first;  // of its VNIs
  int vnis;
  safety::Lock lock;
  safety::Submission submission;
  int strategy;  // by number (messaging/message/outbox/strategy.hpp)

  static constexpr int of_rank = 255;  // none is asked for
  bool asks_for_the_same(const AskedModel& other) const {
    return vnis == other.vnis && lock == other.lock && submission == other.submission && strategy == other.strategy;
  }
  bool carries(int vni) const { return vni >= first && vni < first + vnis; }
  std::string text() const;  // as heddle_model spells it
};

// The number, from 1 on, of the model that a value of heddle_model names. MPI_ERR_INFO_VALUE if there is no such model, or no
// room for one more.
Error ask_for_model(Rank& rank, std::string_view value, int& number);

// The one that has this VNI.
AskedModel asked_model_of(const Rank& rank, int vni);

// The VNIs of a communicator's model; 0 is the rank's own.
struct VniRange {
  int first;
  int vnis;
};
VniRange vnis_of_model(const Rank& rank, int number);

}  // namespace heddle::engine
