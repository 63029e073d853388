// A job of three ranks that one thread plays: two on one node, and one on another node. Each has the state of one VNI; nothing else of a rank is
// there.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/node/room.hpp"
#include "launch/boot/peer_memory.hpp"
#include "launch/boot/world.hpp"
#include "messaging/message/request_cache.hpp"
#include "messaging/message/simulator/memory.hpp"
#include "messaging/message/verdicts.hpp"
#include "messaging/message/vni_state.hpp"
#include "messaging/wake/wake.hpp"
#include "network/networks.hpp"

namespace heddle::message::simulator {

inline constexpr int ranks = 3, of_nodes = 2;
inline constexpr std::size_t heap_bytes = std::size_t{64} << 20;  // of each node

// The end of the job by the library, with its sentence.
struct JobEnds : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class TestWorld final : public boot::World {
 public:
  TestWorld(const std::shared_ptr<platform::SparseMemory>& segment, int rank) : World(segment, rank) {}
  // The memory of a new job. There is one at a time, since addresses are not given back. Ranks of one `host` are threads of one process; every
  // rank is of this process, so the kernel reads and writes the memory of each.
  static std::shared_ptr<platform::SparseMemory> make_segment(bool one_process) {
    constexpr std::size_t before = boot::heap_offset(ranks, of_nodes), bytes = before + of_nodes * heap_bytes;
    static const auto segment = platform::SparseMemory::make(bytes);
    if (!segment || !segment->reach(segment->start(), bytes)) throw std::bad_alloc();
    madvise(segment->start(), bytes, MADV_DONTNEED);  // which makes it zero
    auto* const header = new (segment->start()) boot::JobHeader{};
    header->size = header->local_ranks = header->capacity = ranks;
    header->nodes = of_nodes;
    header->usable_cores = 2;
    header->heap_offset = before;
    header->heap_bytes = heap_bytes;
    header->segment_bytes = bytes;
    const std::array<int, of_nodes + 1> first{0, 2, 3};
    std::copy(first.begin(), first.end(), boot::first_ranks(header));
    for (int rank = 0; rank < ranks; ++rank) {
      boot::RankRecord& record = boot::rank_records(header)[rank];
      record.host = one_process ? 0 : rank;
      boot::publish_key(record);
    }
    return segment;
  }

  using World::header;
  std::uint64_t agreed(int) const override { return 0; }
  std::uint64_t agree(int, std::uint64_t proposal) override { return proposal; }
  Result<std::string> ask_launcher(const std::string&) override { return Failure{}; }
  void abort(int, const char* text) override { throw JobEnds(text); }
  std::span<const std::byte> find(int, int) const override { return {}; }
  bool publish(int, std::span<const std::byte>) override { return true; }
};

// A network that a test directs. A packet lies with its receiver until that polls.
class Scripted final : public lln::Network {
 public:
  struct Script {
    std::size_t eager = 2048;
    std::size_t longs = 0;  // the shortest message that goes directly; 0: none does
    bool reorders = false;  // each poll hands over the newest packet first
    int refuses = 0;        // so many posts from now on
    int rails = 1;
    int refused_rail = -1;                       // takes nothing
    std::array<int, lln::most_rails> over = {};  // posts that each rail has taken
    std::array<Scripted*, ranks> ends{};
  };

  Scripted(Script& script, int rank)
      : script_(script), rank_(rank), traits_{script.eager, !script.reorders, script.longs} {
    script.ends[static_cast<std::size_t>(rank)] = this;
  }

