// A network of a damaged rank: what rank 0 sends arrives, and between it forged messages, by seed: noise, and what looks like
// messages that did go that way. They come with the job's secret, so nothing keeps them out but what is checked above the network.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <random>
#include <vector>

#include "network/component.hpp"
#include "network/loopback/loopback.hpp"

namespace heddle::lln {
namespace {

std::uint64_t seed() {
  const char* const text = std::getenv("HEDDLE_LOOPBACK_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

class Nonsense final : public Network {
 public:
  explicit Nonsense(const Surroundings& surroundings)
      : below_(surroundings, seed()), is_damaged_(surroundings.place.rank == 0), random_(seed()) {}

  const Traits& traits() const override { return below_.traits(); }
  Posted post(int peer, const Envelope& envelope, std::size_t bytes, Fill fill) override {
    if (!is_damaged_) return below_.post(peer, envelope, bytes, fill);
    if (random_() % 8 == 0) (void)post_nonsense(peer);
    Message message{envelope, std::vector<std::byte>(bytes)};
    fill(message.payload.data());
    if (has_order(envelope)) message.envelope.sequence = sequence_;
    const Posted posted = post_as_it_is(peer, message);
    if (posted == Posted::done) {
      sequence_ += has_order(envelope) ? 1 : 0;
      if (envelope.header.kind != MessageKind::several) seen_.push_back(std::move(message));
      if (seen_.size() > 64) seen_.erase(seen_.begin());
    }
    return posted;
  }
  Posted post_long(int, std::uint64_t, std::span<const std::byte>, std::uint64_t) override { return Posted::busy; }
  void give_up(int peer) override { below_.give_up(peer); }
  void flush() override { below_.flush(); }
  int poll(int most, Sink sink) override { return below_.poll(most, sink); }
  bool arrived() const override { return below_.arrived(); }
  bool any_under_way() const override { return below_.any_under_way(); }
  int slow_peer() const override { return below_.slow_peer(); }
  void want_room(int peer) override { below_.want_room(peer); }
  void forget_room() override { below_.forget_room(); }
  bool arm() override { return below_.arm(); }
  int wake_fd() const override { return below_.wake_fd(); }
  std::int64_t poll_again_after() const override { return below_.poll_again_after(); }

 private:
  struct Message {
    Envelope envelope;
    std::vector<std::byte> payload;
  };

  static bool has_order(const Envelope& envelope) {
    const MessageKind kind = envelope.header.kind;
    return kind <= MessageKind::rts || kind == MessageKind::retract || kind == MessageKind::several;
  }
  Posted post_as_it_is(int peer, const Message& message) {
    return below_.post(peer, message.envelope, message.payload.size(),
                       [&](std::byte* to) { std::copy(message.payload.begin(), message.payload.end(), to); });
  }
  Posted post_nonsense(int peer) {
    Message message{{{MessageKind::eager, 0, 0, random_()}, 0, 0}, std::vector<std::byte>(random_() % 200)};
    for (std::byte& byte : message.payload) byte = static_cast<std::byte>(random_());
    Header& header = message.envelope.header;
    if (!seen_.empty() && random_() % 4 != 0) {
      message = seen_[random_() % seen_.size()];
      for (std::size_t i = random_() % 3; i != 0 && !message.payload.empty(); --i)
        message.payload[random_() % message.payload.size()] ^= static_cast<std::byte>(1 + random_() % 255);
      if (random_() % 4 == 0) message.payload.resize(random_() % (message.payload.size() + 1));
      if (random_() % 4 == 0) header.source = static_cast<int>(random_() % 5) - 1;
      if (random_() % 4 == 0) message.envelope.credit = static_cast<std::uint32_t>(random_() % 1000);
    }
    if (random_() % 3 == 0) header.kind = static_cast<MessageKind>(1 + random_() % 11);
    // Messages that no receiver could reject are not sent: messages that the program's receives would get, or that take one back.
    if (header.kind <= MessageKind::rts) header.context ^= std::uint64_t{1} << 60;
    if (header.kind == MessageKind::retract && message.payload.size() == sizeof(std::uint64_t))
      message.payload.pop_back();
    const bool ordered = has_order(message.envelope);
    message.envelope.sequence = ordered ? sequence_ : 0;
    const Posted posted = post_as_it_is(peer, message);
    if (posted == Posted::done && ordered) ++sequence_;
    return posted;
  }

  Loopback below_;
  const bool is_damaged_;
  std::mt19937_64 random_;
  std::uint32_t sequence_ = 0;
  std::vector<Message> seen_;
};

Network* open(const Surroundings& surroundings, Why& why) {
  try {
    return new Nonsense(surroundings);
  } catch (const std::exception& error) {
    std::snprintf(why.text, sizeof why.text, "%s", error.what());
    return nullptr;
  }
}

void close(Network* network) { delete network; }

constexpr Component component{component_layout, "nonsense", open, close};

}  // namespace
}  // namespace heddle::lln

extern "C" [[gnu::visibility("default")]] const heddle::lln::Component* heddle_network() {
  return &heddle::lln::component;
}
