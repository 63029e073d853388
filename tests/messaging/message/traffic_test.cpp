// Several messages at once: their order, with every kind of wildcard and probe, by every way to send; and what waits, is cancelled, fails or is
// revoked in numbers.
#include <gtest/gtest.h>
#include <mpi-ext.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "messaging/message/simulator/job.hpp"
#include "messaging/message/simulator/message.hpp"
#include "messaging/message/simulator/traffic.hpp"
#include "objects/object/comm.hpp"

namespace heddle::message::simulator {
namespace {

constexpr int any = -1;  // tag or source

// ---- three messages, in every order of events

struct Flow {
  const char* name;
  Setting setting;
  int from = 0, to = 1;
};

void PrintTo(const Flow& flow, std::ostream* out) { *out << flow.name; }

std::vector<Flow> flows() {
  using enum lln::Claiming;
  return {
      {"self", {}, 0, 0},
      {"same_process", {.one_process = true}},
      {"same_node", {}},
      {"concurrent", {.claiming = concurrent}},
      {"by_flux", {.claiming = by_flux}},
      {"oversubscribed", {.oversubscribed = true}},
      {"direct", {.strategy = "direct"}, 0, 2},
      {"aggregate", {}, 0, 2},
      {"auto", {.strategy = "auto"}, 0, 2},
      {"priority", {.strategy = "priority"}, 0, 2},
      {"priority_by_promise", {.strategy = "priority", .context = 40 | promise_no_any_tag}, 0, 2},
      {"split", {.strategy = "split"}, 0, 2},
      {"reordered", {.reorders = true}, 0, 2},
  };
}

// The tags and lengths of three messages, and what their receives ask for.
struct Set {
  std::array<int, 3> tags;
  std::array<std::size_t, 3> bytes;
  std::array<int, 3> asked;
};
constexpr Set sets[] = {
    {{1, 1, 1}, {8, 64, 0}, {1, 1, 1}},
    {{1, 2, 1}, {3000, 8, 64}, {any, 1, any}},
    {{1, 2, 3}, {64, 24 * 1024, 8}, {3, any, 1}},
    {{1, 2, 2}, {24 * 1024, 8, 2040}, {2, 1, 2}},
};

class Flows : public testing::TestWithParam<Flow> {
 protected:
  // s, r: the next send, receive; m: a matched probe for any message; p: a probe; S, R: the sender, the receiver polls; n: the network takes
  // nothing for a while.
  void run(std::string letters, Sending sending, Receiving receiving) {
    const Flow& flow = GetParam();
    std::ranges::sort(letters);
    for (const Set& set : sets) {
      if (flow.setting.context != Setting{}.context && std::ranges::count(set.asked, any) != 0) continue;
      std::string order = letters;
      do {
        SCOPED_TRACE("order " + order + ", set " + std::to_string(&set - sets) + ", sending " +
                     std::to_string(static_cast<int>(sending)));
        Traffic traffic(flow.setting, flow.to);
        std::size_t sends = 0, receives = 0;
        for (const char letter : order) {
          switch (letter) {
            case 's': {
              const Mode mode = sending == Sending::start && sends == 1 ? Mode::synchronous : Mode::standard;
              traffic.send({.from = flow.from,
                            .to = flow.to,
                            .bytes = set.bytes[sends],
                            .mode = mode,
                            .send_run = sends != 1,
                            .sending = sending},
                           set.tags[sends]);
              ++sends;
              break;
            }
            case 'r':
              traffic.post({.to = flow.to, .room = 24 * 1024, .receive_run = receives != 2, .receiving = receiving},
                           receives == 1 ? MPI_ANY_SOURCE : flow.from,
                           set.asked[receives] == any ? MPI_ANY_TAG : set.asked[receives]);
              ++receives;
              break;
            case 'm':
            case 'p':
              traffic.probe({.to = flow.to, .room = 24 * 1024}, MPI_ANY_SOURCE, MPI_ANY_TAG, letter == 'm');
              break;
            case 'S':
              (void)traffic.job().poll(flow.from);
              break;
            case 'R':
              (void)traffic.job().poll(flow.to);
              break;
            default:
              traffic.job().network().refuses = 2;
          }
        }
        traffic.finish();
      } while (!HasFailure() && std::next_permutation(order.begin(), order.end()));
    }
  }
};

TEST_P(Flows, KeepTheOrderOfSends) {
  for (const Sending sending : {Sending::start, Sending::wait, Sending::go_on})
    run("sssrrRS", sending, Receiving::start);
}

TEST_P(Flows, KeepTheOrderOfAnnouncedReceives) { run("ssrrrRS", Sending::wait, Receiving::announce); }

TEST_P(Flows, KeepTheOrderWithProbes) { run("sssmpRR", Sending::go_on, Receiving::start); }

// Messages wait, and leave together.
TEST_P(Flows, KeepTheOrderWhereTheNetworkIsSlow) {
  if (GetParam().to != 2) GTEST_SKIP() << "not over a network";
  run("nsssrSR", Sending::go_on, Receiving::start);
  run("nsssrSR", Sending::start, Receiving::start);
}

INSTANTIATE_TEST_SUITE_P(Every, Flows, testing::ValuesIn(flows()),
                         [](const testing::TestParamInfo<Flow>& info) { return std::string(info.param.name); });

// ---- random traffic of all ranks to one, in numbers that make indexes

class Walk {
 public:
  Walk(const Setting& setting, unsigned seed, int tags)
      : traffic_(setting, 0),
        random_(seed),
        tags_(tags),
        receiving_(setting.claiming == lln::Claiming::concurrent ? Receiving::announce : Receiving::start) {}