  const lln::Traits& traits() const override { return traits_; }
  lln::Posted post(int peer, const lln::Envelope& envelope, std::size_t bytes, Fill fill) override {
    if (script_.refuses > 0) {
      --script_.refuses;
      return lln::Posted::busy;
    }
    const Spared spared;
    Packet packet{rank_, envelope, std::vector<std::byte>(bytes)};
    fill(packet.payload.data());
    if (!gone_[static_cast<std::size_t>(peer)]) end(peer).arrived_.push_back(std::move(packet));
    return lln::Posted::done;
  }
  int rails() const override { return script_.rails; }
  lln::Posted post_over(int rail, int peer, const lln::Envelope& envelope, std::size_t bytes, Fill fill) override {
    if (rail == script_.refused_rail) return lln::Posted::busy;
    const lln::Posted posted = post(peer, envelope, bytes, fill);
    if (posted == lln::Posted::done) ++script_.over[static_cast<std::size_t>(rail)];
    return posted;
  }
  lln::Posted post_long(int peer, std::uint64_t landing, std::span<const std::byte> memory,
                        std::uint64_t ours) override {
    if (script_.refuses > 0) {
      --script_.refuses;
      return lln::Posted::busy;
    }
    if (gone_[static_cast<std::size_t>(peer)]) return lln::Posted::done;
    const Spared spared;
    lln::Landing* const there = end(peer).expect(landing, rank_, memory.size());
    if (there == nullptr) throw JobEnds("a long message that is not expected");
    std::memcpy(there->memory, memory.data(), memory.size());
    end(peer).arrived_.push_back(word(rank_, lln::MessageKind::landed, landing));
    arrived_.push_back(word(peer, lln::MessageKind::left, ours));
    return lln::Posted::done;
  }
  void give_up(int peer) override { gone_[static_cast<std::size_t>(peer)] = true; }
  void flush() override {}
  int poll(int most, Sink sink) override {
    int taken = 0;
    while (taken < most && !arrived_.empty()) {
      const bool newest = script_.reorders;
      Packet& next = newest ? arrived_.back() : arrived_.front();
      if (!sink(next.sender, next.envelope, next.payload.data(), next.payload.size())) break;
      newest ? arrived_.pop_back() : arrived_.pop_front();
      ++taken;
    }
    return taken;
  }
  bool arrived() const override { return !arrived_.empty(); }
  bool any_under_way() const override { return false; }
  int slow_peer() const override { return -1; }
  void want_room(int peer) override { wanted_.push_back(peer); }
  void forget_room() override { wanted_.clear(); }
  bool arm() override { return false; }
  int wake_fd() const override { return -1; }
  std::int64_t poll_again_after() const override { return 0; }

  // The peers that it was asked to tell of room for.
  const std::vector<int>& wanted() const { return wanted_; }
  // As if the peer had sent it.
  void inject(int sender, lln::MessageKind kind, const void* payload, std::size_t bytes, int source = 0) {
    const auto* const at = static_cast<const std::byte*>(payload);
    arrived_.push_back({sender, {{kind, source, 0, 0}, 0, 0}, std::vector<std::byte>(at, at + bytes)});
  }

 private:
  struct Packet {
    int sender;
    lln::Envelope envelope;
    std::vector<std::byte> payload;
  };
  static Packet word(int sender, lln::MessageKind kind, std::uint64_t name) {
    Packet packet{sender, {{kind, 0, 0, 0}, 0, 0}, std::vector<std::byte>(sizeof name)};
    std::memcpy(packet.payload.data(), &name, sizeof name);
    return packet;
  }
  Scripted& end(int rank) const { return *script_.ends[static_cast<std::size_t>(rank)]; }

  Script& script_;
  const int rank_;
  const lln::Traits traits_;
  std::deque<Packet> arrived_;
  std::vector<int> wanted_;
  std::array<bool, ranks> gone_{};
};

// The ranks of a job that have failed, for all operations alike.
class Failed final : public Verdicts {
 public:
  explicit Failed(std::vector<int> gone) : gone_(std::move(gone)) {}
  std::span<const int> gone() const override { return gone_; }
  int of_receive(std::uint64_t, int source) const override;
  int of_send(std::uint64_t, int peer) const override;

