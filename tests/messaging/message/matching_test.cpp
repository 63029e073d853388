// The matcher beside a model of it: one list of receives in order of posting, one of messages in order of arrival. Random sequences of what a
// VNI does, by seed.
#include "messaging/message/matching.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <list>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "objects/object/comm.hpp"

namespace {
bool is_memory_short = false;
}  // namespace

// Larger tables and indexes are made with these.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return is_memory_short ? nullptr : ::operator new(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return is_memory_short ? nullptr : ::operator new[](bytes);
}

namespace heddle::message {
namespace {

// How many different contexts, sources and tags there are.
struct Space {
  int contexts;
  int sources;
  int tags;
  bool announces;  // receives without a wildcard
};

class Comparison {
 public:
  Comparison(const Space& space, unsigned seed) : space_(space), random_(seed) {}

  void steps(int n, int receives_of_ten) {
    for (int i = 0; i != n && !testing::Test::HasFatalFailure(); ++i) {
      if (at_random(2'000) == 0) is_memory_short = !is_memory_short;
      const int what = at_random(100);
      if (what < 60) {
        at_random(10) < receives_of_ten ? start_receive() : arrive();
      } else if (what < 75) {
        probe();
      } else if (what < 82) {
        remove_one_message();
      } else if (what < 90) {
        withdraw();
      } else if (what < 99) {
        take_and_put_back();
      } else if (at_random(40) == 0) {
        sift();
      }
    }
    is_memory_short = false;
  }

 private:
  using Receives = std::list<Request*>;
  using Messages = std::list<Unexpected*>;

  int at_random(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  Envelope envelope(bool may_be_wild) {
    Envelope e{static_cast<std::uint64_t>(1 + at_random(space_.contexts)) * contexts_apart, at_random(space_.sources),
               at_random(space_.tags)};
    const int wild = may_be_wild ? at_random(8) : 0;
    if ((wild & 1) != 0 && (wild & 4) != 0) e.source = MPI_ANY_SOURCE;
    if ((wild & 2) != 0 && (wild & 4) != 0) e.tag = MPI_ANY_TAG;
    return e;
  }
  static bool accepts(const Envelope& asked, const Envelope& e) {
    return asked.context == e.context && (asked.source == MPI_ANY_SOURCE || asked.source == e.source) &&
           (asked.tag == MPI_ANY_TAG || asked.tag == e.tag);
  }

  // The model.
  Receives::iterator model_receive(const Envelope& message) {
    return std::find_if(posted_.begin(), posted_.end(), [&](Request* r) { return accepts(envelope_of(*r), message); });
  }
  Messages::iterator model_message(const Envelope& asked) {
    return std::find_if(unexpected_.begin(), unexpected_.end(),
                        [&](Unexpected* m) { return accepts(asked, envelope_of(*m)); });
  }
  Unexpected* model_find(const Envelope& asked) {
    const auto found = model_message(asked);
    return found != unexpected_.end() ? *found : nullptr;
  }

  void start_receive() {
    Request& request = new_request();
    const Envelope asked = envelope(true);
    request.context = asked.context;
    request.source = asked.source;
    request.tag = asked.tag;
    Unexpected* const expected = model_find(asked);
    Unexpected* matched = nullptr;
    const auto match = [&](Request& one, Unexpected& message) {
      ASSERT_EQ(&one, &request);
      matched = &message;
    };
    Matcher::Announcement announcement{Matcher::Announced::not_at_all, 0};
    if (space_.announces) announcement = matcher_.announce(request);
    if (announcement.result == Matcher::Announced::at_closed_gate) {
      matcher_.match_announced(request, announcement.hash, match);
    } else if (announcement.result == Matcher::Announced::not_at_all) {
      matched = matcher_.find_unexpected(asked.context, asked.source, asked.tag);
      if (matched == nullptr) matcher_.post(request);
    }
    ASSERT_EQ(matched, expected);
    ASSERT_TRUE(!unexpected_.empty() || announcement.result != Matcher::Announced::at_closed_gate);
    if (matched != nullptr) {
      drop(*matched);
    } else {
      posted_.push_back(&request);
    }
  }

  void arrive() {
    const lln::Header header = header_of(envelope(false));
    Request* const receive = matcher_.take_receive(header);
    const auto expected = model_receive(envelope_of(header));
    ASSERT_EQ(receive, expected != posted_.end() ? *expected : nullptr);
    if (receive != nullptr) {
      posted_.erase(expected);
    } else if (at_random(20) == 0) {
      matcher_.forget(header);
    } else {
      Unexpected& message = new_message();
      message.header = header;
      matcher_.add_unexpected(message);
      unexpected_.push_back(&message);
    }
  }
  void take_and_put_back() {
    const lln::Header header = header_of(envelope(false));
    Request* const receive = matcher_.take_receive(header);
    const auto expected = model_receive(envelope_of(header));
    ASSERT_EQ(receive, expected != posted_.end() ? *expected : nullptr);
    if (receive != nullptr) {
      matcher_.put_back(*receive);
    } else {
      matcher_.forget(header);
    }
  }

  void probe() {
    const Envelope asked = envelope(true);
    ASSERT_EQ(matcher_.find_unexpected(asked.context, asked.source, asked.tag), model_find(asked));
    if (!unexpected_.empty()) {
      Unexpected* const message = any_of(unexpected_);
      ASSERT_EQ(matcher_.find_unexpected_if(envelope_of(*message), [&](const Unexpected& m) { return &m == message; }),
                message);
    }
  }
  void remove_one_message() {
    if (!unexpected_.empty()) drop(*any_of(unexpected_));
  }
  void withdraw() {
    if (!posted_.empty() && at_random(4) != 0) {
      Request* const request = any_of(posted_);
      ASSERT_TRUE(matcher_.withdraw(*request));
      posted_.remove(request);
      ASSERT_FALSE(matcher_.withdraw(*request));
    } else {
      Request& request = new_request();
      request.context = contexts_apart;
      request.source = request.tag = 0;
      ASSERT_FALSE(matcher_.withdraw(request));
    }
  }

  // Communicators are revoked: the receives and messages of every third context end.
  void sift() {
    const unsigned remainder = static_cast<unsigned>(at_random(3));
    const auto ends = [&](std::uint64_t context) { return context / contexts_apart % 3 == remainder; };
    Receives ended;
    matcher_.sift([&](Request& r) { return ends(r.context) ? MPI_ERR_OTHER : MPI_SUCCESS; },
                  [&](Request& r, int error) {
                    ASSERT_EQ(error, MPI_ERR_OTHER);
                    ended.push_back(&r);
                  });
    const std::size_t before = posted_.size();
    posted_.remove_if([&](Request* r) { return ends(r->context); });
    ASSERT_EQ(ended.size(), before - posted_.size());
    ASSERT_TRUE(std::ranges::all_of(ended, [&](Request* r) { return ends(r->context); }));
    Messages found;
    const Messages expected = unexpected_;
    matcher_.for_each_unexpected([&](Unexpected& message) {
      found.push_back(&message);
      if (ends(message.header.context)) drop(message);
    });
    ASSERT_EQ(found, expected);
  }

  void drop(Unexpected& message) {
    matcher_.remove_unexpected(message);
    unexpected_.remove(&message);
  }
  static lln::Header header_of(const Envelope& e) { return {lln::MessageKind::eager, e.source, e.tag, e.context}; }
  template <class T>
  T any_of(const std::list<T>& list) {
    return *std::next(list.begin(), at_random(static_cast<int>(std::min<std::size_t>(list.size(), 50))));
  }
  Request& new_request() { return requests_.emplace_back(); }
  Unexpected& new_message() { return messages_.emplace_back(); }

  Matcher matcher_;
  const Space space_;
  std::mt19937 random_;
  Receives posted_;
  Messages unexpected_;
  std::deque<Request> requests_;
  std::deque<Unexpected> messages_;
};

// Mostly receives, mostly messages, as many of both; few envelopes and many.
TEST(Matching, FindsWhatTwoListsInOrderFind) {
  const unsigned seed = std::random_device()();
  std::printf("seed %u\n", seed);
  for (const bool announces : {false, true}) {
    for (const Space& space : {Space{1, 2, 2, announces}, Space{2, 3, 3, announces}, Space{2, 2, 400, announces},
                               Space{300, 1, 1, announces}, Space{3, 400, 2, announces}}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(space.contexts) + " contexts, " +
                   std::to_string(space.sources) + " sources, " + std::to_string(space.tags) + " tags" +
                   (announces ? ", announced" : ""));
      Comparison run(space, seed);
      for (const int receives_of_ten : {5, 8, 2, 5, 3, 9}) run.steps(3'000, receives_of_ten);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace heddle::message
