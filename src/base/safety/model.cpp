#include "base/safety/model.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <utility>

namespace heddle::safety {

namespace {

constexpr std::pair<std::string_view, Lock> lock_names[] = {
    {"none", Lock::none},   {"reserved", Lock::reserved}, {"mutex", Lock::mutex},   {"futex", Lock::futex},
    {"tas", Lock::tas},     {"ttas", Lock::ttas},         {"ticket", Lock::ticket}, {"clh", Lock::clh},
    {"mcs", Lock::mcs},     {"hmcs2", Lock::hmcs2},       {"hmcs3", Lock::hmcs3},   {"cohort", Lock::cohort},
    {"p-clh", Lock::p_clh}, {"clhub", Lock::clhub},       {"hclhub", Lock::hclhub},
};
constexpr std::pair<std::string_view, Submission> submission_names[] = {
    {"wait", Submission::wait},       {"csync", Submission::csync},   {"lockq", Submission::lockq},
    {"offload", Submission::offload}, {"inject", Submission::inject}, {"flux", Submission::flux},
    {"split", Submission::split},
};
constexpr std::pair<std::string_view, Waiting> waiting_names[] = {
    {"contend", Waiting::contend},   {"contend-low", Waiting::contend_low},
    {"backoff", Waiting::backoff},   {"usc", Waiting::usc},
    {"ksc", Waiting::ksc},           {"flag", Waiting::flag},
    {"adaptive", Waiting::adaptive},
};

template <class Table, class Part>
std::string_view name_in(const Table& table, Part part) {
  for (const auto& [name, value] : table)
    if (value == part) return name;
  return "?";
}

template <class Table, class Part>
Result<void> find(const Table& table, std::string_view key, std::string_view word, Part& part) {
  for (const auto& [name, value] : table) {
    if (name != word) continue;
    part = value;
    return {};
  }
  std::string text = std::string(key) + "=" + std::string(word) + " is none of";
  for (const auto& entry : table) text += (&entry == &table[0] ? " " : ", ") + std::string(entry.first);
  return Failure{.text = text};
}

Result<void> parse_vnis(std::string_view word, int& vnis) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), vnis);
  if (error == std::errc() && end == word.data() + word.size() && vnis >= 1 && vnis <= most_vnis) return {};
  return refuse("vnis=%s is not a number from 1 to %d", std::string(word).c_str(), most_vnis);
}

// Lanes are VNIs, so there are at least as many of these.
Result<void> parse_lanes(std::string_view word, Model& model) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), model.lanes);
  const bool is_number = error == std::errc() && end == word.data() + word.size();
  if (!is_number || model.lanes < 1 || model.lanes > most_vnis ||
      !std::has_single_bit(static_cast<unsigned>(model.lanes)))
    return refuse("lanes=%s is not a power of two from 1 to %d", std::string(word).c_str(), most_vnis);
  return {};
}

Result<void> parse_part(std::string_view part, Model& model) {
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos) return refuse("'%s' is not of the form part=choice", std::string(part).c_str());
  const std::string_view key = part.substr(0, equals);
  const std::string_view word = part.substr(equals + 1);
  if (key == "vnis") return parse_vnis(word, model.vnis);
  if (key == "lanes") return parse_lanes(word, model);
  if (key == "lock") return find(lock_names, key, word, model.lock);
  if (key == "submit") return find(submission_names, key, word, model.submission);
  if (key == "wait") return find(waiting_names, key, word, model.waiting);
  if (key == "strategy") {
    model.strategy = word;
    return {};
  }
  return refuse("'%s' is none of vnis, lanes, lock, submit, wait, strategy", std::string(key).c_str());
}

bool has_two_classes(Lock lock) { return lock == Lock::p_clh || lock == Lock::clhub || lock == Lock::hclhub; }

// A failure: the parts can't work together.
Result<void> check_parts(const Model& model) {
  if (model.lanes > 1 && model.submission == Submission::flux)
    return refuse("lanes=%d cannot be with submit=flux, which has a way for each sending thread already", model.lanes);
  if (model.submission == Submission::offload && model.waiting != Waiting::flag)
    return refuse("with submit=offload a thread can only watch its own request: wait=flag");
  if (model.submission != Submission::offload && model.waiting == Waiting::flag)
    return refuse("wait=flag needs a communication thread that makes the progress: submit=offload");
  if (model.waiting == Waiting::contend_low && !has_two_classes(model.lock))
    return refuse("wait=contend-low needs a lock with two classes: p-clh, clhub or hclhub");
  if (model.lock != Lock::none) return {};
  if (model.submission == Submission::lockq) return refuse("submit=lockq needs a lock beside its queue");
  if (model.submission == Submission::inject)
    return refuse("submit=inject needs a lock for operations that can't be injected");
  if (model.submission == Submission::flux)
    return refuse("submit=flux needs a lock for draining and for operations without flux");
  if (model.submission == Submission::split) return refuse("submit=split needs two locks");
  return {};
}

}  // namespace

bool is_safe(const Model& model) { return model.lock != Lock::none || model.submission != Submission::wait; }

std::string_view name_of(Lock lock) { return name_in(lock_names, lock); }
std::string_view name_of(Submission submission) { return name_in(submission_names, submission); }
std::string_view name_of(Waiting waiting) { return name_in(waiting_names, waiting); }

Result<Model> parse_composition(std::string_view text, Model model) {
  bool lock_named = false;
  bool waiting_named = false;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    if (const Result<void> parsed = parse_part(part, model); !parsed) return parsed.failure();
    lock_named |= part.starts_with("lock=");
    waiting_named |= part.starts_with("wait=");
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  const bool lockless = model.submission == Submission::csync || model.submission == Submission::offload;
  if (lockless && lock_named && model.lock != Lock::none)
    return Failure{.text = "submit=" + std::string(name_of(model.submission)) +
                           " has no lock to choose by lock=" + std::string(name_of(model.lock))};
  if (lockless) model.lock = Lock::none;
  if (model.submission == Submission::offload && !waiting_named) model.waiting = Waiting::flag;
  if (const Result<void> checked = check_parts(model); !checked) return checked.failure();
  return model;
}

}  // namespace heddle::safety