 private:
  std::vector<int> gone_;
};

// Every communicator has been revoked; no rank has failed.
class Revoked final : public Verdicts {
 public:
  std::span<const int> gone() const override { return {}; }
  int of_receive(std::uint64_t, int) const override;
  int of_send(std::uint64_t, int) const override;
};

// The properties of a job.
struct Setting {
  bool one_process = false;
  bool oversubscribed = false;
  bool survives_failures = false;
  CopySettings copies{};
  const char* strategy = "aggregate";
  std::size_t eager = 2048;
  std::size_t longs = 0;
  bool reorders = false;
  int rails = 1;
  lln::Claiming claiming = lln::Claiming::exclusive;
  std::uint64_t context = 42;
};

class Job {
 public:
  explicit Job(const Setting& setting = {})
      : claiming_(setting.claiming),
        context_(setting.context),
        script_{.eager = setting.eager, .longs = setting.longs, .reorders = setting.reorders, .rails = setting.rails},
        segment_(TestWorld::make_segment(setting.one_process)) {
    for (int rank = 0; rank < ranks; ++rank) ranks_.emplace_back(std::make_unique<Member>(*this, setting, rank));
  }

  lln::Claiming claiming() const { return claiming_; }
  std::uint64_t context() const { return context_; }  // of all messages
  VniState& operator[](int rank) { return ranks_[static_cast<std::size_t>(rank)]->state; }
  TestWorld& world(int rank) { return ranks_[static_cast<std::size_t>(rank)]->world; }
  node::Heap& heap(int rank) { return ranks_[static_cast<std::size_t>(rank)]->node.heap(); }
  // Memory of the rank's node for a test. `nowhere`: there is none.
  node::Offset allocate(int rank, std::size_t bytes) {
    const std::size_t before = heap(rank).used();
    const node::Offset made = heap(rank).allocate(bytes);
    of_tests_[node_of(rank)] += heap(rank).used() - before;
    return made;
  }
  void release(int rank, node::Offset block, std::size_t bytes) {
    const std::size_t before = heap(rank).used();
    heap(rank).release(block, bytes);
    of_tests_[node_of(rank)] -= before - heap(rank).used();
  }
  Scripted::Script& network() { return script_; }
  Scripted& end(int rank) { return *script_.ends[static_cast<std::size_t>(rank)]; }

  // One visit, as a thread that waits makes it. True if anything moved. A rank that has failed does nothing.
  bool poll(int rank) {
    if (dead_[static_cast<std::size_t>(rank)]) return false;
    VniState& state = (*this)[rank];
    const bool something_to_do = state.something_to_do();
    bool moved = false;
    try {
      Wakeups wakeups;
      moved = state.drain(lln::poll_batch, wakeups);
    } catch (const std::bad_alloc&) {
      return true;  // for the next time
    }
    for (std::uint32_t left = state.transfers().count(); left != 0; --left) {
      Transfer* const transfer = state.transfers().claim();
      if (transfer == nullptr) break;
      const Transfers::Step step = state.transfers().move(*transfer);
      moved |= step != Transfers::Step::waits;
      if (step != Transfers::Step::over) {
        state.transfers().put_back(*transfer);
        continue;
      }
      try {
        Wakeups wakeups;
        state.end_transfer(*transfer, wakeups);
      } catch (const std::bad_alloc&) {
        state.transfers().end_later(*transfer);
      }
    }
    EXPECT_TRUE(something_to_do || !moved) << "a blocked thread of rank " << rank << " would not have been told";
    return moved;
  }
  // Until nothing moves. False: there is no end.
  bool resolve() {
    int still = 0;
    for (int round = 0; round < 100'000; ++round) {
      bool moved = false;
      for (int rank = 0; rank < ranks; ++rank) moved |= poll(rank);
      still = moved ? 0 : still + 1;
      if (still == 3) return true;
    }
    return false;
  }
  // A rank learns what has become of others, and ends what it must.
  void sweep(int rank, const Verdicts& verdicts) {
    (void)poll(rank);
    {
      Wakeups wakeups;
      EXPECT_TRUE((*this)[rank].sweep(verdicts, wakeups)) << "no thread is at work on a transfer";
    }
    ASSERT_TRUE(resolve());
  }
  // Nothing of a message is left with any rank.
  void check_empty() {
    for (int rank = 0; rank < ranks; ++rank) {
      if (is_dead(rank)) continue;
      VniState& state = (*this)[rank];
      EXPECT_FALSE(state.parts().outgoing.outbox().any()) << "something waits to be sent by rank " << rank;
      EXPECT_FALSE(state.transfers().any()) << "a transfer of rank " << rank << " is left";
      EXPECT_FALSE(state.transfers().has_sends()) << "a claim of rank " << rank << " is left";
      EXPECT_EQ(state.probe(context_, MPI_ANY_SOURCE, MPI_ANY_TAG, false), nullptr)
          << "a message is left at rank " << rank;
    }
    check_node_memory();
  }
  // No message is under way: of the nodes' memory is used what the ranks keep, and no more. A rank that has failed releases nothing.
  void check_node_memory() {
    std::array<std::size_t, of_nodes> kept = of_tests_;
    for (int rank = 0; rank < ranks; ++rank) kept[node_of(rank)] += (*this)[rank].node_memory();
    for (const int rank : {0, 2}) {
      if (is_dead(rank) || (rank == 0 && is_dead(1))) continue;
      const std::size_t used = heap(rank).used(), fluxes = claiming_ == lln::Claiming::by_flux ? 2 * page : 0;
      EXPECT_GE(used, kept[node_of(rank)]) << "memory was released that is used";
      EXPECT_LE(used, kept[node_of(rank)] + fluxes) << "memory was not released";
    }
  }
  // From here on the kernel copies nothing from or to this rank's memory for other ranks: it finds no such process.
  void refuse_copies(int rank) { ranks_[static_cast<std::size_t>(rank)]->world.record().process = no_process; }
  // The rank does nothing more.
  void kill(int rank) { dead_[static_cast<std::size_t>(rank)] = true; }
  bool is_dead(int rank) const { return dead_[static_cast<std::size_t>(rank)]; }

