// One of the processes is killed at a random moment, whatever it is doing; the others find out, agree, and go on without it. A second argument
// says how many ranks die together: those of a process, or of a node.
//
// The seed says who dies, after which time, and what they do meanwhile: messages, collectives, agreements, shrinking, or all of it. Each error
// must be one of a failure; the survivors must all come to the same communicator, of exactly those that live.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <thread>

#include "mpi/ft/life.hpp"

namespace {

using namespace test;

struct Plan {
  enum Work { messages, collectives, agreements, shrinking, everything, kinds };

  Plan(unsigned seed, int together) : random(seed) {
    victim = static_cast<int>(random() % static_cast<unsigned>(size()));
    for (int r = 0; r < size(); ++r) (r / together == victim / together ? victims : others).push_back(r);
    const unsigned longest = random() % 3 == 0 ? 500 : 10'000;
    delay = std::chrono::microseconds(random() % longest);
    work = static_cast<Work>(random() % kinds);
  }
  // The same on every process, in the same order.
  int some(int least, int most) { return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1)); }
  int next_tag() { return tag++ % 10'000; }
  int length() { return some(0, 3) == 0 ? some(5'000, 100'000) : some(1, 1'000); }

  std::mt19937 random;
  int victim;
  std::vector<int> victims;  // with those of its process
  std::vector<int> others;
  std::chrono::microseconds delay;
  Work work;
  int tag = 0;
};

// True if the operation has succeeded. Another error than that of a failure is the end of the test.
bool went_well(int error, const char* what) {
  if (error == MPI_SUCCESS) return true;
  if (!is_fault(error)) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(error, text, &length);
    std::fprintf(stderr, "rank %d, %s: %s\n", rank(), what, text);
    check(false, "an error that is none of a failure");
  }
  return false;
}

bool exchange(MPI_Comm comm, Plan& plan) {
  const int n = size_of(comm), me = rank_in(comm);
  const int distance = plan.some(1, n - 1), length = plan.length(), tag = plan.next_tag();
  const bool from_any_source = plan.some(0, 3) == 0;
  std::vector<int> out(static_cast<std::size_t>(length), me), in(out.size(), -1);
  MPI_Request requests[2];
  const int from = (me + n - distance) % n;
  int error = MPI_Irecv(in.data(), length, MPI_INT, from_any_source ? MPI_ANY_SOURCE : from, tag, comm, &requests[0]);
  if (!went_well(error, "MPI_Irecv")) return false;
  error = MPI_Isend(out.data(), length, MPI_INT, (me + distance) % n, tag, comm, &requests[1]);
  if (!went_well(error, "MPI_Isend")) {
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    return false;
  }
  bool well = true;
  for (MPI_Request& request : requests) {
    well &= went_well(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    if (request != MPI_REQUEST_NULL) {  // from any source, and a rank has failed
      MPI_Cancel(&request);
      (void)went_well(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait of what was cancelled");
    }
  }
  if (well) test::equal(in.back(), from, "what has come");
  return well;
}

bool collect(MPI_Comm comm, Plan& plan) {
  const int n = size_of(comm), me = rank_in(comm), kind = plan.some(0, 5), length = plan.length(),
            root = plan.some(0, n - 1);
  std::vector<int> out(static_cast<std::size_t>(length), me + 1), in(out.size() * static_cast<std::size_t>(n), -1);
  const int sum = n * (n + 1) / 2;
  switch (kind) {
    case 0:
      return went_well(MPI_Barrier(comm), "MPI_Barrier");
    case 1:
      if (!went_well(MPI_Bcast(out.data(), length, MPI_INT, root, comm), "MPI_Bcast")) return false;
      test::equal(out.back(), root + 1, "what was broadcast");
      return true;
    case 2:
      if (!went_well(MPI_Allreduce(out.data(), in.data(), length, MPI_INT, MPI_SUM, comm), "MPI_Allreduce"))
        return false;
      test::equal(in[static_cast<std::size_t>(length - 1)], sum, "the sum");
      return true;
    case 3:
      if (!went_well(MPI_Allgather(out.data(), length, MPI_INT, in.data(), length, MPI_INT, comm), "MPI_Allgather"))
        return false;
      test::equal(in.back(), n, "what was gathered");
      return true;
    case 4: {
      MPI_Request request;
      int error = MPI_Iallreduce(out.data(), in.data(), length, MPI_INT, MPI_SUM, comm, &request);
      if (error == MPI_SUCCESS) error = MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (!went_well(error, "MPI_Iallreduce")) return false;
      test::equal(in[static_cast<std::size_t>(length - 1)], sum, "the sum");
      return true;
    }
    default: {
      MPI_Comm copy;
      if (!went_well(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup")) return false;
      const bool well = went_well(MPI_Barrier(copy), "MPI_Barrier of a duplicate");
      MPI_Comm_free(&copy);
      return well;
    }
  }
}

bool agree(MPI_Comm comm, Plan& plan) {
  const int wanted = plan.some(0, 1 << 20);
  int flag = rank_in(comm) == 0 ? wanted : -1;
  int error;
  if (plan.some(0, 1) == 0) {
    error = MPIX_Comm_agree(comm, &flag);
  } else {
    MPI_Request request;
    error = MPIX_Comm_iagree(comm, &flag, &request);
    if (error == MPI_SUCCESS) error = MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (!went_well(error, "MPIX_Comm_agree")) return false;
  test::equal(flag, wanted, "what was agreed on");
  return true;
}

bool shrink(MPI_Comm comm, const Plan& plan) {
  MPI_Comm smaller;
  succeeds(MPIX_Comm_shrink(comm, &smaller), "MPIX_Comm_shrink");
  return_errors(smaller);
  const int members = size_of(smaller);
  check(members <= size_of(comm) && members >= static_cast<int>(plan.others.size()), "members");
  int mine = 1, sum = 0;
  const int error = MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, smaller);
  if (went_well(error, "MPI_Allreduce of a smaller one")) test::equal(sum, members, "the sum of a smaller one");
  MPI_Comm_free(&smaller);
  return members == size_of(comm);
}

bool step(MPI_Comm comm, Plan& plan, Plan::Work kind) {
  switch (kind) {
    case Plan::messages:
      return exchange(comm, plan);
    case Plan::collectives:
      return collect(comm, plan);
    case Plan::agreements:
      return agree(comm, plan);
    default:
      return shrink(comm, plan);
  }
}

// Until a failure shows. Messages and collectives end well on some and not on others; who goes on to agree or to shrink has to do that
// with all, and asks them first.
void work(MPI_Comm comm, Plan& plan) {
  if (plan.work != Plan::everything) {
    while (step(comm, plan, plan.work)) {
    }
    return;
  }
  for (int all_well = 1; all_well != 0;) {
    all_well = step(comm, plan, static_cast<Plan::Work>(plan.some(0, Plan::everything - 1)));
    if (all_well == 0) succeeds(MPIX_Comm_revoke(comm), "MPIX_Comm_revoke");
    if (!went_well(MPIX_Comm_agree(comm, &all_well), "MPIX_Comm_agree whether all is well")) return;
  }
}

// The survivors of `comm`, once all of them agree that it works.
MPI_Comm survivors(MPI_Comm comm) {
  for (;;) {
    MPI_Comm left;
    succeeds(MPIX_Comm_shrink(comm, &left), "MPIX_Comm_shrink");
    return_errors(left);
    int mine = 1, sum = 0;
    int well = went_well(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, left), "MPI_Allreduce of those that are left");
    if (went_well(MPIX_Comm_agree(left, &well), "MPIX_Comm_agree of those that are left") && well != 0) return left;
    MPI_Comm_free(&left);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const unsigned seed = argc > 1 ? static_cast<unsigned>(std::strtoul(argv[1], nullptr, 0)) : std::random_device{}();
  const int together = argc > 2 ? std::atoi(argv[2]) : 1;
  Plan plan(seed, together);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  return_errors(comm);
  std::vector<pid_t> processes(static_cast<std::size_t>(size()), getpid());
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, processes.data(), sizeof(pid_t), MPI_BYTE, comm);
  std::thread death;
  if (rank() == plan.victim)
    death = std::thread([&plan, &processes] {
      std::vector<pid_t> together;
      for (const int victim : plan.victims) together.push_back(processes[static_cast<std::size_t>(victim)]);
      std::this_thread::sleep_for(plan.delay);
      die_with(together);
    });
  work(comm, plan);
  succeeds(MPIX_Comm_revoke(comm), "MPIX_Comm_revoke");
  MPI_Comm left = survivors(comm);

  MPI_Group group;
  MPI_Comm_group(left, &group);
  check(ranks_of(group, MPI_COMM_WORLD) == plan.others, "the survivors are not those that live");
  std::vector<int> failed = failed_of(comm);
  std::sort(failed.begin(), failed.end());
  check(failed == plan.victims, "the failed are not those that died");
  MPI_Group_free(&group);
  Plan after(seed + 1, together);  // how far each had come with the first differs
  for (int i = 0; i < 20; ++i)
    check(exchange(left, after) && collect(left, after) && agree(left, after), "the survivors go on");
  if (rank_in(left) == 0) std::printf("seed %u: %d of %d go on\n", seed, size_of(left), size());
  MPI_Comm_free(&left);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
