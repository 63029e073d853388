// Random programs: rounds of legal MPI programs that are generated from a seed and whose every received byte and status
// is known in advance (plan.hpp).
//
//   random [SEED [ROUNDS [FIRST_ROUND [SECONDS]]]]
//
// With SECONDS no further round begins after that time: what takes milliseconds by itself takes minutes where others keep
// the cores busy.
#include <chrono>

#include "base/threads/random/player.hpp"

using namespace random_program;

namespace {

void play(const World& world, unsigned seed, int round) {
  const std::uint64_t round_seed = test::mix(seed, round);
  const Plan plan(round_seed, test::size());
  std::vector<std::atomic<int>> taken(plan.steps.size());
  std::vector<char> buffer(plan.buffered(test::rank()));
  MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
  test::in_threads(plan.threads, [&](int t) {
    where = {.seed = seed, .round = round, .thread = t};
    Player(world, plan, taken, {test::rank(), t}, round_seed).play();
  });
  void* address;
  int size;
  MPI_Buffer_detach(&address, &size);
  MPI_Barrier(MPI_COMM_WORLD);  // the next round has other flows
}

// Rank 0's clock decides for all.
bool there_is_time(std::chrono::steady_clock::time_point end) {
  int yes = std::chrono::steady_clock::now() < end;
  MPI_Bcast(&yes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return yes != 0;
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  const unsigned seed = test::seed(argc, argv);
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  const int first = argc > 3 ? std::atoi(argv[3]) : 0;
  const auto end = argc > 4 ? std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[4]))
                            : std::chrono::steady_clock::time_point::max();
  const World world;
  for (int round = first; round < first + rounds && (round == first || there_is_time(end)); ++round) {
    if (test::rank() == 0) std::printf("round %d\n", round);
    std::fflush(stdout);
    play(world, seed, round);
  }
}
