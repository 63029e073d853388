#include "messaging/engine/asked_models.hpp"

#include "launch/boot/join.hpp"
#include "launch/boot/variables.hpp"
#include "launch/rank/rank.hpp"
#include "messaging/engine/engine.hpp"
#include "messaging/engine/presets.hpp"
#include "messaging/message/outbox/strategy.hpp"
#include "network/header.hpp"

namespace heddle::engine {

namespace {

// An entry of the table, packed into one word: a rank reads a whole entry or none.
constexpr std::uint64_t pack(const AskedModel& model) {
  const auto byte = [](auto part, int at) { return static_cast<std::uint64_t>(part) << (8 * at); };
  return byte(model.first, 0) | byte(model.vnis, 1) | byte(model.lock, 2) | byte(model.submission, 3) | byte(1, 4) |
         byte(model.strategy, 5);
}
constexpr AskedModel unpack(std::uint64_t word) {
  const auto byte = [word](int at) { return static_cast<std::uint8_t>(word >> (8 * at)); };
  return {byte(0), byte(1), static_cast<safety::Lock>(byte(2)), static_cast<safety::Submission>(byte(3)), byte(5)};
}

// A failure: a communicator cannot have this model, only a whole rank can.
Result<void> may_be_asked(const safety::Model& model) {
  if (model.submission == safety::Submission::offload)
    return heddle::refuse(" can't be asked for: submit=offload needs a communication thread, which is the rank's");
  if (!safety::is_safe(model))
    return heddle::refuse(" can't be asked for: without any lock only one thread at a time may be in the library");
  return {};
}

AskedModel entry(const Rank& rank, int number) { return unpack(rank.job->agreed(number)); }

Error refuse(std::string_view value, const std::string& reason) {
  return fail(MPI_ERR_INFO_VALUE, "heddle_model=%.*s%s", static_cast<int>(value.size()), value.data(), reason.c_str());
}

}  // namespace

std::string AskedModel::text() const {
  std::string text = "vnis=" + std::to_string(vnis) + ",lock=" + std::string(name_of(lock)) +
                     ",submit=" + std::string(name_of(submission));
  if (strategy != of_rank) text += ",strategy=" + std::string(message::strategy_name(strategy));
  return text;
}

Error ask_for_model(Rank& rank, std::string_view text, int& number) {
  const std::string value = boot::spelled(text);
  const Result<safety::Model> parsed = parse_model(value);
  if (!parsed) return refuse(value, parsed.failure().text);
  const safety::Model& model = *parsed;
  if (const Result<void> allowed = may_be_asked(model); !allowed) return refuse(value, allowed.failure().text);
  if (value.find("wait=") != std::string_view::npos)
    return refuse(value, " can't be asked for: wait= is the rank's (HEDDLE_MODEL)");

  AskedModel wanted{rank.engine->vnis(), vnis_for(rank, model), model.lock, model.submission,
                    model.strategy.empty() ? AskedModel::of_rank : message::strategy_number(model.strategy)};
  for (number = 1; number <= most_asked_models; ++number) {
    const bool fits = wanted.first + wanted.vnis <= lln::most_vnis;
    const std::uint64_t word = fits ? rank.job->agree(number, pack(wanted)) : rank.job->agreed(number);
    if (word == 0)
      return refuse(value, " finds no room: a rank has at most " + std::to_string(lln::most_vnis) + " VNIs, and " +
                               std::to_string(wanted.first) + " are taken");
    const AskedModel there = unpack(word);
    if (there.asks_for_the_same(wanted)) return success;
    wanted.first = there.first + there.vnis;
  }
  return refuse(value, " is one too many: a job may ask for " + std::to_string(most_asked_models) + " models");
}

AskedModel asked_model_of(const Rank& rank, int vni) {
  int number = 1;
  while (!entry(rank, number).carries(vni)) ++number;
  return entry(rank, number);
}

VniRange vnis_of_model(const Rank& rank, int number) {
  if (number == 0) return {0, rank.engine->vnis()};
  const AskedModel model = entry(rank, number);
  return {model.first, model.vnis};
}

}  // namespace heddle::engine
