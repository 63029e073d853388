// Plays one thread's part of a round.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/threads/random/layout.hpp"
#include "base/threads/random/pending.hpp"
#include "base/threads/random/plan.hpp"

namespace random_program {

// The common state of a rank's threads for all rounds.
struct World {
  struct Comm {
    MPI_Comm comm;
    bool reversed;  // whether its ranks count backwards

    int rank_of(int world_rank) const { return reversed ? test::size() - 1 - world_rank : world_rank; }
  };

  World();
  ~World();

  std::vector<Comm> comms;
  std::vector<MPI_Comm> teams;  // of thread t of all ranks
  MPI_Comm pool;
};

class Player {
 public:
  // `taken`: for each step, how often a message of the pool from there was received in this rank.
  Player(const World& world, const Plan& plan, std::vector<std::atomic<int>>& taken, Actor me, std::uint64_t seed)
      : world_(world), plan_(plan), taken_(taken), me_(me), random_(seed, me.rank, me.thread) {}

  void play();

 private:
  using Box = std::shared_ptr<Buffer>;

  void message(const Step& step);
  void exchange(const Step& step);
  void burst(const Step& step);
  void collective(const Step& step);
  void take_from_pool();

  void send(const Message& m, MPI_Comm comm, int to, Pending& pending);
  void receive(const Message& m, const Actor& from);
  Box box_for(const Message& m);
  Box sent(const Message& m);
  void check_received(const Buffer& buffer, const Message& m, int source, const MPI_Status& status) const;

  const World& world_;
  const Plan& plan_;
  std::vector<std::atomic<int>>& taken_;
  const Actor me_;
  test::Random random_;
  Pending pending_;       // waits for nothing but what partners do in their steps
  Pending pool_pending_;  // must not be waited for before all have received their part of the pool
};

}  // namespace random_program