  // Most of the time more messages than receives, or more receives than messages.
  void run() {
    for (int i = 0; i != 1200 && !testing::Test::HasFailure(); ++i) {
      const bool sends_more = i / 100 % 2 == 0;
      const int what = at_random(100);
      const int source = at_random(3) == 0 ? MPI_ANY_SOURCE : at_random(ranks);
      const int tag = at_random(3) == 0 ? MPI_ANY_TAG : at_random(tags_);
      if (what < (sends_more ? 60 : 25)) {
        send();
      } else if (what < 80) {
        traffic_.post({.to = 0, .room = 32 * 1024, .receive_run = at_random(4) != 0, .receiving = receiving_}, source,
                      tag);
      } else if (what < 95) {
        traffic_.probe({.to = 0, .room = 32 * 1024}, source, tag, what < 85);
      } else if (what < 98) {
        traffic_.cancel_receive();
      } else {
        traffic_.cancel_send();
      }
      traffic_.let_arrive();
    }
    traffic_.finish();
  }

 private:
  int at_random(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  void send() {
    constexpr std::size_t lengths[] = {0, 8, 64, 128, 2000, 4096, 20'000, 32 * 1024};
    traffic_.send({.from = at_random(ranks),
                   .to = 0,
                   .bytes = lengths[at_random(std::size(lengths))],
                   .mode = at_random(4) == 0 ? Mode::synchronous : Mode::standard,
                   .send_run = at_random(4) != 0,
                   .sending = static_cast<Sending>(at_random(3))},
                  at_random(tags_));
  }

  Traffic traffic_;
  std::mt19937 random_;
  const int tags_;
  const Receiving receiving_;  // of all: one that is announced may be accepted later than one that is posted after it
};

TEST(Traffic, MatchesAsTwoListsDo) {
  const unsigned seed = std::random_device()();
  std::printf("seed %u\n", seed);
  for (const Setting& setting : {Setting{}, Setting{.one_process = true}, Setting{.oversubscribed = true},
                                 Setting{.claiming = lln::Claiming::concurrent}, Setting{.strategy = "priority"}}) {
    for (const int tags : {2, 200}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(tags) + " tags");
      Walk(setting, seed, tags).run();
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace heddle::message::simulator