 private:
  static constexpr std::size_t page = 4096;  // a flux takes one
  static constexpr pid_t no_process = std::numeric_limits<pid_t>::max();
  static std::size_t node_of(int rank) { return rank < 2 ? 0 : 1; }

  struct Member {
    Member(Job& job, const Setting& setting, int rank)
        : world(job.segment_, rank),
          node(world.heap().data(), world.heap().size(),
               node::Place{rank, ranks, world.first_local(), world.local_ranks(), world.first_local_ranks()},
               lln::bytes_for_networks(ranks), node::bytes_for_channels(2), &world.memory()),
          wake(node.own_bell(), &networks(rank).watch()),
          state(context(setting, rank), 0, setting.claiming) {
      memory.begin(world);
      state.parts().route.open(lln::Networks::End(new Scripted(job.script_, rank)));
    }
    Context context(const Setting& setting, int rank) {
      return {.node = node,
              .wake = wake,
              .networks = &networks(rank),
              .peer_memory = memory,
              .job = &world,
              .world_rank = rank,
              .ranks = ranks,
              .capacity = ranks,
              .oversubscribed = setting.oversubscribed,
              .survives_failures = setting.survives_failures,
              .strategy = strategy_number(setting.strategy),
              .copies = setting.copies};
    }
    struct Addresses final : lln::Directory {
      std::span<const std::byte> find(int, int) const override { return {}; }
      bool publish(int, std::span<const std::byte>) override { return true; }
    };
    // They have a thread each, which sleeps, and so are made once.
    static lln::Networks& networks(int rank) {
      static node::Doorbell bells[ranks];
      static lln::Networks* made[ranks];
      lln::Networks*& mine = made[rank];
      if (mine == nullptr) {
        lln::Networks::Settings settings{};
        settings.pretended = true;
        settings.bound = std::uint64_t{64} << 10;
        mine = new lln::Networks(*new Addresses, bells[rank], {rank, ranks, rank, 1}, std::move(settings));
      }
      return *mine;
    }

    TestWorld world;
    node::Node node;
    wake::Wake wake;
    boot::PeerMemory memory;
    VniState state;
  };

  const lln::Claiming claiming_;
  const std::uint64_t context_;
  Scripted::Script script_;
  std::shared_ptr<platform::SparseMemory> segment_;
  std::vector<std::unique_ptr<Member>> ranks_;
  std::array<bool, ranks> dead_{};
  std::array<std::size_t, of_nodes> of_tests_{};  // bytes that allocate() has given
};

}  // namespace heddle::message::simulator
