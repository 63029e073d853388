// Communicators with strategies of their own (info key heddle_model), between nodes: bursts of short messages on each arrive in order, and
// take as many packets as the strategy gives them. Counts, no times.
//
// How many messages wait while a network is busy depends on how fast they come. So what is counted there is only that none goes alone right
// behind another. With the argument `narrow` the network takes a packet when its receiver has read the one before (HEDDLE_LOOPBACK_NARROW),
// and the receiver is outside the library until a burst has begun: then all but the first message wait, however fast they come, and there
// are as many packets as they need. The first would wait, too, soon after the burst before (docs/adr/0086), so there is a pause between them.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "mpi/check.hpp"
#include "mpi/tool/tool.hpp"

namespace {

constexpr int bursts = 100;
constexpr int burst = 64;

// One that goes at once, and 37 and 26 of those that have waited: a packet has 1,500 bytes, and a message takes 40 of them.
constexpr int packets_of_burst = 3;
constexpr useconds_t between_bursts = 3000;  // microseconds: many times that of 32 posts

enum class Waits { never, always, on_trial };
struct Of {
  const char* model;
  Waits waits;  // for others, while the network is busy
};
constexpr Of communicators[] = {{"strategy=direct", Waits::never},
                                {"auto,strategy=aggregate", Waits::always},
                                {"lockq-mcs,vnis=1,strategy=auto", Waits::on_trial},
                                {"mtx,strategy=priority", Waits::always}};

MPI_Comm make(const char* model) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "heddle_model", model);
  MPI_Comm comm;
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
  MPI_Info_free(&info);
  return comm;
}

// A word from one rank to the other that the library knows nothing of.
class Aside {
 public:
  // The tag of both ranks, the first of which makes it.
  Aside() {
    int ends[2] = {-1, -1};
    if (test::rank() == 0) test::check(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
    int where[] = {getpid(), ends[0], ends[1]};
    MPI_Bcast(where, 3, MPI_INT, 0, MPI_COMM_WORLD);
    const std::string folder = "/proc/" + std::to_string(where[0]) + "/fd/";
    from_ = open((folder + std::to_string(where[1])).c_str(), O_RDONLY | O_CLOEXEC);
    to_ = open((folder + std::to_string(where[2])).c_str(), O_WRONLY | O_CLOEXEC);
    test::check(from_ >= 0 && to_ >= 0, "a pipe of another rank");
    MPI_Barrier(MPI_COMM_WORLD);
    for (const int end : ends)
      if (end >= 0) close(end);
  }
  ~Aside() {
    close(from_);
    close(to_);
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  void say() const { test::equal(write(to_, "", 1), 1, "bytes that were said"); }
  void hear() const {
    char word;
    test::equal(read(from_, &word, 1), 1, "bytes that were heard");
  }

 private:
  int from_ = -1;
  int to_ = -1;
};

// From rank 0 to rank 1, and a word back after each burst. With `begun` and `outside`, which are said aside: rank 1 is not in the library
// from before a burst until all of it has begun.
void exchange(MPI_Comm comm, const Aside* outside, const Aside* begun) {
  std::vector<int> numbers(burst);
  std::vector<MPI_Request> requests(burst);
  for (int round = 0; round < bursts; ++round) {
    if (outside != nullptr && test::rank() == 1) {
      outside->say();
      begun->hear();
    } else if (outside != nullptr) {
      outside->hear();
      usleep(between_bursts);
    }
    for (int i = 0; i < burst; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (test::rank() == 0) {
        numbers[at] = round * burst + i;
        MPI_Isend(&numbers[at], 1, MPI_INT, 1, 0, comm, &requests[at]);
      } else {
        MPI_Irecv(&numbers[at], 1, MPI_INT, 0, 0, comm, &requests[at]);
      }
    }
    if (begun != nullptr && test::rank() == 0) begun->say();
    MPI_Waitall(burst, requests.data(), MPI_STATUSES_IGNORE);
    for (int i = 0; i < burst; ++i) test::equal(numbers[static_cast<std::size_t>(i)], round * burst + i, "message");
    if (test::rank() == 0) MPI_Recv(nullptr, 0, MPI_INT, 1, 1, comm, MPI_STATUS_IGNORE);
    if (test::rank() == 1) MPI_Send(nullptr, 0, MPI_INT, 0, 1, comm);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session mpi(&argc, &argv);
  const test::Tool tool;
  MPI_T_pvar_session session;
  test::ok(MPI_T_pvar_session_create(&session), "MPI_T_pvar_session_create");
  const bool is_narrow = argc > 1 && std::strcmp(argv[1], "narrow") == 0;
  std::optional<Aside> outside, begun;
  if (is_narrow) {
    outside.emplace();
    begun.emplace();
  }
  std::vector<MPI_Comm> comms;
  for (const Of& one : communicators) comms.push_back(make(one.model));
  for (std::size_t i = 0; i < comms.size(); ++i) {
    const test::Counter packets(session, "comm_vni_packets_sent_to_other_nodes", comms[i]);
    const test::Counter messages(session, "comm_vni_messages_sent_to_other_nodes", comms[i]);
    const test::Counter alone(session, "comm_vni_packets_of_one_message_behind_another", comms[i]);
    exchange(comms[i], outside ? &*outside : nullptr, begun ? &*begun : nullptr);
    if (test::rank() != 0) continue;
    const Of& of = communicators[i];
    std::printf("%s: %llu messages in %llu packets, %llu of them alone right behind another\n", of.model,
                messages.read(), packets.read(), alone.read());
    test::check(messages.read() >= bursts * burst, "all were sent on this communicator's VNI");
    if (of.waits == Waits::never) {
      test::check(packets.read() >= messages.read(), "each message goes alone");
    } else if (is_narrow) {
      test::equal(packets.read(), bursts * packets_of_burst, "packets of messages that go together");
    } else if (of.waits == Waits::always) {
      // The last one of a burst may, since its sender waits for it.
      test::check(alone.read() < messages.read() / 8, "messages wait for others");
    }
  }
  test::ok(MPI_T_pvar_session_free(&session), "MPI_T_pvar_session_free");
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}
